//! What it costs to wake a thread that has slept for a while.
//!
//! A reader sleeps while a kernel thread decompresses its extent. Meanwhile the reader's CPU goes idle, and under a hypervisor it is
//! given back: waking it takes tens of microseconds longer than after a short wait.

use std::sync::mpsc;
use std::time::Duration;

use outcrop_measure::interval::median;
use outcrop_probe::Clock;

/// Enough for a median that stands within a microsecond or two.
const WAKES: usize = 200;
/// How long a kernel thread works on a read without compression.
const SHORT: Duration = Duration::from_micros(10);

/// Nanoseconds by which a wake-up after `busy` of another thread's work takes longer than after 10 µs of it.
///
/// *Cost*: 200 times `busy`, and 200 wake-ups of each kind.
pub(crate) fn added_wake_ns(busy: Duration, clock: &Clock) -> f64 {
    // In turns: what else the machine does is then in both.
    let (mut after_short, mut after_busy) = (Vec::new(), Vec::new());
    let (ask, asked) = mpsc::channel::<Duration>();
    let (answer, answered) = mpsc::channel::<u64>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for work in asked {
                let began = clock.ticks();
                while clock.nanos(clock.ticks().saturating_sub(began)) < work.as_nanos() as u64 {
                    std::hint::spin_loop();
                }
                if answer.send(clock.ticks()).is_err() {
                    break;
                }
            }
        });
        for _ in 0..WAKES {
            for (work, latencies) in [(SHORT, &mut after_short), (busy, &mut after_busy)] {
                if ask.send(work).is_ok()
                    && let Ok(woken_at) = answered.recv()
                {
                    latencies.push(clock.nanos(clock.ticks().saturating_sub(woken_at)) as f64);
                }
            }
        }
        drop(ask);
    });
    match (median(&after_busy), median(&after_short)) {
        (Some(busy), Some(short)) => (busy - short).max(0.0),
        _ => 0.0,
    }
}
