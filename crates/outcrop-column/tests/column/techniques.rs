//! Files without a technique: larger, and read as every other.

use outcrop_column::{EncodeOptions, EncodeReport, Encoder, Index, Profile, Technique};
use proptest::prelude::*;

use crate::oracle::{INDEXES, PROFILES, Row, check_file, push_all, values};
use crate::tokens::phrases;

const ALL: [Technique; 5] = [
    Technique::FrontCoding,
    Technique::Deltas,
    Technique::Classes,
    Technique::Zstd,
    Technique::Tokens,
];

fn encode_without(techniques: &[Technique], rows: &[Row], options: EncodeOptions) -> (Vec<u8>, EncodeReport) {
    let mut encoder = Encoder::new(options);
    push_all(&mut encoder, rows);
    encoder.never_pack();
    for technique in techniques {
        encoder.leave_out(*technique);
    }
    let mut file = Vec::new();
    let report = encoder.finish(&mut file).unwrap();
    (file, report)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_file_without_any_of_the_techniques_answers_as_every_other(
        rows in proptest::collection::vec(values(), 0..300), left_out in 0_usize..32, index in 0_usize..3, profile in 0_usize..3,
    ) {
        let techniques: Vec<Technique> = ALL.into_iter().enumerate().filter(|(bit, _)| left_out >> bit & 1 == 1).map(|(_, one)| one).collect();
        let options = EncodeOptions { index: INDEXES[index], profile: PROFILES[profile], threads: 1 };
        check_file(&encode_without(&techniques, &rows, options).0, &rows, 6);
    }
}

/// Words of which each has much in common with its neighbours in byte order.
fn word(number: u64) -> Row {
    Some(format!("a rather long beginning {number:07}").into_bytes())
}

fn saves(technique: Technique, rows: &[Row], profile: Profile, section: fn(&EncodeReport) -> u64) {
    let options = EncodeOptions {
        profile,
        index: Index::None,
        threads: 1,
    };
    let (with, without) = (
        section(&encode_without(&[], rows, options).1),
        section(&encode_without(&[technique], rows, options).1),
    );
    assert!(
        with * 5 < without * 4,
        "{technique:?}: {with} B with it, {without} B without"
    );
}

#[test]
fn each_technique_saves_a_fifth_of_its_section_where_the_data_suit_it() {
    let ascending: Vec<Row> = (0..70_000).map(word).collect();
    let dictionary = |report: &EncodeReport| report.dictionary_bytes;
    let codes = |report: &EncodeReport| report.codes_bytes + report.class_map_bytes;
    saves(Technique::FrontCoding, &ascending, Profile::Fastest, dictionary);
    saves(Technique::Zstd, &ascending, Profile::Balanced, dictionary);
    saves(Technique::Deltas, &ascending, Profile::Fastest, codes);
    // Half of the rows are one word, a quarter another, and so on; the rest are all different.
    let skewed: Vec<Row> = (1..70_000_u64)
        .map(|row| match row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40 {
            mixed if mixed % 10 != 0 => word(u64::from((mixed / 10).trailing_zeros())),
            mixed => word(mixed % 20_011),
        })
        .collect();
    saves(Technique::Classes, &skewed, Profile::Fastest, codes);
    saves(Technique::Tokens, &phrases(70_000, 32), Profile::Smallest, codes);
}
