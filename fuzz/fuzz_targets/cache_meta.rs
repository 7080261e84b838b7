//! Commands that are nearly right, most of the meta protocol: the same answers however they are split, and the next one works.
#![no_main]

#[path = "../../crates/outcrop-cache/tests/cache/untrusted.rs"]
#[allow(dead_code, reason = "each target uses its own part")]
mod untrusted;

libfuzzer_sys::fuzz_target!(|input: &[u8]| untrusted::meta(input));
