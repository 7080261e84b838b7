//! Several drives that are loaded at the same time: where they are, and what each of them gave.

use std::path::{Path, PathBuf};

use outcrop_device::JobReport;
use outcrop_measure::metric::Unavailable;
use outcrop_measure::percentile;
use outcrop_probe::BlockDevice;
use outcrop_results::Value;
use outcrop_schema::Settings;
use outcrop_schema::device::{
    ALSO, BETWEEN_DRIVES, DRIVE_BANDWIDTH, DRIVE_IOPS, DRIVE_P99, DRIVES, Kind, MOST_DRIVES, PATH,
};

use super::values::{throughput, without_figures};
use crate::cell::Subject;
use crate::layer::{Refusal, absolute};

/// The places beside the first.
pub(super) fn others(subject: &Settings) -> impl Iterator<Item = &str> {
    let given = subject.get(&ALSO);
    given.into_iter().flat_map(|given| given.split(BETWEEN_DRIVES))
}

/// How many drives the subject has.
pub(super) fn count(subject: &Settings) -> u32 {
    1 + others(subject).count() as u32
}

/// Makes the further places absolute, and refuses those that cannot be loaded beside the first.
pub(super) fn complete(kind: Kind, settings: &mut Settings) -> Result<(), Refusal> {
    let refuse = |message: String| Err(Refusal::of(&ALSO, message));
    let mut places: Vec<String> = Vec::new();
    for path in others(settings) {
        if path.is_empty() {
            return refuse(format!("a path between two `{BETWEEN_DRIVES}` is empty"));
        }
        let path = absolute(&ALSO, path)?;
        if kind == Kind::ScratchFile && !Path::new(&path).is_dir() {
            return refuse(format!(
                "{path} is not a directory, so no scratch file can be created in it"
            ));
        }
        let first = settings
            .get(&PATH)
            .map(|first| absolute(&PATH, first))
            .transpose()?;
        if places.contains(&path) || first.as_ref() == Some(&path) {
            return refuse(format!("{path} is named twice; name each drive once"));
        }
        places.push(path);
    }
    if places.len() as u32 >= MOST_DRIVES {
        return refuse(format!(
            "{} drives are more than the {MOST_DRIVES} that one run loads at the same time",
            places.len() + 1
        ));
    }
    if !places.is_empty() {
        settings.set(&ALSO, places.join(BETWEEN_DRIVES));
    }
    Ok(())
}

/// What has to be said of places that share a disk: they are one drive with several loads.
///
/// # Errors
/// Two of them are the same place, by whichever name.
pub(super) fn shared_disk(first: &Path, subject: &Settings) -> Result<Option<String>, String> {
    let mut seen: Vec<(PathBuf, Option<String>)> = Vec::new();
    let mut told = None;
    for place in std::iter::once(first).chain(others(subject).map(Path::new)) {
        // A place that is not there is refused by whoever opens it.
        let resolved = std::fs::canonicalize(place).unwrap_or_else(|_| place.to_owned());
        if seen.iter().any(|(other, _)| *other == resolved) {
            return Err(format!(
                "{} is {}, which is named twice; name each drive once",
                place.display(),
                resolved.display()
            ));
        }
        let disk = BlockDevice::holding(&resolved)
            .ok()
            .map(|device| device.disk_name());
        let on_it = seen.iter().find(|(_, other)| disk.is_some() && *other == disk);
        if let (Some((other, _)), Some(disk), None) = (on_it, &disk, &told) {
            told = Some(format!(
                "{} and {} are on the same disk, {disk}: the figures are of one drive under several loads, not of several drives",
                other.display(),
                resolved.display()
            ));
        }
        seen.push((resolved, disk));
    }
    Ok(told)
}

/// The further places at the end of a subject's name.
pub(super) fn label(subject: &Settings) -> String {
    others(subject).map(|path| format!(", with {path}")).collect()
}

/// Refuses more drives than the subject has.
pub(super) fn check(factors: &Settings, subject: &Subject) -> Result<(), Refusal> {
    let (wanted, there) = (*factors.value(&DRIVES), count(&subject.settings));
    if wanted <= there {
        return Ok(());
    }
    let message = format!(
        "{wanted} drives are to be loaded, but the subject has {there}; name the others in `also` (--also)"
    );
    Err(Refusal::of(&DRIVES, message))
}

/// What each drive gave, where there were several.
pub(super) fn values(each: &[JobReport]) -> Vec<Value> {
    if each.len() < 2 {
        return Vec::new();
    }
    let of_one = |(number, report): (usize, &JobReport)| {
        let total = report.total();
        let mut operations = total.reads.clone();
        operations.merge(&total.writes);
        let [iops, bandwidth] = throughput(report, None, &operations);
        let p99 = operations.latency.percentile(0.99).map(|ns| ns as f64);
        let too_few =
            || Unavailable::because(percentile::too_few(operations.latency.count(), percentile::P99));
        let known = |of_drive: Value| {
            let reason = || Unavailable::because(of_drive.source.unwrap_or_default());
            of_drive.value.ok_or_else(reason)
        };
        let p99 = match without_figures(report) {
            Some(reason) => Err(Unavailable::because(reason)),
            None => p99.ok_or_else(too_few),
        };
        [
            Value::known(DRIVE_IOPS[number], known(iops)),
            Value::known(DRIVE_BANDWIDTH[number], known(bandwidth)),
            Value::known(DRIVE_P99[number], p99),
        ]
    };
    each.iter()
        .take(MOST_DRIVES as usize)
        .enumerate()
        .flat_map(of_one)
        .collect()
}
