//! Anonymous memory: address space reserved at once, pages touched as needed and given back on demand.
//!
//! The allocator of the process promises nothing about what it gives back; the limit of the store needs a promise.

#![expect(
    unsafe_code,
    reason = "maps memory, gives pages of it back to the kernel, and prefetches"
)]

use std::io;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Range};
use std::ptr::NonNull;

use rustix::mm::{Advice, MapFlags, ProtFlags};

const PAGE_BYTES: usize = 4096;

/// Types for which every bit pattern, all zeros among them, is a value.
///
/// # Safety
/// The implementor has no padding, no niche and no destructor.
pub(crate) unsafe trait Plain: Copy {}

// SAFETY: an integer.
unsafe impl Plain for u8 {}
// SAFETY: an integer.
unsafe impl Plain for u32 {}
// SAFETY: an integer.
unsafe impl Plain for u64 {}
// SAFETY: four integers of one size, so without padding.
unsafe impl Plain for [u32; 4] {}
// SAFETY: eight integers of one size, so without padding.
unsafe impl Plain for [u32; 8] {}

/// A slice of zeroed elements of which only what was written to takes memory.
#[derive(Debug)]
pub(crate) struct Mapping<T: Plain> {
    start: NonNull<T>,
    len: usize,
    /// Bytes of address space; 0 where none was reserved.
    reserved_bytes: usize,
    owned: PhantomData<T>,
}

impl<T: Plain> Default for Mapping<T> {
    /// No element, and no memory.
    fn default() -> Self {
        Self {
            start: NonNull::dangling(),
            len: 0,
            reserved_bytes: 0,
            owned: PhantomData,
        }
    }
}

// SAFETY: the mapping belongs to this value alone and is not bound to the thread that made it.
unsafe impl<T: Plain + Send> Send for Mapping<T> {}

impl<T: Plain> Mapping<T> {
    /// Reserves address space for `len` elements.
    pub(crate) fn reserve(len: usize) -> io::Result<Self> {
        let bytes = len
            .max(1)
            .checked_mul(size_of::<T>())
            .ok_or(io::ErrorKind::OutOfMemory)?;
        // SAFETY: a null hint lets the kernel choose a place of its own; nothing existing is replaced.
        let mapped = unsafe {
            rustix::mm::mmap_anonymous(
                std::ptr::null_mut(),
                bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )
        };
        let start = NonNull::new(mapped?.cast::<T>()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self {
            start,
            len,
            reserved_bytes: bytes,
            owned: PhantomData,
        })
    }

    /// Starts to fetch an element into the CPU's cache; nothing for an index outside.
    #[inline]
    pub(crate) fn prefetch(&self, index: usize) {
        #[cfg(target_arch = "x86_64")]
        if let Some(element) = self.get(index) {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: prefetching changes nothing that a program can see, and the pointer is that of a live element.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(element).cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = index;
    }

    /// Touching a byte takes one page, also where the kernel would give a huge one: what was not touched takes no memory then.
    pub(crate) fn in_small_pages(&mut self) {
        let bytes = self.reserved_bytes;
        // SAFETY: exactly this mapping; which pages it consists of changes nothing that a program can read.
        // A kernel without huge pages refuses, and need not be told.
        let _ = unsafe { rustix::mm::madvise(self.start.as_ptr().cast(), bytes, Advice::LinuxNoHugepage) };
    }

    /// Gives the whole pages within `range` back to the kernel; they read as zeros from now on.
    pub(crate) fn release(&mut self, range: Range<usize>) {
        let range = range.start.min(self.len)..range.end.min(self.len);
        let from = (range.start * size_of::<T>()).next_multiple_of(PAGE_BYTES);
        let to = range.end * size_of::<T>() / PAGE_BYTES * PAGE_BYTES;
        if from >= to {
            return;
        }
        // SAFETY: `from` is below the mapping's length.
        let start = unsafe { self.start.cast::<u8>().add(from) };
        // SAFETY: the pages lie within this private anonymous mapping, `&mut self` is exclusive, and zeros are values of `T`.
        let released =
            unsafe { rustix::mm::madvise(start.as_ptr().cast(), to - from, Advice::LinuxDontNeed) };
        debug_assert!(released.is_ok(), "madvise of its mapping");
    }
}

impl<T: Plain> Deref for Mapping<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the mapping is readable, initialised (zeroed) and `len` elements long, or there is none and no element; any bits are a value of `T`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Plain> DerefMut for Mapping<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as for `deref`; `&mut self` is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T: Plain> Drop for Mapping<T> {
    fn drop(&mut self) {
        if self.reserved_bytes == 0 {
            return;
        }
        // SAFETY: exactly the mapping made in `reserve`, and no reference outlives `self`.
        let unmapped = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.reserved_bytes) };
        debug_assert!(unmapped.is_ok(), "munmap of its mapping");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn released_pages_read_as_zeros_and_their_neighbours_stay() {
        let mut mapping = Mapping::<u32>::reserve(4096).unwrap();
        mapping.fill(7);
        mapping.release(1000..3100);
        // Pages of 1024 elements: only the second and the third lie in the range whole.
        assert!(mapping[..1024].iter().all(|&word| word == 7));
        assert!(mapping[1024..3072].iter().all(|&word| word == 0));
        assert!(mapping[3072..].iter().all(|&word| word == 7));
    }

    #[test]
    fn more_address_space_than_there_is_is_an_error() {
        assert!(Mapping::<u64>::reserve(usize::MAX / 4).is_err());
        assert!(Mapping::<u64>::reserve(usize::MAX / 16).is_err());
    }
}
