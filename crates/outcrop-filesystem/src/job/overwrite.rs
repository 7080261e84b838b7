//! Writing again what was written: random overwrites, updates that read first, and ageing.

use std::os::unix::fs::FileExt;

use outcrop_measure::seed::Seed;
use outcrop_workload::filesystem::{FileOperation, OncePerExtent, SyncPolicy};

use super::read::compare;
use super::{JobRecord, Pass, write};
use crate::buffer::AlignedBuffer;
use crate::error::FilesystemError;
use crate::files::Files;
use crate::report::Phase;
use crate::spec::JobSpec;

/// Rounds of ageing, each made durable: what one transaction would gather into one extent is scattered as in use.
const AGEING_ROUNDS: u64 = 16;
/// Blocks that ageing overwrites.
const AGEING_BLOCK_BYTES: u64 = 4096;

/// Overwrites blocks, each at most once in a pass, or reads, changes and writes one record in each extent. `data` is kept as what
/// the files hold.
pub(crate) fn pass(
    pass: &Pass<'_>,
    files: &Files,
    data: &mut [u8],
    spec: &JobSpec,
    extent_bytes: u64,
    seed: Seed,
) -> Result<Phase, FilesystemError> {
    let block = spec.io_block_bytes;
    let reads_first = spec.operation == FileOperation::Update;
    let stride = if reads_first {
        extent_bytes.max(block)
    } else {
        block
    };
    let total = files.total_bytes();
    let jobs: Vec<JobWrites> = (0..spec.jobs)
        .map(|job| {
            let offsets: Vec<u64> = OncePerExtent::new(total, stride, block, (job, spec.jobs), seed)
                .filter(|offset| offset + block <= total)
                .collect();
            JobWrites {
                read: AlignedBuffer::new(if reads_first {
                    offsets.len() * block as usize
                } else {
                    0
                }),
                written: AlignedBuffer::new(block as usize),
                offsets,
                done: 0,
            }
        })
        .collect();
    let mut jobs = jobs;
    let shared: &[u8] = data;
    let phase = pass.run(
        jobs.iter_mut().collect(),
        |job: &mut JobWrites, started, record| job.run(pass, started, files, shared, spec.sync, record),
    )?;
    for job in &jobs {
        let done = &job.offsets[..job.done];
        if reads_first {
            for (offset, read) in done.iter().zip(job.read.bytes().chunks(block as usize)) {
                compare(data, *offset, read)?;
            }
        }
    }
    // New content is taken from the data as they were before this pass.
    let before = data.to_vec();
    for offset in jobs.iter().flat_map(|job| &job.offsets[..job.done]) {
        let place = &mut data[*offset as usize..(*offset + block) as usize];
        place.copy_from_slice(other_content(&before, *offset, block));
    }
    Ok(phase)
}

struct JobWrites {
    offsets: Vec<u64>,
    done: usize,
    read: AlignedBuffer,
    written: AlignedBuffer,
}

impl JobWrites {
    fn run(
        &mut self,
        pass: &Pass<'_>,
        started: u64,
        files: &Files,
        data: &[u8],
        policy: SyncPolicy,
        record: &mut JobRecord,
    ) -> Result<(), FilesystemError> {
        let clock = pass.clock;
        let block = self.written.bytes().len() as u64;
        let mut reads = self.read.bytes_mut().chunks_mut(block as usize);
        let mut since_sync = 0;
        for offset in &self.offsets {
            self.written
                .bytes_mut()
                .copy_from_slice(other_content(data, *offset, block));
            let (file, at) = files.locate(*offset);
            let place = reads.next();
            let before = clock.ticks();
            if pass.is_over(started, before) {
                break;
            }
            if let Some(place) = place {
                file.read_exact_at(place, at)
                    .map_err(|error| FilesystemError::system("read a record", error))?;
            }
            file.write_all_at(self.written.bytes(), at)
                .map_err(|error| FilesystemError::system("write a file", error))?;
            since_sync += 1;
            if SyncPolicy::Each(since_sync) == policy {
                file.sync_data()
                    .map_err(|error| FilesystemError::system("sync a file", error))?;
                since_sync = 0;
            }
            record.record(block, clock.nanos(clock.ticks() - before));
            self.done += 1;
        }
        write::sync(files)
    }
}

/// What a block is overwritten with: the data from half-way round, so that it compresses as the data do.
fn other_content(data: &[u8], offset: u64, bytes: u64) -> &[u8] {
    let last = data.len() as u64 - bytes;
    let from = (offset + data.len() as u64 / 2) % (last + 1);
    &data[from as usize..(from + bytes) as usize]
}

/// Overwrites a share of the files' blocks at random, in synced rounds. Not measured.
pub(crate) fn age(files: &Files, data: &mut [u8], percent: u32, seed: Seed) -> Result<(), FilesystemError> {
    let total = files.total_bytes();
    let blocks = OncePerExtent::new(total, AGEING_BLOCK_BYTES, AGEING_BLOCK_BYTES, (0, 1), seed);
    let wanted = blocks.extents() * u64::from(percent) / 100;
    let offsets: Vec<u64> = blocks.take(wanted as usize).collect();
    let per_round = offsets.len().div_ceil(AGEING_ROUNDS as usize).max(1);
    let before = data.to_vec();
    for round in offsets.chunks(per_round) {
        for offset in round {
            let end = (*offset + AGEING_BLOCK_BYTES).min(total);
            let content = other_content(&before, *offset, end - offset);
            let (file, at) = files.locate(*offset);
            file.write_all_at(content, at)
                .map_err(|error| FilesystemError::system("age a file", error))?;
            data[*offset as usize..end as usize].copy_from_slice(content);
        }
        write::sync(files)?;
    }
    Ok(())
}
