//! The kernel's older asynchronous interface, by its system calls: what fio calls libaio, without the library.
//!
//! Requests are asynchronous only with direct I/O; otherwise `io_submit` itself does the work and returns late.
//!
//! *Source*: io_setup(2), io_submit(2), io_getevents(2); include/uapi/linux/aio_abi.h.

#![expect(unsafe_code, reason = "the system calls have no safe binding")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use outcrop_workload::SyncCall;
use rustix::io::Errno;

use crate::engine::{Action, Completion, Engine, Request, TICK_NS, Wait};
use crate::error::DeviceError;

const READ: u16 = 0;
const WRITE: u16 = 1;
const FSYNC: u16 = 2;
const FDSYNC: u16 = 3;

/// `struct iocb`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct ControlBlock {
    data: u64,
    /// The key, which the kernel writes, and the flags; their order is the machine's.
    key_and_flags: [u32; 2],
    opcode: u16,
    priority: i16,
    descriptor: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event_descriptor: u32,
}

/// `struct io_event`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Event {
    data: u64,
    object: u64,
    result: i64,
    result_2: i64,
}

/// Where the flags of a transfer are among key and flags.
const FLAGS: usize = cfg!(target_endian = "little") as usize;

/// One context, used by the thread that set it up.
#[derive(Debug)]
pub(crate) struct LibaioEngine<'t> {
    target: BorrowedFd<'t>,
    context: libc::c_ulong,
    /// One block per slot. The kernel reads them while it submits.
    blocks: Box<[ControlBlock]>,
    /// Slots that were prepared and not handed over.
    prepared: Vec<u32>,
    /// What `io_submit` is given: the addresses of the prepared blocks.
    addresses: Vec<*mut ControlBlock>,
    events: Box<[Event]>,
    /// Events that were taken from the kernel and not reaped.
    seen: std::ops::Range<usize>,
    /// Requests that the kernel refused to take.
    refused: Vec<Completion>,
    /// Requests that the kernel has.
    submitted: usize,
    /// How often in a row it took none although it had none.
    refusals: u32,
}

/// As long as about a second of waiting: so often a kernel that is short of memory may take no request at all.
const MOST_REFUSALS: u32 = 20;

impl<'t> LibaioEngine<'t> {
    /// Sets up a context for so many requests.
    pub(crate) fn set_up(target: BorrowedFd<'t>, queue_depth: u32) -> Result<Self, DeviceError> {
        let mut context: libc::c_ulong = 0;
        // SAFETY: the kernel writes the context's number, which lives until the call returns.
        let outcome = unsafe {
            libc::syscall(
                libc::SYS_io_setup,
                libc::c_long::from(queue_depth),
                &raw mut context,
            )
        };
        if outcome != 0 {
            return Err(refused(queue_depth));
        }
        let slots = queue_depth as usize;
        Ok(Self {
            target,
            context,
            blocks: vec![ControlBlock::default(); slots].into(),
            prepared: Vec::with_capacity(slots),
            addresses: Vec::with_capacity(slots),
            events: vec![Event::default(); slots].into(),
            seen: 0..0,
            refused: Vec::new(),
            submitted: 0,
            refusals: 0,
        })
    }

    /// Hands over what is prepared. The kernel may take less, when it has no room; the rest waits for the next call.
    fn hand_over(&mut self) -> Result<(), DeviceError> {
        while !self.prepared.is_empty() {
            self.addresses.clear();
            let first = self.blocks.as_mut_ptr();
            let address = |slot: &u32| first.wrapping_add(*slot as usize);
            self.addresses.extend(self.prepared.iter().map(address));
            // SAFETY: the addresses are of blocks of `self`, below the queue depth, and their memory is vouched for by `prepare`.
            let taken = unsafe {
                libc::syscall(
                    libc::SYS_io_submit,
                    self.context,
                    self.addresses.len() as libc::c_long,
                    self.addresses.as_mut_ptr(),
                )
            };
            if let Ok(taken) = usize::try_from(taken) {
                self.submitted += taken;
                self.prepared.drain(..taken.min(self.prepared.len()));
                if taken > 0 {
                    continue;
                }
                return Ok(());
            }
            let source = io::Error::last_os_error();
            match Errno::from_io_error(&source) {
                Some(Errno::AGAIN | Errno::INTR) => return Ok(()),
                // The first request alone is at fault: it fails, and the others go on.
                Some(errno @ (Errno::INVAL | Errno::BADF | Errno::IO | Errno::NODEV | Errno::NXIO)) => {
                    let slot = self.prepared.remove(0);
                    self.refused.push(Completion {
                        slot,
                        result: -errno.raw_os_error(),
                    });
                }
                _ => {
                    return Err(DeviceError::Engine {
                        call: "io_submit",
                        source,
                    });
                }
            }
        }
        Ok(())
    }

