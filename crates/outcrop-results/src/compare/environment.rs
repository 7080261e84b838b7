//! What differs between the environments of two runs, without what always does.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

/// One reading that differs between two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EnvironmentDifference {
    /// Where it stands in `environment.json`: `storage.filesystem.kind`.
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
    "storage.filesystem.type_name",
    "storage.filesystem.mount_point",
];

/// The differences, by path. What one side does not state, as an imported run does not, is unknown and no difference.
pub(super) fn differences(baseline: &Value, candidate: &Value) -> Vec<EnvironmentDifference> {
    let (mut a, mut b) = (BTreeMap::new(), BTreeMap::new());
    flatten(String::new(), baseline, &mut a);
    flatten(String::new(), candidate, &mut b);
    let differs = |(path, baseline, candidate): &(&String, &String, &String)| {
        baseline != candidate && !is_below(path, &VOLATILE)
    };
    a.iter()
        .filter_map(|(path, baseline)| Some((path, baseline, b.get(path)?)))
        .filter(differs)
        .map(|(path, baseline, candidate)| EnvironmentDifference {
            path: path.clone(),
            baseline: baseline.clone(),
            candidate: candidate.clone(),
            is_machine: is_below(path, &MACHINE),
            is_storage: is_below(path, &STORAGE),
        })
        .collect()
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
        other => {
            leaves.insert(path, other.to_string());
        }
    }
}
