//! Pages of any content through dpzip's matcher and entropy coder, in four shapes of its table.
#![no_main]

#[path = "../../crates/outcrop-codec/tests/main/decoders.rs"]
mod decoders;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    for codec in ["dpzip", "dpzip:512x4+longest+lazy", "dpzip:1024x7+lazy", "dpzip:4096x16+longest"] {
        decoders::round_trip(codec, input);
    }
});
