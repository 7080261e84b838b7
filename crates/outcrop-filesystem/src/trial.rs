//! One trial: mkfs afresh, mount, write, remount, space and extents, age, evict, the operation, counters, comparison.

use std::sync::atomic::{AtomicBool, Ordering};

use outcrop_measure::metric::Unavailable;
use outcrop_measure::units::Rate;
use outcrop_probe::Clock;
use outcrop_workload::filesystem::{Age, FileAccess, FileOperation, OfferedLoad, PageCache};
use outcrop_workload::{Arrival, Arrivals};
use rustix::fs::OFlags;

use crate::btrfs_tree::{self, Stored};
use crate::coldness::Coldness;
use crate::costs::Edge;
use crate::directory::OwnDirectory;
use crate::error::FilesystemError;
use crate::extents::Extents;
use crate::files::Files;
use crate::filesystem::Filesystem;
use crate::image::{Image, RawLatency};
use crate::job::{overwrite, read, small_files};
use crate::program;
use crate::report::{JobReport, Phase};
use crate::spec::JobSpec;
use crate::stage::{Asked, Stage};
use crate::step::{self, Step};

/// Where files are made.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    /// On a filesystem that is made for the trial.
    Image(&'a Image),
    /// In a directory of the user's, as its filesystem is.
    Directory(&'a OwnDirectory),
}

/// Reads of each size that the raw latency of the device is taken from.
const RAW_READS: u32 = 100;
/// The first pass may take this many times the duration.
const WHOLE_PASS: u64 = 20;
/// Passes beyond these would be those of a machine that does nothing.
const MOST_PASSES: u32 = 10_000;

/// Runs one trial, from mkfs to comparison; nothing of it is left when it returns, on error too.
///
/// *Cost*: 0.1 s for making and mounting, writing the data once, and the duration of the spec; each pass evicts and is compared
/// outside of the measured time.
///
/// # Errors
/// Settings that do not go together, what this machine lacks, a page cache that does not let go, other bytes than were written, or
/// `stop`.
pub fn run_job(
    place: Place<'_>,
    filesystem: &Filesystem,
    spec: &JobSpec,
    data: &[u8],
    clock: &Clock,
    stop: &AtomicBool,
) -> Result<JobReport, FilesystemError> {
    run_watched_job(place, filesystem, spec, data, clock, stop, step::NOBODY)
}

/// The same; the watcher is told of each step before it begins.
///
/// # Errors
/// As [`run_job`].
pub fn run_watched_job(
    place: Place<'_>,
    filesystem: &Filesystem,
    spec: &JobSpec,
    data: &[u8],
    clock: &Clock,
    stop: &AtomicBool,
    watcher: &(dyn Fn(Step) + Sync),
) -> Result<JobReport, FilesystemError> {
    let asked = Asked {
        filesystem,
        spec,
        data,
        clock,
        stop,
        watcher,
    };
    let mut notes = Vec::new();
    let (mut stage, raw, maker) = match place {
        Place::Image(image) => {
            filesystem.validate()?;
            spec.check(Some(filesystem), data.len() as u64)?;
            let raw = RawLatency::of(image, RAW_READS, spec.seed, clock)?;
            let maker = program::version(filesystem.maker())?;
            (Stage::in_image(image, &asked)?, Some(raw), Some(maker))
        }
        Place::Directory(directory) => {
            spec.check(None, data.len() as u64)?;
            if spec.page_cache == PageCache::Cold && !asked.writes_are_measured() {
                directory.check_cold()?;
            }
            let stage = Stage::in_directory(directory, &asked)?;
            notes.push(format!(
                "in {} on {}, which other processes also use: some of the device's bytes may be theirs",
                directory.path().display(),
                directory.filesystem().type_name
            ));
            (stage, None, None)
        }
    };
    let mut contents = Contents::new(&asked, &stage);
    if let (Age::Overwritten(percent), Some(files)) = (spec.age, &stage.files) {
        watcher(Step::Ageing);
        overwrite::age(files, contents.to_mut(), percent, spec.seed.derive("age"))?;
        stage.remount(&asked)?;
    }
    let directory = match place {
        Place::Directory(directory) => Some(directory),
        Place::Image(_) => None,
    };
    let used_bytes = stage.space(directory);
    let (extents, stored) = layout(&asked, &stage);
    let (operation, pages) = operate(&asked, &mut stage, &mut contents)?;
    if stop.load(Ordering::Relaxed) {
        return Err(FilesystemError::Interrupted);
    }
    let created = (spec.operation == FileOperation::SmallFiles)
        .then(|| stage.written.as_ref().map(Phase::per_second))
        .flatten();
    Ok(JobReport {
        raw,
        options: stage.options.take(),
        maker,
        file_bytes: contents.bytes(),
        written: stage.written.take(),
        build_ns: stage.build_ns,
        used_bytes,
        extents,
        stored,
        pages,
        device_written_bytes: stage.device_written_bytes(),
        operation,
        created_per_second: created,
        page_cache_below: directory.and_then(OwnDirectory::page_cache_below),
        notes,
    })
}

/// What the files hold: the data, until something is overwritten.
struct Contents<'a> {
    data: &'a [u8],
    changed: Option<Vec<u8>>,
}

