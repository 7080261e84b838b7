//! Match finding once more, as plainly as the rules can be written, and the matcher held against it.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::{Matcher, PREDICT_AT, STAGE_ONE_BYTES};
use crate::dpzip::options::{DpzipOptions, GROUP_BYTES, PAGE_BYTES, Selection};
use crate::dpzip::predictor;
use crate::dpzip::slots::Slots;
use crate::dpzip::table::CandidateTable;
use crate::entropy::Sequence;

/// What the rules make of `page`: literals and sequences, or nothing when it is given up.
fn parse(page: &[u8], options: DpzipOptions) -> Option<(Vec<u8>, Vec<Sequence>)> {
    let mut table = vec![VecDeque::from(vec![0; options.ways()]); 1 << options.bucket_bits()];
    let (mut literals, mut sequences) = (Vec::new(), Vec::new());
    let (mut covered_to, mut matched) = (0, 0);
    for group in (0..page.len()).step_by(GROUP_BYTES) {
        if group == PREDICT_AT
            && page.len() > 2 * PREDICT_AT
            && predictor::looks_incompressible(&page[..group], matched)
        {
            return None;
        }
        if group + 2 * GROUP_BYTES > page.len() {
            break;
        }
        let found = best(page, group, covered_to, &mut table, options);
        if let Some((position, candidate)) = found {
            // What the table has lost of a match's front is found at the match itself, eight bytes at most.
            let before = (1..=8.min(position - covered_to).min(candidate))
                .take_while(|&step| page[position - step] == page[candidate - step])
                .count();
            let length = before + common(page, position, candidate, PAGE_BYTES);
            let (position, candidate) = (position - before, candidate - before);
            literals.extend_from_slice(&page[covered_to..position]);
            sequences.push(Sequence {
                literal_length: (position - covered_to) as u16,
                match_length: length as u16,
                offset: (position - candidate) as u16,
            });
            covered_to = position + length;
            matched += length;
        }
    }
    literals.extend_from_slice(&page[covered_to..]);
    Some((literals, sequences))
}

/// The match that a group starts, as position and candidate; every position is put into the table.
fn best(
    page: &[u8],
    group: usize,
    covered_to: usize,
    table: &mut [VecDeque<usize>],
    options: DpzipOptions,
) -> Option<(usize, usize)> {
    let (mut best, mut best_length) = (None, 0);
    for position in group..group + GROUP_BYTES {
        let word = page[position..position + 4].try_into().unwrap();
        let hash = u32::from_le_bytes(word).wrapping_mul(0x9E37_79B1);
        let bucket = &mut table[(hash >> (32 - options.bucket_bits())) as usize];
        let mut of_position = None;
        for &candidate in &*bucket {
            let length = common(page, position, candidate, STAGE_ONE_BYTES);
            let longer = of_position
                .is_none_or(|(_, longest)| options.selection == Selection::Longest && length > longest);
            let least = if options.selection == Selection::FirstFit {
                5
            } else {
                4
            };
            if candidate < position && length >= least && longer {
                of_position = Some((candidate, length));
            }
        }
        if let Some((candidate, length)) = of_position
            && position >= covered_to
            && (best.is_none() || options.lazy && length > best_length)
        {
            (best, best_length) = (Some((position, candidate)), length);
        }
        bucket.push_front(position);
        bucket.truncate(options.ways());
    }
    best
}

/// How many bytes agree, `most` at most; beyond the page is zero for stage 1, and nothing for stage 2.
fn common(page: &[u8], position: usize, candidate: usize, most: usize) -> usize {
    let byte = |at: usize| page.get(at).copied().unwrap_or(0);
    let end = if most == PAGE_BYTES {
        page.len() - position
    } else {
        most
    };
    (0..end)
        .take_while(|step| byte(position + step) == byte(candidate + step))
        .count()
}

/// A page of pieces: text-like words, small alphabets, repeats of earlier pieces, random bytes.
fn any_page() -> impl Strategy<Value = Vec<u8>> {
    let piece = (prop::collection::vec(any::<u8>(), 1..24), 0u8..5, 1usize..12);
    prop::collection::vec(piece, 1..300).prop_map(|pieces| {
        let mut page = Vec::new();
        for (bytes, kind, times) in pieces {
            match kind {
                0 => page.extend(&bytes),
                1 => page.extend(bytes.iter().map(|byte| byte & 3)),
                2 => page.extend(bytes.repeat(times)),
                _ => {
                    let from = bytes.len() * 31 % (page.len() + 1);
                    let again = page[from..page.len().min(from + 5 * times)].to_vec();
                    page.extend(again);
                }
            }
        }
        page.truncate(PAGE_BYTES);
        page
    })
}

fn assert_as_the_rules<const FOURS: usize>(page: &[u8], options: DpzipOptions) {
    let mut matcher = Matcher::<FOURS>::new(options);
    // A page before it must leave no trace.
    let _ = matcher.parse(&[7; 100], Slots::fill, CandidateTable::exchange_newest);
    let (parsed, _) = matcher.parse(page, Slots::fill, CandidateTable::exchange_newest);
    let seen = parsed.map(|parsed| (parsed.literals.to_vec(), parsed.sequences.to_vec()));
    assert_eq!(seen, parse(page, options), "{options}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_matcher_finds_what_the_rules_say(page in any_page(), bits in 8u32..=12, ways in 1usize..=16, longest: bool, lazy: bool) {
        let selection = if longest { Selection::Longest } else { Selection::FirstFit };
        let options = DpzipOptions::new(1 << bits, ways, selection, lazy).unwrap();
        match ways {
            ..=4 => assert_as_the_rules::<1>(&page, options),
            5..=8 => assert_as_the_rules::<2>(&page, options),
            _ => assert_as_the_rules::<4>(&page, options),
        }
    }
}
