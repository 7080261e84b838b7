//! Reading: cold or warm, one block in each extent or from end to end, by psync or io_uring.
//!
//! Every read has its own place in memory, so that all bytes are still there when the clock has stopped, and are compared then.

use std::os::unix::fs::FileExt;

use outcrop_measure::seed::Seed;
use outcrop_measure::units::Rate;
use outcrop_probe::Clock;
use outcrop_workload::filesystem::{FileOperation, OncePerExtent};
use outcrop_workload::{Arrival, EngineKind, Schedule};
use rustix::fs::Advice;

use super::uring::{self, Ring};
use super::{Due, JobRecord, Pass};
use crate::buffer::AlignedBuffer;
use crate::error::FilesystemError;
use crate::files::Files;
use crate::report::Phase;
use crate::spec::JobSpec;

/// The reads of one job in one pass, with a place for what they bring, which the job makes.
pub(crate) struct JobReads {
    offsets: Vec<u64>,
    buffer: AlignedBuffer,
    schedule: Option<Schedule>,
}

/// The reads of all jobs.
pub(crate) struct PassReads {
    jobs: Vec<JobReads>,
    block_bytes: usize,
    engine: EngineKind,
    arrival: Arrival,
}

impl PassReads {
    /// Draws the reads of a pass.
    pub(crate) fn draw(
        spec: &JobSpec,
        arrival: Arrival,
        total_bytes: u64,
        extent_bytes: u64,
        seed: Seed,
    ) -> Self {
        let block = spec.io_block_bytes;
        let jobs = (0..spec.jobs).map(|job| {
            let offsets: Vec<u64> = match spec.operation {
                FileOperation::SequentialRead => sequential(total_bytes, block, job, spec.jobs),
                _ => OncePerExtent::new(total_bytes, extent_bytes, block, (job, spec.jobs), seed).collect(),
            };
            JobReads {
                buffer: AlignedBuffer::new(0),
                offsets,
                schedule: arrival.schedule_of_job(job, spec.jobs, seed.derive("arrivals")),
            }
        });
        Self {
            jobs: jobs.collect(),
            block_bytes: block as usize,
            engine: spec.engine,
            arrival,
        }
    }

    /// Reads them all, or until the pass is over.
    pub(crate) fn run(&mut self, pass: &Pass<'_>, files: &Files) -> Result<Phase, FilesystemError> {
        let (block_bytes, engine) = (self.block_bytes, self.engine);
        let jobs: Vec<&mut JobReads> = self.jobs.iter_mut().collect();
        // A thread's memory is touched by itself: it is then near the CPU that reads.
        let prepare = |reads: &mut &mut JobReads| {
            reads.buffer = AlignedBuffer::new(reads.offsets.len() * block_bytes);
            let is_ring = engine == EngineKind::IoUring;
            is_ring
                .then(|| Ring::new(pass.depth, reads.offsets.len()))
                .transpose()
        };
        let phase = pass.run_prepared(jobs, prepare, |reads, ring, started, record| {
            match (ring, reads.schedule.take()) {
                (Some(ring), _) => {
                    let done = uring::read(
                        pass,
                        ring,
                        files,
                        &reads.offsets,
                        reads.buffer.bytes_mut(),
                        block_bytes,
                        record,
                    )?;
                    reads.offsets.truncate(done);
                    Ok(())
                }
                (_, Some(schedule)) => reads.offered(
                    pass,
                    Due::new(schedule, pass.clock, started),
                    files,
                    block_bytes,
                    record,
                ),
                (_, None) => reads.one_by_one(pass, started, files, block_bytes, record),
            }
        })?;
        Ok(Phase {
            requested_per_second: self.arrival.per_second().map(Rate::per_second),
            ..phase
        })
    }

    /// Compares everything that was read with the data.
    pub(crate) fn compare(&self, data: &[u8]) -> Result<(), FilesystemError> {
        for job in &self.jobs {
            let read = job.buffer.bytes().chunks(self.block_bytes);
            for (offset, read) in job.offsets.iter().zip(read) {
                compare(data, *offset, read)?;
            }
        }
        Ok(())
    }
}

/// Compares bytes that were read at an offset with the data.
pub(crate) fn compare(data: &[u8], offset: u64, read: &[u8]) -> Result<(), FilesystemError> {
    let wanted = data.get(offset as usize..).unwrap_or_default();
    let length = wanted.len().min(read.len());
    if wanted[..length] == read[..length] {
        Ok(())
    } else {
        Err(FilesystemError::OtherBytes { offset, length })
    }
}

