//! The table of what the subject of a layer can do, on a terminal.

use std::collections::BTreeSet;

use super::beside::{TIED, in_brief, is_of_one_access, lacks_tie, with_circumstances, with_depth};
use super::{INDENT, Pen, indented, pad};
use crate::answer::{Answer, ReadingOutcome};
use crate::number::Number;
use crate::wrap::wrapped;

/// The widths of a table's columns.
#[derive(Clone, Copy)]
struct Widths {
    label: usize,
    column: usize,
    all: usize,
}

/// How much a table says of where its figures were reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settings {
    /// All of it.
    Whole,
    /// The first words, with the depth, what else tells it from other cells, and whether others tie: `fjall lz4 16KiB`,
    /// `4 KiB random, QD 32, sync each (tied)`.
    Brief,
    /// The access, the depth and what stands behind it, beside the value where there is room, in this order the first to go; whether others
    /// tie in any case. The report has the rest.
    Left,
}

/// The table of what the subject can do, the lines of each row: values, their intervals where the line has no room for them, and conditions
/// where they differ by row. The heading comes first.
pub(super) fn capabilities(answer: &Answer, settings: Settings, width: usize, pen: Pen) -> Vec<Vec<String>> {
    let Some(first) = answer.capabilities.first() else {
        return Vec::new();
    };
    let labels = answer.capabilities.iter().map(|row| row.label.chars().count());
    let label = labels.max().unwrap_or(0) + 2;
    let widths = Widths {
        label,
        column: (width - label) / first.readings.len().max(1),
        all: width,
    };
    let columns: Vec<&str> = first
        .readings
        .iter()
        .map(|reading| reading.column.as_str())
        .collect();
    let mut rows = vec![widths.head(&columns, pen)];
    for capability in &answer.capabilities {
        let outcomes: Vec<&ReadingOutcome> = capability.readings.iter().map(|one| &one.outcome).collect();
        let (mut values, mut ends) = values(&outcomes, widths);
        let conditions: Vec<String> = outcomes
            .iter()
            .map(|outcome| conditions(outcome, settings))
            .collect();
        // A label that says the depth has said where, unless there is more to say: `4 KiB random, QD 1, sync none`.
        let said: BTreeSet<&str> = conditions
            .iter()
            .map(|words| words.trim())
            .filter(|words| !words.is_empty())
            .collect();
        let is_usual = said.len() <= 1 && said.iter().all(|words| words.matches(", ").count() <= 1);
        let mut is_said =
            capability.label.contains("QD") && is_usual || conditions.iter().all(String::is_empty);
        // What the label does not say, beside the values: `45.6 µs (42.5–53.8), sync none`.
        let is_of_one_access = is_of_one_access(&outcomes);
        if capability.label.contains("QD") && is_of_one_access && !is_said {
            let both: Vec<String> = values.iter().zip(&conditions).map(with_circumstances).collect();
            if widths.fit(&both) {
                values = both;
                is_said = true;
            }
        }
        if settings == Settings::Left {
            let is_depth_said = capability.label.contains("QD");
            let said = (is_depth_said, is_depth_said && is_of_one_access);
            let unit = capability.label.rsplit(' ').next().unwrap_or_default();
            let both = values.iter().zip(&outcomes);
            let with_depth =
                both.map(|(value, outcome)| with_depth(value, outcome, unit, said, widths.column));
            values = with_depth.collect();
            ends = with_ties(&values, ends, &outcomes);
        }
        // One column leaves room for both on a line.
        if let ([value], [conditions], false) = (values.as_mut_slice(), conditions.as_slice(), is_said) {
            let both = format!("{value}{conditions}");
            if widths.fit(&[&both]) {
                *value = both;
                is_said = true;
            }
        }
        let mut lines = vec![widths.row(&capability.label, &values)];
        lines.extend(widths.below(&columns, &ends));
        if !is_said {
            lines.extend(widths.below(&columns, &conditions));
        }
        rows.push(lines);
    }
    rows
}

