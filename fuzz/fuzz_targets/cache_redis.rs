//! Any bytes as Redis's protocol: the same answers however they are split, all of them whole, and no more memory than a request may take.
#![no_main]

#[path = "../../crates/outcrop-cache/tests/cache/untrusted.rs"]
#[allow(dead_code, reason = "each target uses its own part")]
mod untrusted;

libfuzzer_sys::fuzz_target!(|input: &[u8]| untrusted::redis(input));
