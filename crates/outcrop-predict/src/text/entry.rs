//! [`Entry`]: one application, component or measurement, as named fields of text.

use super::FileError;

/// Named fields of text, each with the place that it came from.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    /// For messages: `line 3`, or `[[component]] 2`.
    pub(super) place: String,
    fields: Vec<(String, String)>,
    /// Names that were asked for: what the reader knows.
    known: Vec<&'static str>,
    /// Whether it is a list of parameters, of which any number may be about something else.
    is_list: bool,
    /// What of such a list was not used.
    unused: Vec<String>,
}

/// Units that a name may end in, as in `latency_us`.
const UNITS: [&str; 21] = [
    "ns", "us", "µs", "ms", "s", "B", "kB", "KB", "KiB", "MB", "MiB", "GB", "GiB", "B/s", "kB/s", "MB/s",
    "MiB/s", "GB/s", "GiB/s", "W", "k",
];

impl Entry {
    fn at(place: String) -> Self {
        Self {
            place,
            ..Self::default()
        }
    }

    /// Whether it is a list of parameters.
    pub(super) const fn is_list(&self) -> bool {
        self.is_list
    }

    fn push(&mut self, name: &str, value: &str) {
        let value = value.trim();
        if !value.is_empty() {
            self.fields.push((canonical(name), value.to_owned()));
        }
    }

    /// Takes the first of these names that there is; a unit at the end of the name is put behind the value.
    pub(super) fn take(&mut self, names: &[&'static str]) -> Option<String> {
        self.known.extend(names);
        for name in names {
            if let Some(index) = self.fields.iter().position(|(field, _)| field == name) {
                return Some(self.fields.remove(index).1);
            }
            let with_unit = |(field, _): &(String, String)| unit_behind(field, name).is_some();
            if let Some(index) = self.fields.iter().position(with_unit) {
                let (field, value) = self.fields.remove(index);
                let unit = unit_behind(&field, name).unwrap_or_default();
                let has_unit = value.chars().any(char::is_alphabetic);
                return Some(if has_unit { value } else { format!("{value}{unit}") });
            }
        }
        None
    }

    /// An error about one field of this entry.
    pub(super) fn error(&self, name: &str, problem: impl Into<String>) -> FileError {
        FileError::at(format!("{}, `{name}`", self.place), problem)
    }

    /// An error about one field; in a list of parameters a note, and the field is left out.
    pub(super) fn refuse(&mut self, name: &str, problem: impl Into<String>) -> Result<(), FileError> {
        let error = self.error(name, problem);
        if !self.is_list {
            return Err(error);
        }
        self.unused.push(format!("{error}; it is not used"));
        Ok(())
    }

    /// A name that the reader does not know is a slip, except in a list of parameters. What was not used of such a list.
    pub(super) fn finish(self) -> Result<Vec<String>, FileError> {
        if self.is_list {
            let other = self.fields.iter();
            let other = other.map(|(name, _)| format!("{}, `{name}`: it is not used", self.place));
            return Ok(self.unused.iter().cloned().chain(other).collect());
        }
        let Some((name, _)) = self.fields.first() else {
            return Ok(Vec::new());
        };
        let nearest = self.known.iter().min_by_key(|known| distance(name, known));
        let hint = match nearest {
            Some(near) if distance(name, near) <= 1 + near.len() / 4 => format!("did you mean `{near}`?"),
            _ => format!("expected one of {}", self.known.join(", ")),
        };
        Err(self.error(name, format!("unknown name; {hint}")))
    }
}

/// Names in one spelling: `Block size` is `block_size`; units keep their letters.
fn canonical(name: &str) -> String {
    let name = name
        .trim()
        .trim_start_matches('\u{feff}')
        .replace([' ', '-', '.'], "_");
    match name.rsplit_once('_') {
        Some((before, unit)) if UNITS.contains(&unit) => format!("{}_{unit}", before.to_lowercase()),
        _ => name.to_lowercase(),
    }
}

fn unit_behind<'a>(field: &'a str, name: &str) -> Option<&'a str> {
    let unit = field.strip_prefix(name)?.strip_prefix('_')?;
    UNITS.contains(&unit).then_some(unit)
}

