//! dpzip's pages: any Zstandard decoder reads them, and each form is used where it should be.

use std::io::Read;

use outcrop_codec::BlockCodec;
use outcrop_codec::dpzip::{
    CycleModel, Dpzip, DpzipOptions, PAGE_BYTES, PageForm, frame_with_magic, slotted_bytes,
};
use proptest::prelude::*;

use crate::blocks::{any_block, compressed, random, records, words};
use crate::differential::agree;

fn shapes() -> impl Iterator<Item = DpzipOptions> {
    [
        "256x4",
        "256x1",
        "512x4+longest+lazy",
        "2048x8+lazy",
        "4096x16+longest",
    ]
    .into_iter()
    .map(|text| text.parse().unwrap())
}

fn stored(codec: &mut Dpzip, page: &[u8]) -> (Vec<u8>, PageForm) {
    let mut target = vec![0; page.len()];
    let (length, work) = codec.compress_page(page, &mut target).unwrap();
    target.truncate(length);
    (target, work.form)
}

fn assert_any_decoder_reads(page: &[u8]) {
    for options in shapes() {
        let (stored, _) = stored(&mut Dpzip::new(options), page);
        let frame = frame_with_magic(&stored, page.len());
        let mut by_libzstd = vec![0; page.len()];
        let length = zstd_safe::decompress(&mut by_libzstd[..], &frame).unwrap();
        assert!(
            by_libzstd[..length] == *page,
            "libzstd reads {options} differently"
        );
        let mut by_ruzstd = Vec::new();
        let mut decoder = ruzstd::decoding::StreamingDecoder::new(&frame[..]).unwrap();
        decoder.read_to_end(&mut by_ruzstd).unwrap();
        assert!(by_ruzstd == page, "ruzstd reads {options} differently");
    }
}

/// A page as libzstd writes it, in the frame that a drive stores.
pub(crate) fn page_by_libzstd(page: &[u8], level: i32) -> Vec<u8> {
    let mut context = zstd_safe::CCtx::create();
    for parameter in [
        zstd_safe::CParameter::CompressionLevel(level),
        zstd_safe::CParameter::Format(zstd_safe::FrameFormat::Magicless),
        zstd_safe::CParameter::ContentSizeFlag(false),
    ] {
        context.set_parameter(parameter).unwrap();
    }
    let mut frame = vec![0; zstd_safe::compress_bound(page.len())];
    let length = context.compress2(&mut frame[..], page).unwrap();
    frame.truncate(length);
    // Smaller windows for smaller pages: a page's is always 4 KiB.
    frame[1] = 0x10;
    frame
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn libzstd_and_ruzstd_read_every_page(page in any_block(PAGE_BYTES).prop_filter("not empty", |page| !page.is_empty())) {
        assert_any_decoder_reads(&page);
    }

    #[test]
    fn our_decoder_reads_every_page_that_libzstd_wrote(page in any_block(PAGE_BYTES).prop_filter("not empty", |page| !page.is_empty()), level in -7i32..=22) {
        let frame = page_by_libzstd(&page, level);
        // A block that is not compressed has forms of its own here.
        if frame.len() < page.len() && frame[2] & 6 == 4 {
            let mut back = vec![0; page.len()];
            Dpzip::new(DpzipOptions::default()).decompress(&frame, &mut back).unwrap();
            prop_assert!(back == page);
        }
    }

    #[test]
    fn whatever_is_damaged_libzstd_takes_what_ours_takes(page in any_block(PAGE_BYTES), level in -7i32..=22, edits in prop::collection::vec((any::<usize>(), any::<u8>()), 1..4)) {
        let mut of_ours = compressed(&mut Dpzip::new(DpzipOptions::default()), &page);
        let mut of_libzstd = page_by_libzstd(&page, level);
        for stored in [&mut of_ours, &mut of_libzstd] {
            for &(place, change) in &edits {
                let place = place % stored.len().max(1);
                stored.iter_mut().skip(place).take(1).for_each(|byte| *byte ^= change);
            }
            let mut input = (page.len().saturating_sub(1) as u16).to_le_bytes().to_vec();
            input.append(stored);
            agree(&input, true);
        }
    }

    #[test]
    fn few_symbols_in_any_proportion_are_read(weights in prop::collection::vec(1u32..2000, 2..40), seed: u64) {
        let total: u32 = weights.iter().sum();
        let page: Vec<u8> = random(2 * PAGE_BYTES, seed)
            .chunks(2)
            .map(|pair| {
                let mut at = (u32::from(pair[0]) << 8 | u32::from(pair[1])) % total;
                let symbol = weights.iter().position(|&weight| {
                    let found = at < weight;
                    at = at.saturating_sub(weight);
                    found
                });
                symbol.unwrap() as u8 * 6
            })
            .collect();
        assert_any_decoder_reads(&page);
    }
}

