//! Bytes of any kind to the decoder of `deflate-zlib-rs`, then damaged blocks of its own.
#![no_main]

#[path = "../../crates/outcrop-codec/tests/main/decoders.rs"]
mod decoders;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    decoders::decode("deflate-zlib-rs", input);
    decoders::damage("deflate-zlib-rs", input);
});
