//! Commands that measure a run's plan again, as it is or changed.

use outcrop_measure::{ByteSize, TimeSpan};
use outcrop_schema::kv::SCHEMA as KV;

use super::{Commands, More, layer_of, quoted};

/// The file that a plan is copied to, to be changed.
const CHANGED: &str = "changed.toml";

impl Commands {
    /// Measures what the run measured of these layers again: its plan has the data, the directory, the limits and all settings. None where the
    /// run is not kept, or was measured by another program.
    pub(crate) fn again(&self, layers: &[&str], more: More) -> Option<String> {
        let plan = self.kept_plan()?;
        let written = self.more_written(layers, more).unwrap_or_default();
        Some(self.measuring(&plan, layers, &format!(" {more}{written}")))
    }

    /// The limit on written bytes that more repetitions need, where the plan has one: as many times its own as there are more of them, twice,
    /// because a run that its limit ended was resumed with another, which no plan has.
    fn more_written(&self, layers: &[&str], more: More) -> Option<String> {
        let limit: ByteSize = self.setting("max_written")?.parse().ok()?;
        let times = self.times_more(layers, more)?;
        (times > 1).then(|| format!(" --max-written {}", ByteSize(limit.0.saturating_mul(2 * times))))
    }

    /// How many times as many trials more repetitions are, or how many times as much time a larger budget is.
    fn times_more(&self, layers: &[&str], more: More) -> Option<u64> {
        let wanted = match more {
            More::Budget(wanted) => {
                let had: TimeSpan = self.setting("budget")?.parse().ok()?;
                return u64::try_from(wanted.0.as_nanos().div_ceil(had.0.as_nanos().max(1))).ok();
            }
            More::Repetitions(wanted) | More::Sample(_, Some(wanted)) => u64::try_from(wanted).ok()?,
            More::Sample(_, None) | More::WarmUp(_) => return None,
        };
        let plans = self.own_plans().filter(|plan| layers.contains(&layer_of(plan)));
        let repetitions = plans.filter_map(|plan| plan.get("trial")?.get("repetitions")?.as_integer());
        let had = u64::try_from(repetitions.min()?).ok().filter(|had| *had > 0)?;
        Some(wanted.div_ceil(had))
    }

    /// Copies the run's plan, and measures the copy once it is changed. None where the run is not kept, or was measured by another program.
    pub(crate) fn changed(&self, layers: &[&str]) -> Option<[String; 2]> {
        let plan = self.kept_plan()?;
        Some([
            format!("cp {plan} {CHANGED}"),
            self.measuring(CHANGED, layers, ""),
        ])
    }

    /// The file of the run's plan.
    fn kept_plan(&self) -> Option<String> {
        let folder = self.folder.as_deref()?;
        self.plan.get("run")?;
        Some(quoted(&format!("{}/plan.toml", folder.trim_end_matches('/'))))
    }

    fn measuring(&self, plan: &str, layers: &[&str], more: &str) -> String {
        let has_others = self.own_plans().any(|plan| !layers.contains(&layer_of(plan)));
        let narrower = match has_others {
            true => format!(" --layer {}", layers.join(",")),
            false => String::new(),
        };
        let limits = match layers.contains(&KV.name) && !self.limits.is_empty() {
            true => format!(" {}", self.limits),
            false => String::new(),
        };
        let data = self.saved_data(layers);
        format!("outcrop run {plan}{narrower}{more}{limits}{data}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREE_MINUTES: TimeSpan = TimeSpan::seconds(180);

    #[test]
    fn a_plan_is_measured_again_under_the_limits_of_the_report_where_they_are_not_its_own() {
        let plan = "[run]\nbudget = \"1m\"\nmin_ratio = \"3\"\nmax_written = \"3GB\"\n[[plan]]\nlayer = \"kv\"\n[[plan]]\nlayer = \"device\"\n";
        let commands = Commands::about("runs/a", plan).under("--min-ratio 1.2 --p99 2ms");
        assert_eq!(
            commands.again(&["kv"], More::Budget(THREE_MINUTES)).as_deref(),
            Some(
                "outcrop run runs/a/plan.toml --layer kv --budget 3m --max-written 18GB --min-ratio 1.2 --p99 2ms"
            )
        );
        let changed = commands.changed(&["kv"]).map(|[_, run]| run);
        assert_eq!(
            changed.as_deref(),
            Some("outcrop run changed.toml --layer kv --min-ratio 1.2 --p99 2ms")
        );
        assert_eq!(
            commands.again(&["device"], More::Repetitions(9)).as_deref(),
            Some("outcrop run runs/a/plan.toml --layer device --repetitions 9"),
            "the limits are those of stores"
        );
    }

    #[test]
    fn more_repetitions_than_a_limit_on_written_bytes_was_for_come_with_a_larger_one() {
        let plan = |limit: &str| {
            format!("[run]\n{limit}\n[[plan]]\nlayer = \"device\"\n[plan.trial]\nrepetitions = 5\n")
        };
        let again =
            |limit: &str, more: More| Commands::about("runs/a", &plan(limit)).again(&["device"], more);
        assert_eq!(
            again("max_written = \"3GB\"", More::Repetitions(9)).as_deref(),
            Some("outcrop run runs/a/plan.toml --repetitions 9 --max-written 12GB")
        );
        assert_eq!(
            again("max_written = \"3GB\"", More::Repetitions(5)).as_deref(),
            Some("outcrop run runs/a/plan.toml --repetitions 5")
        );
        assert_eq!(
            again(
                "max_written = \"3GB\"\nbudget = \"1m\"",
                More::Budget(THREE_MINUTES)
            )
            .as_deref(),
            Some("outcrop run runs/a/plan.toml --budget 3m --max-written 18GB")
        );
        assert_eq!(
            again("", More::Repetitions(9)).as_deref(),
            Some("outcrop run runs/a/plan.toml --repetitions 9")
        );
    }
}
