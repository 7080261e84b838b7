//! What stands beside the value of a figure: where it was reached.

use std::collections::BTreeSet;

use crate::answer::ReadingOutcome;

/// Behind conditions that others are as good as.
pub(super) const TIED: &str = " (tied)";

/// Whether all figures of a row were reached with one access: what two columns differ in is not left out.
pub(super) fn is_of_one_access(outcomes: &[&ReadingOutcome]) -> bool {
    let accesses = outcomes.iter().filter_map(|outcome| match outcome {
        ReadingOutcome::Measured { conditions, .. } => Some(setting_of(conditions).0),
        ReadingOutcome::Missing(_) => None,
    });
    let accesses: BTreeSet<&str> = accesses.collect();
    accesses.len() <= 1
}

/// A value with what stands behind the access and the depth of its conditions.
pub(super) fn with_circumstances((value, conditions): (&String, &String)) -> String {
    let circumstances = conditions
        .match_indices(", ")
        .nth(1)
        .map(|(at, _)| &conditions[at..]);
    format!("{value}{}", circumstances.unwrap_or_default())
}

/// A value with its access and depth and what stands behind them, in the first form that there is room for: without a unit that ends the
/// label, then without the access, then without the depth, which says less than what tells the cell from others, with a mark of it as long as
/// that has room; else that something is left out. What the label says is not repeated. That others are as good stands behind each form; what
/// decides the figure is kept before that, which then has a line below.
pub(super) fn with_depth(
    value: &str,
    outcome: &ReadingOutcome,
    unit: &str,
    (is_depth_said, is_access_said): (bool, bool),
    column: usize,
) -> String {
    let ReadingOutcome::Measured { conditions, .. } = outcome else {
        return value.to_owned();
    };
    let brief = in_brief(conditions);
    let tied = if is_tied(outcome) { TIED } else { "" };
    let (access, behind) = setting_of(&brief);
    let (depths, others): (Vec<&str>, Vec<&str>) = behind.iter().partition(|part| part.contains("QD "));
    // Layers without a depth have no access, and a lone request has the smallest one.
    let accesses = match depths.is_empty() || is_access_said {
        true => Vec::new(),
        // Random is what is usual.
        false => vec![access, access.strip_suffix(" random").unwrap_or(access)],
    };
    let depths = if is_depth_said { Vec::new() } else { depths };
    // Ends with units of their own need them.
    let unit = format!(" {unit}");
    let short = match value.matches(&unit).count() {
        1 => value.replace(&unit, ""),
        _ => value.to_owned(),
    };
    let without_tie = |value: &str, parts: &[&str]| [&[value], parts].concat().join(", ");
    let joined = |value: &str, parts: &[&str]| without_tie(value, parts) + tied;
    let all = [depths.as_slice(), &others].concat();
    // What the first words say of the figure itself: `(0.532 without the store's log)`.
    let aside = access.find(" (").map(|at| format!("{value}{}", &access[at..]));
    let mut forms: Vec<String> = aside.iter().map(|value| joined(value, &all)).collect();
    for access in accesses {
        let whole = [[access].as_slice(), &all].concat();
        forms.extend([joined(value, &whole), joined(&short, &whole)]);
    }
    forms.extend([joined(value, &all), joined(&short, &all)]);
    if !others.is_empty() {
        if !depths.is_empty() {
            let marked = [others.as_slice(), &["…"]].concat();
            forms.extend([joined(value, &marked), joined(&short, &marked)]);
        }
        forms.extend([
            joined(value, &others),
            joined(&short, &others),
            without_tie(value, &others),
            without_tie(&short, &others),
            joined(&short, &[&depths, ["…"].as_slice()].concat()),
        ]);
    }
    // That something is left out is said where nothing of it has room.
    if !all.is_empty() {
        forms.extend([joined(value, &["…"]), joined(&short, &["…"])]);
    }
    if !tied.is_empty() {
        forms.extend([joined(value, &[]), joined(&short, &[])]);
    }
    let fitting = forms.into_iter().find(|form| form.chars().count() < column);
    fitting.unwrap_or_else(|| value.to_owned())
}

/// Whether others are as good as what is shown, and nothing beside it says so yet: for a line below.
pub(super) fn lacks_tie(shown: &str, outcome: &ReadingOutcome) -> bool {
    is_tied(outcome) && !shown.ends_with(TIED)
}