impl<'a> Contents<'a> {
    /// The data as far as they were written.
    fn new(asked: &Asked<'a>, stage: &Stage) -> Self {
        let bytes = match (asked.spec.operation, &stage.written) {
            (FileOperation::Append, Some(written)) if asked.spec.jobs == 1 => written.bytes as usize,
            (FileOperation::SmallFiles, _) => {
                small_files::count(asked.data.len(), asked.spec.file_bytes) * asked.spec.file_bytes as usize
            }
            _ => asked.data.len(),
        };
        Self {
            data: &asked.data[..bytes.min(asked.data.len())],
            changed: None,
        }
    }

    fn now(&self) -> &[u8] {
        self.changed.as_deref().unwrap_or(self.data)
    }

    fn to_mut(&mut self) -> &mut [u8] {
        self.changed.get_or_insert_with(|| self.data.to_vec())
    }

    fn bytes(&self) -> u64 {
        self.data.len() as u64
    }
}

/// Where the bytes lie, and what btrfs stores of them.
fn layout(asked: &Asked<'_>, stage: &Stage) -> (Result<Extents, Unavailable>, Result<Stored, Unavailable>) {
    let Some(files) = &stage.files else {
        let why = Unavailable::because("there are too many small files to examine each");
        return (Err(why.clone()), Err(why));
    };
    let mut found = Ok(Extents::default());
    let mut stored = Stored::default();
    let mut tree = Ok(());
    for file in files.all() {
        found = found.and_then(|sum| Ok(sum.plus(Extents::of(file)?)));
        tree = tree.and_then(|()| btrfs_tree::add(&mut stored, file));
    }
    if asked.filesystem.kind.is_read_only() {
        // erofs and squashfs answer FIEMAP with nothing, or not at all.
        found = found.and_then(|extents| match extents.count {
            0 => Err(Unavailable::because(format!(
                "{} does not report its extents",
                asked.filesystem.kind
            ))),
            _ => Ok(extents),
        });
    }
    (found, tree.map(|()| stored))
}

type Pages = (Result<u64, Unavailable>, Result<u64, Unavailable>);

/// The operation that is measured, and pages in memory before and after it.
fn operate(
    asked: &Asked<'_>,
    stage: &mut Stage,
    contents: &mut Contents<'_>,
) -> Result<(Phase, Pages), FilesystemError> {
    match asked.spec.operation {
        FileOperation::Write | FileOperation::Append => {
            let Some(files) = &stage.files else {
                return Err(FilesystemError::Unavailable("there are no files".to_owned()));
            };
            // Past the page cache, so that what is compared is what was stored; a job that ran out of time left the rest empty.
            let proof = Coldness::prove(files.all())?;
            if asked.spec.jobs == 1 || asked.spec.operation == FileOperation::Write {
                read::verify(files, contents.now())?;
            }
            let phase = stage.written.clone().unwrap_or_else(Phase::empty);
            Ok((phase, (proof.cached_pages, Coldness::count(files.all()))))
        }
        FileOperation::SmallFiles => {
            let root = stage.root()?;
            (asked.watcher)(Step::Operating);
            let before = Edge::now(&stage.counted);
            let pass = asked.pass(crate::stage::UNLIMITED_NS);
            let mut phase = small_files::read(&pass, &root, contents.now(), asked.spec.file_bytes)?;
            phase.cost(Edge::now(&stage.counted).since(&before));
            let why = "small files are too many to be counted one by one; they were mounted just before";
            let pages = Err(Unavailable::because(why));
            Ok((phase, (pages.clone(), pages)))
        }
        _ => passes(asked, stage, contents),
    }
}

