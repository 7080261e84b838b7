//! Seeds: derivations that never change.

use std::collections::BTreeSet;

use outcrop_measure::Seed;
use proptest::prelude::*;
use rand::Rng;

#[test]
fn derived_seeds_and_their_streams_are_those_of_the_first_release() {
    let root = Seed(1234);
    let derived = [
        root.derive("trial"),
        root.derive(""),
        root.derive("trial").derive("job"),
        root.derive_index(0),
        root.derive_index(1),
        Seed(0).derive("trial"),
    ];
    let printed = derived.map(|seed| seed.to_string());
    assert_eq!(printed, GOLDEN_SEEDS);
    let mut rng = root.rng();
    assert_eq!([rng.next_u64(), rng.next_u64(), rng.next_u64()], GOLDEN_STREAM);
}

/// From an independent program (arbitrary-precision integers, written from the papers' definitions).
const GOLDEN_SEEDS: [&str; 6] = [
    "0x928562a8d1ed96c7",
    "0xa51cffd37cb3db15",
    "0x34aec582704d69ac",
    "0x0e4e671206485767",
    "0x27637ed61bfa1632",
    "0x6a582c8f045d4e4e",
];
const GOLDEN_STREAM: [u64; 3] = [
    0xc1cd_ea79_b61c_d477,
    0x6c9f_3f8e_0876_7fd5,
    0xf42e_33f9_cec8_c13d,
];

#[test]
fn children_of_many_names_and_numbers_are_all_different() {
    let root = Seed(0);
    let named = (0..10_000).map(|index| root.derive(&format!("job {index}")));
    let numbered = (0..10_000).map(|index| root.derive_index(index));
    let of_siblings = (0..10_000).map(|parent| Seed(parent).derive("job"));
    let all: BTreeSet<Seed> = named.chain(numbered).chain(of_siblings).collect();
    assert_eq!(all.len(), 30_000);
}

#[test]
fn a_seed_reads_in_both_bases_and_nothing_else() {
    assert_eq!("1234".parse(), Ok(Seed(1234)));
    assert_eq!("0x4d2".parse(), Ok(Seed(1234)));
    assert_eq!("0X4D2".parse(), Ok(Seed(1234)));
    assert_eq!(Seed(1234).to_string(), "0x00000000000004d2");
    for text in [
        "",
        "0x",
        "-1",
        "+1",
        "0x+1",
        "0x-1",
        "12x",
        " 1",
        "18446744073709551616",
        "0x10000000000000000",
    ] {
        let message = text.parse::<Seed>().expect_err(text).to_string();
        assert!(message.contains("is not a seed"), "{message}");
    }
    assert_eq!(
        serde_json::from_str::<Seed>("1234").expect("an integer"),
        Seed(1234)
    );
}

proptest! {
    #[test]
    fn a_printed_seed_reads_back(value in any::<u64>()) {
        prop_assert_eq!(Seed(value).to_string().parse(), Ok(Seed(value)));
        let json = serde_json::to_string(&Seed(value)).expect("a string");
        prop_assert_eq!(serde_json::from_str::<Seed>(&json).expect("what was written"), Seed(value));
    }
}
