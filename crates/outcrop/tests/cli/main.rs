//! The command line as its users meet it: the real binary, real files, real signals.

mod bad_input;
mod column;
mod faults;
mod harness;
mod one_path;
mod surface;
