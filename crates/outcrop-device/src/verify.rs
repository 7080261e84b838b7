//! Verified writes: blocks that say where they belong and when they were written, read back and compared.
//!
//! The first pass writes every block of the span, each further pass about half of them over again, in an order of its own. Which
//! pass wrote a block last follows from the seed, so that nothing has to be remembered: a device may be written, taken through a
//! power failure, and checked by another process.

mod diagnosis;
mod pattern;

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use outcrop_measure::seed::Seed;
use outcrop_workload::{EngineKind, ReadWriteMix};

use crate::engine::libaio::LibaioEngine;
use crate::engine::psync::PsyncEngine;
use crate::engine::uring::{RingOptions, UringEngine, UringRing};
use crate::engine::{Completion, Engine, Wait};
use crate::error::DeviceError;
use crate::job::counted;
use crate::memory::{Buffer, BufferRegion};
use crate::slots::{Flight, SlotTable, Step};
use crate::spec::JobSpec;
use crate::target::Target;
use diagnosis::Expected;
pub use diagnosis::Fault;
use pattern::{SECTOR_BYTES, mix};

/// What is written and compared.
#[derive(Clone, Debug)]
pub struct VerifySpec {
    /// How requests are issued; any but [`EngineKind::Noop`].
    pub engine: EngineKind,
    /// Bytes of a block, which is written by one request.
    pub io_block_size_bytes: u64,
    /// Requests in flight.
    pub queue_depth: u32,
    /// The part of the target that is verified, from its start; `None` is the whole of it.
    pub span_bytes: Option<u64>,
    /// How often the span is written; from the second pass on about half of the blocks.
    pub passes: u32,
    /// The same seed, sizes and passes have to be given for writing and for checking.
    pub seed: Seed,
}

/// A fault and the block that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultyBlock {
    /// Where the block begins, in bytes from the start of the target.
    pub offset: u64,
    /// What is wrong with it.
    pub fault: Fault,
}

/// At most so many faults are kept; all are counted.
const MAX_FAULTS: usize = 1000;
/// After so many failed writes the device is not worth going on with.
const MAX_UNWRITABLE: u64 = 1000;
/// How often a block can be written over.
const MAX_PASSES: u32 = 64;

/// What was written, compared and found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Blocks written, over all passes.
    pub blocks_written: u64,
    /// Blocks read back and compared.
    pub blocks_checked: u64,
    /// Bytes of each.
    pub block_bytes: u64,
    /// Faults, those above [`VerifyReport::faults`] included.
    pub fault_count: u64,
    /// The first thousand of them, by offset.
    pub faults: Vec<FaultyBlock>,
    /// Why what was read back may be what memory kept, and not what the disk holds; none where nothing says so, and while nothing is read.
    pub page_cache: Option<String>,
    /// Whether the caller's flag ended it early.
    pub is_interrupted: bool,
}

impl VerifyReport {
    fn add(&mut self, offset: u64, fault: Fault) {
        self.fault_count += 1;
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(FaultyBlock { offset, fault });
        }
    }

    fn sorted(mut self) -> Self {
        self.faults.sort_by_key(|block| block.offset);
        self
    }
}

