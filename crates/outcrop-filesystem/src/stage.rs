//! A filesystem with the data on it, ready for an operation: made, mounted, written, aged.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use outcrop_measure::metric::Unavailable;
use outcrop_probe::{BlockDevice, Clock, Stopwatch};
use outcrop_workload::filesystem::{FileAccess, FileOperation};
use rustix::fs::OFlags;

use crate::costs::Edge;
use crate::directory::OwnDirectory;
use crate::error::FilesystemError;
use crate::files::{self, Files};
use crate::filesystem::Filesystem;
use crate::image::Image;
use crate::job::{Pass, small_files, write};
use crate::loop_device::LoopDevice;
use crate::mount::{self, Mounted};
use crate::namespace;
use crate::own::{OwnFilesystem, written_bytes};
use crate::program;
use crate::report::Phase;
use crate::spec::JobSpec;
use crate::step::{Step, Watcher};

/// What one trial asks, with what it shares with others.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) filesystem: &'a Filesystem,
    pub(crate) spec: &'a JobSpec,
    pub(crate) data: &'a [u8],
    pub(crate) clock: &'a Clock,
    pub(crate) stop: &'a AtomicBool,
    pub(crate) watcher: Watcher<'a>,
}

/// Files on a filesystem.
///
/// The order of the fields is that of letting go: files, mount, loop device, image.
pub(crate) struct Stage {
    pub(crate) files: Option<Files>,
    pub(crate) mounted: Option<Mounted>,
    device: Option<LoopDevice>,
    built: Option<Image>,
    pub(crate) counted: Result<BlockDevice, Unavailable>,
    pub(crate) written: Option<Phase>,
    pub(crate) build_ns: Option<u64>,
    pub(crate) options: Option<String>,
    /// Where a mount is looked at, by a thread of ours that alone sees it there.
    directory: PathBuf,
    /// What the device below had written before this trial.
    written_before_bytes: Result<u64, Unavailable>,
    /// Space in use before there was any file.
    empty_bytes: Result<u64, Unavailable>,
    each_bytes: u64,
}

/// A pass that is over when everything is done.
pub(crate) const UNLIMITED_NS: u64 = u64::MAX;

impl Asked<'_> {
    /// The pass of an operation that may take so long.
    pub(crate) const fn pass(&self, limit_ns: u64) -> Pass<'_> {
        Pass {
            clock: self.clock,
            stop: self.stop,
            limit_ns,
            depth: self.spec.queue_depth,
        }
    }

    /// Length of each data file: whole extents, and whole blocks of what is written and read, so that none lies in two files.
    fn each_bytes(&self) -> u64 {
        let unit = self.spec.file_unit_bytes(self.filesystem.extent_bytes());
        files::bytes_of_each(self.data.len() as u64, self.spec.files, unit)
    }

    /// Whether the data are written as the operation that is measured.
    pub(crate) const fn writes_are_measured(&self) -> bool {
        matches!(self.spec.operation, FileOperation::Write | FileOperation::Append)
    }

    fn is_small_files(&self) -> bool {
        self.spec.operation == FileOperation::SmallFiles
    }
}

impl Stage {
    /// Makes the filesystem in the image and puts the data on it.
    pub(crate) fn in_image(image: &Image, asked: &Asked<'_>) -> Result<Self, FilesystemError> {
        if asked.filesystem.kind.is_read_only() {
            return Self::built(image, asked);
        }
        let own = OwnFilesystem::make_watched(image, asked.filesystem, asked.stop, asked.watcher)?;
        let own = own.into_parts();
        let mut stage = Self {
            files: None,
            counted: Ok(own.device.counted().clone()),
            mounted: Some(own.mounted),
            device: Some(own.device),
            built: None,
            written: None,
            build_ns: None,
            options: Some(own.options),
            directory: image.directory().to_owned(),
            written_before_bytes: own.written_before_bytes,
            empty_bytes: own.empty_bytes,
            each_bytes: asked.each_bytes(),
        };
        stage.fill(asked)?;
        stage.remount(asked)?;
        Ok(stage)
    }

