//! Many small files: created, then read one after the other in directory order.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use outcrop_workload::filesystem::SyncPolicy;
use rustix::fs::{Dir, Mode, OFlags};

use super::Pass;
use crate::buffer::AlignedBuffer;
use crate::error::FilesystemError;
use crate::report::Phase;

/// Files of a directory.
const PER_DIRECTORY: usize = 256;
/// More would measure little else and fill the directory for minutes.
const MOST_FILES: usize = 20_000;

/// How many files the data make.
pub(crate) fn count(data_bytes: usize, file_bytes: u64) -> usize {
    (data_bytes / file_bytes.max(1) as usize).min(MOST_FILES)
}

fn directory_name(index: usize) -> String {
    format!("d{:03}", index / PER_DIRECTORY)
}

fn file_name(index: usize) -> String {
    format!("f{index:05}")
}

/// The content of a file.
fn content(data: &[u8], index: usize, file_bytes: u64) -> &[u8] {
    let start = index * file_bytes as usize;
    &data[start..start + file_bytes as usize]
}

fn failed(action: &'static str) -> impl Fn(rustix::io::Errno) -> FilesystemError {
    move |errno| FilesystemError::system(action, errno)
}

/// Creates the files below `root`, and makes them durable at the end by `settle`, which is part of the duration.
pub(crate) fn create(
    pass: &Pass<'_>,
    root: &OwnedFd,
    data: &[u8],
    file_bytes: u64,
    sync: SyncPolicy,
    settle: impl Fn() -> Result<(), FilesystemError> + Sync,
) -> Result<Phase, FilesystemError> {
    let count = count(data.len(), file_bytes);
    pass.run(vec![()], |(), started, record| {
        let mut directory: Option<OwnedFd> = None;
        let mut since_sync = 0;
        for index in 0..count {
            let before = pass.clock.ticks();
            if pass.is_over(started, before) {
                return Err(FilesystemError::Interrupted);
            }
            if index % PER_DIRECTORY == 0 {
                let name = directory_name(index);
                rustix::fs::mkdirat(root, &name, Mode::RWXU).map_err(failed("make a directory"))?;
                directory = Some(open_directory(root, &name)?);
            }
            let Some(directory) = &directory else { break };
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let file = rustix::fs::openat(directory, file_name(index), flags, Mode::RUSR | Mode::WUSR)
                .map_err(failed("create a small file"))?;
            let mut file = File::from(file);
            file.write_all(content(data, index, file_bytes))
                .map_err(|error| FilesystemError::system("write a small file", error))?;
            since_sync += 1;
            if SyncPolicy::Each(since_sync) == sync {
                file.sync_all()
                    .map_err(|error| FilesystemError::system("sync a small file", error))?;
                since_sync = 0;
            }
            drop(file);
            record.record(file_bytes, pass.clock.nanos(pass.clock.ticks() - before));
        }
        settle()
    })
}

/// The same files in an ordinary directory, for programs that build an image of it. Not measured.
pub(crate) fn lay_out(directory: &Path, data: &[u8], file_bytes: u64) -> Result<(), FilesystemError> {
    let failed = |error| FilesystemError::system("write a small file for the image", error);
    for index in 0..count(data.len(), file_bytes) {
        let below = directory.join(directory_name(index));
        if index % PER_DIRECTORY == 0 {
            std::fs::create_dir(&below).map_err(failed)?;
        }
        std::fs::write(below.join(file_name(index)), content(data, index, file_bytes)).map_err(failed)?;
    }
    Ok(())
}

/// Opens, reads and closes every file in the order in which the directories list them, and compares the content afterwards.
pub(crate) fn read(
    pass: &Pass<'_>,
    root: &OwnedFd,
    data: &[u8],
    file_bytes: u64,
) -> Result<Phase, FilesystemError> {
    let most = count(data.len(), file_bytes);
    let mut memory = AlignedBuffer::new(most * file_bytes as usize);
    let mut order: Vec<usize> = Vec::with_capacity(most);
    let job = (&mut memory, &mut order);
    let phase = pass.run(vec![job], |(memory, order), started, record| {
        let mut places = memory.bytes_mut().chunks_mut(file_bytes as usize);
        for name in names(root)? {
            let directory = open_directory(root, &name)?;
            for name in names(&directory)? {
                let before = pass.clock.ticks();
                if pass.is_over(started, before) {
                    return Ok(());
                }
                let (Some(place), Some(index)) = (places.next(), index_of(&name)) else {
                    continue;
                };
                let flags = OFlags::RDONLY | OFlags::CLOEXEC;
                let file = rustix::fs::openat(&directory, name.as_str(), flags, Mode::empty())
                    .map_err(failed("open a small file"))?;
                let mut file = File::from(file);
                file.read_exact(place)
                    .map_err(|error| FilesystemError::system("read a small file", error))?;
                drop(file);
                record.record(file_bytes, pass.clock.nanos(pass.clock.ticks() - before));
                order.push(index);
            }
        }
        Ok(())
    })?;
    for (index, read) in order.iter().zip(memory.bytes().chunks(file_bytes as usize)) {
        if *index >= most || content(data, *index, file_bytes) != read {
            return Err(FilesystemError::OtherBytes {
                offset: *index as u64 * file_bytes,
                length: read.len(),
            });
        }
    }
    Ok(phase)
}

fn index_of(name: &str) -> Option<usize> {
    name.strip_prefix('f')?.parse().ok()
}

fn open_directory(root: &OwnedFd, name: &str) -> Result<OwnedFd, FilesystemError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat(root, name, flags, Mode::empty()).map_err(failed("open a directory"))
}

/// Names in the order of the directory, without those of the directory and its parent.
fn names(directory: impl AsFd) -> Result<Vec<String>, FilesystemError> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory).map_err(failed("list a directory"))? {
        let entry = entry.map_err(failed("list a directory"))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // mkfs.ext4 makes lost+found.
        if name.starts_with('d') || name.starts_with('f') {
            names.push(name);
        }
    }
    Ok(names)
}
