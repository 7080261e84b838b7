//! Which block devices' counters a job is checked against: the one that its requests really reach, and the disk at the bottom.

use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use outcrop_measure::metric::Unavailable;
use outcrop_probe::Filesystem;
use outcrop_probe::block_counters::{AttachedLoop, BlockDevice, Counters, LoopFile};
use outcrop_probe::device_number::DeviceNumber;
use outcrop_probe::loop_info::LoopInfo;
use outcrop_workload::EngineKind;
use outcrop_workload::filesystem::FileAccess;
use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;

use crate::report::DiskBelow;
use crate::spec::JobSpec;
use crate::target::Target;

/// Loop devices on loop devices, at most: what is deeper is a mistake.
const MOST_LOOPS: usize = 8;
/// What the filesystem of a loop device's file may write for a flush of the device, which becomes an `fsync` of the file: of ext4's journal a
/// descriptor, the file's inode (its time has changed) and a commit, and the inode once more in its place; each is a block of 4 KiB.
const JOURNAL_BYTES_PER_FLUSH: u64 = 16 << 10;
/// Filesystems that stay within that allowance (XFS writes less). btrfs writes several times as much, and the amount varies.
const WITHIN_ALLOWANCE: [&str; 4] = ["ext2", "ext3", "ext4", "xfs"];

/// The devices to be counted.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) device: Result<BlockDevice, Unavailable>,
    /// The disk at the bottom, where that is not the device: below a loop device with direct I/O, and below a partition. The device counts
    /// only what is asked of itself.
    disk: Option<Result<BlockDevice, Unavailable>>,
    /// Files of loop devices between the two, and the loop device whose flushes reach them: a partition does not count its flushes.
    files_between: u64,
    flushed: Option<BlockDevice>,
    /// The filesystem of one of these files, where what it writes for a flush is not known.
    beyond_allowance: Option<String>,
    /// See [`JobReport::page_cache`](crate::JobReport::page_cache).
    pub(crate) page_cache: Option<String>,
}

/// The counters of both at one moment.
#[derive(Debug)]
pub(crate) struct Moment {
    device: Result<Counters, Unavailable>,
    flushed: Option<Result<Counters, Unavailable>>,
    disk: Option<Result<Counters, Unavailable>>,
}

