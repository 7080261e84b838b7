//! What people read: three digits, the right prefix, and back again.

use outcrop_measure::Unit;
use outcrop_measure::units::{
    format_bandwidth, format_bytes, format_count, format_iops, format_nanoseconds, format_ratio,
    format_with_range,
};
use proptest::prelude::*;

const UNITS: [Unit; 11] = [
    Unit::Bytes,
    Unit::BytesPerSecond,
    Unit::PerSecond,
    Unit::Nanoseconds,
    Unit::NanosecondsPerOperation,
    Unit::NanosecondsPerByte,
    Unit::BitsPerByte,
    Unit::Ratio,
    Unit::Count,
    Unit::Joules,
    Unit::Watts,
];

#[test]
fn quantities_print_with_three_digits_and_the_prefix_that_fits() {
    let cases = [
        (format_iops(352_000.0), "352 k IOPS"),
        (format_iops(12.0), "12.0 IOPS"),
        (format_iops(0.0), "0 IOPS"),
        (format_iops(999.4), "999 IOPS"),
        (format_iops(999.6), "1.00 k IOPS"),
        (format_iops(999_500.0), "1.00 M IOPS"),
        (format_iops(9.996), "10.0 IOPS"),
        (format_bandwidth(1.2e9), "1.20 GB/s"),
        (format_bandwidth(123.4e6), "123 MB/s"),
        (format_nanoseconds(62_800.0), "62.8 µs"),
        (format_nanoseconds(0.5), "0.500 ns"),
        (format_nanoseconds(2e9), "2.00 s"),
        (format_nanoseconds(3.6e12), "3600 s"),
        (format_bytes(4096), "4 KiB"),
        (format_bytes(512), "512 B"),
        (format_bytes(37), "37 B"),
        (format_bytes(128 << 10), "128 KiB"),
        (format_bytes(16 << 30), "16 GiB"),
        (format_bytes(1_234_567), "1.23 MB"),
        (format_bytes(0), "0 B"),
        (format_bytes(1025 << 30), "1025 GiB"),
        (format_bytes(10_001 << 10), "10.2 MB"),
        (format_ratio(0.9124), "0.912"),
        (format_ratio(1.0), "1.00"),
        (format_ratio(1e-7), "1.00e-7"),
        (format_ratio(1234.0), "1234"),
        (format_count(1024.0), "1024"),
        (format_count(1_234_567.0), "1.23 M"),
        (format_count(2.5), "2.50"),
        (Unit::PerSecond.format(352_000.0), "352 k/s"),
        (Unit::PerSecond.format(12.0), "12.0 /s"),
        (Unit::NanosecondsPerOperation.format(1234.0), "1.23 µs/op"),
        (Unit::NanosecondsPerByte.format(0.25), "0.250 ns/B"),
        (Unit::BitsPerByte.format(4.481), "4.48 bit/B"),
        (Unit::Joules.format(0.0123), "12.3 mJ"),
        (Unit::Watts.format(3.21), "3.21 W"),
        (Unit::Bytes.format(-5000.0), "-5.00 kB"),
        (Unit::Bytes.format(65_536.0), "65.5 kB"),
        (Unit::Bytes.format(512.0), "512 B"),
        (Unit::Bytes.format(1500.5), "1.50 kB"),
        (Unit::Nanoseconds.format(f64::NAN), "NaN ns"),
    ];
    for (printed, expected) in cases {
        assert_eq!(printed, expected);
    }
}

#[test]
fn no_end_of_an_interval_is_read_in_a_prefix_that_is_not_its_own() {
    let cases = [
        (["24.9 k", "32.0", "35.7 k"], "24.9 k (0.0320–35.7)"),
        (["590", "45.0", "8.26 k"], "590 (45.0–8,260)"),
        (["850", "700", "1.20 M"], "850 (700–1,200,000)"),
        (["24.9 k", "32.0", "850"], "24.9 k (0.0320–0.850)"),
        (["1.20 M", "900 k", "1.50 M"], "1.20 M (0.900–1.50)"),
        (["24.9 k", "0", "35.7 k"], "24.9 k (0–35.7)"),
        (["24.9 k", "24.1 k", "35.7 k"], "24.9 k (24.1–35.7)"),
        (["850", "700", "920"], "850 (700–920)"),
        (
            ["1.02 GB/s", "990 MB/s", "1.10 GB/s"],
            "1.02 GB/s (990 MB/s–1.10 GB/s)",
        ),
        (
            ["24.9 k IOPS", "32.0 IOPS", "35.7 k IOPS"],
            "24.9 k IOPS (32.0 IOPS–35.7 k IOPS)",
        ),
        (["12.3 /s", "0.500 /s", "1.20 k/s"], "12.3 /s (0.500 /s–1.20 k/s)"),
    ];
    for ([value, low, high], expected) in cases {
        assert_eq!(format_with_range(value, low, high), expected);
    }
}

#[test]
fn quantities_read_as_the_issue_writes_them() {
    let cases = [
        (Unit::BytesPerSecond, "1.2 GB/s", 1.2e9),
        (Unit::BytesPerSecond, "500 MiB/s", 500.0 * 1_048_576.0),
        (Unit::BytesPerSecond, "1GiB", 1_073_741_824.0),
        (Unit::PerSecond, "352 k IOPS", 352e3),
        (Unit::PerSecond, "352kIOPS", 352e3),
        (Unit::PerSecond, "10k/s", 1e4),
        (Unit::PerSecond, "7", 7.0),
        (Unit::Nanoseconds, "62.8 µs", 62_800.0),
        (Unit::NanosecondsPerOperation, "1.5 µs/op", 1500.0),
        (Unit::NanosecondsPerByte, "1.5 ns/B", 1.5),
        (Unit::BitsPerByte, "4.5 bit/B", 4.5),
        (Unit::Bytes, "4 KiB", 4096.0),
        (Unit::Ratio, "0.95", 0.95),
        (Unit::Count, "1.5 M", 1.5e6),
        (Unit::Joules, "20 kJ", 2e4),
        (Unit::Watts, "500 mW", 0.5),
    ];
    for (unit, text, value) in cases {
        let read = unit.parse(text).expect(text);
        assert!((read - value).abs() <= value * 1e-12, "{text}: {read}");
    }
    for (unit, text) in [
        (Unit::BytesPerSecond, "1.2 GHz"),
        (Unit::Nanoseconds, "12"),
        (Unit::Ratio, "5 %"),
        (Unit::Watts, "5 J"),
        (Unit::PerSecond, "-5"),
        (Unit::PerSecond, ""),
        (Unit::Count, "5 things"),
    ] {
        let message = unit.parse(text).expect_err(text).to_string();
        assert!(message.contains("expected for example"), "{message}");
    }
}

proptest! {
    #[test]
    fn a_printed_quantity_reads_back_to_three_digits(mantissa in 1.0..10.0f64, exponent in -2..15i32) {
        let value = mantissa * 10f64.powi(exponent);
        for unit in UNITS {
            let printed = unit.format(value);
            if printed.contains('e') {
                continue;
            }
            let read = unit.parse(&printed).expect(&printed);
            prop_assert!((read - value).abs() <= value * 0.005_01, "{printed} is not {value}");
        }
    }

    #[test]
    fn every_number_prints_and_no_text_makes_a_parser_panic(bits in any::<u64>(), text in ".{0,16}") {
        for unit in UNITS {
            prop_assert!(!unit.format(f64::from_bits(bits)).is_empty());
            let _ = unit.parse(&text);
        }
    }
}
