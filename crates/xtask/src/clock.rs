//! The task runner's own stop watch: how long a step took.
//!
//! Nothing here measures a subject, so it does not need the lab's clock (and xtask depends on no crate of
//! the workspace).

use std::fmt;
use std::time::{Duration, Instant};

/// A running stop watch.
pub(crate) struct StopWatch(Instant);

impl StopWatch {
    #[expect(clippy::disallowed_methods, reason = "times a build step, not a measurement")]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(&self) -> Elapsed {
        Elapsed(self.0.elapsed())
    }
}

/// A duration as a person reads it: `0.3 s`, `42 s`, `3 min 07 s`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elapsed(pub(crate) Duration);

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        let text = match seconds {
            0..10 => format!("{:.1} s", self.0.as_secs_f64()),
            10..60 => format!("{seconds} s"),
            _ => format!("{} min {:02} s", seconds / 60, seconds % 60),
        };
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_a_person_would_say_them() {
        for (milliseconds, text) in [(340, "0.3 s"), (42_900, "42 s"), (187_000, "3 min 07 s")] {
            assert_eq!(Elapsed(Duration::from_millis(milliseconds)).to_string(), text);
        }
    }
}
