//! Made-up packed column files behind a right checksum.
#![no_main]

#[path = "../../crates/outcrop-column/tests/column/untrusted.rs"]
mod untrusted;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| untrusted::ask_everything(&untrusted::made_up(bytes)));
