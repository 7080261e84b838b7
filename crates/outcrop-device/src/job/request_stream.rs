//! The sequence of one job's requests: where each goes, and which way.

use outcrop_workload::{BlockIndexes, BlockSpace, Operations};

use crate::error::DeviceError;
use crate::job::worker::JobContext;

/// The offsets and directions of one job's requests.
pub(crate) struct RequestStream {
    blocks: BlockIndexes,
    operations: Operations,
    is_read_only: bool,
    block_size_bytes: u64,
    repeat: Option<Repeat>,
}

/// A sequence of blocks that begins anew.
struct Repeat {
    beginning: BlockIndexes,
    length: u64,
    left: u64,
}

impl RequestStream {
    pub(crate) fn new(context: &JobContext<'_>, index: u32) -> Result<Self, DeviceError> {
        let spec = context.spec;
        let space = BlockSpace::of_span(context.span_bytes, spec.io_block_size_bytes);
        let blocks = spec
            .access_pattern
            .blocks(space, index, spec.jobs, spec.seed)
            .map_err(|error| DeviceError::spec("access_pattern", spec.access_pattern, error.to_string()))?;
        let operations = spec
            .read_write_mix
            .operations(spec.seed.derive("operations").derive_index(u64::from(index)));
        let length = spec
            .repeat_after
            .get((context.jobs_before + index) as usize)
            .copied();
        let repeat = length.filter(|length| *length > 0).map(|length| Repeat {
            beginning: blocks.clone(),
            length,
            left: length,
        });
        Ok(Self {
            blocks,
            operations,
            is_read_only: !spec.read_write_mix.has_writes(),
            block_size_bytes: spec.io_block_size_bytes,
            repeat,
        })
    }

    /// Offset and whether it is a write.
    #[inline]
    pub(crate) fn next(&mut self) -> (u64, bool) {
        if let Some(repeat) = &mut self.repeat {
            if repeat.left == 0 {
                self.blocks = repeat.beginning.clone();
                repeat.left = repeat.length;
            }
            repeat.left -= 1;
        }
        let offset = self.blocks.next_block() * self.block_size_bytes;
        (offset, !self.is_read_only && !self.operations.next_is_read())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use outcrop_measure::seed::Seed;
    use outcrop_probe::clock::Clock;
    use outcrop_workload::ReadWriteMix;

    use super::RequestStream;
    use crate::job::worker::{JobContext, WriteAllowance};
    use crate::spec::JobSpec;

    /// The first offsets of one job.
    fn offsets(spec: &JobSpec, job: u32, count: usize) -> Vec<u64> {
        let (clock, flag) = (Clock::new(), AtomicBool::new(false));
        let context = JobContext {
            spec,
            span_bytes: 1 << 30,
            jobs_before: 0,
            cpus: None,
            clock: &clock,
            stop: &flag,
            halt: &flag,
            writes: &WriteAllowance::of(None),
        };
        let mut stream = RequestStream::new(&context, job).unwrap();
        (0..count).map(|_| stream.next().0).collect()
    }

    #[test]
    fn reads_visit_the_blocks_that_the_same_job_wrote_in_their_order_over_and_over() {
        for pattern in ["random", "sequential", "zipfian:0.99", "strided:64KiB"] {
            let writes = JobSpec {
                access_pattern: pattern.parse().unwrap(),
                read_write_mix: ReadWriteMix::WRITE_ONLY,
                jobs: 2,
                ..JobSpec::new(Seed(3))
            };
            let reads = JobSpec {
                read_write_mix: ReadWriteMix::READ_ONLY,
                repeat_after: vec![100, 7],
                ..writes.clone()
            };
            for (job, length) in [(0, 100), (1, 7)] {
                let written = offsets(&writes, job, length);
                let read = offsets(&reads, job, 3 * length);
                assert_eq!(read, written.repeat(3), "{pattern}, job {job}");
            }
            // A job without a number goes on.
            assert_eq!(
                offsets(
                    &JobSpec {
                        repeat_after: vec![5],
                        ..writes.clone()
                    },
                    1,
                    50
                ),
                offsets(&writes, 1, 50),
                "{pattern}"
            );
        }
    }
}
