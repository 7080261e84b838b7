//! Exact quantities: what they read, what they refuse, and that what they print reads back.

use std::time::Duration;

use outcrop_measure::units::parse_count;
use outcrop_measure::{ByteSize, Rate, TimeSpan};
use proptest::prelude::*;

#[test]
fn byte_sizes_read_as_fio_reads_them_and_as_standards_write_them() {
    let cases = [
        ("512", 512),
        ("512B", 512),
        ("4KiB", 4096),
        ("4 KiB", 4096),
        ("4kib", 4096),
        ("4k", 4096),
        ("4K", 4096),
        ("128k", 128 << 10),
        ("4kB", 4000),
        ("4KB", 4000),
        ("1MiB", 1 << 20),
        ("1M", 1 << 20),
        ("1m", 1 << 20),
        ("1MB", 1_000_000),
        ("1.5GiB", 3 << 29),
        ("0.5k", 512),
        ("1.50000000000000000000000000000000000000000000k", 1536),
        ("0", 0),
        ("15EiB", 15 << 60),
        (" 2TiB ", 2 << 40),
        ("18446744073709551615", u64::MAX),
    ];
    for (text, bytes) in cases {
        assert_eq!(text.parse::<ByteSize>(), Ok(ByteSize(bytes)), "{text}");
    }
}

#[test]
fn a_byte_size_that_is_not_one_is_refused_with_the_reason() {
    let cases = [
        ("", "empty"),
        ("   ", "empty"),
        ("-4k", "negative"),
        ("+4k", "does not start with a number"),
        ("NaN", "does not start with a number"),
        ("inf", "does not start with a number"),
        ("k", "does not start with a number"),
        ("4x", "`x` is not known"),
        ("4KiBs", "not known"),
        ("4k junk", "not known"),
        ("4 k 4", "not known"),
        ("1.2.3k", "not a number"),
        ("1.", "not a number"),
        (".5k", "not a number"),
        ("1e3", "not known"),
        ("4kb", "two meanings: write `KiB` for powers of 1024 or `kB`"),
        ("16EiB", "larger than"),
        ("18446744073709551616", "larger than"),
        ("99999999999999999999999999999999999999999999", "larger than"),
        ("1.1GiB", "not a whole number of bytes"),
        ("0.1", "not a whole number of bytes"),
        ("µB", "does not start with a number"),
        ("4µB", "not known"),
    ];
    for (text, reason) in cases {
        let message = text.parse::<ByteSize>().expect_err(text).to_string();
        assert!(message.contains(reason), "{text}: {message}");
        assert!(message.contains("`4KiB`"), "no example in: {message}");
    }
}

#[test]
fn a_byte_size_prints_its_shortest_exact_form() {
    let cases = [
        (0, "0"),
        (512, "512"),
        (1000, "1kB"),
        (1024, "1KiB"),
        (4096, "4KiB"),
        (4097, "4097"),
        (128 << 10, "128KiB"),
        (1_000_000, "1MB"),
        (1_000_000_000_000, "1TB"),
        (3 << 29, "1536MiB"),
        (2 << 40, "2TiB"),
    ];
    for (bytes, text) in cases {
        assert_eq!(ByteSize(bytes).to_string(), text);
    }
    assert_eq!(format!("{:>8}|", ByteSize::kib(4)), "    4KiB|");
}

#[test]
fn counts_read_powers_of_1000_and_are_whole_numbers() {
    let cases = [
        ("0", 0),
        ("15000", 15_000),
        ("10k", 10_000),
        ("10K", 10_000),
        ("1M", 1_000_000),
        ("1.5 M", 1_500_000),
        (" 2G ", 2_000_000_000),
        ("18446744073709551615", u64::MAX),
    ];
    for (text, count) in cases {
        assert_eq!(parse_count(text), Ok(count), "{text}");
    }
    let refused = [
        ("", "empty"),
        ("-1", "negative"),
        ("many", "does not start with a number"),
        ("1m", "`m` is not known (k, M, G)"),
        ("1MiB", "`MiB` is not known"),
        ("1.5", "not a whole number"),
        ("0.0005k", "not a whole number"),
        ("18446744073709551616", "too large"),
        ("18446744073709552k", "too large"),
    ];
    for (text, reason) in refused {
        let message = parse_count(text).expect_err(text).to_string();
        assert!(
            message.contains(reason) && message.contains("`1.5M`"),
            "{text}: {message}"
        );
    }
}

#[test]
fn time_spans_read_in_every_unit() {
    let cases = [
        ("30s", 30_000_000_000),
        ("30 s", 30_000_000_000),
        ("250ms", 250_000_000),
        ("10us", 10_000),
        ("10µs", 10_000),
        ("10μs", 10_000),
        ("7ns", 7),
        ("1.5s", 1_500_000_000),
        ("2min", 120_000_000_000),
        ("2m", 120_000_000_000),
        ("1h30m", 5_400_000_000_000),
        ("1h 30min 5s", 5_405_000_000_000),
        ("1m30.5s", 90_500_000_000),
        ("1d", 86_400_000_000_000),
        ("0", 0),
        ("0s", 0),
    ];
    for (text, nanoseconds) in cases {
        assert_eq!(
            text.parse::<TimeSpan>(),
            Ok(TimeSpan(Duration::from_nanos(nanoseconds))),
            "{text}"
        );
    }
}

