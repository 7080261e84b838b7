//! Ctrl-C and SIGTERM: the first asks the trial to end cleanly, the second ends the process at once.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Registers the signals and returns the flag that engines watch.
///
/// # Errors
/// When the kernel refuses the signal handler.
pub(crate) fn stop_flag() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // Order matters: with the flag already set, the second signal exits before setting it again.
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop))?;
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}
