//! What one trial is asked to do.

use std::time::Duration;

use outcrop_measure::seed::Seed;
use outcrop_measure::units::ByteSize;
use outcrop_workload::Arrivals;
use outcrop_workload::EngineKind;
use outcrop_workload::filesystem::{Age, FileAccess, FileOperation, OfferedLoad, PageCache, SyncPolicy};

use crate::error::FilesystemError;
use crate::filesystem::Filesystem;
use crate::job::write::Writing;

/// One trial: how the files are made and aged, and what is done with them.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSpec {
    /// What is measured.
    pub operation: FileOperation,
    /// What the page cache holds before.
    pub page_cache: PageCache,
    /// When written data are made durable.
    pub sync: SyncPolicy,
    /// What happened to the files before.
    pub age: Age,
    /// Through the page cache or not.
    pub access: FileAccess,
    /// Bytes of an operation.
    pub io_block_bytes: u64,
    /// Threads.
    pub jobs: u32,
    /// Requests in flight of each; more than 1 with io_uring only.
    pub queue_depth: u32,
    /// How requests are made.
    pub engine: EngineKind,
    /// When they are due.
    pub load: OfferedLoad,
    /// Files that the data are divided into.
    pub files: u32,
    /// Bytes of a small file.
    pub file_bytes: u64,
    /// The measured time, at most; passes over the files are repeated until it is over.
    pub duration: Duration,
    /// Every random choice derives from it.
    pub seed: Seed,
}

/// Fewer extents say nothing of a file.
pub const FEWEST_EXTENTS: u64 = 100;
/// Larger blocks are a slip.
const MOST_BLOCK_BYTES: u64 = 64 << 20;
/// More threads are a slip.
const MOST_JOBS: u32 = 256;
/// More files are a slip.
const MOST_FILES: u32 = 4096;
/// Files are multiples of at most this.
const MOST_UNIT_BYTES: u64 = 64 << 20;
/// What a ring takes.
const MOST_DEPTH: u32 = 1024;

/// Why a block cannot be read or written, and the nearest that can: 50 MB are no whole sectors, and 50 MiB are.
fn refused_block(bytes: u64) -> String {
    const MEGABYTE: u64 = 1_000_000;
    let near = match bytes / MEGABYTE {
        0 => (bytes / 4096 * 4096).max(4096),
        megabytes => (megabytes << 20).min(MOST_BLOCK_BYTES),
    };
    format!(
        "{} is not a valid block size; give a multiple of 512 B, at most {}, such as {}",
        ByteSize(bytes),
        ByteSize(MOST_BLOCK_BYTES),
        ByteSize(near)
    )
}

impl JobSpec {
    /// Cold 4 KiB reads, one in each extent.
    pub const fn new(seed: Seed) -> Self {
        Self {
            operation: FileOperation::RandomRead,
            page_cache: PageCache::Cold,
            sync: SyncPolicy::End,
            age: Age::Fresh,
            access: FileAccess::Buffered,
            io_block_bytes: 4096,
            jobs: 1,
            queue_depth: 1,
            engine: EngineKind::Psync,
            load: OfferedLoad::Operations(Arrivals::Given(outcrop_workload::Arrival::Closed)),
            files: 1,
            file_bytes: 1500,
            duration: Duration::from_millis(500),
            seed,
        }
    }

    /// Checks what does not depend on the data.
    ///
    /// # Errors
    /// [`FilesystemError::Refused`] naming the setting at fault.
    pub fn validate(&self) -> Result<(), FilesystemError> {
        let refused = |field, message: &str| Err(FilesystemError::refused(field, message));
        let block = self.io_block_bytes;
        if !block.is_multiple_of(512) || !(512..=MOST_BLOCK_BYTES).contains(&block) {
            return refused("io_block_size", &refused_block(block));
        }
        if !(1..=MOST_JOBS).contains(&self.jobs) {
            return refused("jobs", "jobs must be 1 to 256");
        }
        if !(1..=MOST_FILES).contains(&self.files) {
            return refused("files", "files must be 1 to 4096");
        }
        if self.files > 1 && self.file_unit_bytes(0) > MOST_UNIT_BYTES {
            return refused(
                "io_block_size",
                "with several files io_block_size must have a common multiple with 1MiB of at most 64MiB, so that no block lies in two \
                 of them; use a power of two, or whole MiB",
            );
        }
        if !(1..=MOST_DEPTH).contains(&self.queue_depth) {
            return refused("queue_depth", "queue_depth must be 1 to 1024");
        }
        self.validate_load()
    }