/// Passes over the files until the duration is over.
fn passes(
    asked: &Asked<'_>,
    stage: &mut Stage,
    contents: &mut Contents<'_>,
) -> Result<(Phase, Pages), FilesystemError> {
    let spec = asked.spec;
    let arrival = arrival(asked, stage, contents)?;
    let mut total = Phase::empty();
    let mut cached_before = Ok(0);
    if spec.page_cache == PageCache::Warm {
        read::warm(opened(stage)?)?;
        cached_before = Coldness::count(opened(stage)?.all());
    }
    let limit_ns = spec.duration.as_nanos() as u64;
    while total.duration_ns < limit_ns && total.passes < MOST_PASSES {
        if asked.stop.load(Ordering::Relaxed) {
            return Err(FilesystemError::Interrupted);
        }
        if spec.page_cache == PageCache::Cold {
            let proof = make_cold(asked, stage)?;
            if total.passes == 0 {
                cached_before = proof.cached_pages;
            }
        }
        let files = for_operation(asked, stage)?;
        // The first pass over closed-loop reads is whole, so that every extent counts once, unless the device is far too slow.
        let is_whole = total.passes == 0 && !spec.operation.writes() && spec.is_closed();
        let pass = OnePass {
            arrival,
            limit_ns: if is_whole {
                limit_ns * WHOLE_PASS
            } else {
                limit_ns - total.duration_ns
            },
            index: total.passes,
        };
        let phase = one_pass(asked, stage, &files, contents, pass)?;
        if phase.operations == 0 && phase.unfinished == 0 {
            break;
        }
        total.add(&phase);
    }
    Ok((total, (cached_before, Coldness::count(opened(stage)?.all()))))
}

fn opened(stage: &Stage) -> Result<&Files, FilesystemError> {
    let none = || FilesystemError::Unavailable("there are no files".to_owned());
    stage.files.as_ref().ok_or_else(none)
}

/// Takes the files out of memory and proves it. Read-only filesystems keep compressed blocks in a cache of their own, which
/// cachestat does not count and only unmounting empties.
fn make_cold(asked: &Asked<'_>, stage: &mut Stage) -> Result<Coldness, FilesystemError> {
    (asked.watcher)(Step::Evicting);
    if asked.filesystem.kind.is_read_only() {
        stage.remount(asked)?;
    }
    Coldness::prove(opened(stage)?.all())
}

/// The files as the operation opens them.
fn for_operation(asked: &Asked<'_>, stage: &Stage) -> Result<Files, FilesystemError> {
    let mode = if asked.filesystem.kind.is_read_only() {
        OFlags::RDONLY
    } else {
        OFlags::RDWR
    };
    let flags = match asked.spec.access {
        FileAccess::Direct => OFlags::DIRECT | mode,
        FileAccess::Buffered => mode,
    };
    let files = opened(stage)?.reopened(flags)?;
    read::advise(&files, asked.spec.operation)?;
    Ok(files)
}

/// Which pass it is, and how long it may take.
#[derive(Clone, Copy)]
struct OnePass {
    arrival: Arrival,
    limit_ns: u64,
    index: u32,
}

/// One pass between two edges, compared afterwards.
fn one_pass(
    asked: &Asked<'_>,
    stage: &Stage,
    files: &Files,
    contents: &mut Contents<'_>,
    OnePass {
        arrival,
        limit_ns,
        index,
    }: OnePass,
) -> Result<Phase, FilesystemError> {
    let spec = asked.spec;
    let seed = spec.seed.derive("passes").derive_index(index.into());
    let extent_bytes = asked.filesystem.extent_bytes();
    let pass = asked.pass(limit_ns);
    (asked.watcher)(Step::Operating);
    if spec.operation.writes() {
        let before = Edge::now(&stage.counted);
        let mut phase = overwrite::pass(&pass, files, contents.to_mut(), spec, extent_bytes, seed)?;
        phase.end_with(|| stage.settle())?;
        phase.cost(Edge::now(&stage.counted).since(&before));
        return Ok(phase);
    }
    let mut reads = read::PassReads::draw(spec, arrival, files.total_bytes(), extent_bytes, seed);
    let before = Edge::now(&stage.counted);
    let mut phase = reads.run(&pass, files)?;
    phase.cost(Edge::now(&stage.counted).since(&before));
    reads.compare(contents.now())?;
    Ok(phase)
}

/// The arrival process; of a share of the highest rate, that rate is measured first, in one closed pass.
fn arrival(
    asked: &Asked<'_>,
    stage: &mut Stage,
    contents: &mut Contents<'_>,
) -> Result<Arrival, FilesystemError> {
    let spec = asked.spec;
    let (process, percent) = match &spec.load {
        OfferedLoad::Operations(Arrivals::Share(process, percent)) => (*process, *percent),
        given => return Ok(given.arrival(spec.io_block_bytes).unwrap_or(Arrival::Closed)),
    };
    if spec.page_cache == PageCache::Cold {
        make_cold(asked, stage)?;
    } else {
        read::warm(opened(stage)?)?;
    }
    let files = for_operation(asked, stage)?;
    let pass = OnePass {
        arrival: Arrival::Closed,
        limit_ns: spec.duration.as_nanos() as u64,
        index: u32::MAX,
    };
    let highest = one_pass(asked, stage, &files, contents, pass)?;
    let rate = Rate::new(highest.per_second() * percent / 100.0)
        .map_err(|error| FilesystemError::refused("arrival", error.to_string()))?;
    Ok(process.at(rate))
}
