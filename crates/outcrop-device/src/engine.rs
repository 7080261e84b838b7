//! How requests reach a target: the interface that the job loop is compiled against, once per engine.

pub(crate) mod libaio;
pub(crate) mod noop;
pub(crate) mod psync;
pub(crate) mod uring;

use outcrop_workload::SyncCall;

use crate::error::DeviceError;

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Writes, and completes only when that is durable.
    WriteThrough,
    /// Makes durable what was written; its memory and offset do not count, and its result is 0.
    Sync(SyncCall),
}

/// One request. `slot` comes back with its completion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) slot: u32,
    pub(crate) action: Action,
    pub(crate) offset: u64,
    pub(crate) memory: *mut u8,
    /// Which of the registered memory regions `memory` lies in.
    pub(crate) region: u16,
    pub(crate) length_bytes: u32,
}

/// How one request ended: `result` is the count of bytes, or a negated error number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Completion {
    pub(crate) slot: u32,
    pub(crate) result: i32,
}

/// What [`Engine::submit`] waits for, besides handing over what was prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Nothing: only hand over.
    Nothing,
    /// This many completions, or at most about [`TICK_NS`]: so a caller notices a stop flag even
    /// when the device hangs.
    Completions(u32),
    /// Nothing, but look at what has completed: for a thread that must not sleep.
    Poll,
    /// One completion, or at most this many nanoseconds. Nothing needs to be in flight.
    Nanoseconds(u64),
}

/// The longest that an engine waits for a completion before it returns without one.
pub(crate) const TICK_NS: u64 = 50_000_000;

/// Takes requests and gives completions, on one thread.
///
/// The loop is generic over it, so the noop engine has no dispatch in its way and measures the loop alone.
pub(crate) trait Engine {
    /// Takes a request; it may reach the kernel only with the next [`Engine::submit`].
    ///
    /// # Safety
    /// `request.memory` is valid for `length_bytes` and untouched by anybody else until the completion of
    /// this slot has been taken from [`Engine::reap`].
    #[expect(
        unsafe_code,
        reason = "the caller vouches for memory that the kernel writes to"
    )]
    unsafe fn prepare(&mut self, request: Request) -> Result<(), DeviceError>;

    /// Hands over everything prepared, then waits. Returning early is no error.
    fn submit(&mut self, wait: Wait) -> Result<(), DeviceError>;

    /// The next completion that has been seen, in any order.
    fn reap(&mut self) -> Option<Completion>;
}
