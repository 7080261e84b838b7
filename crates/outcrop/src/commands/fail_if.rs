//! What was found of the conditions of `--fail-if`, in words.

use outcrop_measure::metric::Scope;
use outcrop_measure::units::format_with_range;
use outcrop_probe::OthersCpu;
use outcrop_report::number::{counted, given_percent};
use outcrop_results::compare::about_repetitions;
use outcrop_results::{CellBeyond, FailIfReport, Undecided, WithinDrift};
use outcrop_schema::Vocabulary;

/// How many cells could not be checked, or pass unchecked, and what would let them; empty where all were.
fn unchecked(found: &FailIfReport<'_>, strict: bool) -> String {
    let mut text = match (found.passed_over(), found.unchecked) {
        (_, 0) => return String::new(),
        (Some(_), count) => format!(", {count} could not be checked"),
        (None, count) => format!(", {count} not checked{}", passing(count, strict)),
    };
    if !found.longer_by.is_empty() {
        let flags: Vec<&str> = found.longer_by.iter().copied().collect();
        text.push_str(&format!(
            " (too few operations; longer trials have more: {})",
            flags.join(", ")
        ));
    }
    text
}

/// That cells pass of which it is not known whether they meet the condition, where they do.
fn passing(count: usize, strict: bool) -> &'static str {
    match (strict, count) {
        (true, _) => "",
        (false, 1) => ", which passes",
        (false, _) => ", which pass",
    }
}

/// What a condition found, and what would decide the cells that are undecided.
pub(super) fn finding(condition: &str, found: &FailIfReport<'_>, strict: bool) -> String {
    let mut text = format!(
        "--fail-if '{condition}': met by {} of {}",
        found.met(),
        counted(found.checked, "cell")
    );
    if found.undecided > 0 {
        text.push_str(&format!(
            ", {} undecided{}: {}",
            found.undecided,
            passing(found.undecided, strict),
            deciding(found)
        ));
    }
    if found.under_load > 0 {
        text.push_str(&format!(
            ", {} undecided because the machine or its storage was busier on one side, which may be the difference or hide one: measure both again on an idle machine, or, where a factor differs, in one run with `outcrop ab`",
            found.under_load
        ));
    }
    if found.by_definition > 0 {
        text.push_str(&format!(
            ", {} undecided: {}",
            found.by_definition,
            Undecided::Definition
        ));
    }
    if found.within_drift.rows > 0 {
        text.push_str(&format!(
            ", {} undecided, beyond the threshold by less than {}",
            found.within_drift.rows,
            allowance(found.drift, found.within_drift)
        ));
    }
    for (reason, count) in &found.without_ratio {
        text.push_str(&format!(", {count} undecided: {reason}"));
    }
    text.push_str(&unchecked(found, strict));
    if found.missing > 0 {
        let are = if found.missing == 1 { "is" } else { "are" };
        text.push_str(&format!(
            "; {} {are} only in the baseline, and not checked",
            counted(found.missing, "cell")
        ));
    }
    if found.from_submission_end > 0 {
        text.push_str(&format!(
            "; {} {} latencies without the submission of the request (fio's clat), and may exceed the limit with it: fio's \
             lat_percentiles=1 includes it",
            counted(found.from_submission_end, "cell"),
            if found.from_submission_end == 1 { "has" } else { "have" }
        ));
    }
    if let Some(needed) = found.needed {
        text.push_str(&format!(
            "; finding a change in only one of the rows that the conditions test takes {needed} repetitions"
        ));
    }
    text
}

/// What decides the cells that two separate runs do not; `command` measures two variants of the plan in pairs.
pub(crate) fn without_drift(command: Option<&str>) -> String {
    format!(
        "where a factor differs, `{}` measures both variants in one run, and needs no allowance for drift",
        command.unwrap_or("outcrop ab")
    )
}

/// What two separate runs are allowed to differ by.
fn allowance(drift: f64, within: WithinDrift) -> String {
    let usual = format!("the {} allowed for drift (--drift)", given_percent(drift));
    let crowded = "what two equal runs may differ by while other processes use more than 10 % of the CPUs";
    match (within.crowded, within.rows) {
        (0, _) => usual,
        (some, all) if some == all => crowded.to_owned(),
        (some, _) => format!("{usual} or, in {some} of them, by less than {crowded}"),
    }
}