    /// What the length of each file is a multiple of: whole blocks, whole blocks of what files are written with, whole extents.
    pub(crate) fn file_unit_bytes(&self, extent_bytes: u64) -> u64 {
        let whole = Writing::FILL.block_bytes.max(extent_bytes).next_power_of_two();
        // What a block has in common with a power of two, its trailing zeros say.
        let common = 1 << self.io_block_bytes.trailing_zeros().min(whole.trailing_zeros());
        self.io_block_bytes / common * whole
    }

    /// The engine, the arrival and what small files allow.
    fn validate_load(&self) -> Result<(), FilesystemError> {
        let refused = |field, message: &str| Err(FilesystemError::refused(field, message));
        let block = self.io_block_bytes;
        let reads = matches!(
            self.operation,
            FileOperation::RandomRead | FileOperation::SequentialRead
        );
        match self.engine {
            EngineKind::Noop => {
                return refused(
                    "engine",
                    "the engine noop touches no filesystem; use psync or io_uring",
                );
            }
            EngineKind::Libaio => {
                return refused(
                    "engine",
                    "the engine libaio is for devices; use psync or io_uring for files",
                );
            }
            EngineKind::Psync if self.queue_depth > 1 => {
                return refused(
                    "queue_depth",
                    "psync has one request in flight per job; use more jobs, or engine = \"io_uring\"",
                );
            }
            EngineKind::IoUring if !reads => {
                return refused(
                    "engine",
                    "io_uring is only used for reads here; use engine = \"psync\", with jobs for depth",
                );
            }
            EngineKind::IoUring if !self.is_closed() => {
                return refused(
                    "arrival",
                    "open-loop load is made by psync here; use engine = \"psync\", with jobs for depth",
                );
            }
            _ => {}
        }
        if !reads && !self.is_closed() {
            return refused(
                "arrival",
                "offered load is only for reads here; leave arrival out, or use operation = \"random-read\"",
            );
        }
        if self.operation == FileOperation::SmallFiles && !self.is_single() {
            return refused(
                "jobs",
                "small files are made and read by one job; leave jobs and queue_depth at 1",
            );
        }
        if self.operation == FileOperation::SmallFiles && !(1..=(1 << 20)).contains(&self.file_bytes) {
            return refused("file_size", "file_size must be 1 B to 1MiB");
        }
        if self.operation.writes() && self.access == FileAccess::Direct && !block.is_multiple_of(4096) {
            return refused("io_block_size", "direct writes must be multiples of 4KiB");
        }
        Ok(())
    }

    /// Checks what depends on the filesystem and on how many bytes of data there are.
    ///
    /// # Errors
    /// [`FilesystemError::Refused`] naming the setting at fault.
    pub fn check(&self, filesystem: Option<&Filesystem>, data_bytes: u64) -> Result<(), FilesystemError> {
        self.validate()?;
        let refused = |field, message: String| Err(FilesystemError::refused(field, message));
        let extent_bytes = filesystem.map_or(crate::BTRFS_EXTENT_BYTES, Filesystem::extent_bytes);
        let needed = FEWEST_EXTENTS * crate::BTRFS_EXTENT_BYTES;
        if data_bytes < needed {
            return refused(
                "sample_size",
                format!(
                    "the data are {}, less than {FEWEST_EXTENTS} extents of 128KiB ({}), too little to measure a filesystem; give more",
                    outcrop_measure::units::format_bytes(data_bytes),
                    outcrop_measure::units::format_bytes(needed)
                ),
            );
        }
        if self.operation == FileOperation::RandomRead && self.io_block_bytes > extent_bytes {
            return refused(
                "io_block_size",
                "random reads are at most 128KiB, one in each extent".to_owned(),
            );
        }
        if let Some(filesystem) = filesystem
            && filesystem.kind.is_read_only()
        {
            let kind = filesystem.kind;
            if !matches!(
                self.operation,
                FileOperation::RandomRead | FileOperation::SequentialRead | FileOperation::SmallFiles
            ) {
                return refused(
                    "operation",
                    format!("{kind} is built once and only read; use random-read or sequential-read"),
                );
            }
            if self.age != Age::Fresh {
                return refused("age", format!("{kind} is built once and does not age; use fresh"));
            }
            if self.access == FileAccess::Direct {
                return refused("access", format!("{kind} refuses O_DIRECT; use buffered"));
            }
        }
        Ok(())
    }

    /// Whether a new operation starts when another completes.
    pub fn is_closed(&self) -> bool {
        matches!(
            self.load,
            OfferedLoad::Operations(Arrivals::Given(outcrop_workload::Arrival::Closed))
        )
    }

    /// One request at a time.
    pub const fn is_single(&self) -> bool {
        self.jobs == 1 && self.queue_depth == 1
    }
}