    /// Writes the data and makes them durable, between two edges.
    fn fill(&mut self, asked: &Asked<'_>) -> Result<(), FilesystemError> {
        let Some(mounted) = &self.mounted else {
            return Ok(());
        };
        let settle = || mounted.sync();
        if asked.is_small_files() {
            (asked.watcher)(Step::Writing);
            let root = mounted.root()?;
            let before = Edge::now(&self.counted);
            let spec = asked.spec;
            let pass = asked.pass(UNLIMITED_NS);
            let mut phase =
                small_files::create(&pass, &root, asked.data, spec.file_bytes, spec.sync, settle)?;
            phase.cost(Edge::now(&self.counted).since(&before));
            self.written = Some(phase);
            return Ok(());
        }
        let count = (asked.data.len() as u64).div_ceil(self.each_bytes) as usize;
        let access = match asked.spec.access {
            FileAccess::Direct if asked.spec.operation.writes() => OFlags::DIRECT,
            _ => OFlags::empty(),
        };
        let create = |index| {
            mounted.open(
                &files::name(index),
                OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | access,
            )
        };
        let made = (0..count).map(create).collect::<Result<_, _>>()?;
        let files = Files::of(made, self.each_bytes, asked.data.len() as u64);
        self.written = Some(write_data(asked, &files, &self.counted, &settle)?);
        Ok(())
    }

    /// Has a program build the image with the data in it, and mounts that.
    fn built(image: &Image, asked: &Asked<'_>) -> Result<Self, FilesystemError> {
        let filesystem = asked.filesystem;
        let data_bytes = asked.data.len() as u64;
        let built = Image::for_program(image.directory(), data_bytes)?;
        (asked.watcher)(Step::Making);
        let source = namespace::memory_filesystem(data_bytes * 4 + (256 << 20))?;
        let directory = image.directory();
        let each_bytes = asked.each_bytes();
        let build_ns = namespace::within(|| {
            namespace::put(&source, directory)?;
            if asked.is_small_files() {
                small_files::lay_out(directory, asked.data, asked.spec.file_bytes)?;
            } else {
                for (index, part) in asked.data.chunks(each_bytes as usize).enumerate() {
                    std::fs::write(directory.join(files::name(index)), part)
                        .map_err(|error| FilesystemError::system("write the data for the image", error))?;
                }
            }
            let watch = Stopwatch::start();
            let arguments = filesystem.make_arguments();
            program::make(
                filesystem.maker(),
                &arguments,
                Some(directory),
                &built,
                asked.stop,
            )?;
            Ok(watch.elapsed_ns())
        })?;
        drop(source);
        (asked.watcher)(Step::Mounting);
        built.pad()?;
        built.settle()?;
        let device = built.attach()?;
        let mounted = Mounted::new(filesystem, device.path())?;
        let options = mounted.options(directory)?;
        let mut stage = Self {
            files: None,
            counted: Ok(device.counted().clone()),
            written_before_bytes: written_bytes(device.counted()),
            mounted: Some(mounted),
            device: Some(device),
            built: Some(built),
            written: None,
            build_ns: Some(build_ns),
            options: Some(options),
            directory: directory.to_owned(),
            empty_bytes: Ok(0),
            each_bytes,
        };
        stage.open(asked)?;
        Ok(stage)
    }

