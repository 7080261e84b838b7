//! Devices that are overwritten: each is looked at before anything is planned, and all of them are held before the first is written.

use std::path::Path;

use outcrop_device::{Candidate, DeviceError, WritableDevice};
use outcrop_measure::units::ByteSize;
use outcrop_schema::Settings;
use outcrop_schema::device::{ALSO, BETWEEN_DRIVES, DESTROY, KIND, Kind, PATH, SIZE};

use super::{drives, part_of, precondition};
use crate::cell::Subject;
use crate::layer::{Refusal, absolute};

/// A subject of devices, each of which is unused, holds nothing known, and was called by its name.
pub(super) fn complete(path: Option<String>, mut settings: Settings) -> Result<Subject, Refusal> {
    let Some(path) = path else {
        let message = "a device that is overwritten needs `path`, the block device";
        return Err(Refusal::of(&KIND, message));
    };
    let path = absolute(&PATH, &path)?;
    let first =
        Candidate::examine(Path::new(&path)).map_err(|error| Refusal::of(&PATH, error.to_string()))?;
    let mut devices = vec![first];
    for place in drives::others(&settings) {
        let refuse = |message: String| Refusal::of(&ALSO, message);
        let device = Candidate::examine(Path::new(place)).map_err(|error| refuse(error.to_string()))?;
        if devices.iter().any(|other| other.path == device.path) {
            let node = device.path.display();
            return Err(refuse(format!(
                "{place} is {node}, which is named twice; name each drive once"
            )));
        }
        devices.push(device);
    }
    check_names(settings.get(&DESTROY).map(String::as_str), &devices)?;
    let asked = settings.get(&SIZE).copied();
    let mut size = None;
    for device in &devices {
        let node = device.path.to_string_lossy();
        let its = part_of(&node, ByteSize(device.identity.size_bytes), asked)?;
        size = Some(size.map_or(its, |smallest: ByteSize| smallest.min(its)));
    }
    let size = size.unwrap_or(ByteSize(0));
    let state = precondition::state(&settings);
    let state = state.map(|state| format!(", {state}")).unwrap_or_default();
    let others = drives::label(&settings);
    let label = format!("{} {path} {size}{state}{others}", Kind::Destroyed);
    settings.set(&PATH, path);
    settings.set(&SIZE, size);
    Ok(Subject { settings, label })
}

/// Opens every device of a subject for writing, exclusively; nothing is written before the last of them is held. None for other subjects.
pub(super) fn open(subject: &Subject) -> Result<Vec<WritableDevice>, DeviceError> {
    let settings = &subject.settings;
    if *settings.value(&KIND) != Kind::Destroyed {
        return Ok(Vec::new());
    }
    let first = settings.value(&PATH).as_str();
    let paths: Vec<&Path> = std::iter::once(first)
        .chain(drives::others(settings))
        .map(Path::new)
        .collect();
    let devices: Vec<Candidate> = paths
        .iter()
        .map(|path| Candidate::examine(path))
        .collect::<Result<_, _>>()?;
    let typed: &String = settings.value(&DESTROY);
    // Where a device was exchanged since the plan was made, opening it by what was typed says which name it has now.
    let names = names_in(typed, &devices).unwrap_or_else(|| vec![typed.as_str(); devices.len()]);
    let opened = paths.iter().zip(names);
    opened
        .map(|(path, name)| WritableDevice::open(path, name))
        .collect()
}

/// Refuses devices that were not all called by their names.
fn check_names(typed: Option<&str>, devices: &[Candidate]) -> Result<(), Refusal> {
    let described: Vec<String> = devices.iter().map(Candidate::description).collect();
    let described = described.join("; ");
    match (typed, devices.len()) {
        (None, 1) => {
            let message = format!(
                "{described}; all of it is overwritten only where that name is repeated: --destroy {}, or `destroy` in a plan",
                name_to_type(&devices[0])
            );
            Err(Refusal::of(&KIND, message))
        }
        (None, _) => {
            let message = format!(
                "{described}; all of them are overwritten only where `destroy` repeats their names in this order, separated by \
                 `{BETWEEN_DRIVES}` (--destroy once for each)"
            );
            Err(Refusal::of(&KIND, message))
        }
        (Some(typed), _) if names_in(typed, devices).is_some() => Ok(()),
        (Some(typed), 1) => {
            let message = format!("`{typed}` is not the name of this device: {described}");
            Err(Refusal::of(&DESTROY, message))
        }
        (Some(typed), count) => {
            let message = format!(
                "`{typed}` does not name these {count} devices in order, separated by `{BETWEEN_DRIVES}` (--destroy once \
                 for each): {described}"
            );
            Err(Refusal::of(&DESTROY, message))
        }
    }
}

/// The name that is the easiest to type, as a shell reads it.
fn name_to_type(device: &Candidate) -> String {
    let name = device.identity.names.first().map_or("NAME", String::as_str);
    let is_plain = |letter: char| letter.is_alphanumeric() || "_-./:=,+%@".contains(letter);
    match name.chars().all(is_plain) {
        true => name.to_owned(),
        false => format!("'{}'", name.replace('\'', r"'\''")),
    }
}

/// The name of each device in its order, where that is what was typed. A name may contain what stands between names.
fn names_in<'t>(typed: &'t str, devices: &[Candidate]) -> Option<Vec<&'t str>> {
    let (first, others) = devices.split_first()?;
    if others.is_empty() {
        return first.is_called(typed).then(|| vec![typed]);
    }
    typed.match_indices(BETWEEN_DRIVES).find_map(|(at, between)| {
        let (name, rest) = (typed.get(..at)?, typed.get(at + between.len()..)?);
        if !first.is_called(name) {
            return None;
        }
        let mut names = vec![name];
        names.extend(names_in(rest, others)?);
        Some(names)
    })
}

#[cfg(test)]
mod tests {
    use outcrop_probe::DeviceIdentity;

    use super::*;

    fn devices(names: &[&[&str]]) -> Vec<Candidate> {
        let device = |names: &&[&str]| {
            let identity = DeviceIdentity {
                names: names.iter().map(|name| (*name).to_owned()).collect(),
                model: None,
                size_bytes: 1 << 30,
            };
            Candidate::described("/dev/x", identity)
        };
        names.iter().map(device).collect()
    }

    #[test]
    fn each_device_is_called_by_one_of_its_names_in_order_also_where_a_name_has_colons() {
        let two = devices(&[&["S1", "usb-Disk-0:0", "usb-Disk-0"], &["0:S2", "S2"]]);
        for (typed, expected) in [
            ("S1:S2", Some(vec!["S1", "S2"])),
            // Read in two ways, and each device is called by a name in both.
            ("usb-Disk-0:0:S2", Some(vec!["usb-Disk-0", "0:S2"])),
            ("usb-Disk-0:0:0:S2", Some(vec!["usb-Disk-0:0", "0:S2"])),
            ("S2:S1", None),
            ("S1", None),
            ("S1:", None),
            (":S2", None),
            ("S1:S2:", None),
            ("S1:S2:S2", None),
            ("S1 S2", None),
            ("", None),
        ] {
            assert_eq!(names_in(typed, &two), expected, "{typed}");
        }
        assert_eq!(names_in("S1", &devices(&[&["S1"]])), Some(vec!["S1"]));
        assert_eq!(names_in("S1:S1", &devices(&[&["S1"]])), None);
    }
}
