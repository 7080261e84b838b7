//! The machine that a run was made on, read back from `environment.json`.

use outcrop_measure::units::format_bandwidth;
use outcrop_probe::environment::Environment;
use serde::Serialize;
use serde_json::Value;

use crate::finding::as_sentence;
use crate::number::counted;

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
    if let Some(imported) = imported(environment) {
        return vec![Fact {
            section: "machine".to_owned(),
            name: "imported".to_owned(),
            value: imported,
        }];
    }
    match parse(environment) {
        Ok(environment) => {
            let fact = |(section, name, value)| Fact { section, name, value };
            environment.describe().into_iter().map(fact).collect()
        }
        Err(reason) => vec![Fact {
            section: "environment".to_owned(),
            name: "environment.json".to_owned(),
            value: format!("unavailable: this version cannot read it ({reason})"),
        }],
    }
}

/// CPUs that the measuring process could run on; `None` where that is not recorded.
pub(crate) fn cpus(environment: &Value) -> Option<u64> {
    let environment = parse(environment).ok()?;
    environment.cpu.allowed_cpu_count.known().copied()
}

/// How many of these its control groups let it use at a time, where they let it use less.
pub(crate) fn cpu_quota(environment: &Value) -> Option<f64> {
    let environment = parse(environment).ok()?;
    environment.limits.control_group.known()?.cpu_quota()
}

/// Memory that the kernel manages; `None` where that is not recorded.
pub(crate) fn memory_bytes(environment: &Value) -> Option<f64> {
    let environment = parse(environment).ok()?;
    environment.memory.total_bytes.known().map(|bytes| *bytes as f64)
}

/// The path that was measured, and the size of the device that it is on or that it is; `None` where that is not recorded.
pub(crate) fn measured_device(environment: &Value) -> Option<(&str, u64)> {
    let storage = environment.get("storage")?;
    let path = storage.get("path")?.as_str()?;
    Some((path, storage.pointer("/device/size_bytes")?.as_u64()?))
}

/// The program that measured, with its version, where that was another one.
pub(crate) fn imported_from(environment: &Value) -> Option<&str> {
    environment.get("imported")?.get("from")?.as_str()
}

/// What stands in the place of the machine where another program measured: whose results they are.
fn imported(environment: &Value) -> Option<String> {
    let from = imported_from(environment)?;
    let files = environment.get("imported")?.get("files")?.as_u64()?;
    Some(format!(
        "unavailable: {} of {from}, which do not describe the machine",
        counted(usize::try_from(files).unwrap_or(usize::MAX), "result")
    ))
}

/// What disturbs measurements on this machine, as sentences.
pub(crate) fn warnings(environment: &Value) -> Vec<String> {
    let sentences = parse(environment)
        .map(|environment| environment.warnings())
        .unwrap_or_default();
    sentences.iter().map(|clause| as_sentence(clause)).collect()
}

/// How busy the machine was with other work when the run began: `load average 20.0 on 2 CPUs`; none where it was not, or is not recorded.
pub(crate) fn other_load(environment: &Value) -> Option<String> {
    let (average, cpus) = parse(environment).ok()?.other_load()?;
    Some(format!("load average {average:.1} on {cpus} CPUs"))
}

/// Filesystem and device in a line: `ext4 on nvme0n1 (Samsung SSD 980, 500 GB)`; empty where unknown.
pub(crate) fn storage_line(environment: &Value) -> String {
    let Ok(environment) = parse(environment) else {
        return String::new();
    };
    let storage = &environment.storage;
    // Older runs of a device name the filesystem of its node, which holds nothing of the device.
    let filesystem = storage
        .filesystem
        .known()
        .map(|filesystem| filesystem.type_name.clone());
    let filesystem = filesystem.filter(|name| !(name == "devtmpfs" || storage.path.starts_with("/dev/")));
    let device = storage.device.known().map(|device| {
        let model = device.model.known().map_or(device.kind.as_str(), String::as_str);
        let size = device
            .size_bytes
            .known()
            .map(|bytes| format!(", {}", decimal_size(*bytes)));
        format!("{} ({model}{})", device.name, size.unwrap_or_default())
    });
    let parts: Vec<String> = [filesystem, device].into_iter().flatten().collect();
    parts.join(" on ")
}

/// Drives are sold in decimal units, whole binary ones or not.
fn decimal_size(bytes: u64) -> String {
    let per_second = format_bandwidth(bytes as f64);
    per_second.trim_end_matches("/s").to_owned()
}

fn parse(environment: &Value) -> Result<Environment, serde_json::Error> {
    <Environment as serde::Deserialize>::deserialize(environment)
}
