//! A writer that fails at a chosen call: how tests reach every error path of encode and append.

use std::io;

use super::WriteAt;

/// Passes calls on until a countdown ends, then fails every call as a full disk would.
///
/// The call that fails first writes half of its bytes, so that torn writes are tried too.
#[derive(Debug)]
pub struct FailingWriter<W> {
    inner: W,
    calls_left: u64,
    calls_made: u64,
}

impl<W: WriteAt> FailingWriter<W> {
    /// Lets `calls` calls pass; the next ones fail.
    pub fn after(calls: u64, inner: W) -> Self {
        Self {
            inner,
            calls_left: calls,
            calls_made: 0,
        }
    }

    /// Calls seen so far, failed ones too.
    pub fn calls_made(&self) -> u64 {
        self.calls_made
    }

    fn passes(&mut self) -> bool {
        self.calls_made += 1;
        let passes = self.calls_left > 0;
        self.calls_left = self.calls_left.saturating_sub(1);
        passes
    }
}

impl<W: WriteAt> WriteAt for FailingWriter<W> {
    fn write_all_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        if self.passes() {
            return self.inner.write_all_at(bytes, offset);
        }
        self.inner.write_all_at(&bytes[..bytes.len() / 2], offset)?;
        Err(io::ErrorKind::StorageFull.into())
    }

    fn sync(&mut self) -> io::Result<()> {
        if self.passes() {
            self.inner.sync()
        } else {
            Err(io::ErrorKind::StorageFull.into())
        }
    }
}
