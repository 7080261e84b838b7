//! One `pread` or `pwrite` at a time: the blocking baseline, and the way out where io_uring is forbidden.

use std::io::IoSlice;
use std::os::fd::BorrowedFd;

use outcrop_workload::SyncCall;
use rustix::io::ReadWriteFlags;

use crate::engine::{Action, Completion, Engine, Request, Wait};
use crate::error::DeviceError;
use crate::pause::pause_ns;

/// Has at most one request. A device that hangs in the middle of a call also hangs the stop flag: the
/// kernel does not interrupt direct I/O.
#[derive(Debug)]
pub(crate) struct PsyncEngine<'t> {
    target: BorrowedFd<'t>,
    prepared: Option<Request>,
    done: Option<Completion>,
}

impl<'t> PsyncEngine<'t> {
    pub(crate) const fn new(target: BorrowedFd<'t>) -> Self {
        Self {
            target,
            prepared: None,
            done: None,
        }
    }

    fn perform(&self, request: Request) -> i32 {
        let outcome = loop {
            let outcome = match request.action {
                Action::Sync(SyncCall::Fsync) => rustix::fs::fsync(self.target).map(|()| 0),
                Action::Sync(SyncCall::Fdatasync) => rustix::fs::fdatasync(self.target).map(|()| 0),
                Action::Read | Action::Write | Action::WriteThrough => self.transfer(request),
            };
            if outcome != Err(rustix::io::Errno::INTR) {
                break outcome;
            }
        };
        match outcome {
            Ok(count) => i32::try_from(count).unwrap_or(i32::MAX),
            Err(errno) => -errno.raw_os_error(),
        }
    }

    #[expect(
        unsafe_code,
        reason = "turns the request's memory into the slice that the call takes"
    )]
    fn transfer(&self, request: Request) -> rustix::io::Result<usize> {
        // SAFETY: `prepare`'s contract: valid for the length and nobody else's until reaped; the memory is
        // mapped zeroed, so it is initialised.
        let bytes = unsafe { std::slice::from_raw_parts_mut(request.memory, request.length_bytes as usize) };
        match request.action {
            Action::WriteThrough => rustix::io::pwritev2(
                self.target,
                &[IoSlice::new(bytes)],
                request.offset,
                ReadWriteFlags::DSYNC,
            ),
            Action::Write => rustix::io::pwrite(self.target, bytes, request.offset),
            Action::Read | Action::Sync(_) => rustix::io::pread(self.target, bytes, request.offset),
        }
    }
}

impl Engine for PsyncEngine<'_> {
    #[expect(unsafe_code, reason = "the trait's contract on the request's memory")]
    #[inline]
    unsafe fn prepare(&mut self, request: Request) -> Result<(), DeviceError> {
        debug_assert!(self.prepared.is_none(), "queue depth of psync is 1");
        self.prepared = Some(request);
        Ok(())
    }

    #[inline]
    fn submit(&mut self, wait: Wait) -> Result<(), DeviceError> {
        if let Some(request) = self.prepared.take() {
            self.done = Some(Completion {
                slot: request.slot,
                result: self.perform(request),
            });
        } else if let Wait::Nanoseconds(ns) = wait {
            pause_ns(ns);
        }
        Ok(())
    }

    #[inline]
    fn reap(&mut self) -> Option<Completion> {
        self.done.take()
    }
}
