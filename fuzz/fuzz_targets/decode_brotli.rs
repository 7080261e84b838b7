//! Bytes of any kind to the decoder of `brotli`, then damaged blocks of its own.
#![no_main]

#[path = "../../crates/outcrop-codec/tests/main/decoders.rs"]
mod decoders;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    decoders::decode("brotli:1", input);
    decoders::damage("brotli:1", input);
});
