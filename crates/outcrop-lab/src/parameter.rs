//! What a layer accepts in a plan: the names of its parameters, what each may be, and its default.

use std::collections::BTreeMap;
use std::str::FromStr;

/// Parameter name to value, every value in its canonical spelling.
pub type Settings = BTreeMap<String, String>;

/// One parameter of a layer's subject or workload.
///
/// The canonical spelling matters: `4k` and `4KiB` are the same cell.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its key in plans and its factor name in records.
    pub name: &'static str,
    /// The value when a plan gives none; `None` where the layer decides by the subject.
    pub default: Option<&'static str>,
    /// The canonical spelling of a value, or a sentence with the value seen and what is accepted.
    pub canonical: fn(&str) -> Result<String, String>,
}

/// A value that a layer does not accept in its context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The parameter at fault; it decides which line of the plan is shown.
    pub parameter: &'static str,
    /// What was seen and what is accepted.
    pub message: String,
}

impl Refusal {
    /// A refusal of one parameter's value.
    pub fn of(parameter: &'static str, message: impl Into<String>) -> Self {
        Self {
            parameter,
            message: message.into(),
        }
    }
}

/// The canonical spelling of a value that has a type of its own.
pub(crate) fn spelling<T: FromStr<Err: ToString> + ToString>(text: &str) -> Result<String, String> {
    text.parse::<T>()
        .map(|value| value.to_string())
        .map_err(|error| error.to_string())
}

/// The entry of `known` that `text` names, or a sentence with the names; `what` is the parameter.
pub(crate) fn one_of<T: Copy>(
    text: &str,
    what: &str,
    known: &[(&'static str, T)],
) -> Result<(&'static str, T), String> {
    let found = known.iter().find(|(name, _)| *name == text).copied();
    found.ok_or_else(|| {
        let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
        format!("unknown {what} {text:?}; {}", hint(text, &names))
    })
}

/// A whole number from 1 to `most`, in its canonical spelling.
pub(crate) fn count(text: &str, most: u64) -> Result<String, String> {
    match text.parse::<u64>() {
        Ok(count) if (1..=most).contains(&count) => Ok(count.to_string()),
        _ => Err(format!(
            "`{text}` is not accepted; expected a whole number from 1 to {most}"
        )),
    }
}

/// The name among `known` that `seen` is most likely a slip of, if any is near.
///
/// Near is at most two edits (insert, delete, replace, swap of neighbours), and fewer than half of the name.
pub(crate) fn nearest<'k>(seen: &str, known: &[&'k str]) -> Option<&'k str> {
    let scored = known.iter().map(|name| (edit_distance(seen, name), *name));
    scored
        .filter(|(distance, name)| *distance <= 2 && distance * 2 < name.len().max(seen.len()))
        .min()
        .map(|(_, name)| name)
}

/// "did you mean `x`?" where something is near, the list of what is accepted otherwise.
pub(crate) fn hint(seen: &str, known: &[&str]) -> String {
    match nearest(seen, known) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("accepted: {}", known.join(", ")),
    }
}

/// Optimal string alignment distance over characters.
fn edit_distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    let mut rows = vec![vec![0usize; right.len() + 1]; left.len() + 1];
    rows[0] = (0..=right.len()).collect();
    for i in 1..=left.len() {
        rows[i][0] = i;
        for j in 1..=right.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(left[i - 1] != right[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            let swapped = i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
            if swapped {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[left.len()][right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_hand_are_recognised_and_other_words_are_not() {
        let known = ["queue_depth", "jobs", "io_block_size"];
        assert_eq!(nearest("queue_dpeth", &known), Some("queue_depth"));
        assert_eq!(nearest("queuedepth", &known), Some("queue_depth"));
        assert_eq!(nearest("job", &known), Some("jobs"));
        assert_eq!(nearest("colour", &known), None);
        assert_eq!(nearest("", &known), None);
    }
}