/// What would decide the cells that are undecided.
fn deciding(found: &FailIfReport<'_>) -> String {
    let (all, samples, known) = (
        found.undecided,
        found.undecided_by_sample,
        found.repetitions_needed.len(),
    );
    let of_all = |count: usize| match (count == all, all) {
        (true, 1) => "it".to_owned(),
        (true, _) => "them".to_owned(),
        (false, _) => format!("{count} of them"),
    };
    let for_some = match known == all {
        true => String::new(),
        false => format!(" for {}", of_all(known)),
    };
    let estimated = format!(
        "{} would decide this condition{for_some}",
        about_repetitions(&found.repetitions_needed)
    );
    // Where a ratio is now, no number of repetitions may decide; they may also move it.
    let held = found.undecided_within_drift.rows;
    let moving = format!(
        "more repetitions decide {} only if they move the ratio, which is beyond the threshold by less than {}",
        of_all(held),
        allowance(found.drift, found.undecided_within_drift)
    );
    let open = found.open().saturating_sub(held);
    let others = format!(
        "more repetitions narrow the interval, and may decide {}",
        of_all(open)
    );
    let larger = format!("a larger --sample-size may decide {}", of_all(samples));
    let parts = [
        (known, estimated),
        (held, moving),
        (open, others),
        (samples, larger),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(_, part)| part)
        .collect();
    parts.join("; ")
}

