//! Bytes of any kind to dpzip's own decoder: what it takes, libzstd has to take, and read alike.
#![no_main]

#[path = "../../crates/outcrop-codec/tests/main/differential.rs"]
mod differential;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    differential::agree(input, false);
    differential::agree(input, true);
});
