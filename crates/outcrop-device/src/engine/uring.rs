//! io_uring: asynchronous requests with every shortcut that the kernel grants, each stated in the report.

mod setup;

use std::io;

use io_uring::types::{Fd, FsyncFlags, SubmitArgs, TimeoutFlags, Timespec};
use io_uring::{CompletionQueue, SubmissionQueue, Submitter, opcode, squeue};
use outcrop_workload::SyncCall;
use rustix::io::Errno;

pub(crate) use setup::{RingOptions, UringRing};

use crate::engine::{Action, Completion, Engine, Request, TICK_NS, Wait};
use crate::error::DeviceError;
use crate::report::Feature;

/// Marks the completion of the timer that ends a wait on a hanging device.
const TICK: u64 = u64::MAX;
/// Runs the kernel's deferred work for this thread, which is what makes completions visible (`IORING_ENTER_GETEVENTS`).
const GET_EVENTS: u32 = 1;
static TICK_TIME: Timespec = Timespec::new().nsec(TICK_NS as u32);

/// One ring with target and buffers registered, driven by the thread that set it up.
pub(crate) struct UringEngine<'r> {
    submitter: Submitter<'r>,
    submissions: SubmissionQueue<'r>,
    completions: CompletionQueue<'r>,
    target: setup::TargetHandle,
    has_fixed_buffers: bool,
    /// A ring that polls has no timer: whoever waits asks the device until it answers.
    is_polled: bool,
    is_tick_armed: bool,
}

impl<'r> UringEngine<'r> {
    /// Takes the ring into use, and says which features it has.
    pub(crate) fn start(ring: &'r mut UringRing) -> (Self, Vec<Feature>) {
        let (target, has_fixed_buffers, is_polled) = (ring.target, ring.has_fixed_buffers, ring.is_polled);
        let mut features = std::mem::take(&mut ring.features);
        let (mut submitter, submissions, completions) = ring.ring.split();
        // The index of a registered ring lives in the submitter, so it is asked for here, not in `setup`.
        setup::note(
            &mut features,
            "registered ring",
            &submitter.register_ring_fd(),
            "Linux 5.18",
        );
        let engine = Self {
            submitter,
            submissions,
            completions,
            target,
            has_fixed_buffers,
            is_polled,
            is_tick_armed: false,
        };
        (engine, features)
    }

    #[inline]
    fn entry(&self, request: &Request) -> squeue::Entry {
        let Request {
            memory,
            length_bytes,
            offset,
            region,
            ..
        } = *request;
        let setup::TargetHandle { number, flags } = self.target;
        let target = Fd(number);
        let durable = match request.action {
            Action::WriteThrough => libc::RWF_DSYNC,
            _ => 0,
        };
        let entry = match (request.action, self.has_fixed_buffers) {
            (Action::Read, true) => opcode::ReadFixed::new(target, memory, length_bytes, region)
                .offset(offset)
                .build(),
            (Action::Read, false) => opcode::Read::new(target, memory, length_bytes)
                .offset(offset)
                .build(),
            (Action::Write | Action::WriteThrough, true) => {
                opcode::WriteFixed::new(target, memory, length_bytes, region)
                    .offset(offset)
                    .rw_flags(durable)
                    .build()
            }
            (Action::Write | Action::WriteThrough, false) => opcode::Write::new(target, memory, length_bytes)
                .offset(offset)
                .rw_flags(durable)
                .build(),
            (Action::Sync(call), _) => opcode::Fsync::new(target).flags(sync_flags(call)).build(),
        };
        entry.flags(flags).user_data(u64::from(request.slot))
    }

