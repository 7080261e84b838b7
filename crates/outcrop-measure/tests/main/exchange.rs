//! Histograms as text: nothing lost, other tools read it, and hostile text is an error.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer, V2Serializer};
use outcrop_measure::LatencyHistogram;
use outcrop_measure::histogram::Totals;
use proptest::prelude::*;

use crate::histogram::{latencies, recorded};

const COOKIE: u32 = 0x1c84_9313;
const COMPRESSED_COOKIE: u32 = 0x1c84_9314;

fn hdr_of(latencies: &[u64], digits: u8) -> Histogram<u64> {
    let mut hdr = Histogram::new_with_bounds(1, u64::MAX, digits).expect("valid bounds");
    for latency_ns in latencies {
        hdr.record(*latency_ns).expect("every value is in bounds");
    }
    hdr
}

/// An uncompressed V2 histogram with the given header and payload.
fn v2(announced_bytes: u32, digits: u32, lowest: u64, payload: &[u8]) -> Vec<u8> {
    [
        &COOKIE.to_be_bytes()[..],
        &announced_bytes.to_be_bytes(),
        &0u32.to_be_bytes(),
        &digits.to_be_bytes(),
        &lowest.to_be_bytes(),
        &u64::MAX.to_be_bytes(),
        &1.0f64.to_be_bytes(),
        payload,
    ]
    .concat()
}

fn compressed(inner: &[u8]) -> Vec<u8> {
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    zlib.write_all(inner).expect("memory");
    let zlib = zlib.finish().expect("memory");
    [
        &COMPRESSED_COOKIE.to_be_bytes()[..],
        &(zlib.len() as u32).to_be_bytes(),
        &zlib,
    ]
    .concat()
}

fn refusal(bytes: &[u8]) -> String {
    LatencyHistogram::from_hdr_base64(&BASE64.encode(bytes))
        .expect_err("hostile")
        .to_string()
}

#[test]
fn an_empty_histogram_survives_the_exchange() {
    let empty = LatencyHistogram::new();
    assert_eq!(
        LatencyHistogram::from_hdr_base64(&empty.to_hdr_base64()),
        Ok(empty)
    );
}

#[test]
fn text_cut_or_flipped_anywhere_never_panics_and_never_passes_as_the_original_when_cut() {
    let histogram = recorded(&[1, 127, 128, 5_000, 5_001, 80_000, 80_000, 3_000_000, u64::MAX]);
    let encoded = BASE64.decode(histogram.to_hdr_base64()).expect("our own text");
    for end in 0..encoded.len() {
        refusal(&encoded[..end]);
    }
    for position in 0..encoded.len() * 8 {
        let mut flipped = encoded.clone();
        flipped[position / 8] ^= 1 << (position % 8);
        let _ = LatencyHistogram::from_hdr_base64(&BASE64.encode(&flipped));
    }
    for text in ["", "!", "AAAA", "HISTFAAA", "héllo"] {
        LatencyHistogram::from_hdr_base64(text).expect_err(text);
    }
}

#[test]
fn hostile_headers_are_refused_before_memory_is_taken_for_them() {
    assert!(refusal(&v2(u32::MAX, 2, 1, &[2])).contains("announces 4294967295 bytes, 1 follow"));
    assert!(refusal(&v2(1, 5, 1, &[2])).contains("5 significant digits"));
    assert!(refusal(&v2(1, 2, 1 << 40, &[2])).contains("lowest value"));
    assert!(refusal(&compressed(&vec![0; 100 << 20])).contains("inflates to more than"));
    assert!(refusal(&compressed(&[1, 2, 3, 4])).contains("starts with 0x01020304"));
    let long = "A".repeat(3 << 20);
    assert!(
        LatencyHistogram::from_hdr_base64(&long)
            .expect_err("long")
            .to_string()
            .contains("more than any has")
    );
}

