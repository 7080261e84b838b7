//! Writes a new scratch file in full, fast: large requests, several in flight, past the page cache.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

use outcrop_measure::seed::Seed;
use outcrop_workload::{Content, Filler};

use crate::direct::DirectFile;
use crate::engine::psync::PsyncEngine;
use crate::engine::uring::{RingOptions, UringEngine, UringRing};
use crate::engine::{Completion, Engine, Wait};
use crate::error::DeviceError;
use crate::memory::{Buffer, BufferRegion};
use crate::slots::{Flight, SlotTable, Step};

const CHUNK_BYTES: u64 = 1 << 20;
const DEPTH: u32 = 8;

/// Why filling ended, and what it had overwritten until then.
#[derive(Debug)]
pub(crate) struct Unfilled {
    pub(crate) error: DeviceError,
    /// What was written for certain …
    pub(crate) written_bytes: u64,
    /// … of so much at the start.
    pub(crate) reached_bytes: u64,
}

/// Writes the first `size_bytes` (a multiple of 4 KiB) of a file.
pub(crate) fn write_all(
    direct: &DirectFile,
    size_bytes: u64,
    content: &Content,
    seed: Seed,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(), Unfilled> {
    let mut fill = Fill {
        direct,
        whole_bytes: size_bytes / CHUNK_BYTES * CHUNK_BYTES,
        filler: content.filler(seed.derive("scratch content")),
        stop,
        next: 0,
        done: 0,
    };
    let mut whole_progress = |done| progress(done, size_bytes);
    let chunks = fill.write_chunks(&mut whole_progress);
    let all = chunks.and_then(|()| fill.write_rest(size_bytes));
    all.map_err(|error| Unfilled {
        error,
        written_bytes: fill.done,
        reached_bytes: fill.next,
    })?;
    progress(size_bytes, size_bytes);
    Ok(())
}

struct Fill<'a> {
    direct: &'a DirectFile,
    /// The part that is written in whole chunks.
    whole_bytes: u64,
    filler: Filler,
    stop: &'a AtomicBool,
    /// Up to where chunks were handed over.
    next: u64,
    /// How much of that was written.
    done: u64,
}

impl Fill<'_> {
    #[expect(unsafe_code, reason = "the ring keeps the buffers registered")]
    fn write_chunks(&mut self, progress: &mut dyn FnMut(u64)) -> Result<(), DeviceError> {
        if self.whole_bytes == 0 {
            return Ok(());
        }
        let region = BufferRegion::map(DEPTH, CHUNK_BYTES)?;
        let free: Vec<Buffer> = region.buffers().collect();
        let mut slots = SlotTable::new(DEPTH, CHUNK_BYTES as u32, vec![region]);
        let target = self.direct.file.as_fd();
        let options = RingOptions {
            target,
            queue_depth: DEPTH,
            has_timed_waits: false,
            is_polled: false,
        };
        // SAFETY: `slots` holds the mappings, and leaks them rather than unmap them under a request.
        match unsafe { UringRing::set_up(options, &slots.memory()) } {
            Ok(mut ring) => {
                let (mut engine, _) = UringEngine::start(&mut ring);
                self.pump(&mut engine, DEPTH, &mut slots, free, progress)
            }
            // Filling needs no particular engine: where io_uring is forbidden, one chunk at a time does.
            Err(DeviceError::RingSetup { .. }) => {
                self.pump(&mut PsyncEngine::new(target), 1, &mut slots, free, progress)
            }
            Err(error) => Err(error),
        }
    }

    fn pump<E: Engine>(
        &mut self,
        engine: &mut E,
        depth: u32,
        slots: &mut SlotTable,
        mut free: Vec<Buffer>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), DeviceError> {
        let mut failure = None;
        let mut empty: Vec<u32> = (0..depth).collect();
        loop {
            if self.stop.load(Ordering::Relaxed) && failure.is_none() {
                failure = Some(DeviceError::Interrupted {
                    during: "writing the scratch file",
                });
            }
            while failure.is_none() && self.next < self.whole_bytes {
                let (Some(slot), Some(mut buffer)) = (empty.pop(), free.pop()) else {
                    break;
                };
                self.filler.fill(slots.bytes_mut(0, &mut buffer));
                let flight = Flight {
                    buffer,
                    region: 0,
                    is_write: true,
                    offset: self.next,
                    started: 0,
                    due: 0,
                    step: Step::Transfer,
                };
                self.next += CHUNK_BYTES;
                slots.board(engine, slot, flight)?;
            }
            if slots.in_flight() == 0 {
                return failure.map_or(Ok(()), Err);
            }
            engine.submit(Wait::Completions(1))?;
            while let Some(Completion { slot, result }) = engine.reap() {
                let Some(flight) = slots.land(slot) else { continue };
                match self.check(&flight, result) {
                    Ok(()) => self.done += CHUNK_BYTES,
                    Err(error) => _ = failure.get_or_insert(error),
                }
                free.push(flight.buffer);
                empty.push(slot);
                progress(self.done);
            }
        }
    }

    fn check(&self, flight: &Flight, result: i32) -> Result<(), DeviceError> {
        let source = match u64::try_from(result) {
            Ok(CHUNK_BYTES) => return Ok(()),
            Ok(short) => std::io::Error::other(format!("wrote {short} of {CHUNK_BYTES} bytes")),
            Err(_) => std::io::Error::from_raw_os_error(-result),
        };
        Err(DeviceError::ScratchWrite {
            directory: self.direct.path.clone(),
            offset: flight.offset,
            source,
        })
    }

    /// The last part, shorter than a chunk.
    fn write_rest(&mut self, size_bytes: u64) -> Result<(), DeviceError> {
        let rest = size_bytes - self.whole_bytes;
        if rest == 0 {
            return Ok(());
        }
        let mut memory = crate::memory::IoMemory::map(rest)?;
        let Some(bytes) = memory.whole_mut().get_mut(..rest as usize) else {
            return Ok(());
        };
        self.filler.fill(bytes);
        self.next = size_bytes;
        std::os::unix::fs::FileExt::write_all_at(&self.direct.file, bytes, self.whole_bytes).map_err(
            |source| DeviceError::ScratchWrite {
                directory: self.direct.path.clone(),
                offset: self.whole_bytes,
                source,
            },
        )
    }
}
