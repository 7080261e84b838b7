//! All kernels that this processor runs write the same bytes and find the same rows.

use outcrop_column::{BLOCK_ROWS, EncodeOptions, Kernels, Profile};
use proptest::prelude::*;

use crate::oracle::{INDEXES, PROFILES, Row, check_file, encode, shaped, values};

/// Encodes and searches with each of the kernels; gives the file, which is the same.
fn check(rows: &[Row], options: EncodeOptions, most_values: usize) {
    let mut files = Vec::new();
    for kernels in Kernels::ALL.into_iter().filter(|kernels| kernels.check().is_ok()) {
        let _limit = kernels.limit().unwrap();
        let file = encode(rows, options);
        check_file(&file, rows, most_values);
        files.push((kernels, file));
    }
    for (kernels, file) in &files {
        assert!(
            *file == files[0].1,
            "{kernels:?} wrote other bytes than {:?}",
            files[0].0
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn every_kernel_writes_the_same_bytes_and_finds_the_same_rows(
        rows in proptest::collection::vec(values(), 0..400), index in 0_usize..3, profile in 0_usize..3,
    ) {
        check(&rows, EncodeOptions { index: INDEXES[index], profile: PROFILES[profile], threads: 1 }, 6);
    }
}

#[test]
fn every_kernel_reads_and_writes_whole_blocks_of_every_encoding() {
    for shape in ["distinct", "ascending", "runs", "skewed", "local", "nulls"] {
        let options = EncodeOptions {
            profile: Profile::Fastest,
            ..EncodeOptions::default()
        };
        check(&shaped(shape, BLOCK_ROWS + 1), options, 2);
    }
}

#[test]
fn kernels_that_the_processor_lacks_are_refused_with_what_it_lacks() {
    for kernels in Kernels::ALL {
        match (kernels.check(), kernels.limit()) {
            (Ok(()), Ok(_)) => assert!(kernels <= Kernels::widest()),
            (Err(refused), Err(_)) => {
                let message = refused.to_string();
                assert!(message.contains(kernels.name()), "{message}");
                assert!(message.contains(Kernels::widest().name()), "{message}");
            }
            (checked, limited) => panic!("{kernels:?}: {checked:?}, {limited:?}"),
        }
    }
}
