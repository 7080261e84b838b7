//! The client and the load driver against real servers, each a child process of its test, and against stubs.

#![expect(clippy::unwrap_used, reason = "in a test, a panic is the report")]
#![expect(clippy::print_stdout, reason = "CI reads why a test was skipped")]

mod client;
mod counts;
mod driver;
mod objectives;
mod open_loop;
mod placement;
mod servers;
mod stub;
mod traces;