/// A job's contiguous part, block by block; a rest shorter than a block is left out.
fn sequential(total_bytes: u64, block_bytes: u64, job: u32, jobs: u32) -> Vec<u64> {
    let blocks = total_bytes / block_bytes;
    let (job, jobs) = (u64::from(job), u64::from(jobs));
    (blocks * job / jobs..blocks * (job + 1) / jobs)
        .map(|block| block * block_bytes)
        .collect()
}

impl JobReads {
    fn one_by_one(
        &mut self,
        pass: &Pass<'_>,
        started: u64,
        files: &Files,
        block_bytes: usize,
        record: &mut JobRecord,
    ) -> Result<(), FilesystemError> {
        let clock: &Clock = pass.clock;
        let mut done = 0;
        for (offset, place) in self
            .offsets
            .iter()
            .zip(self.buffer.bytes_mut().chunks_mut(block_bytes))
        {
            let before = clock.ticks();
            if pass.is_over(started, before) {
                break;
            }
            read_at(files, place, *offset)?;
            record.record(block_bytes as u64, clock.nanos(clock.ticks() - before));
            done += 1;
        }
        self.offsets.truncate(done);
        Ok(())
    }

    fn offered(
        &mut self,
        pass: &Pass<'_>,
        mut due: Due<'_>,
        files: &Files,
        block_bytes: usize,
        record: &mut JobRecord,
    ) -> Result<(), FilesystemError> {
        let clock: &Clock = pass.clock;
        let started = due.started;
        let mut service = outcrop_measure::histogram::LatencyHistogram::new();
        let mut lateness = outcrop_measure::histogram::LatencyHistogram::new();
        // Until the last read is done the next one waits for the filesystem; only from here on does it wait for us.
        let mut freed_ns = 0;
        let mut done = 0;
        for (offset, place) in self
            .offsets
            .iter()
            .zip(self.buffer.bytes_mut().chunks_mut(block_bytes))
        {
            let due_ns = due.wait_for_next();
            let before = clock.ticks();
            if pass.is_over(started, before) {
                // Due within the pass and not begun: an overload, not an end.
                record.unfinished += u64::from(due_ns < pass.limit_ns);
                break;
            }
            read_at(files, place, *offset)?;
            let after = clock.ticks();
            service.record(clock.nanos(after - before));
            let [begun_ns, ended_ns] =
                [before, after].map(|ticks| clock.nanos(ticks.saturating_sub(started)));
            lateness.record(begun_ns.saturating_sub(due_ns.max(freed_ns)));
            record.record(block_bytes as u64, ended_ns.saturating_sub(due_ns));
            freed_ns = ended_ns;
            done += 1;
        }
        record.service = Some(service);
        record.lateness = Some(lateness);
        self.offsets.truncate(done);
        Ok(())
    }
}

fn read_at(files: &Files, place: &mut [u8], offset: u64) -> Result<(), FilesystemError> {
    let (file, at) = files.locate(offset);
    file.read_exact_at(place, at)
        .map_err(|error| FilesystemError::system(format!("read a file at {at}"), error))
}

/// Says how the files will be read: without it the kernel reads ahead of random reads.
pub(crate) fn advise(files: &Files, operation: FileOperation) -> Result<(), FilesystemError> {
    let advice = match operation {
        FileOperation::SequentialRead => Advice::Sequential,
        _ => Advice::Random,
    };
    for file in files.all() {
        rustix::fs::fadvise(file, 0, None, advice)
            .map_err(|errno| FilesystemError::system("advise the kernel how a file is read", errno))?;
    }
    Ok(())
}

/// Brings all of the files into memory.
pub(crate) fn warm(files: &Files) -> Result<(), FilesystemError> {
    let mut buffer = vec![0; 1 << 20];
    for file in files.all() {
        let mut at = 0;
        loop {
            let read = file
                .read_at(&mut buffer, at)
                .map_err(|error| FilesystemError::system("read a file", error))?;
            if read == 0 {
                break;
            }
            at += read as u64;
        }
    }
    Ok(())
}

/// Reads everything once and compares it with the data.
pub(crate) fn verify(files: &Files, data: &[u8]) -> Result<(), FilesystemError> {
    let mut buffer = vec![0; 1 << 20];
    let mut offset = 0;
    while offset < data.len() as u64 {
        let (file, at) = files.locate(offset);
        let read = file
            .read_at(&mut buffer, at)
            .map_err(|error| FilesystemError::system("read a file", error))?;
        if read == 0 {
            return Err(FilesystemError::OtherBytes { offset, length: 0 });
        }
        compare(data, offset, &buffer[..read])?;
        offset += read as u64;
    }
    Ok(())
}
