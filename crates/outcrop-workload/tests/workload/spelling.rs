//! One spelling for plans, flags and records.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use outcrop_measure::{ByteSize, Rate};
use outcrop_workload::{AccessPattern, Arrival, Content, ReadWriteMix, WorkloadError};
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn assert_round_trip<T>(value: &T)
where
    T: FromStr<Err = WorkloadError> + Display + Debug + PartialEq + Serialize + DeserializeOwned,
{
    let text = value.to_string();
    assert_eq!(&text.parse::<T>().unwrap(), value, "{text}");
    let json = serde_json::to_string(value).unwrap();
    assert_eq!(json, format!("\"{text}\""));
    assert_eq!(&serde_json::from_str::<T>(&json).unwrap(), value);
}

proptest! {
    #[test]
    fn what_is_printed_reads_back_as_the_same(
        theta in 1e-9..=AccessPattern::MAX_THETA,
        stride in 1..u64::MAX,
        read_percent in 0..=100_u8,
        rate in 1e-9..1e15_f64,
        bits_per_byte in 0.0..=8.0_f64,
        ratio in 1.0..=Content::MAX_RATIO,
    ) {
        assert_round_trip(&AccessPattern::Sequential);
        assert_round_trip(&AccessPattern::Random);
        assert_round_trip(&AccessPattern::Zipfian { theta });
        assert_round_trip(&AccessPattern::Strided { stride: ByteSize(stride) });
        assert_round_trip(&ReadWriteMix::of_reads(read_percent).unwrap());
        let per_second = Rate::new(rate).unwrap();
        assert_round_trip(&Arrival::Closed);
        assert_round_trip(&Arrival::Constant { per_second });
        assert_round_trip(&Arrival::Poisson { per_second });
        assert_round_trip(&Content::Zeros);
        assert_round_trip(&Content::Random);
        assert_round_trip(&Content::Entropy { bits_per_byte });
        assert_round_trip(&Content::Compressible { ratio });
    }

    #[test]
    fn any_text_is_read_or_refused_without_panic(text in "\\PC*", form in "[a-z]{0,12}:?[0-9a-zA-Z.:%-]{0,8}") {
        for text in [text, form] {
            let _ = text.parse::<AccessPattern>();
            let _ = text.parse::<ReadWriteMix>();
            let _ = text.parse::<Arrival>();
            let _ = text.parse::<Content>();
        }
    }
}

#[test]
fn the_spellings_of_the_documentation_are_understood() {
    assert_eq!("zipfian:0.99".parse(), Ok(AccessPattern::Zipfian { theta: 0.99 }));
    assert_eq!(
        "strided:64KiB".parse(),
        Ok(AccessPattern::Strided {
            stride: ByteSize::kib(64)
        })
    );
    assert_eq!(" 70 : 30 ".parse::<ReadWriteMix>().unwrap().read_percent(), 70);
    assert_eq!("constant:1000".parse::<Arrival>(), "constant:1k/s".parse());
    assert_eq!("entropy:4".parse(), Ok(Content::Entropy { bits_per_byte: 4.0 }));
    assert_eq!("compressible:2".parse(), Ok(Content::Compressible { ratio: 2.0 }));
}

#[test]
fn refusals_name_the_accepted_forms() {
    fn refusal<T: FromStr<Err = WorkloadError>>(text: &str) -> String {
        match text.parse::<T>() {
            Ok(_) => panic!("`{text}` was accepted"),
            Err(error) => error.to_string(),
        }
    }
    for text in [
        "",
        "rnadom",
        "random:1",
        "zipfian",
        "zipfian:x",
        "strided:",
        "Sequential",
    ] {
        assert!(
            refusal::<AccessPattern>(text).contains("`zipfian:THETA`"),
            "{text}"
        );
    }
    for text in [
        "zipfian:0",
        "zipfian:-1",
        "zipfian:NaN",
        "zipfian:inf",
        "zipfian:11",
    ] {
        assert!(
            refusal::<AccessPattern>(text).contains("above 0 and at most 10"),
            "{text}"
        );
    }
    assert!(refusal::<AccessPattern>("strided:0").contains("at least one block"));
    for text in ["", "70", "70:30:0", "70%:30%", "-1:101", "a:b"] {
        assert!(
            refusal::<ReadWriteMix>(text).contains("such as `100:0`"),
            "{text}"
        );
    }
    assert!(refusal::<ReadWriteMix>("70:20").contains("add up to 90"));
    assert!(refusal::<ReadWriteMix>("4294967295:4294967295").contains("not to 100"));
    for text in ["open", "closed:1", "poisson", "constant:fast", "constant:-5"] {
        assert!(refusal::<Arrival>(text).contains("`poisson:RATE`"), "{text}");
    }
    assert!(refusal::<Arrival>("poisson:0").contains("above 0"));
    for text in ["noise", "zeros:1", "entropy", "compressible:"] {
        assert!(refusal::<Content>(text).contains("`entropy:BITS`"), "{text}");
    }
    assert!(refusal::<Content>("entropy:8.1").contains("0 to 8 bits"));
    for text in ["compressible:0.5", "compressible:65", "compressible:NaN"] {
        assert!(refusal::<Content>(text).contains("must be 1 to 64"), "{text}");
    }
}
