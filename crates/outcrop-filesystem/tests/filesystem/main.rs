//! Real filesystems in real loop devices: what a trial measures, what it leaves behind, and the traps that it must notice.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a failed unwrap is a failed test, and a test says what it skips"
)]

mod counts;
mod held;
mod kills;
mod oracle;
mod own_directory;
mod place;
mod settings;
mod traps;
mod trials;
