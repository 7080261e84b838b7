//! Codecs are written as they are read, and what does not exist is said in one sentence.

use outcrop_codec::{CodecSpec, families};

use crate::blocks::specs;

#[test]
fn every_spec_prints_as_it_parses() {
    for spec in specs() {
        assert_eq!(spec.to_string().parse::<CodecSpec>().unwrap(), spec);
    }
    for (written, printed) in [
        ("zstd", "zstd:3"),
        ("lz4", "lz4"),
        ("lz4:1", "lz4"),
        ("dpzip", "dpzip:256x4"),
        ("zstd:-5", "zstd:-5"),
        ("zstd@system", "zstd@system:3"),
        ("lz4@system:1", "lz4@system"),
    ] {
        assert_eq!(written.parse::<CodecSpec>().unwrap().to_string(), printed);
    }
}

#[test]
fn an_unknown_codec_is_answered_with_those_that_exist() {
    let error = "zst:3".parse::<CodecSpec>().unwrap_err().to_string();
    for family in families() {
        assert!(error.contains(family.name), "{error}");
    }
}

#[test]
fn a_setting_that_does_not_exist_is_answered_with_those_that_do() {
    for (text, hint) in [
        ("zstd:23", "22"),
        ("zstd@system:23", "zstd@system:3"),
        ("zstd@kernel", "zstd@system"),
        ("zstd:fast", "zstd:-5"),
        ("lz4:0", "acceleration"),
        ("snappy:1", "alone"),
        ("deflate-libdeflate:13", "12"),
        ("brotli:", "brotli:5"),
        ("dpzip:300x4", "256x4"),
        ("dpzip:256x17", "16 ways"),
        ("dpzip:256x4+quick", "+lazy"),
    ] {
        let error = text.parse::<CodecSpec>().unwrap_err().to_string();
        assert!(error.contains(hint), "{text}: {error}");
    }
}

#[test]
fn every_codec_names_its_library_with_a_version() {
    for family in families().iter().filter(|family| family.name != "none") {
        let library = family.library().unwrap();
        assert!(
            library.name.contains(|letter: char| letter.is_ascii_digit()),
            "{library}"
        );
    }
}
