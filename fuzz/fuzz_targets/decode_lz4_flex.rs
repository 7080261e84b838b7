//! Bytes of any kind to the decoder of `lz4-flex`, then damaged blocks of its own.
#![no_main]

#[path = "../../crates/outcrop-codec/tests/main/decoders.rs"]
mod decoders;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    decoders::decode("lz4_flex", input);
    decoders::damage("lz4_flex", input);
});
