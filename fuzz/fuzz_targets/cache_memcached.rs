//! Any bytes as memcached's protocol: the same answers however they are split.
#![no_main]

#[path = "../../crates/outcrop-cache/tests/cache/untrusted.rs"]
#[allow(dead_code, reason = "each target uses its own part")]
mod untrusted;

libfuzzer_sys::fuzz_target!(|input: &[u8]| untrusted::memcached(input));
