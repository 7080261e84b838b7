//! Writing the data to new files: how they are filled, and the operations `write` and `append`.

use std::os::unix::fs::FileExt;

use outcrop_workload::filesystem::SyncPolicy;

use super::{JobRecord, Pass};
use crate::buffer::AlignedBuffer;
use crate::error::FilesystemError;
use crate::files::Files;
use crate::report::Phase;

/// How the data are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Writing {
    /// Bytes of a write.
    pub(crate) block_bytes: u64,
    /// Threads, each over its own contiguous part.
    pub(crate) jobs: u32,
    /// When they are made durable.
    pub(crate) sync: SyncPolicy,
    /// Whether they are written from whole pages, as O_DIRECT asks for.
    pub(crate) is_direct: bool,
}

impl Writing {
    /// How files are filled that something else is done with.
    pub(crate) const FILL: Self = Self {
        block_bytes: 1 << 20,
        jobs: 1,
        sync: SyncPolicy::End,
        is_direct: false,
    };
}

/// Writes the data, or as much as the pass has time for, and makes it durable: fsync of each file is part of the duration.
pub(crate) fn data(
    pass: &Pass<'_>,
    files: &Files,
    data: &[u8],
    how: Writing,
) -> Result<Phase, FilesystemError> {
    let blocks = (data.len() as u64).div_ceil(how.block_bytes);
    let jobs = u64::from(how.jobs);
    let parts = (0..jobs)
        .map(|job| (blocks * job / jobs, blocks * (job + 1) / jobs))
        .collect();
    pass.run(parts, |(first, end), started, record: &mut JobRecord| {
        let mut since_sync = 0;
        let mut pages = AlignedBuffer::new(if how.is_direct {
            how.block_bytes as usize
        } else {
            0
        });
        for block in first..end {
            let offset = block * how.block_bytes;
            let mut bytes = &data[offset as usize..data.len().min((offset + how.block_bytes) as usize)];
            if how.is_direct {
                let place = &mut pages.bytes_mut()[..bytes.len()];
                place.copy_from_slice(bytes);
                bytes = place;
            }
            let (file, at) = files.locate(offset);
            let before = pass.clock.ticks();
            if pass.is_over(started, before) {
                break;
            }
            file.write_all_at(bytes, at)
                .map_err(|error| FilesystemError::system("write a file", error))?;
            since_sync += 1;
            if SyncPolicy::Each(since_sync) == how.sync {
                file.sync_data()
                    .map_err(|error| FilesystemError::system("sync a file", error))?;
                since_sync = 0;
            }
            record.record(bytes.len() as u64, pass.clock.nanos(pass.clock.ticks() - before));
        }
        sync(files)
    })
}

/// Makes all files durable.
pub(crate) fn sync(files: &Files) -> Result<(), FilesystemError> {
    for file in files.all() {
        file.sync_all()
            .map_err(|error| FilesystemError::system("sync a file", error))?;
    }
    Ok(())
}