#[test]
fn hostile_counts_and_slots_are_refused() {
    // Zigzag of the most negative number: a skip of 2⁶³ slots, then a count.
    let skip_far = [&[0xff; 9][..], &[2]].concat();
    assert!(refusal(&v2(10, 2, 1, &skip_far)).contains("beyond 64-bit values"));
    let skip_far_twice = [&[0xff; 18][..], &[2]].concat();
    assert!(refusal(&v2(19, 2, 1, &skip_far_twice)).contains("beyond 64-bit values"));
    // The greatest count, twice.
    let huge = [&[0xfe][..], &[0xff; 8], &[0xfe], &[0xff; 8]].concat();
    assert!(refusal(&v2(18, 2, 1, &huge)).contains("operations, more than"));
    assert!(refusal(&v2(2, 2, 1, &[0x80, 0x80])).contains("cut off"));
}

#[test]
fn totals_that_contradict_the_buckets_are_refused() {
    let histogram = recorded(&[100, 10_000, 10_001]);
    let totals = histogram.totals().expect("not empty");
    let wrong = [
        (Totals { count: 2, ..totals }, "count"),
        (
            Totals {
                min_ns: 101,
                ..totals
            },
            "minimum",
        ),
        (
            Totals {
                max_ns: 20_000,
                ..totals
            },
            "maximum",
        ),
        (Totals { sum_ns: 0, ..totals }, "sum"),
        (
            Totals {
                sum_ns: u128::MAX,
                ..totals
            },
            "sum",
        ),
    ];
    for (totals, named) in wrong {
        let message = histogram
            .clone()
            .with_totals(&totals)
            .expect_err(named)
            .to_string();
        assert!(message.contains(named), "{message}");
    }
}

proptest! {
    #[test]
    fn buckets_and_totals_survive_the_exchange(latencies in latencies(300)) {
        let histogram = recorded(&latencies);
        let decoded = LatencyHistogram::from_hdr_base64(&histogram.to_hdr_base64()).expect("our own text");
        prop_assert!(decoded.buckets().eq(histogram.buckets()));
        prop_assert_eq!(decoded.count(), histogram.count());
        prop_assert!(decoded.min() <= histogram.min() && decoded.max() >= histogram.max());
        let mean_error = decoded.mean().expect("not empty") / histogram.mean().expect("not empty").max(1e-9) - 1.0;
        prop_assert!(mean_error.abs() <= 1.0 / 64.0 || histogram.mean() == Some(0.0), "{mean_error}");
        let restored = decoded.with_totals(&histogram.totals().expect("not empty"));
        prop_assert_eq!(restored, Ok(histogram));
    }

    #[test]
    fn hdrhistogram_reads_what_we_write(latencies in latencies(100)) {
        let histogram = recorded(&latencies);
        let bytes = BASE64.decode(histogram.to_hdr_base64()).expect("our own text");
        let hdr: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).expect("its own format");
        prop_assert_eq!(hdr.len(), histogram.count());
        for bucket in histogram.buckets() {
            prop_assert_eq!(hdr.count_at(bucket.low_ns), bucket.count);
        }
    }

    #[test]
    fn we_read_what_hdrhistogram_writes(latencies in latencies(100), digits in 2..=3u8) {
        let hdr = hdr_of(&latencies, digits);
        let (mut plain, mut deflated) = (Vec::new(), Vec::new());
        V2Serializer::new().serialize(&hdr, &mut plain).expect("memory");
        V2DeflateSerializer::new().serialize(&hdr, &mut deflated).expect("memory");
        for bytes in [plain, deflated] {
            let decoded = LatencyHistogram::from_hdr_base64(&BASE64.encode(bytes)).expect("its own format");
            prop_assert!(decoded.buckets().eq(recorded(&latencies).buckets()));
        }
    }

    #[test]
    fn no_payload_makes_the_decoder_panic(payload in prop::collection::vec(any::<u8>(), 0..200), digits in 2..=3u32) {
        let bytes = v2(payload.len() as u32, digits, 1, &payload);
        let _ = LatencyHistogram::from_hdr_base64(&BASE64.encode(&bytes));
        let _ = LatencyHistogram::from_hdr_base64(&BASE64.encode(compressed(&bytes)));
    }
}
