//! The first pages of a file mapped and locked: what no eviction takes out of memory.

#![expect(
    unsafe_code,
    reason = "mapping and locking pages is unsafe; nothing is read or written through them"
)]

use std::ffi::c_void;
use std::fs::File;
use std::ptr;

use rustix::mm::{MapFlags, ProtFlags, mlock, mmap, munmap};

/// Locked pages, until it is dropped.
pub(crate) struct Held {
    start: *mut c_void,
    bytes: usize,
}

impl Held {
    /// Maps and locks the first bytes of a file, whole pages.
    pub(crate) fn first(bytes: usize, file: &File) -> Self {
        // SAFETY: a new mapping where the kernel has room for it; no reference to its memory is ever made.
        let start = unsafe { mmap(ptr::null_mut(), bytes, ProtFlags::READ, MapFlags::SHARED, file, 0) };
        let held = Self {
            start: start.unwrap(),
            bytes,
        };
        // SAFETY: these pages are those of the mapping, which stays until the value is dropped.
        unsafe { mlock(held.start, bytes) }.unwrap();
        held
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing refers to it; unlocking is part of it.
        let unmapped = unsafe { munmap(self.start, self.bytes) };
        unmapped.unwrap();
    }
}