/// The values of a row with their intervals; where one has no room for its own, without them, and all intervals for the line below. Half an
/// interval would mislead, and so would a row that leaves out the widest.
fn values(outcomes: &[&ReadingOutcome], widths: Widths) -> (Vec<String>, Vec<String>) {
    let spelled = |of_number: fn(&Number) -> String| -> Vec<String> {
        let spell = |outcome: &&ReadingOutcome| match outcome {
            ReadingOutcome::Measured { number, .. } => of_number(number),
            ReadingOutcome::Missing(absence) => absence.in_short().to_owned(),
        };
        outcomes.iter().map(spell).collect()
    };
    let whole = spelled(Number::with_ends);
    if widths.fit(&whole) {
        return (whole, Vec::new());
    }
    let ends = outcomes.iter().map(|outcome| match outcome {
        ReadingOutcome::Measured { number, .. } => number.ends_in_parentheses().unwrap_or_default(),
        ReadingOutcome::Missing(_) => String::new(),
    });
    (spelled(Number::to_string), ends.collect())
}

/// The table and a blank line below it, before which a table of several columns says what its marks of ties are about: two marks beside each
/// other look as if the columns tied.
pub(super) fn with_legend(rows: &[Vec<String>], is_of_several: bool) -> Vec<String> {
    let mut lines = rows.concat();
    if is_of_several && lines.iter().any(|line| line.contains(TIED)) {
        lines.push("(tied): with others in its column".to_owned());
    }
    lines.push(String::new());
    lines
}

/// What stands below values, with a mark of those that tie without saying so beside the value.
fn with_ties(values: &[String], mut ends: Vec<String>, outcomes: &[&ReadingOutcome]) -> Vec<String> {
    ends.resize(values.len(), String::new());
    for ((end, value), outcome) in ends.iter_mut().zip(values).zip(outcomes) {
        if lacks_tie(value, outcome) {
            end.push_str(TIED);
        }
    }
    ends
}

fn conditions(outcome: &ReadingOutcome, settings: Settings) -> String {
    match outcome {
        ReadingOutcome::Measured { .. } if settings == Settings::Left => String::new(),
        ReadingOutcome::Measured { conditions, .. } if settings == Settings::Brief => {
            let brief = in_brief(conditions);
            if brief.is_empty() {
                brief
            } else {
                format!("  {brief}")
            }
        }
        ReadingOutcome::Measured { conditions, .. } if conditions.is_empty() => String::new(),
        ReadingOutcome::Measured { conditions, .. } => format!("  {}", conditions.replace(" jobs × ", "×")),
        ReadingOutcome::Missing(_) => String::new(),
    }
}

/// Says in a table's heading, above the labels, what is left to the report: in the first words that leave a blank before the next column.
pub(super) fn say_left_out(head: &mut String, words: &[String]) {
    let start = head.find(' ').unwrap_or(head.len());
    let blanks = head[start..].chars().take_while(|one| *one == ' ').count();
    if let Some(fitting) = words.iter().find(|words| words.len() < blanks) {
        head.replace_range(start..start + fitting.len(), fitting);
    }
}

impl Widths {
    fn fit<T: AsRef<str>>(self, texts: &[T]) -> bool {
        texts
            .iter()
            .all(|text| text.as_ref().chars().count() < self.column)
    }

    /// A label and its columns, with at least a blank between them.
    fn row<T: AsRef<str>>(self, label: &str, columns: &[T]) -> String {
        let mut line = pad(label, self.label);
        for column in columns {
            line.push_str(&pad(&cut(column.as_ref(), self.column - 1), self.column));
        }
        line.trim_end().to_owned()
    }

    /// The names of the columns, each in as many lines as it needs: of two percentiles the end tells which. Two blanks keep those of several
    /// clauses apart.
    fn head(self, columns: &[&str], pen: Pen) -> Vec<String> {
        let gap = |column: &str| 1 + usize::from(column.contains(", "));
        let names = columns
            .iter()
            .map(|column| wrapped(column, self.column - gap(column), 0));
        let names: Vec<Vec<String>> = names.collect();
        let most = names.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let line = |index: usize| {
            let words = names
                .iter()
                .map(|name| name.get(index).map_or("", String::as_str));
            pen.bold(&self.row("", &words.collect::<Vec<_>>()))
        };
        (0..most).map(line).collect()
    }

