//! The system's libraries and those of this program read each other's blocks, and are not the same.

use outcrop_codec::{BlockCodec, CodecSpec, Coder, ContextUse};
use proptest::prelude::*;

use crate::blocks::{any_block, compressed};

/// A codec of the system, and the one that is part of this program.
const PAIRS: [(&str, &str); 6] = [
    ("zstd@system:1", "zstd:1"),
    ("zstd@system:9", "zstd:9"),
    ("lz4@system", "lz4"),
    ("snappy@system", "snappy"),
    ("deflate-zlib@system:1", "deflate-zlib:1"),
    ("deflate-zlib@system:6", "deflate-zlib:6"),
];

fn coder(name: &str) -> Coder {
    let spec: CodecSpec = name.parse().unwrap();
    Coder::open(&spec, ContextUse::Reused).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn both_libraries_read_what_the_other_one_wrote(blocks in prop::collection::vec(any_block(20_000), 1..4)) {
        for (system, bundled) in PAIRS {
            for (writer, reader) in [(system, bundled), (bundled, system)] {
                let (mut writing, mut reading) = (coder(writer), coder(reader));
                for block in &blocks {
                    let packed = compressed(&mut writing, block);
                    let mut back = vec![0xA5; block.len()];
                    let length = reading.decompress(&packed, &mut back).unwrap();
                    prop_assert_eq!(length, block.len());
                    prop_assert!(&back == block, "{} reads other bytes than {} wrote", reader, writer);
                }
            }
        }
    }
}

#[test]
fn a_library_of_the_system_is_named_with_its_own_version_and_its_file() {
    for (system, bundled) in PAIRS {
        let of = |name: &str| {
            let spec: CodecSpec = name.parse().unwrap();
            spec.family().library().unwrap()
        };
        let library = of(system);
        let file = library.file.clone().unwrap();
        assert!(file.is_file(), "{library}");
        let version = library.name.rsplit(' ').next().unwrap();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        assert!(name.ends_with(&format!(".so.{version}")), "{library}: {name}");
        assert_eq!(
            library.to_string(),
            format!("{} ({})", library.name, file.display())
        );
        assert_eq!(of(bundled).file, None);
    }
}
