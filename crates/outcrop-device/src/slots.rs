//! The requests in flight and the memory they use.
//!
//! While a request is in flight, its buffer sits in the table, where nobody else can reach it. If a table
//! is dropped with requests in flight (an error, a panic, a device that hangs), its memory is leaked: the
//! kernel may still write to it.

use std::mem::ManuallyDrop;

use outcrop_workload::SyncCall;

use crate::engine::{Action, Engine, Request};
use crate::error::DeviceError;
use crate::memory::{Buffer, BufferRegion, IoMemory};

/// What an operation still has to do, besides the transfer itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing.
    #[default]
    Transfer,
    /// The write has to be durable when it completes.
    TransferThrough,
    /// A sync follows the write.
    TransferThenSync(SyncCall),
    /// The write is done, and its sync is under way.
    Sync {
        call: SyncCall,
        /// When the completion of the write was seen, in ticks.
        written: u64,
    },
}

/// One request that the kernel has, or is about to get.
#[derive(Debug)]
pub(crate) struct Flight {
    pub(crate) buffer: Buffer,
    /// Index of the region that the buffer is from.
    pub(crate) region: u16,
    pub(crate) is_write: bool,
    pub(crate) offset: u64,
    /// When it was made ready, in ticks.
    pub(crate) started: u64,
    /// When it was due, in ticks; in closed loops the same.
    pub(crate) due: u64,
    pub(crate) step: Step,
}

impl Flight {
    const fn action(&self) -> Action {
        match (self.is_write, self.step) {
            (_, Step::Sync { call, .. }) => Action::Sync(call),
            (false, _) => Action::Read,
            (true, Step::TransferThrough) => Action::WriteThrough,
            (true, Step::Transfer | Step::TransferThenSync(_)) => Action::Write,
        }
    }
}

/// Slots `0..depth`, each empty or with a request in flight, and all memory regions.
#[derive(Debug)]
pub(crate) struct SlotTable {
    regions: ManuallyDrop<Vec<BufferRegion>>,
    slots: Box<[Option<Flight>]>,
    in_flight: u32,
    length_bytes: u32,
}

impl SlotTable {
    pub(crate) fn new(queue_depth: u32, length_bytes: u32, regions: Vec<BufferRegion>) -> Self {
        let slots = (0..queue_depth).map(|_| None).collect();
        Self {
            regions: ManuallyDrop::new(regions),
            slots,
            in_flight: 0,
            length_bytes,
        }
    }

    /// The memory to register; the order gives the region indexes.
    pub(crate) fn memory(&self) -> Vec<&IoMemory> {
        self.regions.iter().map(BufferRegion::memory).collect()
    }

    /// The bytes of a buffer that is not in flight.
    #[inline]
    pub(crate) fn bytes_mut<'a>(&'a mut self, region: u16, buffer: &'a mut Buffer) -> &'a mut [u8] {
        self.regions[usize::from(region)].bytes_mut(buffer)
    }

    /// Requests without a completion yet.
    #[inline]
    pub(crate) const fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Moves a request in and hands it to the engine. The slot must be empty.
    #[expect(unsafe_code, reason = "vouches to the engine for the memory")]
    #[inline(always)]
    pub(crate) fn board<E: Engine>(
        &mut self,
        engine: &mut E,
        slot: u32,
        flight: Flight,
    ) -> Result<(), DeviceError> {
        let request = Request {
            slot,
            action: flight.action(),
            offset: flight.offset,
            memory: self.regions[usize::from(flight.region)].pointer(&flight.buffer),
            region: flight.region,
            length_bytes: self.length_bytes,
        };
        let place = &mut self.slots[slot as usize];
        debug_assert!(place.is_none(), "slot {slot} is in flight");
        *place = Some(flight);
        self.in_flight += 1;
        // SAFETY: the memory is a whole buffer of a mapping that outlives the request (see `Drop`), and the
        // right to it is now in the slot, out of reach until `land`.
        unsafe { engine.prepare(request) }
    }

    /// Moves a request out when its completion has been reaped. `None` for a slot that is not in flight.
    #[inline]
    pub(crate) fn land(&mut self, slot: u32) -> Option<Flight> {
        let flight = self.slots.get_mut(slot as usize)?.take()?;
        self.in_flight -= 1;
        Some(flight)
    }
}

impl Drop for SlotTable {
    fn drop(&mut self) {
        if self.in_flight == 0 {
            let regions = std::mem::take(&mut *self.regions);
            drop(regions);
        }
    }
}
