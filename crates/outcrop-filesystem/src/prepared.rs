//! Files that stay where they are while several programs read them: for measuring with another tool on the same mount.

use std::os::fd::{AsFd, AsRawFd};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use outcrop_measure::seed::Seed;
use outcrop_probe::Clock;
use outcrop_workload::Arrival;
use outcrop_workload::filesystem::OncePerExtent;

use crate::coldness::Coldness;
use crate::costs::{Costs, Edge};
use crate::error::FilesystemError;
use crate::files;
use crate::filesystem::Filesystem;
use crate::image::Image;
use crate::job::read;
use crate::report::Phase;
use crate::spec::JobSpec;
use crate::stage::{Asked, Stage, UNLIMITED_NS};
use crate::step;

/// A filesystem with the data on it in one file, made as a trial makes it.
pub struct Prepared<'a> {
    asked: Asked<'a>,
    stage: Stage,
}

impl<'a> Prepared<'a> {
    /// Makes the filesystem, writes the data and mounts it again.
    ///
    /// # Errors
    /// As [`run_job`](crate::run_job).
    pub fn new(
        image: &Image,
        filesystem: &'a Filesystem,
        spec: &'a JobSpec,
        data: &'a [u8],
        clock: &'a Clock,
        stop: &'a AtomicBool,
    ) -> Result<Self, FilesystemError> {
        filesystem.validate()?;
        spec.check(Some(filesystem), data.len() as u64)?;
        let asked = Asked {
            filesystem,
            spec,
            data,
            clock,
            stop,
            watcher: step::NOBODY,
        };
        let stage = Stage::in_image(image, &asked)?;
        if let Some(files) = &stage.files {
            read::advise(files, spec.operation)?;
        }
        Ok(Self { asked, stage })
    }

    /// The first file, for other processes of this user: a path through our descriptor of the mount.
    pub fn path(&self) -> Option<PathBuf> {
        let mount = self.stage.mounted.as_ref()?.as_fd().as_raw_fd();
        let name = files::name(0);
        Some(format!("/proc/{}/fd/{mount}/{name}", std::process::id()).into())
    }

    /// Takes the files out of the page cache and proves it.
    ///
    /// # Errors
    /// Pages stay.
    pub fn evict(&self) -> Result<Coldness, FilesystemError> {
        Coldness::prove(self.stage.files.as_ref().map_or(&[][..], |files| files.all()))
    }

    /// The reads of a pass of one job, in order.
    pub fn offsets(&self, seed: Seed) -> Vec<u64> {
        let (spec, extent) = (self.asked.spec, self.asked.filesystem.extent_bytes());
        let total = self.asked.data.len() as u64;
        OncePerExtent::new(total, extent, spec.io_block_bytes, (0, 1), seed).collect()
    }

    /// Reads those, and compares what was read.
    ///
    /// # Errors
    /// A read fails, or other bytes come back than were written.
    pub fn pass(&self, seed: Seed) -> Result<Phase, FilesystemError> {
        let Some(files) = &self.stage.files else {
            return Err(FilesystemError::Unavailable("there are no files".to_owned()));
        };
        let extent = self.asked.filesystem.extent_bytes();
        let total = files.total_bytes();
        let mut reads = read::PassReads::draw(self.asked.spec, Arrival::Closed, total, extent, seed);
        let before = Edge::now(&self.stage.counted);
        let mut phase = reads.run(&self.asked.pass(UNLIMITED_NS), files)?;
        phase.cost(Edge::now(&self.stage.counted).since(&before));
        reads.compare(self.asked.data)?;
        Ok(phase)
    }

    /// Does something else, and says what it cost.
    pub fn costs_of<T>(&self, work: impl FnOnce() -> T) -> (T, Costs) {
        let before = Edge::now(&self.stage.counted);
        let result = work();
        (result, Edge::now(&self.stage.counted).since(&before))
    }

    /// Space of the files without metadata, where the filesystem is btrfs.
    pub fn stored(&self) -> Option<crate::Stored> {
        let mut stored = crate::Stored::default();
        for file in self.stage.files.as_ref()?.all() {
            crate::btrfs_tree::add(&mut stored, file).ok()?;
        }
        Some(stored)
    }
}