/// Writes all passes, and flushes.
///
/// `progress` is called with the blocks that are done and all blocks.
///
/// # Errors
/// The target may not be written or does not fit the specification; the engine cannot be set up or fails. A write that the device
/// refuses is a fault of the report.
pub fn write_verified(
    target: &Target,
    spec: &VerifySpec,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<VerifyReport, DeviceError> {
    let blocks = Blocks::of(target, spec, ReadWriteMix::WRITE_ONLY)?;
    let all: u64 = (1..=spec.passes)
        .map(|pass| blocks.of_pass(pass).count() as u64)
        .sum();
    let mut report = blocks.report();
    for pass in 1..=spec.passes {
        let mut offsets = blocks.of_pass(pass);
        let mut transfer = Transfer {
            is_write: true,
            prepare: &mut |offset, bytes| blocks.expected(offset, pass).write(bytes),
            finish: &mut |offset, outcome| {
                report.blocks_written += 1;
                if let Err(error) = outcome {
                    report.add(offset, Fault::Unwritable { error });
                }
                progress(report.blocks_written, all);
                report.fault_count < MAX_UNWRITABLE
            },
        };
        if !transfer.run(target, spec, &mut offsets, stop)? {
            report.is_interrupted = stop.load(Ordering::Relaxed);
            break;
        }
    }
    target.flush()?;
    Ok(report.sorted())
}

/// Reads the span back and names every block that does not hold what the last pass wrote to it.
///
/// # Errors
/// The target does not fit the specification; the engine cannot be set up or fails. A read that the device refuses is a fault of
/// the report.
pub fn check_verified(
    target: &Target,
    spec: &VerifySpec,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<VerifyReport, DeviceError> {
    let blocks = Blocks::of(target, spec, ReadWriteMix::READ_ONLY)?;
    let mut report = VerifyReport {
        page_cache: counted::unread_disk(target),
        ..blocks.report()
    };
    let mut offsets = blocks.of_pass(1);
    let mut transfer = Transfer {
        is_write: false,
        prepare: &mut |_, _| {},
        finish: &mut |offset, outcome| {
            report.blocks_checked += 1;
            match outcome {
                Err(error) => report.add(offset, Fault::Unreadable { error }),
                Ok(bytes) => {
                    let expected = blocks.expected(offset, blocks.last_pass(offset));
                    for fault in expected.faults(bytes) {
                        report.add(offset, fault);
                    }
                }
            }
            progress(report.blocks_checked, blocks.count);
            true
        },
    };
    let is_done = transfer.run(target, spec, &mut offsets, stop)?;
    report.is_interrupted = !is_done;
    Ok(report.sorted())
}

/// The blocks of a span, and which pass writes which.
#[derive(Clone, Copy, Debug)]
struct Blocks {
    run: u64,
    count: u64,
    block_bytes: u64,
    passes: u32,
}

impl Blocks {
    fn of(target: &Target, spec: &VerifySpec, read_write_mix: ReadWriteMix) -> Result<Self, DeviceError> {
        if spec.engine == EngineKind::Noop {
            return Err(DeviceError::spec(
                "engine",
                spec.engine,
                "one that reaches a device",
            ));
        }
        if !(1..=MAX_PASSES).contains(&spec.passes) {
            return Err(DeviceError::spec("passes", spec.passes, "1 to 64"));
        }
        if !spec.io_block_size_bytes.is_multiple_of(SECTOR_BYTES as u64) {
            return Err(DeviceError::spec(
                "io_block_size",
                spec.io_block_size_bytes,
                "a multiple of 512 bytes",
            ));
        }
        let span_bytes = target.check(&JobSpec {
            engine: spec.engine,
            io_block_size_bytes: spec.io_block_size_bytes,
            queue_depth: spec.queue_depth,
            span_bytes: spec.span_bytes,
            read_write_mix,
            ..JobSpec::new(spec.seed)
        })?;
        Ok(Self {
            run: spec.seed.derive("verify").0,
            count: span_bytes / spec.io_block_size_bytes,
            block_bytes: spec.io_block_size_bytes,
            passes: spec.passes,
        })
    }

    fn report(&self) -> VerifyReport {
        VerifyReport {
            block_bytes: self.block_bytes,
            ..VerifyReport::default()
        }
    }

    fn expected(&self, offset: u64, generation: u32) -> Expected {
        Expected {
            run: self.run,
            offset,
            generation,
        }
    }

    fn is_written_in(&self, block: u64, pass: u32) -> bool {
        pass == 1 || mix(self.run ^ mix(block ^ mix(u64::from(pass)))) & 1 == 1
    }

    fn last_pass(&self, offset: u64) -> u32 {
        let block = offset / self.block_bytes;
        let mut passes = (1..=self.passes).rev();
        passes.find(|pass| self.is_written_in(block, *pass)).unwrap_or(1)
    }

    /// Offsets of the blocks that a pass writes, each once, scattered over the span.
    fn of_pass(self, pass: u32) -> impl Iterator<Item = u64> {
        // A step near the golden ratio that shares no divisor with the count visits all and returns.
        let near = (self.count as f64 * 0.618) as u64 + u64::from(pass);
        let step = (near..)
            .find(|step| greatest_divisor(*step, self.count) == 1)
            .unwrap_or(1);
        let mut block = mix(self.run ^ u64::from(pass)) % self.count.max(1);
        let all = (0..self.count).map(move |_| {
            let this = block;
            block = (block + step % self.count) % self.count;
            this
        });
        all.filter(move |block| self.is_written_in(*block, pass))
            .map(move |block| block * self.block_bytes)
    }
}

fn greatest_divisor(one: u64, other: u64) -> u64 {
    let (mut one, mut other) = (one, other);
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// What is done with a block when its request is over; false ends the transfer.
type Finish<'f> = dyn FnMut(u64, Result<&[u8], String>) -> bool + 'f;

/// Requests of one direction for a list of blocks.
struct Transfer<'f> {
    is_write: bool,
    /// Makes the bytes of a block before it is written.
    prepare: &'f mut dyn FnMut(u64, &mut [u8]),
    finish: &'f mut Finish<'f>,
}

impl Transfer<'_> {
    /// Whether it went to its end.
    #[expect(unsafe_code, reason = "the ring keeps the buffers registered")]
    fn run(
        &mut self,
        target: &Target,
        spec: &VerifySpec,
        offsets: &mut dyn Iterator<Item = u64>,
        stop: &AtomicBool,
    ) -> Result<bool, DeviceError> {
        let Some(direct) = target.direct() else {
            return Ok(true);
        };
        let target: BorrowedFd<'_> = direct.file.as_fd();
        let depth = spec.queue_depth;
        let region = BufferRegion::map(depth, spec.io_block_size_bytes)?;
        let free: Vec<Buffer> = region.buffers().collect();
        let mut slots = SlotTable::new(depth, spec.io_block_size_bytes as u32, vec![region]);
        let mut pump = Pump {
            depth,
            free,
            offsets,
            stop,
            block_bytes: spec.io_block_size_bytes,
        };
        match spec.engine {
            EngineKind::IoUring => {
                let options = RingOptions {
                    target,
                    queue_depth: depth,
                    has_timed_waits: false,
                    is_polled: false,
                };
                // SAFETY: `slots` holds the mappings, and leaks them rather than unmap them under a request.
                let mut ring = unsafe { UringRing::set_up(options, &slots.memory()) }?;
                let (mut engine, _) = UringEngine::start(&mut ring);
                pump.run(&mut engine, &mut slots, self)
            }
            EngineKind::Libaio => pump.run(&mut LibaioEngine::set_up(target, depth)?, &mut slots, self),
            EngineKind::Psync | EngineKind::Noop => pump.run(&mut PsyncEngine::new(target), &mut slots, self),
        }
    }
}

/// Keeps the depth until the list of blocks ends.
struct Pump<'p> {
    depth: u32,
    free: Vec<Buffer>,
    offsets: &'p mut dyn Iterator<Item = u64>,
    stop: &'p AtomicBool,
    block_bytes: u64,
}

