//! CPU time and memory of an engine: of this process, and of the server where the engine is one.

use outcrop_measure::metric::Unavailable;
use outcrop_probe::process::{OtherProcess, ProcessTimes};
use outcrop_probe::{CpuTime, ProcessMemory};

use crate::report::CpuTimes;
use crate::store::Counted;

/// CPU time so far.
pub(super) struct Used {
    own: CpuTime,
    /// Nothing where there is no server.
    server: Result<ProcessTimes, Unavailable>,
}

impl Used {
    /// Reads it now. *Cost*: that of [`CpuTime::now`], and a small file for each thread of a server.
    pub(super) fn now(server: Option<&OtherProcess>) -> Self {
        let of_server = server.map(OtherProcess::cpu_time).transpose();
        let said = |why: Unavailable| {
            Unavailable::because(format!("the server's CPU time cannot be read: {}", why.reason))
        };
        Self {
            own: CpuTime::now(),
            server: of_server.map(Option::unwrap_or_default).map_err(said),
        }
    }

    /// What was used since `earlier`, by both; without the server's part the rest would say little of the engine.
    pub(super) fn since(self, earlier: &Self) -> Result<CpuTimes, Unavailable> {
        let (now, before) = (self.server?, earlier.server.as_ref().map_err(Clone::clone)?);
        let own = self.own.since(&earlier.own);
        Ok(CpuTimes {
            user_ns: own.user_ns + now.user_ns.saturating_sub(before.user_ns),
            kernel_ns: own.system_ns + now.system_ns.saturating_sub(before.system_ns),
        })
    }
}

/// The highest resident memory of this process and of a server, together.
pub(super) fn peak_resident_bytes(server: Option<&OtherProcess>) -> Counted {
    let own = ProcessMemory::now()?.peak_resident_bytes;
    let server = server.map(OtherProcess::memory).transpose()?;
    Ok(own + server.map_or(0, |memory| memory.peak_resident_bytes))
}
