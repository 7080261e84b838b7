//! Reads through an io_uring instance of the job: as many in flight as asked for, each into its own place.

#![expect(
    unsafe_code,
    reason = "io_uring takes raw pointers; nothing returns before every request has completed"
)]

use std::os::fd::AsRawFd;

use io_uring::{IoUring, opcode, types};

use super::{JobRecord, Pass};
use crate::error::FilesystemError;
use crate::files::Files;

/// A ring that completes requests when it is asked for them. A plain one, which kernels before 6.1 get, interrupts the reader for each.
fn ring(entries: u32) -> std::io::Result<IoUring> {
    let mut builder = IoUring::builder();
    builder.setup_single_issuer().setup_defer_taskrun();
    match builder.build(entries) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => IoUring::new(entries),
        ring => ring,
    }
}

/// A ring, and when each request was handed to it. It belongs to the thread that made it.
pub(super) struct Ring {
    ring: IoUring,
    begun_at: Vec<u64>,
}

impl Ring {
    /// Setting it up is no part of reading: it is made before the clock runs.
    pub(super) fn new(depth: u32, requests: usize) -> Result<Self, FilesystemError> {
        let failed = |error| FilesystemError::system("set up io_uring (try engine = \"psync\")", error);
        Ok(Self {
            ring: ring(depth.next_power_of_two()).map_err(failed)?,
            // Written, and not with zeros: see `AlignedBuffer`.
            begun_at: vec![1; requests],
        })
    }
}

/// Reads blocks at `offsets` into `memory`, block by block, until all are done or the pass is over. Returns how many of them, from
/// the first on, were read.
pub(super) fn read(
    pass: &Pass<'_>,
    Ring { ring, begun_at }: &mut Ring,
    files: &Files,
    offsets: &[u64],
    memory: &mut [u8],
    block_bytes: usize,
    record: &mut JobRecord,
) -> Result<usize, FilesystemError> {
    let count = offsets
        .len()
        .min(memory.len() / block_bytes.max(1))
        .min(begun_at.len());
    let started = record.started;
    let (mut next, mut in_flight) = (0, 0);
    let mut failure = None;
    loop {
        let now = pass.clock.ticks();
        while next < count && in_flight < pass.depth && failure.is_none() && !pass.is_over(started, now) {
            let place = &mut memory[next * block_bytes..(next + 1) * block_bytes];
            let (file, at) = files.locate(offsets[next]);
            let request = opcode::Read::new(
                types::Fd(file.as_raw_fd()),
                place.as_mut_ptr(),
                block_bytes as u32,
            )
            .offset(at)
            .build()
            .user_data(next as u64);
            begun_at[next] = pass.clock.ticks();
            // SAFETY: the place belongs to this request alone, and neither it nor the file is let go before the loop has
            // seen every completion.
            if unsafe { ring.submission().push(&request) }.is_err() {
                break;
            }
            next += 1;
            in_flight += 1;
        }
        if in_flight == 0 {
            break;
        }
        if let Err(error) = ring.submit_and_wait(1)
            && error.raw_os_error() != Some(libc::EINTR)
        {
            // Requests may be under way; waiting goes on until they have come back.
            failure.get_or_insert(FilesystemError::system("hand requests to io_uring", error));
        }
        for completion in ring.completion() {
            let after = pass.clock.ticks();
            in_flight -= 1;
            if completion.result() == block_bytes as i32 {
                let begun = begun_at[completion.user_data() as usize];
                record.record(block_bytes as u64, pass.clock.nanos(after.saturating_sub(begun)));
            } else {
                let error = match completion.result() {
                    short if short >= 0 => std::io::ErrorKind::UnexpectedEof.into(),
                    code => std::io::Error::from_raw_os_error(-code),
                };
                failure.get_or_insert(FilesystemError::system("read a file by io_uring", error));
            }
        }
    }
    failure.map_or(Ok(next), Err)
}
