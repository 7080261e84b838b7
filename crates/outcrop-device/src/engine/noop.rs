//! Completes every request at once, without a target: what remains is the cost of the loop, the generators,
//! the clock and the histogram.

use crate::engine::{Action, Completion, Engine, Request, Wait};
use crate::error::DeviceError;
use crate::pause::pause_ns;

/// Requests that are "done", in order. Its capacity is the queue depth.
#[derive(Debug)]
pub(crate) struct NoopEngine {
    done: Box<[Completion]>,
    /// Next to be reaped.
    head: u32,
    /// End of what was submitted, and so is complete.
    submitted: u32,
    /// End of what was prepared.
    tail: u32,
}

impl NoopEngine {
    pub(crate) fn new(queue_depth: u32) -> Self {
        let slots = queue_depth.next_power_of_two() as usize;
        Self {
            done: vec![Completion { slot: 0, result: 0 }; slots].into(),
            head: 0,
            submitted: 0,
            tail: 0,
        }
    }

    #[inline]
    fn place(&self, index: u32) -> usize {
        // The length is a power of two, so the mask keeps every index in bounds.
        index as usize & (self.done.len() - 1)
    }
}

impl Engine for NoopEngine {
    #[expect(
        unsafe_code,
        reason = "the trait's contract is about memory that this engine never touches"
    )]
    #[inline]
    unsafe fn prepare(&mut self, request: Request) -> Result<(), DeviceError> {
        let place = self.place(self.tail);
        self.done[place] = Completion {
            slot: request.slot,
            result: match request.action {
                Action::Sync(_) => 0,
                _ => request.length_bytes as i32,
            },
        };
        self.tail = self.tail.wrapping_add(1);
        Ok(())
    }

    #[inline]
    fn submit(&mut self, wait: Wait) -> Result<(), DeviceError> {
        match wait {
            Wait::Nanoseconds(ns) if self.head == self.tail => pause_ns(ns),
            // What is handed over in the middle of reaping completes with the next wait, or reaping
            // would never end.
            Wait::Nothing => {}
            Wait::Completions(_) | Wait::Nanoseconds(_) | Wait::Poll => self.submitted = self.tail,
        }
        Ok(())
    }

    #[inline]
    fn reap(&mut self) -> Option<Completion> {
        if self.head == self.submitted {
            return None;
        }
        let completion = self.done[self.place(self.head)];
        self.head = self.head.wrapping_add(1);
        Some(completion)
    }
}

/// The same, which keeps for how long it was told to sleep.
#[cfg(test)]
pub(crate) struct Listening<'s> {
    pub(crate) engine: NoopEngine,
    pub(crate) asleep_ns: &'s mut Vec<u64>,
}

#[cfg(test)]
impl Engine for Listening<'_> {
    #[expect(unsafe_code, reason = "passes on a request whose memory is never touched")]
    unsafe fn prepare(&mut self, request: Request) -> Result<(), DeviceError> {
        // SAFETY: whoever calls this vouches for the memory.
        unsafe { self.engine.prepare(request) }
    }

    fn submit(&mut self, wait: Wait) -> Result<(), DeviceError> {
        if let Wait::Nanoseconds(ns) = wait {
            self.asleep_ns.push(ns);
        }
        self.engine.submit(wait)
    }

    fn reap(&mut self) -> Option<Completion> {
        self.engine.reap()
    }
}
