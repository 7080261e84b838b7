//! The machine that a run was made on, read back from `environment.json`.

use outcrop_probe::environment::Environment;
use serde::Serialize;
use serde_json::Value;

/// One fact about the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// The part of the machine (`cpu`).
    pub section: String,
    /// The fact's name (`model`).
    pub name: String,
    /// What it is, or `unavailable: …`.
    pub value: String,
}

/// All facts in reading order; for a file of another form, one fact that says so.
pub(crate) fn facts(environment: &Value) -> Vec<Fact> {
    match parse(environment) {
        Ok(environment) => {
            let fact = |(section, name, value)| Fact { section, name, value };
            environment.describe().into_iter().map(fact).collect()
        }
        Err(reason) => vec![Fact {
            section: "environment".to_owned(),
            name: "environment.json".to_owned(),
            value: format!("unavailable: not in the form that this version reads ({reason})"),
        }],
    }
}

/// What disturbs measurements on this machine, as sentences.
pub(crate) fn warnings(environment: &Value) -> Vec<String> {
    let sentences = parse(environment)
        .map(|environment| environment.warnings())
        .unwrap_or_default();
    sentences.iter().map(|clause| sentence(clause)).collect()
}

/// Device and filesystem in a line: `ext4 on Samsung SSD 980 (nvme0n1, 500 GB)`; empty where unknown.
pub(crate) fn storage_line(environment: &Value) -> String {
    let Ok(environment) = parse(environment) else {
        return String::new();
    };
    let filesystem = environment
        .storage
        .filesystem
        .known()
        .map(|filesystem| filesystem.type_name.clone());
    let device = environment.storage.device.known().map(|device| {
        let size = device.size_bytes.known().map(|bytes| {
            // Drives are sold in decimal units.
            format!(
                ", {}",
                outcrop_measure::units::format_bandwidth(*bytes as f64).trim_end_matches("/s")
            )
        });
        let model = device.model.known().map_or(device.kind.as_str(), String::as_str);
        format!("{model} ({}{})", device.name, size.unwrap_or_default())
    });
    [filesystem, device]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" on ")
}

fn parse(environment: &Value) -> Result<Environment, serde_json::Error> {
    <Environment as serde::Deserialize>::deserialize(environment)
}

/// A clause as a sentence: capital letter, full stop.
fn sentence(clause: &str) -> String {
    let mut letters = clause.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string())
        .unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}
