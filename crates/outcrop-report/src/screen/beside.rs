//! What stands beside the value of a figure: where it was reached.

use crate::answer::ReadingOutcome;

/// Behind conditions that others are as good as.
const TIED: &str = " (tied)";

/// A value with what stands behind the access and the depth of its conditions.
pub(super) fn with_circumstances((value, conditions): (&String, &String)) -> String {
    let circumstances = conditions
        .match_indices(", ")
        .nth(1)
        .map(|(at, _)| &conditions[at..]);
    format!("{value}{}", circumstances.unwrap_or_default())
}

/// A value with its depth and what stands behind that, in the first form that there is room for: without a unit that ends the label, then
/// without the depth, which says less than what tells the cell from others; else that something is left out. What the label says is not repeated.
pub(super) fn with_depth(
    value: &str,
    outcome: &ReadingOutcome,
    unit: &str,
    is_depth_said: bool,
    column: usize,
) -> String {
    let ReadingOutcome::Measured { conditions, .. } = outcome else {
        return value.to_owned();
    };
    let brief = in_brief(conditions);
    let (depths, others): (Vec<&str>, Vec<&str>) =
        brief.split(", ").skip(1).partition(|part| part.contains("QD "));
    let depths = if is_depth_said { Vec::new() } else { depths };
    // Ends with units of their own need them.
    let unit = format!(" {unit}");
    let short = match value.matches(&unit).count() {
        1 => value.replace(&unit, ""),
        _ => value.to_owned(),
    };
    let joined = |value: &str, parts: &[&str]| [&[value], parts].concat().join(", ");
    let all = [depths.as_slice(), &others].concat();
    let others_alone = others.join(", ").replace(TIED, "");
    let mut forms = vec![joined(value, &all), joined(&short, &all)];
    match others.is_empty() {
        true => forms.push(joined(&short, &depths).replace(TIED, "")),
        false => forms.extend([
            joined(value, &[&others_alone]),
            joined(&short, &[&others_alone]),
            joined(&short, &[&depths, ["…"].as_slice()].concat()),
        ]),
    }
    // That something is left out is said where nothing of it has room.
    if !all.is_empty() {
        forms.extend([joined(value, &["…"]), joined(&short, &["…"])]);
    }
    let fitting = forms.into_iter().find(|form| form.chars().count() < column);
    fitting.unwrap_or_else(|| value.to_owned())
}

/// Conditions in brief: their first words, and from the depth on what tells the cell from others, and that others are as good, without which
/// the figure is of no known setting.
pub(super) fn in_brief(conditions: &str) -> String {
    let (setting, beside) = conditions.split_once("; ").unwrap_or((conditions, ""));
    let mut parts = setting.split(", ");
    let mut brief = parts.next().unwrap_or_default().to_owned();
    for part in parts.skip_while(|part| !part.contains("QD ")) {
        brief.push_str(", ");
        brief.push_str(part);
    }
    if beside.starts_with("ties with") {
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
        let shown = |column: usize| with_depth(&value, &outcome, "IOPS", false, column);
        for (column, expected) in [
            (42, "36.9 k IOPS (4.73–39.3), QD 8, sync none"),
            (40, "36.9 k (4.73–39.3), QD 8, sync none"),
            (35, "36.9 k IOPS (4.73–39.3), sync none"),
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
