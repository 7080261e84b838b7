//! Bytes of any kind to the decoder of `zlib`, then damaged blocks of its own.
#![no_main]

#[path = "../../crates/outcrop-codec/tests/main/decoders.rs"]
mod decoders;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    decoders::decode("zlib", input);
    decoders::damage("zlib", input);
});
