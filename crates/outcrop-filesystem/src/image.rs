//! The file that a filesystem is made in: without a name, full of random bytes, written past the page cache.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::seed::Seed;
use outcrop_probe::Clock;
use outcrop_workload::Content;
use rand::Rng;
use rustix::fs::{Advice, FallocateFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::buffer::AlignedBuffer;
use crate::directory::not_on_a_disk;
use crate::error::FilesystemError;
use crate::loop_device::LoopDevice;

/// An unnamed file to make filesystems in. It is gone when it is dropped, and when the process is killed.
#[derive(Debug)]
pub struct Image {
    file: File,
    directory: PathBuf,
    bytes: u64,
}

/// Written at once while filling.
const CHUNK_BYTES: usize = 4 << 20;
/// Shares of a filesystem that stay free: 1 in 20.
const RESERVE: u64 = 20;

impl Image {
    /// Makes a file of `bytes` on the filesystem of `directory`, and writes all of it with random bytes past the page cache: a
    /// hole would be read without the disk.
    ///
    /// *Cost*: one sequential write of the whole file. `progress` is called with the bytes done and the total.
    ///
    /// # Errors
    /// There is not enough space (5 % stays free), or the directory's filesystem is in memory, is on a network, or does not support unnamed
    /// files and direct I/O.
    pub fn create(
        directory: &Path,
        bytes: u64,
        seed: Seed,
        stop: &AtomicBool,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Self, FilesystemError> {
        check_space(directory, bytes)?;
        // A file in memory has room and direct I/O as well.
        let path = std::fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
        if let Some(why) = not_on_a_disk(&path, &outcrop_probe::Filesystem::at(&path)?) {
            return Err(FilesystemError::Unavailable(why));
        }
        let image = Self::empty(directory)?;
        match rustix::fs::fallocate(&image.file, FallocateFlags::empty(), 0, bytes) {
            Ok(()) | Err(Errno::OPNOTSUPP) => {}
            Err(errno) => return Err(FilesystemError::system("reserve room for the image", errno)),
        }
        let direct = image.reopen(OFlags::RDWR | OFlags::DIRECT)?;
        let mut filler = Content::Random.filler(seed.derive("image"));
        let mut buffer = AlignedBuffer::new(CHUNK_BYTES);
        let mut done = 0;
        while done < bytes {
            if stop.load(Ordering::Relaxed) {
                return Err(FilesystemError::Interrupted);
            }
            let part = (bytes - done).min(CHUNK_BYTES as u64) as usize;
            filler.fill(&mut buffer.bytes_mut()[..part]);
            direct
                .write_all_at(&buffer.bytes()[..part], done)
                .map_err(|error| FilesystemError::system("write the image", error))?;
            done += part as u64;
            progress(done, bytes);
        }
        direct
            .sync_all()
            .map_err(|error| FilesystemError::system("flush the image", error))?;
        Ok(Self { bytes, ..image })
    }

    /// A file without content, for programs that write a whole image of about `likely_bytes`.
    ///
    /// # Errors
    /// There is not enough space (5 % stays free), or the directory's filesystem has no unnamed files.
    pub(crate) fn for_program(directory: &Path, likely_bytes: u64) -> Result<Self, FilesystemError> {
        check_space(directory, likely_bytes)?;
        Self::empty(directory)
    }

    /// A file without content.
    ///
    /// # Errors
    /// The directory's filesystem has no unnamed files.
    pub fn empty(directory: &Path) -> Result<Self, FilesystemError> {
        let directory = std::fs::canonicalize(directory)
            .map_err(|error| FilesystemError::system(format!("open {}", directory.display()), error))?;
        // With O_EXCL nobody can give it a name later.
        let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = match rustix::fs::open(&directory, flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => File::from(file),
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => {
                return Err(FilesystemError::Unavailable(format!(
                    "{} is on a filesystem without unnamed files (O_TMPFILE), so an image would be left behind if Outcrop were \
                     killed; choose a directory on ext4, xfs or btrfs",
                    directory.display()
                )));
            }
            Err(errno) => {
                return Err(FilesystemError::system(
                    format!("create a file in {}", directory.display()),
                    errno,
                ));
            }
        };
        Ok(Self {
            file,
            directory,
            bytes: 0,
        })
    }

    /// Its length as it was made.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The directory on whose filesystem it lies.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Its length now: what a program wrote into it.
    pub(crate) fn length(&self) -> Result<u64, FilesystemError> {
        let metadata = self.file.metadata();
        Ok(metadata
            .map_err(|error| FilesystemError::system("examine the image", error))?
            .len())
    }

    /// Makes it a whole number of 4 KiB blocks: a loop device leaves out the rest.
    pub(crate) fn pad(&self) -> Result<(), FilesystemError> {
        let whole = self.length()?.next_multiple_of(4096);
        self.file
            .set_len(whole)
            .map_err(|error| FilesystemError::system("pad the image", error))
    }

    /// Writes back what a program wrote through the page cache, and lets it go from there.
    pub(crate) fn settle(&self) -> Result<(), FilesystemError> {
        self.file
            .sync_all()
            .map_err(|error| FilesystemError::system("flush the image", error))?;
        rustix::fs::fadvise(&self.file, 0, None, Advice::DontNeed)
            .map_err(|errno| FilesystemError::system("drop the image from the page cache", errno))
    }

    /// A loop device on it.
    ///
    /// # Errors
    /// See [`LoopDevice::attach`].
    pub(crate) fn attach(&self) -> Result<LoopDevice, FilesystemError> {
        LoopDevice::attach(&self.file)
    }

    /// Whether it can be written past the page cache.
    pub(crate) fn check_direct(&self) -> Result<(), FilesystemError> {
        self.reopen(OFlags::RDWR | OFlags::DIRECT).map(drop)
    }

    fn reopen(&self, flags: OFlags) -> Result<File, FilesystemError> {
        use std::os::fd::AsRawFd;
        let path = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        match rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::empty()) {
            Ok(file) => Ok(File::from(file)),
            Err(Errno::INVAL) => Err(FilesystemError::Unavailable(format!(
                "{} is on a filesystem without direct I/O, so the page cache would be measured instead of the disk; choose a \
                 directory on ext4, xfs or btrfs",
                self.directory.display()
            ))),
            Err(errno) => Err(FilesystemError::system(
                "open the image past the page cache",
                errno,
            )),
        }
    }
}

impl AsFd for Image {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Latencies of the loop device before there is a filesystem on it: what is the disk's, and what the filesystem adds.
#[derive(Clone, Debug)]
pub struct RawLatency {
    /// Of 4 KiB reads.
    pub small: LatencyHistogram,
    /// Of 128 KiB reads.
    pub large: LatencyHistogram,
}

impl RawLatency {
    /// Reads the image through a loop device of its own, one request at a time.
    ///
    /// *Cost*: `reads` reads of each size.
    pub(crate) fn of(image: &Image, reads: u32, seed: Seed, clock: &Clock) -> Result<Self, FilesystemError> {
        let device = image.attach()?;
        let file = device.direct()?;
        let mut draws = seed.derive("raw").rng();
        let mut measure = |size: usize| -> Result<LatencyHistogram, FilesystemError> {
            let mut histogram = LatencyHistogram::new();
            let mut buffer = AlignedBuffer::new(size);
            let places = (image.bytes() / size as u64).max(1);
            for _ in 0..reads {
                let offset = draws.next_u64() % places * size as u64;
                let start = clock.ticks();
                file.read_exact_at(buffer.bytes_mut(), offset)
                    .map_err(|error| FilesystemError::system("read the loop device", error))?;
                histogram.record(clock.nanos(clock.ticks() - start));
            }
            Ok(histogram)
        };
        Ok(Self {
            small: measure(4 << 10)?,
            large: measure(128 << 10)?,
        })
    }

    /// Median latency of a read of `bytes`, by a line through both sizes: single reads of a shared disk may take a hundred times longer.
    pub fn median_ns(&self, bytes: f64) -> Option<f64> {
        const SMALL: f64 = 4096.0;
        const LARGE: f64 = 131_072.0;
        let median = |histogram: &LatencyHistogram| histogram.quantile(0.5).map(|ns| ns as f64);
        let (small, large) = (median(&self.small)?, median(&self.large)?);
        Some(small + (large - small) * (bytes - SMALL) / (LARGE - SMALL))
    }
}

/// Refuses what would leave less than 5 % of the filesystem free.
fn check_space(directory: &Path, wanted_bytes: u64) -> Result<(), FilesystemError> {
    let space = rustix::fs::statvfs(directory).map_err(|errno| {
        FilesystemError::system(format!("read the free space of {}", directory.display()), errno)
    })?;
    let available_bytes = space.f_bavail.saturating_mul(space.f_frsize);
    let reserve_bytes = space.f_blocks.saturating_mul(space.f_frsize) / RESERVE;
    if wanted_bytes <= available_bytes.saturating_sub(reserve_bytes) {
        return Ok(());
    }
    Err(FilesystemError::NoSpace {
        directory: directory.to_owned(),
        wanted_bytes,
        available_bytes,
        reserve_bytes,
    })
}