/// A cell that is beyond a limit, and what may have put it there: `  device, scratch-file 1GiB, 4KiB 100:0 QD 32: 1.42 ms (1.31–1.55)`.
pub(super) fn beyond(cell: &CellBeyond) -> String {
    let schema = Vocabulary::default().layer(&cell.layer);
    let metric = schema.and_then(|schema| schema.metric(&cell.metric));
    let shown = |value: f64| match metric {
        Some(metric) => metric.format(value),
        None => cell.unit.format(value),
    };
    let label = schema.map(|schema| schema.label(&schema.read(&cell.factors)));
    let mut names = vec![cell.layer.clone(), cell.subject.clone()];
    names.extend(label.filter(|label| !label.is_empty()));
    // What labels leave out is said where cells differ in it.
    let has_words = |name: &str| {
        let factor = schema.and_then(|schema| schema.factor(name));
        factor.is_some_and(|factor| factor.is_labelled())
    };
    let unsaid = cell.varying.iter().filter(|name| !has_words(name));
    names.extend(unsaid.filter_map(|name| Some(format!("{name}={}", cell.factors.get(name)?))));
    let figure = match cell.low < cell.high {
        true => format_with_range(&shown(cell.value), &shown(cell.low), &shown(cell.high)),
        false => shown(cell.value),
    };
    // Load cannot change what is the same in every trial, such as a size.
    let is_fixed = metric.is_some_and(|metric| metric.scope == Scope::DataSet);
    let disturbed = cell.others_cpu_share;
    let disturbed = disturbed.filter(|share| !is_fixed && *share > OthersCpu::MATTER);
    let others = disturbed.map_or_else(String::new, |share| {
        format!(
            "; other programs used {:.0} % of the CPUs meanwhile, and a limit makes no allowance for that",
            share * 100.0
        )
    });
    format!("  {}: {figure}{others}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use outcrop_measure::metric::Unit;

    use super::{CellBeyond, FailIfReport, WithinDrift, beyond, deciding, finding};

    #[test]
    fn a_cell_beyond_a_limit_is_named_with_what_other_programs_used_meanwhile() {
        let cell = |others_cpu_share: Option<f64>| CellBeyond {
            layer: "device".to_owned(),
            subject: "scratch-file 1GiB".to_owned(),
            factors: BTreeMap::new(),
            varying: BTreeSet::from(["content".to_owned()]),
            metric: "latency_p99".to_owned(),
            value: 1.4e6,
            low: 1.3e6,
            high: 1.6e6,
            unit: Unit::Nanoseconds,
            others_cpu_share,
        };
        let alone = beyond(&cell(Some(0.02)));
        assert!(
            alone.starts_with("  device, scratch-file 1GiB: 1.40 ms"),
            "{alone}"
        );
        assert_eq!(alone, beyond(&cell(None)));
        let mut of_zeros = cell(None);
        of_zeros.factors = BTreeMap::from([("content".to_owned(), "zeros".to_owned())]);
        assert!(
            beyond(&of_zeros).starts_with("  device, scratch-file 1GiB, content=zeros: 1.40 ms"),
            "what labels leave out is said where cells differ in it"
        );
        assert_eq!(
            beyond(&cell(Some(0.4))),
            format!(
                "{alone}; other programs used 40 % of the CPUs meanwhile, and a limit makes no allowance for that"
            )
        );
        let size = CellBeyond {
            layer: "column".to_owned(),
            metric: "file_bytes".to_owned(),
            unit: Unit::Bytes,
            ..cell(Some(0.4))
        };
        assert!(
            !beyond(&size).contains("other programs"),
            "load changes no size: {}",
            beyond(&size)
        );
    }

    #[test]
    fn what_was_not_checked_is_said_to_pass_exactly_where_it_does() {
        let said = |unchecked: usize, without_interval: &[&str]| {
            let report = FailIfReport {
                checked: 3,
                unchecked,
                without_interval: without_interval.iter().map(|&reason| reason.to_owned()).collect(),
                ..FailIfReport::default()
            };
            finding("iops < 1", &report, false)
        };
        let met = "--fail-if 'iops < 1': met by 0 of 3 cells";
        assert_eq!(said(0, &[]), met);
        assert_eq!(said(1, &[]), format!("{met}, 1 not checked, which passes"));
        assert_eq!(said(2, &[]), format!("{met}, 2 not checked, which pass"));
        assert_eq!(
            said(1, &["only 12 clusters"]),
            format!("{met}, 1 could not be checked")
        );
    }

    #[test]
    fn repetitions_would_decide_the_cells_that_have_an_estimate_and_may_decide_the_others() {
        let said = |undecided: usize, undecided_by_sample: usize, needed: &[usize]| {
            deciding(&FailIfReport {
                undecided,
                undecided_by_sample,
                repetitions_needed: needed.to_vec(),
                ..FailIfReport::default()
            })
        };
        assert_eq!(
            said(1, 0, &[12]),
            "about 12 repetitions would decide this condition"
        );
        assert_eq!(
            said(2, 0, &[12, 20]),
            "about 12 to 20 repetitions would decide this condition"
        );
        assert_eq!(
            said(1, 0, &[]),
            "more repetitions narrow the interval, and may decide it"
        );
        let with_drift = deciding(&FailIfReport {
            undecided: 1,
            undecided_within_drift: WithinDrift { rows: 1, crowded: 0 },
            drift: 0.05,
            ..FailIfReport::default()
        });
        assert_eq!(
            with_drift,
            "more repetitions decide it only if they move the ratio, which is beyond the threshold by less than the 5 % allowed for drift \
             (--drift)"
        );
        // Of each group, those that a load widened the allowance of are its own.
        let of_two_groups = finding(
            "iops < -3%",
            &FailIfReport {
                checked: 4,
                undecided: 3,
                undecided_within_drift: WithinDrift { rows: 3, crowded: 3 },
                within_drift: WithinDrift { rows: 1, crowded: 0 },
                drift: 0.05,
                ..FailIfReport::default()
            },
            false,
        );
        let beside_load =
            "what two equal runs may differ by while other processes use more than 10 % of the CPUs";
        for part in [
            &format!(
                "3 undecided, which pass: more repetitions decide them only if they move the ratio, which is beyond the threshold by less than {beside_load}, "
            ),
            "1 undecided, beyond the threshold by less than the 5 % allowed for drift (--drift)",
        ] {
            assert!(of_two_groups.contains(part), "{of_two_groups}");
        }
        assert_eq!(
            said(4, 1, &[12, 20]),
            "about 12 to 20 repetitions would decide this condition for 2 of them; more repetitions narrow the interval, and may decide 1 of them; \
             a larger --sample-size may decide 1 of them"
        );
    }
}
