//! What the page cache holds of a file, and the process's own account of what it fetched from storage.

#![expect(unsafe_code, reason = "cachestat has no safe binding among our dependencies")]

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use outcrop_measure::metric::Unavailable;

use crate::system_tree::SystemTree;

/// Pages of one file in the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CachedPages {
    /// In memory.
    pub cached: u64,
    /// Of these, not written yet.
    pub dirty: u64,
    /// Of these, being written now.
    pub writeback: u64,
}

/// `struct cachestat_range`, include/uapi/linux/mman.h.
#[repr(C)]
struct Range {
    offset: u64,
    length: u64,
}

/// `struct cachestat`.
#[repr(C)]
#[derive(Default)]
struct State {
    cached: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// The number of the call, which is the same on every architecture.
const CACHESTAT: libc::c_long = 451;

/// How many pages of a file are in memory. *Cost*: a walk over the cached pages, microseconds to milliseconds.
///
/// *Source*: cachestat(2), Linux 6.5.
///
/// # Errors
/// The kernel is older, or refuses it for this file.
pub fn cached_pages(file: impl AsFd) -> Result<CachedPages, Unavailable> {
    // A length of 0 is: to the end.
    let range = Range { offset: 0, length: 0 };
    let mut state = State::default();
    // SAFETY: both pointers are valid for their structs for the length of the call; the kernel writes to the second only.
    let result = unsafe {
        libc::syscall(
            CACHESTAT,
            file.as_fd().as_raw_fd(),
            &raw const range,
            &raw mut state,
            0,
        )
    };
    if result == 0 {
        return Ok(CachedPages {
            cached: state.cached,
            dirty: state.dirty,
            writeback: state.writeback,
        });
    }
    let error = io::Error::last_os_error();
    Err(Unavailable::because(match error.raw_os_error() {
        Some(libc::ENOSYS) => {
            "this kernel has no cachestat(2), which came with Linux 6.5, so nothing proves what is cached"
                .to_owned()
        }
        _ => format!("the kernel does not say what is cached of this file: {error}"),
    }))
}

/// Bytes that this process had fetched from storage and caused to be written so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessIo {
    /// Fetched by block devices for this process.
    pub read_bytes: u64,
    /// Caused to be written, when pages were made dirty.
    pub write_bytes: u64,
}

impl ProcessIo {
    /// Reads the account of this process. *Source*: proc_pid_io(5).
    ///
    /// # Errors
    /// The kernel keeps none.
    pub fn now() -> Result<Self, Unavailable> {
        Self::parse(&SystemTree::live().text("proc/self/io")?)
    }

    fn parse(text: &str) -> Result<Self, Unavailable> {
        let field = |name: &str| {
            let mut lines = text.lines();
            let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            value
                .and_then(|value| value.trim().parse().ok())
                .ok_or_else(|| Unavailable::because(format!("/proc/self/io has no {name}")))
        };
        Ok(Self {
            read_bytes: field("read_bytes")?,
            write_bytes: field("write_bytes")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, Write};

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pages_that_were_just_written_are_cached() {
        let mut file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        file.write_all(&vec![7; 64 << 10]).unwrap();
        file.rewind().unwrap();
        let pages = cached_pages(&file).unwrap();
        assert!(pages.cached >= 16, "{pages:?}");
        file.sync_all().unwrap();
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
        assert_eq!(cached_pages(&file).unwrap(), CachedPages::default());
    }

    #[test]
    fn a_pipe_has_no_pages() {
        let (reader, _writer) = io::pipe().unwrap();
        // Kernels differ: some refuse, some count none.
        match cached_pages(&reader) {
            Ok(pages) => assert_eq!(pages, CachedPages::default()),
            Err(unavailable) => assert!(unavailable.reason.contains("does not say")),
        }
    }

    #[test]
    fn the_process_account_is_read_by_its_names() {
        let io = ProcessIo::parse("rchar: 1\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 3")
            .unwrap();
        assert_eq!((io.read_bytes, io.write_bytes), (4096, 8192));
        assert!(ProcessIo::parse("rchar: 1").is_err());
    }

    proptest! {
        #[test]
        fn any_account_is_no_panic(text in "\\PC*") {
            let _ = ProcessIo::parse(&text);
        }
    }
}