    /// What belongs to the values above: in their columns where it fits, else one after the other, each with its column's name.
    fn below(self, columns: &[&str], texts: &[String]) -> Vec<String> {
        if texts.iter().all(String::is_empty) {
            return Vec::new();
        }
        if self.fit(texts) {
            return vec![self.row("", texts)];
        }
        // What stands beside the best has a line of its own where that keeps each column together: `ties with 2 others`.
        let parts: Vec<Vec<String>> = texts.iter().map(|text| parts_of(text)).collect();
        if columns.len() > 1 && parts.iter().all(|parts| self.fit(parts)) {
            let most = parts.iter().map(Vec::len).max().unwrap_or(0);
            let part = |place: usize| {
                let of_columns = parts
                    .iter()
                    .map(|parts| parts.get(place).map_or("", String::as_str));
                self.row("", &of_columns.collect::<Vec<_>>())
            };
            return (0..most).map(part).collect();
        }
        let named = columns.iter().zip(texts).filter(|(_, text)| !text.is_empty());
        let named: Vec<String> = named
            .map(|(column, text)| match columns {
                [_] => text.trim().to_owned(),
                // It begins with its column's name: `rocksdb lz4 4KiB`.
                _ if text.trim().starts_with(column) => text.trim().to_owned(),
                _ => format!("{column}: {}", text.trim()),
            })
            .collect();
        let lines = wrapped(&named.join("; "), self.all - 2 * INDENT, 0);
        lines.iter().map(|line| indented(&indented(line))).collect()
    }
}

/// The parts of a text that semicolons separate, each with the blanks that the first begins with.
fn parts_of(text: &str) -> Vec<String> {
    let indent = &text[..text.len() - text.trim_start().len()];
    let parts = text.trim_start().split("; ");
    parts.map(|part| format!("{indent}{part}")).collect()
}