    /// Gives up on a kernel that takes nothing, time and again, while no completion can make room.
    fn note_refusal(&mut self) -> Result<(), DeviceError> {
        let is_refused = !self.prepared.is_empty() && self.submitted == 0 && self.refused.is_empty();
        self.refusals = if is_refused { self.refusals + 1 } else { 0 };
        if self.refusals > MOST_REFUSALS {
            return Err(DeviceError::Engine {
                call: "io_submit",
                source: Errno::AGAIN.into(),
            });
        }
        Ok(())
    }

    /// Takes events from the kernel: `wanted` of them, or those there are after `ns`.
    fn take_events(&mut self, wanted: usize, ns: u64) -> Result<(), DeviceError> {
        let mut limit = libc::timespec {
            tv_sec: (ns / 1_000_000_000) as libc::time_t,
            tv_nsec: (ns % 1_000_000_000) as libc::c_long,
        };
        // SAFETY: the kernel writes at most as many events as the slice has, and reads the limit; both live until it returns.
        let taken = unsafe {
            libc::syscall(
                libc::SYS_io_getevents,
                self.context,
                wanted as libc::c_long,
                self.events.len() as libc::c_long,
                self.events.as_mut_ptr(),
                &raw mut limit,
            )
        };
        match usize::try_from(taken) {
            Ok(taken) => {
                self.seen = 0..taken.min(self.events.len());
                self.submitted = self.submitted.saturating_sub(taken);
                Ok(())
            }
            Err(_) => {
                let source = io::Error::last_os_error();
                match Errno::from_io_error(&source) {
                    Some(Errno::INTR) => Ok(()),
                    _ => Err(DeviceError::Engine {
                        call: "io_getevents",
                        source,
                    }),
                }
            }
        }
    }
}

fn refused(entries: u32) -> DeviceError {
    let source = io::Error::last_os_error();
    let hint = match Errno::from_io_error(&source) {
        Some(Errno::AGAIN) => {
            "raise `sysctl fs.aio-max-nr`, which bounds the requests of all processes, or lower queue_depth or jobs"
        }
        Some(Errno::NOSYS) => {
            "this kernel was built without CONFIG_AIO, or a container's seccomp profile hides the call"
        }
        Some(Errno::PERM) => "a container's seccomp profile forbids the call",
        _ => "lower queue_depth",
    };
    DeviceError::AioSetup {
        entries,
        source,
        hint,
    }
}

impl Engine for LibaioEngine<'_> {
    #[inline]
    unsafe fn prepare(&mut self, request: Request) -> Result<(), DeviceError> {
        let (opcode, durable) = match request.action {
            Action::Read => (READ, 0),
            Action::Write => (WRITE, 0),
            Action::WriteThrough => (WRITE, libc::RWF_DSYNC as u32),
            Action::Sync(SyncCall::Fdatasync) => (FDSYNC, 0),
            Action::Sync(SyncCall::Fsync) => (FSYNC, 0),
        };
        let mut block = ControlBlock {
            data: u64::from(request.slot),
            opcode,
            descriptor: self.target.as_raw_fd() as u32,
            ..ControlBlock::default()
        };
        // A sync takes neither a buffer nor a place, and the kernel refuses one that has them.
        if !matches!(request.action, Action::Sync(_)) {
            block.buffer = request.memory as u64;
            block.bytes = u64::from(request.length_bytes);
            block.offset = request.offset as i64;
        }
        block.key_and_flags[FLAGS] = durable;
        self.blocks[request.slot as usize] = block;
        self.prepared.push(request.slot);
        Ok(())
    }

    #[inline]
    fn submit(&mut self, wait: Wait) -> Result<(), DeviceError> {
        self.hand_over()?;
        if let Wait::Completions(_) = wait {
            self.note_refusal()?;
        }
        // What was seen and not reaped yet must not be overwritten.
        if !self.seen.is_empty() || !self.refused.is_empty() {
            return Ok(());
        }
        match wait {
            Wait::Nothing => Ok(()),
            Wait::Poll => self.take_events(0, 0),
            Wait::Completions(wanted) => {
                let wanted = (wanted as usize).min(self.submitted).max(1);
                self.take_events(wanted, TICK_NS)
            }
            Wait::Nanoseconds(ns) => self.take_events(1, ns),
        }
    }

    #[inline]
    fn reap(&mut self) -> Option<Completion> {
        if let Some(index) = self.seen.next() {
            let event = self.events[index];
            let result = event.result.clamp(i64::from(i32::MIN), i64::from(i32::MAX));
            return Some(Completion {
                slot: event.data as u32,
                result: result as i32,
            });
        }
        self.refused.pop()
    }
}

impl Drop for LibaioEngine<'_> {
    /// Ends the context, which would wait for requests that are still out: those of a device that hangs are left to the end of
    /// the process.
    fn drop(&mut self) {
        if self.submitted == 0 {
            // SAFETY: the context is ours, and nothing is in flight.
            let _ = unsafe { libc::syscall(libc::SYS_io_destroy, self.context) };
        }
    }
}