#[test]
fn a_page_of_one_byte_value_costs_one_byte() {
    let mut codec = Dpzip::new(DpzipOptions::default());
    for length in [2, 100, 4095, 4096] {
        assert_eq!(
            stored(&mut codec, &vec![0x5A; length]),
            (vec![0x5A], PageForm::Fill)
        );
    }
}

#[test]
fn an_incompressible_page_is_stored_as_it_is_and_given_up_early() {
    let mut codec = Dpzip::new(DpzipOptions::default());
    let page = random(PAGE_BYTES, 9);
    let mut target = vec![0; PAGE_BYTES];
    let (length, work) = codec.compress_page(&page, &mut target).unwrap();
    assert_eq!((length, work.form), (PAGE_BYTES, PageForm::Raw));
    assert!(work.groups < 300, "searched {} of 1024 groups", work.groups);
    assert!(target == page);
}

#[test]
fn the_predictor_keeps_its_hands_off_compressible_pages() {
    let mut codec = Dpzip::new(DpzipOptions::default());
    // Random bytes of 7 bits lose an eighth by Huffman alone; random text behind random bytes matches late.
    let seven_bits: Vec<u8> = random(PAGE_BYTES, 3)
        .into_iter()
        .map(|byte| byte & 0x7F)
        .collect();
    for page in [words(PAGE_BYTES, 1), records(PAGE_BYTES, 2), seven_bits] {
        assert_eq!(stored(&mut codec, &page).1, PageForm::Frame);
    }
}

#[test]
fn more_ways_and_longer_matches_do_not_cost_bytes_on_text() {
    let length = |shape: &str| {
        let mut codec = Dpzip::new(shape.parse().unwrap());
        (0..20)
            .map(|seed| stored(&mut codec, &words(PAGE_BYTES, seed)).0.len())
            .sum::<usize>()
    };
    assert!(length("256x4") < length("256x1"));
    assert!(length("1024x4+longest+lazy") < length("256x4"));
}

#[test]
fn pages_out_of_range_are_refused() {
    let mut codec = Dpzip::new(DpzipOptions::default());
    assert!(codec.compress_page(&[], &mut [0; 10]).is_err());
    assert!(codec.compress_page(&[0; PAGE_BYTES + 1], &mut [0; 5000]).is_err());
    assert!(codec.compress_page(&[0; 100], &mut [0; 99]).is_err());
}

#[test]
fn slots_round_up() {
    assert_eq!(slotted_bytes(1, 64), 64);
    assert_eq!(slotted_bytes(64, 64), 64);
    assert_eq!(slotted_bytes(65, 64), 128);
    assert_eq!(slotted_bytes(4096, 2048), 4096);
}

#[test]
fn the_model_is_never_faster_than_its_input_nor_slower_on_raw_pages() {
    let mut codec = Dpzip::new(DpzipOptions::default());
    let model = CycleModel::default();
    let mut time = |page: &[u8]| model.page(&codec.compress_page(page, &mut [0; PAGE_BYTES]).unwrap().1);
    let (text, raw) = (time(&words(PAGE_BYTES, 1)), time(&random(PAGE_BYTES, 1)));
    assert!(text.bytes_per_second <= 8e9 && raw.bytes_per_second <= 8e9);
    assert!(raw.interval_cycles <= text.interval_cycles);
    assert!((4.0..6.0).contains(&text.latency_us), "{text:?}");
}
