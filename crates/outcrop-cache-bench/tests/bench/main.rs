//! Integration tests of the cache layer's engine, as one binary: real servers on the loopback interface.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
#![allow(clippy::print_stdout, reason = "a skipped test says so")]

mod curves;
mod servers;
mod simulators;
