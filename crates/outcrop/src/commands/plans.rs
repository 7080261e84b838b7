//! `outcrop plans [NAME]`: the plans that ship.

use crate::exit::{Ending, bad_input};
use crate::output::{self, Cell, Format, Table};
use std::time::Duration;

use outcrop_lab::{Effort, PlanOptions, PlanSet, shipped_hint, shipped_plans};

/// List the shipped plans, or print one
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  outcrop plans\n  outcrop plans ssd-matrix > mine.toml    start your own plan from ours"
)]
pub(crate) struct Args {
    /// Name of the plan to print as TOML
    name: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    match &args.name {
        None => list(args.format)?,
        Some(_) if args.format != Format::Text => {
            return Err(bad_input(anyhow::anyhow!(
                "a plan is printed as TOML, and --format is for the list of plans; leave one of the two out"
            )));
        }
        Some(name) => {
            let plan = shipped_plans().iter().find(|plan| plan.name == name);
            let plan = plan.ok_or_else(|| {
                bad_input(anyhow::anyhow!(
                    "there is no shipped plan `{name}`; {}",
                    match shipped_hint(name) {
                        near if near.starts_with("did you mean") => near,
                        _ => "`outcrop plans` lists them".to_owned(),
                    }
                ))
            })?;
            output::print(plan.text)?;
        }
    }
    Ok(Ending::Done)
}

fn list(format: Format) -> anyhow::Result<()> {
    let mut table = Table::new([
        ("plan", "plan"),
        ("cells", "cells_count"),
        ("min:s, about", "duration_s"),
        ("question", "question"),
    ]);
    for plan in shipped_plans() {
        let options = PlanOptions {
            effort: Some(Effort::Default),
            ..PlanOptions::default()
        };
        let estimate = PlanSet::from_sources(&[plan.source()], &options)
            .map_err(crate::session::lab_error)?
            .estimate();
        table.push(vec![
            Cell::text(plan.name),
            Cell::number(estimate.cells as f64, estimate.cells.to_string()),
            Cell::number(estimate.total().as_secs_f64(), roughly(estimate.total())),
            Cell::text(plan.question),
        ]);
    }
    table.print(format)
}

/// A time to plan a day by, in one unit for all plans: `0:25`, `4:10`.
fn roughly(time: Duration) -> String {
    let seconds = (time.as_secs_f64().round() as u64).max(1);
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_plan_takes_about_no_time() {
        let shown = [0, 25, 60, 250, 7200].map(|seconds| roughly(Duration::from_secs(seconds)));
        assert_eq!(shown, ["0:01", "0:25", "1:00", "4:10", "120:00"]);
    }
}
