//! Any bytes as a column file: an error or an answer.
#![no_main]

#[path = "../../crates/outcrop-column/tests/column/untrusted.rs"]
mod untrusted;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| untrusted::ask_everything(bytes));