    /// Files in a directory of the user's.
    pub(crate) fn in_directory(directory: &OwnDirectory, asked: &Asked<'_>) -> Result<Self, FilesystemError> {
        if asked.is_small_files() {
            return Err(FilesystemError::refused(
                "operation",
                "small files need names, and would be left behind in the directory if Outcrop were killed; use kind = \"scratch-image\"",
            ));
        }
        directory.check_space(asked.data.len() as u64)?;
        let counted = directory.device();
        let written_before_bytes = counted.clone().and_then(|device| written_bytes(&device));
        let before_bytes = used_at(directory.path());
        let each_bytes = asked.each_bytes();
        let count = (asked.data.len() as u64).div_ceil(each_bytes);
        let made = (0..count).map(|_| directory.file(asked.filesystem.compression));
        let files = Files::of(
            made.collect::<Result<_, _>>()?,
            each_bytes,
            asked.data.len() as u64,
        );
        // A filesystem of others' is not ours to sync: fsync of our files is what there is.
        let written = write_data(asked, &files, &counted, &|| Ok(()))?;
        Ok(Self {
            files: Some(files),
            mounted: None,
            device: None,
            built: None,
            counted,
            written: Some(written),
            build_ns: None,
            options: Some(directory.options().to_owned()),
            directory: directory.path().to_owned(),
            written_before_bytes,
            empty_bytes: before_bytes,
            each_bytes,
        })
    }

    /// Unmounts and mounts again: metadata are cold after it, and reserved space is given back. Its options are read back like those of
    /// the first mount: this is the one that is measured.
    pub(crate) fn remount(&mut self, asked: &Asked<'_>) -> Result<(), FilesystemError> {
        let Some(device) = &self.device else { return Ok(()) };
        (asked.watcher)(Step::MountingAgain);
        if let Some(mounted) = &self.mounted {
            mounted.sync()?;
        }
        self.files = None;
        self.mounted = None;
        let mounted = Mounted::new(asked.filesystem, device.path())?;
        if !asked.filesystem.kind.is_read_only() {
            self.options = Some(mounted.confirm(asked.filesystem, &self.directory)?);
        }
        self.mounted = Some(mounted);
        self.open(asked)
    }

    /// Opens the data files.
    fn open(&mut self, asked: &Asked<'_>) -> Result<(), FilesystemError> {
        let Some(mounted) = &self.mounted else {
            return Ok(());
        };
        if asked.is_small_files() {
            return Ok(());
        }
        let mode = if asked.filesystem.kind.is_read_only() {
            OFlags::RDONLY
        } else {
            OFlags::RDWR
        };
        let count = (asked.data.len() as u64).div_ceil(self.each_bytes) as usize;
        let files: Result<Vec<_>, _> = (0..count)
            .map(|index| mounted.open(&files::name(index), mode))
            .collect();
        self.files = Some(Files::of(files?, self.each_bytes, asked.data.len() as u64));
        Ok(())
    }

    /// The root directory, for small files.
    pub(crate) fn root(&self) -> Result<OwnedFd, FilesystemError> {
        let Some(mounted) = &self.mounted else {
            return Err(FilesystemError::Unavailable(
                "there is no filesystem that Outcrop made".to_owned(),
            ));
        };
        mounted.root()
    }

    /// Makes everything durable, where the filesystem is ours.
    pub(crate) fn settle(&self) -> Result<(), FilesystemError> {
        match &self.mounted {
            Some(mounted) if self.built.is_none() => mounted.sync(),
            _ => Ok(()),
        }
    }

    /// Bytes that were written to the device below since the trial began, and those of a built image, which a program wrote.
    pub(crate) fn device_written_bytes(&self) -> Result<u64, Unavailable> {
        let now = written_bytes(self.counted.as_ref().map_err(Clone::clone)?)?;
        let built = self.built.as_ref().map_or(Ok(0), Image::length);
        let built = built.map_err(|error| Unavailable::because(error.to_string()))?;
        Ok(now.saturating_sub(self.written_before_bytes.clone()?) + built)
    }

