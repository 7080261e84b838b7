//! Which CPUs there are for threads, and binding a thread to one.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::error::CompressError;

/// The logical CPUs that this process may run on, ascending.
///
/// # Errors
/// When the kernel does not tell, which sandboxes may cause.
pub fn allowed_cpus() -> Result<Vec<usize>, CompressError> {
    let allowed = sched_getaffinity(None).map_err(|error| CompressError::Pin {
        cpu: 0,
        source: error.into(),
    })?;
    Ok((0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).collect())
}

/// Binds the calling thread to one CPU.
pub(crate) fn pin(cpu: usize) -> Result<(), CompressError> {
    let mut only = CpuSet::new();
    only.set(cpu);
    sched_setaffinity(None, &only).map_err(|error| CompressError::Pin {
        cpu,
        source: error.into(),
    })
}