    /// Hands over and looks at what has completed, without waiting.
    #[expect(
        unsafe_code,
        reason = "the library's calls wait for one completion at least, or look at none"
    )]
    fn poll(&self) -> io::Result<usize> {
        let prepared = self.submissions.len() as u32;
        // SAFETY: neither an argument nor a signal mask is passed, and what is submitted was put in the queue before.
        unsafe { self.submitter.enter::<()>(prepared, 0, GET_EVENTS, None) }
    }

    /// A timer in the ring instead of a time limit on every wait: twenty completions a second rather than a
    /// timer set up and torn down with every system call.
    #[expect(unsafe_code, reason = "the kernel reads the time through the entry's pointer")]
    fn arm_tick(&mut self) -> Result<(), DeviceError> {
        let entry = opcode::Timeout::new(&TICK_TIME)
            .flags(TimeoutFlags::empty())
            .build()
            .user_data(TICK);
        // SAFETY: the time is a static, so the pointer in the entry is valid for ever.
        let pushed = unsafe { self.submissions.push(&entry) };
        pushed.map_err(|_| full())?;
        self.is_tick_armed = true;
        Ok(())
    }
}

const fn sync_flags(call: SyncCall) -> FsyncFlags {
    match call {
        SyncCall::Fdatasync => FsyncFlags::DATASYNC,
        SyncCall::Fsync => FsyncFlags::empty(),
    }
}

/// The ring has room for the depth and the tick, so this is a fault of ours, reported rather than hidden.
fn full() -> DeviceError {
    DeviceError::Engine {
        call: "io_uring submission",
        source: io::Error::other("the queue is full"),
    }
}

impl Engine for UringEngine<'_> {
    #[expect(
        unsafe_code,
        reason = "the trait's contract on the request's memory is what the kernel needs"
    )]
    #[inline]
    unsafe fn prepare(&mut self, request: Request) -> Result<(), DeviceError> {
        let entry = self.entry(&request);
        // SAFETY: `prepare`'s contract: the memory stays valid and untouched until the slot is reaped.
        unsafe { self.submissions.push(&entry) }.map_err(|_| full())
    }

    /// Trap: the kernel has to be told what was reaped *before* it is asked to wait. Otherwise it counts
    /// that as the completions waited for, returns at once, and every request costs two system calls.
    #[inline]
    fn submit(&mut self, wait: Wait) -> Result<(), DeviceError> {
        if matches!(wait, Wait::Completions(_)) && !self.is_tick_armed && !self.is_polled {
            self.arm_tick()?;
        }
        self.submissions.sync();
        let outcome = match wait {
            // Leaves the completion queue as it is seen, so that reaping comes to an end.
            Wait::Nothing => self.submitter.submit(),
            Wait::Poll => {
                self.completions.sync();
                self.poll()
            }
            Wait::Completions(wanted) => {
                self.completions.sync();
                self.submitter.submit_and_wait(wanted as usize)
            }
            Wait::Nanoseconds(ns) => {
                self.completions.sync();
                let limit = Timespec::new()
                    .sec(ns / 1_000_000_000)
                    .nsec((ns % 1_000_000_000) as u32);
                self.submitter
                    .submit_with_args(1, &SubmitArgs::new().timespec(&limit))
            }
        };
        if let Err(source) = outcome {
            match Errno::from_io_error(&source) {
                // The time is up, a signal came, or the kernel is short of memory or wants completions to be
                // reaped first; what was not submitted stays in the queue for the next call.
                Some(Errno::TIME | Errno::INTR | Errno::AGAIN | Errno::BUSY) => {}
                _ => {
                    return Err(DeviceError::Engine {
                        call: "io_uring_enter",
                        source,
                    });
                }
            }
        }
        self.submissions.sync();
        if wait != Wait::Nothing {
            self.completions.sync();
        }
        Ok(())
    }

    #[inline]
    fn reap(&mut self) -> Option<Completion> {
        loop {
            let entry = self.completions.next()?;
            if entry.user_data() == TICK {
                self.is_tick_armed = false;
                continue;
            }
            return Some(Completion {
                slot: entry.user_data() as u32,
                result: entry.result(),
            });
        }
    }
}

impl Drop for UringEngine<'_> {
    /// Lets go of the target and the buffers now. The kernel takes a closed ring apart later, in the background,
    /// and would keep the file open until then: locked, and its filesystem busy.
    fn drop(&mut self) {
        // What was refused at the registration cannot be taken back; that is not worth a word.
        let _ = self.submitter.unregister_files();
        let _ = self.submitter.unregister_buffers();
        let _ = self.submitter.unregister_ring_fd();
    }
}