#[test]
fn a_time_span_that_is_not_one_is_refused_with_the_reason() {
    let cases = [
        ("", "empty"),
        ("30", "no unit"),
        ("-30s", "negative"),
        ("s", "does not start with a number"),
        ("30 parsecs", "`parsecs` is not known"),
        ("30m1h", "do not descend"),
        ("1s1s", "do not descend"),
        ("1.5h30m", "only the last part"),
        ("1h-30m", "negative"),
        ("0.5ns", "finer than a nanosecond"),
        ("600000000h", "longer than 584 years"),
        ("5124095h576460752303423487s", "longer than 584 years"),
        ("1s,", "does not start with a number"),
    ];
    for (text, reason) in cases {
        let message = text.parse::<TimeSpan>().expect_err(text).to_string();
        assert!(message.contains(reason), "{text}: {message}");
    }
}

#[test]
fn a_time_span_prints_as_people_write_it() {
    let cases = [
        ("0s", "0s"),
        ("7ns", "7ns"),
        ("62800ns", "62.8us"),
        ("250ms", "250ms"),
        ("1500us", "1.5ms"),
        ("1.5s", "1.5s"),
        ("90s", "1m30s"),
        ("90.5s", "1m30.5s"),
        ("5400s", "1h30m"),
        ("3601s", "1h1s"),
        ("1d", "24h"),
    ];
    for (text, printed) in cases {
        assert_eq!(text.parse::<TimeSpan>().expect(text).to_string(), printed);
    }
}

#[test]
fn rates_read_with_and_without_prefix_and_unit() {
    let cases = [
        ("1000", 1e3),
        ("10k", 1e4),
        ("10K", 1e4),
        ("10k/s", 1e4),
        ("1.1k", 1100.0),
        ("1.5M/s", 1.5e6),
        ("0", 0.0),
    ];
    for (text, per_second) in cases {
        assert_eq!(
            text.parse::<Rate>().expect(text).per_second(),
            per_second,
            "{text}"
        );
    }
    for text in ["", "-1", "NaN", "inf", "10q", "10k/min", "1e999", "k", "10 k / s"] {
        text.parse::<Rate>().expect_err(text);
    }
    for number in [-1.0, f64::NAN, f64::INFINITY] {
        Rate::new(number).expect_err("not a rate");
    }
    assert_eq!(Rate::new(10_000.0).expect("a rate").to_string(), "10k/s");
    assert_eq!(Rate::new(1_500_000.0).expect("a rate").to_string(), "1.5M/s");
    assert_eq!(Rate::new(2.0).expect("a rate").to_string(), "2/s");
    assert!(Rate::new(2.0).expect("a rate") < Rate::new(10.0).expect("a rate"));
    assert_eq!(Rate::new(-0.0).expect("zero"), Rate::new(0.0).expect("zero"));
}

#[test]
fn quantities_are_strings_in_serde_and_numbers_are_taken_where_they_have_one_meaning() {
    let json = serde_json::to_string(&(
        ByteSize::kib(4),
        TimeSpan::seconds(30),
        Rate::new(1e4).expect("a rate"),
    ));
    let json = json.expect("plain strings");
    assert_eq!(json, r#"["4KiB","30s","10k/s"]"#);
    let read: (ByteSize, TimeSpan, Rate) = serde_json::from_str(&json).expect("what was written");
    assert_eq!(read.0, ByteSize(4096));
    assert_eq!(
        serde_json::from_str::<ByteSize>("4096").expect("bytes"),
        ByteSize(4096)
    );
    assert_eq!(
        serde_json::from_str::<Rate>("2.5")
            .expect("per second")
            .per_second(),
        2.5
    );
    assert_eq!(
        serde_json::from_str::<Rate>("10")
            .expect("per second")
            .per_second(),
        10.0
    );
    for wrong in ["-1", "1.5", "\"4kb\"", "true", "null", "[]"] {
        serde_json::from_str::<ByteSize>(wrong).expect_err(wrong);
    }
    let message = serde_json::from_str::<TimeSpan>("30")
        .expect_err("no unit")
        .to_string();
    assert!(message.contains("a time span such as"), "{message}");
}

proptest! {
    #[test]
    fn a_printed_byte_size_reads_back(bytes in any::<u64>(), shift in 0..64u32, factor in 1..2000u64) {
        for bytes in [bytes, bytes >> shift, bytes.checked_shl(shift).unwrap_or(0), factor << (shift % 40)] {
            prop_assert_eq!(ByteSize(bytes).to_string().parse(), Ok(ByteSize(bytes)));
        }
    }

    #[test]
    fn a_printed_time_span_reads_back(nanoseconds in any::<u64>(), shift in 0..64u32, round in 0..12u32) {
        let unit = 10u64.pow(round);
        for nanoseconds in [nanoseconds >> shift, (nanoseconds >> shift) / unit * unit] {
            let span = TimeSpan(Duration::from_nanos(nanoseconds));
            prop_assert_eq!(span.to_string().parse(), Ok(span));
        }
    }

    #[test]
    fn a_printed_rate_reads_back(bits in any::<u64>(), round in 0..1_000_000u64) {
        for per_second in [f64::from_bits(bits & (u64::MAX >> 1)), round as f64, round as f64 * 100.0, round as f64 / 1000.0] {
            if let Ok(rate) = Rate::new(per_second) {
                prop_assert_eq!(rate.to_string().parse(), Ok(rate));
            }
        }
    }

    #[test]
    fn no_text_makes_a_parser_panic(text in "[0-9.kKMGTPEiBbnmuµsh/ d+-]{0,24}|.{0,12}") {
        let _ = text.parse::<ByteSize>();
        let _ = text.parse::<TimeSpan>();
        let _ = text.parse::<Rate>();
    }

    #[test]
    fn byte_sizes_with_a_fraction_agree_with_whole_arithmetic(whole in 0..1000u64, eighths in 0..8u64) {
        let text = format!("{whole}.{:03}KiB", eighths * 125);
        prop_assert_eq!(text.parse(), Ok(ByteSize(whole * 1024 + eighths * 128)));
    }
}
