//! A limit on the memory that a command takes, and the sentence that a user reads when it is reached.
//!
//! The kernel keeps the limit (`RLIMIT_DATA`). It counts private memory when a program asks for it, whichever library asks, and before any of it
//! is touched. The allocator below adds nothing but the sentence: without it, the standard library would abort.

#![expect(unsafe_code, reason = "an allocator hands out addresses")]

use outcrop_column::storage::remove_unfinished;
use outcrop_probe::memory::private_bytes;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::alloc::{GlobalAlloc, Layout, System};
use std::io::IsTerminal as _;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};

#[global_allocator]
static ALLOCATOR: Explaining = Explaining;

/// How the process ends where memory is refused; until it is set, the standard library writes its own message and aborts.
static REFUSAL: AtomicPtr<Refusal> = AtomicPtr::new(null_mut());

/// How the process ends where memory is refused.
#[derive(Debug)]
pub(crate) struct Refusal {
    sentence: String,
    exit_code: i32,
}

impl Refusal {
    /// The input takes more than is allowed: exit code 2.
    pub(crate) fn of_bad_input(sentence: &str) -> &'static Self {
        Self::kept(sentence, 2)
    }

    /// What was asked for first is done, and a figure about it is unavailable: exit code 3.
    pub(crate) fn of_measurement(sentence: &str) -> &'static Self {
        Self::kept(sentence, 3)
    }

    /// A process has a few in its life. It keeps them: another thread may be reading one.
    fn kept(sentence: &str, exit_code: i32) -> &'static Self {
        // A bar of progress may stand in the line.
        let cleared = if std::io::stderr().is_terminal() {
            "\r\x1b[2K"
        } else {
            ""
        };
        Box::leak(Box::new(Self {
            sentence: format!("{cleared}error: {sentence}\n"),
            exit_code,
        }))
    }

    fn now() -> Option<&'static Self> {
        // SAFETY: null, or one that lives as long as the process.
        unsafe { REFUSAL.load(Ordering::Acquire).as_ref() }
    }

    /// From here on, the process ends in this way.
    pub(crate) fn install(&'static self) {
        REFUSAL.store(std::ptr::from_ref(self).cast_mut(), Ordering::Release);
    }
}

/// The thread that ends the process for lack of memory; 0 until then.
static ENDING: AtomicI32 = AtomicI32::new(0);

/// What a thread takes without having asked for anything: its stack, and what the allocator sets aside for it.
const THREAD_BYTES: u64 = 4 << 20;

/// More than this program has at its start, for systems without /proc.
const AT_START_BYTES: u64 = 32 << 20;

/// From here on, this process takes at most `bytes` of memory more than it has and its threads need. When it asks for more, it writes
/// the sentence of `refusal` to stderr, removes what it has not finished writing, and ends with its exit code. A lower limit that the user has set
/// (`ulimit -d`) stays.
///
/// # Errors
/// When the kernel refuses the limit.
pub(crate) fn limit_memory(bytes: u64, refusal: &'static Refusal) -> anyhow::Result<()> {
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let own = private_bytes().unwrap_or(AT_START_BYTES) + threads * THREAD_BYTES;
    let before = getrlimit(Resource::Data);
    let wanted = bytes.saturating_add(own);
    let lowest = [before.current, before.maximum].into_iter().flatten().min();
    let current = Some(lowest.map_or(wanted, |lowest| lowest.min(wanted)));
    refusal.install();
    end_where_libraries_panic();
    Ok(setrlimit(Resource::Data, Rlimit { current, ..before })?)
}

/// What libraries panic with where the kernel or C code gave them no memory.
const PANICS: [&str; 3] = [
    "failed to spawn thread",
    "failed to allocate an alternative stack",
    "returned null pointer",
];

/// A panic for lack of memory ends the process with a sentence; others go on as they would.
fn end_where_libraries_panic() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let text = panic.payload_as_str().unwrap_or_default();
        if let Some(refusal) = Refusal::now()
            && PANICS.iter().any(|known| text.contains(known))
        {
            end(refusal)
        }
        before(panic);
    }));
}

/// The system's allocator, which ends the process with a sentence where memory is refused and [`limit_memory`] was called.
struct Explaining;

// SAFETY: every call is the system allocator's, with the same arguments.
unsafe impl GlobalAlloc for Explaining {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        explained(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        explained(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, address: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        explained(unsafe { System.realloc(address, layout, size) })
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(address, layout) }
    }
}

/// The address, unless it is null: memory was refused.
fn explained(address: *mut u8) -> *mut u8 {
    if address.is_null()
        && let Some(refusal) = Refusal::now()
    {
        end(refusal)
    }
    address
}

/// Ends the process. What is called here asks for no memory as far as anyone knows; if it does, the process ends there.
fn end(refusal: &Refusal) -> ! {
    let thread = rustix::thread::gettid().as_raw_nonzero().get();
    match ENDING.compare_exchange(0, thread, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => {
            // Whoever closed stderr reads nothing.
            let _ = rustix::io::write(rustix::stdio::stderr(), refusal.sentence.as_bytes());
            remove_unfinished();
        }
        Err(ending) if ending == thread => {}
        // Another thread is at it.
        Err(_) => loop {
            rustix::event::pause();
        },
    }
    // SAFETY: it ends the process at once and runs nothing of ours: another thread may hold any lock.
    unsafe { libc::_exit(refusal.exit_code) }
}