/// Whether the conditions name others that are as good.
fn is_tied(outcome: &ReadingOutcome) -> bool {
    let ReadingOutcome::Measured { conditions, .. } = outcome else {
        return false;
    };
    names_ties(conditions)
}

/// The same of the conditions themselves.
pub(super) fn names_ties(conditions: &str) -> bool {
    conditions
        .split("; ")
        .skip(1)
        .any(|part| part.starts_with("ties with"))
}

/// The first words of conditions in brief, and what stands behind them.
fn setting_of(brief: &str) -> (&str, Vec<&str>) {
    let mut parts = brief.strip_suffix(TIED).unwrap_or(brief).split(", ");
    (parts.next().unwrap_or_default(), parts.collect())
}

/// Conditions in brief: their first words, and from the depth on what tells the cell from others, and that others are as good, without which
/// the figure is of no known setting.
pub(super) fn in_brief(conditions: &str) -> String {
    let setting = conditions.split("; ").next().unwrap_or_default();
    let mut parts = setting.split(", ");
    let mut brief = parts.next().unwrap_or_default().to_owned();
    // What a setting without a depth has besides its name is in the report.
    if !setting.contains("QD ") && setting.contains(", ") {
        brief.push_str(", …");
    }
    for part in parts.skip_while(|part| !part.contains("QD ")) {
        brief.push_str(", ");
        brief.push_str(part);
    }
    if names_ties(conditions) {
        brief.push_str(TIED);
    }
    brief
}

#[cfg(test)]
mod tests {
    use outcrop_measure::Interval;
    use outcrop_measure::metric::Unit;

    use super::*;
    use crate::number::Number;

    #[test]
    fn conditions_in_brief_keep_the_depth_what_differs_and_the_tie() {
        for (conditions, brief) in [
            (
                "4 KiB random, QD 32; ties with 1 other",
                "4 KiB random, QD 32 (tied)",
            ),
            (
                "4 KiB random, 4 jobs × QD 8, sync none; ties with 2 others",
                "4 KiB random, 4 jobs × QD 8, sync none (tied)",
            ),
            ("fjall lz4 16KiB; slowest write 3 ms", "fjall lz4 16KiB"),
            ("", ""),
        ] {
            assert_eq!(in_brief(conditions), brief);
        }
    }

    #[test]
    fn what_a_name_says_of_its_figure_stands_beside_it_where_there_is_room() {
        let conditions = "fjall lz4 16KiB (0.532 without the store's log), ycsb-b zipfian".to_owned();
        let number = Number::derived("space amplification", 1.63, Unit::Ratio, 3);
        let outcome = ReadingOutcome::Measured { number, conditions };
        let shown = |column: usize| with_depth("1.63", &outcome, "amplification", (false, false), column);
        assert_eq!(shown(40), "1.63 (0.532 without the store's log), …");
        assert_eq!(shown(39), "1.63, …");
    }

    #[test]
    fn a_figure_with_a_wide_interval_gives_up_its_unit_and_its_depth_before_how_it_was_synced() {
        let number = Number {
            interval: Some(Interval {
                estimate: 36_900.0,
                low: 4_730.0,
                high: 39_300.0,
                confidence: 0.75,
                n: 3,
            }),
            ..Number::derived("iops", 36_900.0, Unit::PerSecond, 3)
        };
        let value = number.with_ends().replace("/s", " IOPS");
        assert_eq!(value, "36.9 k IOPS (4.73–39.3)");
        let conditions = "4 KiB random, QD 8, sync none".to_owned();
        let outcome = ReadingOutcome::Measured { number, conditions };
        let shown = |column: usize| with_depth(&value, &outcome, "IOPS", (false, false), column);
        for (column, expected) in [
            (42, "36.9 k IOPS (4.73–39.3), QD 8, sync none"),
            (40, "36.9 k (4.73–39.3), QD 8, sync none"),
            (36, "36.9 k (4.73–39.3), QD 8, sync none"),
            (35, "36.9 k (4.73–39.3), sync none, …"),
            (33, "36.9 k (4.73–39.3), sync none, …"),
            (32, "36.9 k (4.73–39.3), sync none"),
            (30, "36.9 k (4.73–39.3), sync none"),
            (29, "36.9 k (4.73–39.3), QD 8, …"),
            (27, "36.9 k IOPS (4.73–39.3), …"),
            (25, "36.9 k (4.73–39.3), …"),
            (20, "36.9 k IOPS (4.73–39.3)"),
        ] {
            assert_eq!(shown(column), expected, "{column}");
        }
    }
}