    /// Space that the files take: of a built image its length, else what statfs says beyond the empty filesystem.
    pub(crate) fn space(&self, directory: Option<&OwnDirectory>) -> Result<u64, Unavailable> {
        if let Some(built) = &self.built {
            let length = built.length();
            return length.map_err(|error| Unavailable::because(error.to_string()));
        }
        let now = match (&self.mounted, directory) {
            (Some(mounted), _) => mounted.used_bytes(),
            (None, Some(directory)) => used_at(directory.path()),
            (None, None) => Err(Unavailable::because("there are no files")),
        }?;
        let taken = now.checked_sub(self.empty_bytes.clone()?);
        taken.ok_or_else(|| {
            Unavailable::because("more space was freed on this filesystem than Outcrop's files take: by other processes, or from files deleted earlier")
        })
    }
}

/// Writes the data between two edges; `settle` is part of the duration.
fn write_data(
    asked: &Asked<'_>,
    files: &Files,
    counted: &Result<BlockDevice, Unavailable>,
    settle: &dyn Fn() -> Result<(), FilesystemError>,
) -> Result<Phase, FilesystemError> {
    let spec = asked.spec;
    let how = if asked.writes_are_measured() {
        write::Writing {
            block_bytes: spec.io_block_bytes,
            jobs: spec.jobs,
            sync: spec.sync,
            is_direct: spec.access == FileAccess::Direct,
        }
    } else {
        write::Writing {
            is_direct: spec.access == FileAccess::Direct && spec.operation.writes(),
            ..write::Writing::FILL
        }
    };
    let limit_ns = match spec.operation {
        FileOperation::Append => spec.duration.as_nanos() as u64,
        _ => UNLIMITED_NS,
    };
    (asked.watcher)(Step::Writing);
    let before = Edge::now(counted);
    let mut phase = write::data(&asked.pass(limit_ns), files, asked.data, how)?;
    phase.end_with(settle)?;
    phase.cost(Edge::now(counted).since(&before));
    if asked.stop.load(std::sync::atomic::Ordering::Relaxed) {
        return Err(FilesystemError::Interrupted);
    }
    Ok(phase)
}

fn used_at(path: &Path) -> Result<u64, Unavailable> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(path, flags, rustix::fs::Mode::empty());
    let opened =
        opened.map_err(|errno| Unavailable::because(format!("cannot open {}: {errno}", path.display())))?;
    mount::used_of(opened.as_fd())
}

#[cfg(test)]
mod tests {
    use outcrop_measure::seed::Seed;
    use outcrop_workload::filesystem::FilesystemKind;

    use super::*;
    use crate::image_bytes;

    #[test]
    fn the_options_of_a_mount_that_follows_are_read_back_too() {
        let filesystem =
            |compression: &str| Filesystem::new(FilesystemKind::Btrfs).with(compression.parse().unwrap());
        let (made, other) = (filesystem("zstd:3"), filesystem("zstd:99"));
        if let Err(why) = mount::privilege().and_then(|()| made.availability()) {
            println!("skipped: mounting btrfs again: {}", why.reason);
            return;
        }
        let program = std::env::current_exe().unwrap();
        let folder = tempfile::tempdir_in(program.parent().unwrap()).unwrap();
        let (clock, stop) = (Clock::new(), AtomicBool::new(false));
        let data = vec![7; 1 << 20];
        let bytes = image_bytes(data.len() as u64);
        let image = Image::create(folder.path(), bytes, Seed(1), &stop, &mut |_, _| {}).unwrap();
        let spec = JobSpec::new(Seed(1));
        let asked = Asked {
            filesystem: &made,
            spec: &spec,
            data: &data,
            clock: &clock,
            stop: &stop,
            watcher: crate::step::NOBODY,
        };
        let mut stage = Stage::in_image(&image, &asked).unwrap();
        // The kernel makes zstd:15 of it.
        let asked = Asked {
            filesystem: &other,
            ..asked
        };
        let error = stage.remount(&asked).unwrap_err();
        assert!(matches!(error, FilesystemError::OtherOptions { .. }), "{error}");
    }
}