impl Counted {
    /// The devices behind a job's target. A loop device that was attached without direct I/O counts what the page cache
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
            disk: None,
            files_between: 0,
            flushed: None,
            beyond_allowance: None,
            page_cache: (spec.access == FileAccess::Buffered && is_accessed)
                .then(buffered)
                .or_else(|| {
                    is_accessed
                        .then(|| on_another_machine(target))?
                        .as_deref()
                        .map(of_network)
                }),
        };
        let is_read = is_accessed && spec.read_write_mix.has_reads();
        let of_holes = is_read.then(|| counted.holes(target, spec)).flatten();
        counted.descend();
        // A page cache below says more.
        counted.page_cache = counted.page_cache.take().or(of_holes);
        counted
    }

    /// See [`holes_below`]. What a filesystem on a loop device stores nowhere is its free space, and of a file with partitions it is not known
    /// which part is read: these are not looked at.
    fn holes(&self, target: &Target, spec: &JobSpec) -> Option<String> {
        let is_device = match target {
            Target::Device(_) => true,
            Target::ReadOnly(target) => target.is_block_device(),
            Target::Scratch(_) | Target::Null => false,
        };
        let device = self.device.as_ref().ok().filter(|_| is_device)?;
        let span_bytes = spec.span_bytes.unwrap_or(u64::MAX).min(target.size_bytes());
        match device.loop_file() {
            Ok(Some(LoopFile::Direct(attached))) if !device.is_partition() => {
                holes_below(&attached, span_bytes)
            }
            _ => None,
        }
    }

    /// Follows the files of loop devices down to the disk.
    fn descend(&mut self) {
        let mut lowest = self.device.clone();
        for _ in 0..MOST_LOOPS {
            match lowest.as_ref().map(BlockDevice::loop_file) {
                Ok(Ok(Some(LoopFile::Direct(attached)))) => {
                    self.files_between += 1;
                    let of_file = Filesystem::at(&attached.file).map(|found| found.type_name);
                    let beyond = of_file
                        .ok()
                        .filter(|kind| !WITHIN_ALLOWANCE.contains(&kind.as_str()));
                    self.beyond_allowance = self.beyond_allowance.take().or(beyond);
                    let told = in_memory(&attached).map(|told| of_memory(&told));
                    self.page_cache = self.page_cache.take().or(told);
                    lowest = below(&attached);
                }
                Ok(Ok(Some(LoopFile::Buffered(attached)))) => {
                    lowest = below(&attached);
                    self.device = lowest.clone();
                    self.files_between = 0;
                    self.beyond_allowance = None;
                    self.page_cache.get_or_insert_with(|| warning(&attached));
                }
                Ok(Err(why)) => {
                    // It is counted itself, for want of the disk below.
                    let told = lowest.as_ref().ok().map(|device| unknown(device, &why));
                    self.page_cache = self.page_cache.take().or(told);
                    break;
                }
                Ok(Ok(None)) | Err(_) => break,
            }
        }
        let disk = lowest.and_then(|device| device.whole_disk());
        let is_another = |device: &BlockDevice| disk.as_ref().ok() != Some(device);
        self.disk = self.device.as_ref().is_ok_and(is_another).then_some(disk);
        let is_flushed = self.files_between > 0;
        let flushed = self.device.as_ref().ok().filter(|_| is_flushed);
        self.flushed = flushed.and_then(|device| device.whole_disk().ok());
    }

    /// Reads the counters now.
    pub(crate) fn now(&self) -> Moment {
        let of = |device: &Result<BlockDevice, Unavailable>| {
            device
                .as_ref()
                .map_err(Clone::clone)
                .and_then(BlockDevice::counters)
        };
        Moment {
            device: of(&self.device),
            flushed: self.flushed.as_ref().map(BlockDevice::counters),
            disk: self.disk.as_ref().map(of),
        }
    }

    /// What the device moved between two moments.
    pub(crate) fn moved(&self, earlier: &Moment, later: &Moment) -> Result<Counters, Unavailable> {
        between(&earlier.device, &later.device)
    }

    /// What the disk at the bottom moved between two moments.
    pub(crate) fn moved_below(
        &self,
        earlier: &Moment,
        later: &Moment,
    ) -> Option<Result<DiskBelow, Unavailable>> {
        let moved = between(earlier.disk.as_ref()?, later.disk.as_ref()?);
        let disk = self.disk.as_ref()?.as_ref();
        let flushed = earlier.flushed.as_ref().zip(later.flushed.as_ref());
        let flushed = flushed.and_then(|(earlier, later)| between(earlier, later).ok());
        let flushes = flushed.map_or(0, |counters| counters.flushes);
        Some(moved.and_then(|counters| {
            if let Some(kind) = self.beyond_allowance.as_ref().filter(|_| flushes > 0) {
                return Err(Unavailable::because(format!(
                    "{kind} holds the loop device's file, and how much it writes for a flush is not known"
                )));
            }
            Ok(DiskBelow {
                name: disk.map_err(Clone::clone)?.name().to_owned(),
                counters,
                journal_bytes: flushes * self.files_between * JOURNAL_BYTES_PER_FLUSH,
            })
        }))
    }
}

