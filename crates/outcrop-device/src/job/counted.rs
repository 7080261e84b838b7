//! Which block device's counters a job is checked against: the one that its requests really reach.

use std::path::Path;

use outcrop_measure::metric::Unavailable;
use outcrop_probe::Filesystem;
use outcrop_probe::block_counters::{BlockDevice, BufferedLoop};
use outcrop_workload::EngineKind;
use outcrop_workload::filesystem::FileAccess;

use crate::spec::JobSpec;
use crate::target::Target;

/// Loop devices on loop devices, at most: what is deeper is a mistake.
const MOST_LOOPS: usize = 8;

/// The device to be counted.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) device: Result<BlockDevice, Unavailable>,
    /// See [`JobReport::page_cache`](crate::JobReport::page_cache).
    pub(crate) page_cache: Option<String>,
}

impl Counted {
    /// The device behind a job's target. A loop device that was attached without direct I/O counts what the page cache
    /// answered as its own, so the device below its file is taken in its place.
    pub(crate) fn behind(target: &Target, spec: &JobSpec) -> Self {
        let is_accessed = spec.engine != EngineKind::Noop;
        let device = match target.place() {
            _ if !is_accessed => Err(Unavailable::because("the noop engine does not access a device")),
            None => Err(Unavailable::because("there is no target")),
            Some(path) => BlockDevice::holding(path),
        };
        let mut counted = Self {
            device,
            page_cache: (spec.access == FileAccess::Buffered && is_accessed)
                .then(buffered)
                .or_else(|| {
                    is_accessed
                        .then(|| on_another_machine(target))?
                        .as_deref()
                        .map(of_network)
                }),
        };
        for _ in 0..MOST_LOOPS {
            let buffered = match counted.device.as_ref().map(BlockDevice::buffered_loop) {
                Ok(Ok(Some(buffered))) => buffered,
                Ok(Err(why)) => {
                    // It is counted itself, for want of the disk below.
                    let device = counted.device.as_ref().ok();
                    let told = device.map(|device| unknown(device, &why));
                    counted.page_cache = counted.page_cache.or(told);
                    break;
                }
                Ok(Ok(None)) | Err(_) => break,
            };
            let file = &buffered.file;
            counted.device = below(file);
            counted.page_cache.get_or_insert_with(|| warning(&buffered));
        }
        counted
    }
}

fn buffered() -> String {
    "buffered I/O (access = buffered): requests go through the page cache, so these figures describe memory and write-back, not the \
     device alone"
        .to_owned()
}

/// Where the files of a target are, if they are on another machine: direct I/O ends at that one's page cache.
fn on_another_machine(target: &Target) -> Option<String> {
    let path = target.place()?;
    elsewhere(path, &Filesystem::at(path).ok()?)
}

fn elsewhere(path: &Path, found: &Filesystem) -> Option<String> {
    let (path, kind) = (path.display(), &found.type_name);
    let said = || format!("{path} is on {kind}, which is stored on another machine");
    found.is_over_a_network().then(said)
}

fn of_network(elsewhere: &str) -> String {
    format!(
        "{elsewhere}: these figures describe the network and that machine, whose page cache may answer, not a disk of this one"
    )
}

fn below(file: &Path) -> Result<BlockDevice, Unavailable> {
    BlockDevice::holding(file).map_err(|why| {
        Unavailable::because(format!(
            "the disk below the loop device's file cannot be found: {}",
            why.reason
        ))
    })
}

fn unknown(device: &BlockDevice, why: &Unavailable) -> String {
    format!(
        "{} is a loop device, and /sys does not say whether it was attached with direct I/O ({}): the page cache may have answered instead of \
         the disk below.",
        device.disk_name(),
        why.reason
    )
}

fn warning(buffered: &BufferedLoop) -> String {
    format!(
        "{}: figures of reads, and of writes without a sync, describe memory. {ATTACH_DIRECT}",
        page_cache_of(buffered)
    )
}

/// What is to be done about a loop device without direct I/O.
const ATTACH_DIRECT: &str = "Attach it with `losetup --direct-io=on`.";

fn page_cache_of(BufferedLoop { name, file }: &BufferedLoop) -> String {
    format!(
        "{name} was attached without direct I/O, so the page cache answers instead of the disk below {}",
        file.display()
    )
}

/// Why bytes that are read back from a target may be those that memory kept, and not what a disk holds.
pub(crate) fn unread_disk(target: &Target) -> Option<String> {
    if let Some(elsewhere) = on_another_machine(target) {
        return Some(format!(
            "{elsewhere}: what is read back may be what its page cache kept"
        ));
    }
    let device = BlockDevice::holding(target.place()?).ok()?;
    match device.buffered_loop() {
        Ok(Some(buffered)) => Some(format!(
            "{}: what is read back may never have reached that disk. {ATTACH_DIRECT}",
            page_cache_of(&buffered)
        )),
        Ok(None) => None,
        Err(why) => Some(unknown(&device, &why)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_on_another_machine_are_said_to_be_there() {
        let folder = tempfile::tempdir().unwrap();
        let mut found = Filesystem::at(folder.path()).unwrap();
        found.type_name = "nfs4".to_owned();
        let said = elsewhere(Path::new("/mnt/data"), &found)
            .as_deref()
            .map(of_network);
        assert_eq!(
            said.unwrap(),
            "/mnt/data is on nfs4, which is stored on another machine: these figures describe the network and that machine, whose page \
             cache may answer, not a disk of this one"
        );
        found.type_name = "ext4".to_owned();
        assert_eq!(elsewhere(Path::new("/mnt/data"), &found), None);
    }
}