impl Pump<'_> {
    fn run<E: Engine>(
        &mut self,
        engine: &mut E,
        slots: &mut SlotTable,
        transfer: &mut Transfer<'_>,
    ) -> Result<bool, DeviceError> {
        let mut empty: Vec<u32> = (0..self.depth).collect();
        let mut goes_on = true;
        let mut is_at_end = false;
        loop {
            goes_on &= !self.stop.load(Ordering::Relaxed);
            while goes_on && !is_at_end && !empty.is_empty() {
                let Some(offset) = self.offsets.next() else {
                    is_at_end = true;
                    break;
                };
                let (Some(slot), Some(mut buffer)) = (empty.pop(), self.free.pop()) else {
                    break;
                };
                (transfer.prepare)(offset, slots.bytes_mut(0, &mut buffer));
                let flight = Flight {
                    buffer,
                    region: 0,
                    is_write: transfer.is_write,
                    offset,
                    started: 0,
                    due: 0,
                    step: Step::Transfer,
                };
                slots.board(engine, slot, flight)?;
                // An engine with one request at a time does it now.
                engine.submit(Wait::Nothing)?;
            }
            if slots.in_flight() == 0 {
                return Ok(goes_on);
            }
            engine.submit(Wait::Completions(1))?;
            while let Some(completion) = engine.reap() {
                goes_on &= self.finish(completion, slots, transfer);
                empty.push(completion.slot);
            }
        }
    }

    fn finish(&mut self, completion: Completion, slots: &mut SlotTable, transfer: &mut Transfer<'_>) -> bool {
        let Some(Flight {
            mut buffer, offset, ..
        }) = slots.land(completion.slot)
        else {
            return true;
        };
        let outcome = match completion.result {
            result if i64::from(result) == self.block_bytes as i64 => Ok(&*slots.bytes_mut(0, &mut buffer)),
            result if result < 0 => Err(std::io::Error::from_raw_os_error(-result).to_string()),
            short => Err(format!("{short} of {} bytes", self.block_bytes)),
        };
        let goes_on = (transfer.finish)(offset, outcome);
        self.free.push(buffer);
        goes_on
    }
}
