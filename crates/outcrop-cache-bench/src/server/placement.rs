//! Which CPUs a server runs on: not those of the driver, where there are enough.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::error::CacheBenchError;

/// The CPUs for a server: the driver's threads take the last ones, the server the first ones, and they meet only where
/// there are not enough. Empty where the kernel does not say which there are.
pub(super) fn cpus_of_server(server_threads: u32, driver_threads: u32) -> Vec<usize> {
    let allowed = allowed_cpus();
    let left = allowed.len().saturating_sub(driver_threads as usize);
    let taken = (server_threads as usize).max(left).min(allowed.len());
    allowed[..taken].to_vec()
}

/// Whether a server and a driver with this many threads have to share a CPU.
pub(crate) fn is_shared(server_threads: u32, driver_threads: u32) -> bool {
    allowed_cpus().len() < (server_threads + driver_threads) as usize
}

/// Keeps the calling thread to these CPUs; to none means to all.
pub(super) fn keep_to(cpus: &[usize]) {
    let mut set = CpuSet::new();
    cpus.iter().for_each(|cpu| set.set(*cpu));
    if !cpus.is_empty() {
        // Where it is refused, server and driver share CPUs; their CPU times stay true.
        let _ = sched_setaffinity(None, &set);
    }
}

/// Runs `start` on a thread that is kept to these CPUs: the threads that it starts inherit them.
pub(super) fn on_cpus<T: Send>(
    cpus: &[usize],
    start: impl FnOnce() -> T + Send,
) -> Result<T, CacheBenchError> {
    std::thread::scope(|scope| {
        let run = || {
            keep_to(cpus);
            start()
        };
        let thread = std::thread::Builder::new()
            .name("server-start".to_owned())
            .spawn_scoped(scope, run)
            .map_err(|error| CacheBenchError::system("start a thread", error))?;
        match thread.join() {
            Ok(result) => Ok(result),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

fn allowed_cpus() -> Vec<usize> {
    match sched_getaffinity(None) {
        Ok(set) => (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect(),
        Err(_) => Vec::new(),
    }
}