/// A text that is cut shows it.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use outcrop_measure::Interval;
    use outcrop_measure::metric::Unit;

    use super::*;
    use crate::answer::{Capability, Reading};

    #[test]
    fn the_widest_interval_of_a_row_is_never_the_one_that_is_left_out() {
        let speed = |value: f64, low: f64, high: f64| Number {
            interval: Some(Interval {
                estimate: value,
                low,
                high,
                confidence: 0.94,
                n: 5,
            }),
            ..Number::derived("speed", value, Unit::BytesPerSecond, 5)
        };
        let numbers = [
            speed(264e6, 36.1e6, 326e6),
            speed(264e6, 260e6, 266e6),
            speed(1.01e9, 770e6, 1.44e9),
        ];
        let reading =
            |number: &Number| Reading::of("Codec", Some((number.clone(), String::new())), String::new);
        let answer = Answer {
            capabilities: vec![Capability {
                label: "Decompress speed".to_owned(),
                readings: numbers.iter().map(reading).collect(),
            }],
            ..Answer::default()
        };
        for width in [60, 80, 100, 160] {
            let rows = capabilities(&answer, Settings::Whole, width, Pen { colour: false });
            let lines = rows[1].join(" ");
            let lines = lines.split_whitespace().collect::<Vec<_>>().join(" ");
            for number in &numbers {
                let ends = number.ends_in_parentheses().unwrap();
                assert!(lines.contains(&ends), "{width}: {lines}");
            }
            assert!(
                rows[1].iter().all(|line| line.chars().count() <= width),
                "{width}: {lines}"
            );
        }
    }

    #[test]
    fn the_head_of_a_column_is_never_cut_without_a_sign_and_keeps_its_percentile() {
        let heads = [
            "rows of a value, p50",
            "rows of a value on disk, p99",
            "range of a tenth, p50",
        ];
        let reading = |head: &&str| Reading::of(head, None, String::new);
        let answer = Answer {
            capabilities: vec![Capability {
                label: "lineitem/l_comment".to_owned(),
                readings: heads.iter().map(reading).collect(),
            }],
            ..Answer::default()
        };
        for width in [60, 80, 100, 160] {
            let head = &capabilities(&answer, Settings::Whole, width, Pen { colour: false })[0];
            assert!(head.iter().all(|line| line.chars().count() <= width), "{head:?}");
            let words: Vec<&str> = head.iter().flat_map(|line| line.split_whitespace()).collect();
            let count = |word: &str| words.iter().filter(|seen| **seen == word).count();
            assert_eq!(
                (count("p50"), count("p99"), count("value,")),
                (2, 1, 1),
                "{width}: {head:?}"
            );
        }
        assert_eq!(cut("microseconds", 8), "microse…");
    }

    #[test]
    fn figures_without_room_for_their_settings_still_name_the_depth_and_what_differs() {
        let number = |value| Number::derived("iops", value, Unit::PerSecond, 1);
        let rows = [
            (
                "Highest IOPS",
                "4 KiB random, QD 16, sync each; ties with 1 other",
            ),
            ("QD 1 latency, p50", "4 KiB random, QD 1, sync none"),
        ];
        let reading = |conditions: &str| {
            Reading::of(
                "Writes",
                Some((number(42_600.0), conditions.to_owned())),
                String::new,
            )
        };
        let answer = Answer {
            capabilities: rows
                .map(|(label, conditions)| Capability {
                    label: label.to_owned(),
                    readings: vec![reading("4 KiB random, QD 32"), reading(conditions)],
                })
                .into(),
            ..Answer::default()
        };
        let lines = |settings, width| -> Vec<String> {
            let rows = capabilities(&answer, settings, width, Pen { colour: false });
            rows.concat()
        };
        let left = lines(Settings::Left, 100);
        assert_eq!(left.len(), 3, "a line each: {left:?}");
        assert!(left[1].ends_with("42.6 k/s, QD 16, sync each (tied)"), "{left:?}");
        assert!(left[2].ends_with("42.6 k/s, sync none"), "{left:?}");
        // What decides the figure stays before the depth does, and is never left out without a sign.
        let narrow = lines(Settings::Left, 64);
        assert!(narrow[1].ends_with("42.6 k/s, sync each"), "{narrow:?}");
        assert_eq!(narrow[2].trim(), "(tied)", "{narrow:?}");
        let narrowest = lines(Settings::Left, 58);
        assert!(narrowest[1].ends_with("42.6 k/s, … (tied)"), "{narrowest:?}");
        let brief = lines(Settings::Brief, 120).join("\n");
        for part in ["QD 16, sync each (tied)", "42.6 k/s, sync none"] {
            assert!(brief.contains(part), "{part}: {brief}");
        }
    }

    #[test]
    fn a_tie_is_marked_beside_a_figure_or_below_it_and_the_access_where_there_is_room() {
        let number = Number::derived("bandwidth", 944e6, Unit::BytesPerSecond, 1);
        let lines = |conditions: &str, width| {
            let found = Some((number.clone(), conditions.to_owned()));
            let answer = Answer {
                capabilities: vec![Capability {
                    label: "Highest bandwidth".to_owned(),
                    readings: vec![Reading::of("Reads", found, String::new)],
                }],
                ..Answer::default()
            };
            capabilities(&answer, Settings::Left, width, Pen { colour: false })[1].clone()
        };
        for (width, expected) in [
            (58, "944 MB/s, 1 MiB random, QD 32 (tied)"),
            (55, "944 MB/s, 1 MiB, QD 32 (tied)"),
            (48, "944 MB/s, QD 32 (tied)"),
            (40, "944 MB/s, … (tied)"),
            (36, "944 MB/s (tied)"),
        ] {
            let shown = lines("1 MiB random, QD 32; ties with 1 other", width);
            assert_eq!(shown.len(), 1, "{shown:?}");
            assert!(shown[0].ends_with(&format!(" {expected}")), "{width}: {shown:?}");
        }
        let once = "1 MiB random, QD 32; one trial: its repeatability is unknown; ties with 1 other";
        assert!(
            lines(once, 60)[0].ends_with(" (tied)"),
            "behind other remarks, too"
        );
        let narrowest = lines(once, 32);
        assert_eq!(narrowest[1].trim(), "(tied)", "{narrowest:?}");
    }

    #[test]
    fn what_is_left_to_the_report_is_apart_from_the_first_column() {
        let of = |blanks: usize| {
            let mut head = format!("\u{1b}[1m{}Reads  Writes", " ".repeat(blanks));
            let words =
                ["settings in report.html", "settings in report", "rest in report"].map(str::to_owned);
            say_left_out(&mut head, &words);
            head
        };
        assert_eq!(of(24), "\u{1b}[1msettings in report.html Reads  Writes");
        assert_eq!(of(19), "\u{1b}[1msettings in report Reads  Writes");
        assert_eq!(of(18), "\u{1b}[1mrest in report    Reads  Writes");
        assert!(of(14).ends_with("1m              Reads  Writes"), "{}", of(14));
    }
}
