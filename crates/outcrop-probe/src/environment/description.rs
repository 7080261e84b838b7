//! The environment as lines for people: section, name and text.

use outcrop_measure::units::format_bytes;
use serde_json::Value;

use super::Environment;

impl Environment {
    /// Every field as (section, name, text), in order; a field without a value says why.
    ///
    /// Sections and names are those of the JSON form with blanks for underscores; units move from the name to
    /// the text (`total_bytes: 8589934592` becomes `total` and `8.59 GB`).
    pub fn describe(&self) -> Vec<(String, String, String)> {
        let value = serde_json::to_value(self).unwrap_or_else(|error| Value::from(error.to_string()));
        let mut lines = Vec::new();
        if let Value::Object(sections) = value {
            for (section, content) in &sections {
                match content {
                    Value::Object(_) => describe_value(section, "", content, &mut lines),
                    _ => describe_value("run", section, content, &mut lines),
                }
            }
        }
        lines
    }
}

fn describe_value(section: &str, name: &str, value: &Value, lines: &mut Vec<(String, String, String)>) {
    let line = |text: String| (section.to_owned(), in_words(name), text);
    match value {
        Value::Object(fields) => match fields.get("unavailable").and_then(Value::as_str) {
            Some(reason) if fields.len() == 1 => lines.push(line(format!("unavailable: {reason}"))),
            _ => {
                for (field, content) in fields {
                    let nested = if name.is_empty() {
                        field.clone()
                    } else {
                        format!("{name} {field}")
                    };
                    describe_value(section, &nested, content, lines);
                }
            }
        },
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (index, item) in items.iter().enumerate() {
                let mut parts = Vec::new();
                describe_value(section, "", item, &mut parts);
                let parts: Vec<String> = parts
                    .into_iter()
                    .map(|(_, name, text)| format!("{name} {text}"))
                    .collect();
                let numbered = format!("{} {}", in_words(name), index + 1);
                lines.push((section.to_owned(), numbered, parts.join(", ")));
            }
        }
        Value::Array(items) if items.is_empty() => lines.push(line("none".to_owned())),
        Value::Array(items) => {
            lines.push(line(items.iter().map(plain_text).collect::<Vec<_>>().join(", ")));
        }
        _ => lines.push(line(with_unit(name, value))),
    }
}

type Printer = fn(f64) -> String;

/// Units that names end in, and how to print them.
const UNITS: [(&str, Printer); 5] = [
    ("_bytes", |value| format_bytes(value as u64)),
    ("_kib", |value| format!("{value} KiB")),
    ("_khz", |value| format!("{:.2} GHz", value / 1e6)),
    ("_us", |value| format!("{value} µs")),
    ("_percent", |value| format!("{value} %")),
];

fn with_unit(name: &str, value: &Value) -> String {
    let unit = UNITS.iter().find(|(suffix, _)| name.ends_with(suffix));
    match (unit, value.as_f64()) {
        (Some((_, format)), Some(number)) => format(number),
        _ => plain_text(value),
    }
}

fn in_words(name: &str) -> String {
    let without_unit = UNITS
        .iter()
        .find_map(|(suffix, _)| name.strip_suffix(suffix))
        .unwrap_or(name);
    without_unit
        .strip_suffix("_count")
        .map_or_else(|| without_unit.to_owned(), |thing| format!("{thing}s"))
        .replace('_', " ")
}

fn plain_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Null => "not given".to_owned(),
        other => other.to_string(),
    }
}