fn between(
    earlier: &Result<Counters, Unavailable>,
    later: &Result<Counters, Unavailable>,
) -> Result<Counters, Unavailable> {
    let earlier = earlier.as_ref().map_err(Clone::clone)?;
    let later = later.as_ref().map_err(Clone::clone)?;
    Ok(later.since(earlier))
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

fn below(attached: &AttachedLoop) -> Result<BlockDevice, Unavailable> {
    let found = match is_another_file(attached) {
        true => Err(Unavailable::because(format!(
            "{} is not the file of {} but another one at its path: a mount hides it, or it is that of another container",
            attached.file.display(),
            attached.name
        ))),
        false => BlockDevice::holding(&attached.file),
    };
    found.map_err(|why| {
        Unavailable::because(format!(
            "the disk below the loop device's file cannot be found: {}",
            why.reason
        ))
    })
}

/// That parts of what is read of a loop device's file are stored nowhere, where that is more than a little: a read of them reaches no disk.
fn holes_below(attached: &AttachedLoop, span_bytes: u64) -> Option<String> {
    /// The search ends after this many pieces: the data are then spread over the whole file.
    const MOST_PIECES: usize = 100_000;
    /// Less is not worth a word.
    const MUCH: f64 = 0.02;
    let file = File::open(&attached.file).ok()?;
    let start = info_of(attached).map_or(0, |info| info.offset_bytes());
    let end = file.metadata().ok()?.len().min(start.saturating_add(span_bytes));
    let (mut stored, mut at) = (0, start);
    let mut pieces = 0;
    while at < end {
        let data = match seek(&file, SeekFrom::Data(at)) {
            Ok(data) => data,
            // Nothing is stored behind.
            Err(Errno::NXIO) => break,
            // This filesystem does not tell.
            Err(_) => return None,
        };
        at = seek(&file, SeekFrom::Hole(data)).ok()?;
        stored += at.min(end) - data.min(end);
        pieces += 1;
        if pieces == MOST_PIECES {
            return None;
        }
    }
    let share = 1.0 - stored as f64 / end.saturating_sub(start).max(1) as f64;
    (share > MUCH).then(|| {
        format!(
            "{:.0} % of what is read of {}, the file of {}, is not stored on any disk: reads of these parts are answered from memory. Write to all of \
             the file before it is attached",
            100.0 * share,
            attached.file.display(),
            attached.name
        )
    })
}

/// Whether the kernel says that the file at a loop device's path is not the one that it shows. Not where it does not say.
fn is_another_file(attached: &AttachedLoop) -> bool {
    let shown = info_of(attached).map(|info| info.file());
    let here = std::fs::metadata(&attached.file);
    let here = here.map(|about| (DeviceNumber::from_stat(about.dev()), about.ino()));
    matches!((shown, here), (Ok(shown), Ok(here)) if shown != here)
}

fn info_of(attached: &AttachedLoop) -> std::io::Result<LoopInfo> {
    File::open(Path::new("/dev").join(&attached.name)).and_then(LoopInfo::of)
}

fn unknown(device: &BlockDevice, why: &Unavailable) -> String {
    format!(
        "{} is a loop device, and /sys does not say whether it was attached with direct I/O ({}): the page cache may have answered instead of \
         the disk below.",
        device.disk_name(),
        why.reason
    )
}

fn warning(buffered: &AttachedLoop) -> String {
    if let Some(told) = in_memory(buffered) {
        return of_memory(&told);
    }
    format!(
        "{}: figures of reads, and of writes without a sync, describe memory. {ATTACH_DIRECT}",
        page_cache_of(buffered)
    )
}

fn of_memory(told: &str) -> String {
    format!("{told}: these figures describe memory, and not a disk")
}

/// Names the filesystem in memory that holds a loop device's file: there is no disk below such a device.
fn in_memory(AttachedLoop { name, file }: &AttachedLoop) -> Option<String> {
    let kind = Filesystem::at(file).ok()?.type_name;
    let said = || format!("the file of {name}, {}, is in memory ({kind})", file.display());
    matches!(kind.as_str(), "tmpfs" | "ramfs").then(said)
}

/// What is to be done about a loop device without direct I/O.
const ATTACH_DIRECT: &str = "Attach it with `losetup --direct-io=on`.";

fn page_cache_of(AttachedLoop { name, file }: &AttachedLoop) -> String {
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
    let of_memory = |attached: &AttachedLoop| {
        in_memory(attached).map(|told| format!("{told}: what is read back is on no disk"))
    };
    match device.loop_file() {
        Ok(Some(LoopFile::Buffered(attached))) => of_memory(&attached).or_else(|| {
            Some(format!(
                "{}: what is read back may never have reached that disk. {ATTACH_DIRECT}",
                page_cache_of(&attached)
            ))
        }),
        Ok(Some(LoopFile::Direct(attached))) => of_memory(&attached),
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
