//! What differs between the environments of two runs, without what always does.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use crate::layout::TRIAL_LENGTHS;

/// One reading that differs between two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EnvironmentDifference {
    /// Where it stands in `environment.json`: `storage.filesystem.type`.
    pub path: String,
    /// The baseline's.
    pub baseline: String,
    /// The candidate's.
    pub candidate: String,
    /// It tells two machines apart, rather than two states of one.
    pub is_machine: bool,
    /// It tells two devices or filesystems apart, which one machine may have.
    pub is_storage: bool,
}

/// Readings that change from minute to minute and explain no difference.
const VOLATILE: [&str; 7] = [
    "read_at",
    "load",
    "memory.available_bytes",
    "memory.dirty_bytes",
    "memory.swap_free_bytes",
    "storage.filesystem.free_bytes",
    "storage.filesystem.available_bytes",
];
/// Readings that belong to the machine itself.
const MACHINE: [&str; 5] = [
    "cpu.model",
    "cpu.core_count",
    "cpu.package_count",
    "kernel.architecture",
    "virtualisation",
];
/// Readings that belong to the storage that was measured.
const STORAGE: [&str; 4] = [
    "storage.device.model",
    "storage.device.name",
    "storage.filesystem.type",
    "storage.filesystem.mount_point",
];

/// What one of two native runs does not have, as that of an earlier version.
const NOT_RECORDED: &str = "not recorded";
/// What stands before the reason of a reading that the machine did not give.
const UNAVAILABLE: &str = "unavailable";

/// The differences, by path. What a run of another program does not state is unknown and no difference. What one of two native runs lacks
/// is shown as that, and says nothing of the machine.
pub(super) fn differences(baseline: &Value, candidate: &Value) -> Vec<EnvironmentDifference> {
    if !(is_native(baseline) && is_native(candidate)) {
        return Vec::new();
    }
    let (mut a, mut b) = (BTreeMap::new(), BTreeMap::new());
    flatten(String::new(), baseline, &mut a);
    flatten(String::new(), candidate, &mut b);
    let paths: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    paths
        .into_iter()
        // The trials themselves say how long they took.
        .filter(|path| !is_below(path, &VOLATILE) && *path != TRIAL_LENGTHS)
        .filter_map(|path| difference(path, &a, &b))
        .collect()
}

/// Whether a run of ours was made there: an import has the results of another program, which do not describe the machine.
fn is_native(environment: &Value) -> bool {
    let readings = environment.as_object();
    readings.is_some_and(|readings| !readings.is_empty() && !readings.contains_key("imported"))
}

type Leaves = BTreeMap<String, String>;

fn difference(path: &str, a: &Leaves, b: &Leaves) -> Option<EnvironmentDifference> {
    let is_known = |leaves: &Leaves| leaves.get(path).is_some_and(|value| !is_unavailable(value));
    // Parts of a reading that the other side has as a whole are said with it.
    if is_part(path, a) || is_part(path, b) {
        return None;
    }
    let (baseline, candidate) = (value(path, a), value(path, b));
    let is_told = is_known(a) || is_known(b) || has_parts(path, a) || has_parts(path, b);
    let are_both_known = is_known(a) && is_known(b);
    (baseline != candidate && is_told).then(|| EnvironmentDifference {
        path: path.to_owned(),
        baseline,
        candidate,
        is_machine: are_both_known && is_below(path, &MACHINE),
        is_storage: are_both_known && is_below(path, &STORAGE),
    })
}

fn is_unavailable(value: &str) -> bool {
    value.starts_with(UNAVAILABLE)
}

/// Whether a side has a reading of which `path` is a part.
fn is_part(path: &str, leaves: &Leaves) -> bool {
    path.match_indices('.')
        .any(|(at, _)| leaves.contains_key(&path[..at]))
}

fn has_parts(path: &str, leaves: &Leaves) -> bool {
    leaves
        .keys()
        .any(|leaf| leaf.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
}

fn value(path: &str, leaves: &Leaves) -> String {
    match leaves.get(path) {
        Some(value) => value.clone(),
        None if has_parts(path, leaves) => "recorded".to_owned(),
        None => NOT_RECORDED.to_owned(),
    }
}

/// True for the readings themselves and for what is inside them.
fn is_below(path: &str, readings: &[&str]) -> bool {
    readings.iter().any(|reading| {
        path.strip_prefix(reading)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// Leaves by dotted path; an array of plain values is one leaf.
fn flatten(path: String, value: &Value, leaves: &mut BTreeMap<String, String>) {
    let below = |name: &str| {
        if path.is_empty() {
            name.to_owned()
        } else {
            format!("{path}.{name}")
        }
    };
    match value {
        Value::Object(members) if members.len() == 1 && members.contains_key(UNAVAILABLE) => {
            let reason = members[UNAVAILABLE].as_str().unwrap_or_default();
            leaves.insert(path, format!("{UNAVAILABLE} ({reason})"));
        }
        Value::Object(members) => {
            for (name, member) in members {
                flatten(below(name), member, leaves);
            }
        }
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            for (index, item) in items.iter().enumerate() {
                flatten(below(&index.to_string()), item, leaves);
            }
        }
        Value::String(text) => {
            leaves.insert(path, text.clone());
        }
        Value::Null => {}
        other => {
            leaves.insert(path, other.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use outcrop_probe::environment::Environment;

    use super::{MACHINE, STORAGE, UNAVAILABLE, VOLATILE};

    #[test]
    fn the_environment_of_this_machine_has_every_reading_that_is_named_here() {
        let here = serde_json::to_value(Environment::read(Path::new("."))).unwrap();
        for path in VOLATILE.iter().chain(&MACHINE).chain(&STORAGE) {
            let mut reading = &here;
            for name in path.split('.') {
                if reading.get(UNAVAILABLE).is_some() {
                    break;
                }
                reading = reading
                    .get(name)
                    .unwrap_or_else(|| panic!("nothing is at {path}"));
            }
        }
    }
}