/// Rows under a header. Rows of `parameter` and `value` that name one thing become one entry.
pub(super) fn of_csv(text: &str, kind: &str) -> Result<Vec<Entry>, FileError> {
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let wrong = |error: csv::Error| FileError::at("CSV", error.to_string());
    let header: Vec<String> = reader.headers().map_err(wrong)?.iter().map(canonical).collect();
    let mut entries: Vec<Entry> = Vec::new();
    for row in reader.records() {
        let row = row.map_err(wrong)?;
        let line = row.position().map_or(0, csv::Position::line);
        let mut entry = Entry::at(format!("line {line}"));
        for (name, value) in header.iter().zip(row.iter()) {
            entry.push(name, value);
        }
        if header.iter().any(|name| name == "parameter") {
            add_parameter(&mut entries, entry, kind)?;
        } else {
            entries.push(entry);
        }
    }
    Ok(entries)
}

/// Adds a row of the long form (name, parameter, value, unit, source) to the entry of its name.
fn add_parameter(entries: &mut Vec<Entry>, mut row: Entry, kind: &str) -> Result<(), FileError> {
    let name = row.take(&["name", "component", "application", "device", "system"]);
    let parameter = row.take(&["parameter"]);
    let value = row.take(&["value"]);
    let unit = row.take(&["unit"]).unwrap_or_default();
    let (Some(name), Some(parameter)) = (name, parameter) else {
        return Err(FileError::at(
            row.place,
            format!("expected the name of a {kind} and a parameter"),
        ));
    };
    let value = value.unwrap_or_default();
    let is_number = |text: &str| text.trim().parse::<f64>().is_ok();
    let value = match value.split_once('+') {
        _ if is_number(&value) => format!("{value}{unit}"),
        // The unit is that of the constant part: `11.6 + 1.095 ns/B*n`.
        Some((base, per_byte)) if is_number(base) => format!("{}{unit} + {per_byte}", base.trim()),
        _ => value,
    };
    let entry = match entries.iter_mut().find(|entry| entry.fields[0].1 == name) {
        Some(entry) => entry,
        None => {
            let mut entry = Entry::at(name.clone());
            entry.is_list = true;
            entry.push("name", &name);
            entries.push(entry);
            entries
                .last_mut()
                .ok_or_else(|| FileError::at("file", "it is empty"))?
        }
    };
    entry.push(&parameter, &value);
    let has_source = entry.fields.iter().any(|(field, _)| field == "source");
    if let Some(source) = row.take(&["source"]).filter(|_| !has_source) {
        entry.push("source", &source);
    }
    Ok(())
}

/// The `[[kind]]` tables; tables inside them become fields with both names, and lists become commas.
pub(super) fn of_toml(text: &str, kind: &str) -> Result<Vec<Entry>, FileError> {
    let document: toml::Table = text
        .parse()
        .map_err(|error: toml::de::Error| FileError::at("TOML", error.to_string().trim_end().to_owned()))?;
    let mut entries = Vec::new();
    for (key, value) in &document {
        if key != kind && key != &format!("{kind}s") {
            let known = ["application", "component", "measured"];
            if known
                .iter()
                .any(|known| key == known || *key == format!("{known}s"))
            {
                continue;
            }
            return Err(FileError::at(
                format!("`{key}`"),
                format!("unknown at the top of the file; expected [[{kind}]] tables"),
            ));
        }
        let tables = match value {
            toml::Value::Array(tables) => tables.clone(),
            table => vec![table.clone()],
        };
        for (index, table) in tables.iter().enumerate() {
            let mut entry = Entry::at(format!("[[{kind}]] {}", index + 1));
            let toml::Value::Table(table) = table else {
                return Err(FileError::at(entry.place, "expected a table"));
            };
            flatten(&mut entry, "", table)?;
            entries.push(entry);
        }
    }
    Ok(entries)
}

fn flatten(entry: &mut Entry, prefix: &str, table: &toml::Table) -> Result<(), FileError> {
    for (key, value) in table {
        let name = if prefix.is_empty() {
            key.clone()
        } else {
            format!("{prefix}_{key}")
        };
        match value {
            // { 4KiB = "27us" } is a list of points.
            toml::Value::Table(points)
                if points
                    .keys()
                    .all(|key| key.starts_with(|c: char| c.is_ascii_digit())) =>
            {
                let points: Vec<String> = points
                    .iter()
                    .map(|(size, value)| format!("{}@{size}", plain(value)))
                    .collect();
                entry.push(&name, &points.join(", "));
            }
            toml::Value::Table(inner) => flatten(entry, &name, inner)?,
            toml::Value::Datetime(_) => {
                return Err(entry.error(&name, "it is a date; expected text or a number"));
            }
            value => entry.push(&name, &plain(value)),
        }
    }
    Ok(())
}

fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(", "),
        value => value.to_string(),
    }
}

/// Levenshtein's distance.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in other.iter().enumerate() {
            let substituted = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[other.len()]
}
