//! CPU time and memory of an engine: of this process, and of the server where the engine is one.

use outcrop_probe::process::{OtherProcess, ProcessTimes};
use outcrop_probe::{CpuTime, ProcessMemory};

use crate::error::KvError;
use crate::store::Counted;

/// CPU time so far.
pub(super) struct Used {
    own: CpuTime,
    server: ProcessTimes,
}

/// CPU time between two readings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    pub(super) user_ns: u64,
    pub(super) kernel_ns: u64,
}

impl Used {
    /// Reads it now. *Cost*: that of [`CpuTime::now`], and a small file for each thread of a server.
    pub(super) fn now(server: Option<&OtherProcess>) -> Result<Self, KvError> {
        let of_server = server.map(OtherProcess::cpu_time).transpose();
        Ok(Self {
            own: CpuTime::now(),
            server: of_server
                .map_err(|why| KvError::system("read the CPU time of the server", why.reason))?
                .unwrap_or_default(),
        })
    }

    /// What was used since `earlier`, by both.
    pub(super) fn since(&self, earlier: &Self) -> Usage {
        let own = self.own.since(&earlier.own);
        let server = |of: fn(&ProcessTimes) -> u64| of(&self.server).saturating_sub(of(&earlier.server));
        Usage {
            user_ns: own.user_ns + server(|times| times.user_ns),
            kernel_ns: own.system_ns + server(|times| times.system_ns),
        }
    }
}

/// The highest resident memory of this process and of a server, together.
pub(super) fn peak_resident_bytes(server: Option<&OtherProcess>) -> Counted {
    let own = ProcessMemory::now()?.peak_resident_bytes;
    let server = server.map(OtherProcess::memory).transpose()?;
    Ok(own + server.map_or(0, |memory| memory.peak_resident_bytes))
}
