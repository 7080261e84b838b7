//! Page-aligned memory that the kernel reads from and writes to.
//!
//! A region is cut into equal buffers; a [`Buffer`] is the right to one of them. It is moved into the slot
//! table with its request and moved out with the completion, so no code of ours can reach bytes that the
//! kernel may be writing.

#![expect(unsafe_code, reason = "maps the memory of I/O buffers and lends parts of it")]

use std::ptr::NonNull;

use rustix::mm::{MapFlags, ProtFlags};

use crate::error::DeviceError;

/// The page size that buffers are aligned to: 4 KiB suffices for every direct I/O of Linux, also where pages
/// are larger, since mappings start at a whole page.
pub(crate) const PAGE_BYTES: u64 = 4096;

/// An anonymous mapping, zeroed and faulted in.
#[derive(Debug)]
pub(crate) struct IoMemory {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping belongs to this value alone and is not bound to the thread that made it.
unsafe impl Send for IoMemory {}

impl IoMemory {
    /// Maps `bytes`, rounded up to whole pages.
    pub(crate) fn map(bytes: u64) -> Result<Self, DeviceError> {
        let rounded = bytes.max(1).next_multiple_of(PAGE_BYTES);
        let length = usize::try_from(rounded).unwrap_or(usize::MAX);
        // SAFETY: a null hint lets the kernel choose a place of its own; nothing existing is replaced.
        let mapped = unsafe {
            rustix::mm::mmap_anonymous(
                std::ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::POPULATE,
            )
        };
        let start = mapped.map_err(|errno| DeviceError::Buffers {
            bytes,
            source: errno.into(),
        })?;
        let start = NonNull::new(start.cast::<u8>()).ok_or(DeviceError::Buffers {
            bytes,
            source: std::io::ErrorKind::OutOfMemory.into(),
        })?;
        Ok(Self { start, bytes: length })
    }

    /// Length in bytes.
    pub(crate) const fn len(&self) -> usize {
        self.bytes
    }

    /// First byte; the pointer stays valid until the mapping is dropped.
    pub(crate) const fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// The whole region, for set-up before any request exists.
    pub(crate) fn whole_mut(&mut self) -> &mut [u8] {
        // SAFETY: the mapping is readable, writable, initialised (zeroed) and as long as `bytes`; `&mut self`
        // is exclusive, and callers use it only while no request is in flight.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
    }
}

impl Drop for IoMemory {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `map`, and no reference outlives `self`.
        let unmapped = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.bytes) };
        debug_assert!(unmapped.is_ok(), "munmap of the I/O buffers");
    }
}

/// The right to one buffer of a [`BufferRegion`]. Not `Clone`: whoever has it has the bytes.
#[derive(Debug)]
pub(crate) struct Buffer(u32);

/// Memory cut into equal buffers of whole pages.
#[derive(Debug)]
pub(crate) struct BufferRegion {
    memory: IoMemory,
    stride_bytes: usize,
    length_bytes: usize,
    count: u32,
}

impl BufferRegion {
    /// Maps `count` buffers of `length_bytes`, each starting at a page.
    pub(crate) fn map(count: u32, length_bytes: u64) -> Result<Self, DeviceError> {
        let stride = length_bytes.next_multiple_of(PAGE_BYTES);
        let memory = IoMemory::map(stride.saturating_mul(u64::from(count)))?;
        Ok(Self {
            memory,
            stride_bytes: stride as usize,
            length_bytes: length_bytes as usize,
            count,
        })
    }

    /// The rights to all buffers; called once, by the slot table that hands them out.
    pub(crate) fn buffers(&self) -> impl Iterator<Item = Buffer> + use<> {
        (0..self.count).map(Buffer)
    }

    /// The memory behind them, for registering it and for filling it before the first request.
    pub(crate) const fn memory(&self) -> &IoMemory {
        &self.memory
    }

    /// See [`IoMemory::whole_mut`].
    pub(crate) fn whole_mut(&mut self) -> &mut [u8] {
        self.memory.whole_mut()
    }

    /// Where the bytes of `buffer` are, for a request.
    #[inline]
    pub(crate) fn pointer(&self, buffer: &Buffer) -> *mut u8 {
        // In bounds by construction: indexes are below `count`, the mapping is `count` strides long.
        self.memory
            .as_ptr()
            .wrapping_add(buffer.0 as usize * self.stride_bytes)
    }

    /// The bytes of a buffer that is not in flight.
    #[inline]
    pub(crate) fn bytes_mut<'a>(&'a mut self, buffer: &'a mut Buffer) -> &'a mut [u8] {
        let start = self.pointer(buffer);
        // SAFETY: `Buffer`s are unique and in bounds, and one that is in flight is inside the slot table, out
        // of reach of the caller, so nobody else has these initialised bytes.
        unsafe { std::slice::from_raw_parts_mut(start, self.length_bytes) }
    }
}
