//! Bytes of any kind to the decoder of `deflate-zlib`, then damaged blocks of its own.
#![no_main]

#[path = "../../crates/outcrop-codec/tests/main/decoders.rs"]
mod decoders;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    decoders::decode("deflate-zlib", input);
    decoders::damage("deflate-zlib", input);
});
