//! Small column files with bytes changed behind right checksums.
#![no_main]

#[path = "../../crates/outcrop-column/tests/column/untrusted.rs"]
mod untrusted;

libfuzzer_sys::fuzz_target!(|edits: &[u8]| {
    let mut file = untrusted::edited(edits);
    untrusted::reseal(&mut file);
    untrusted::ask_everything(&file);
});
