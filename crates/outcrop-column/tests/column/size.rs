//! The file beside its floor: the order of the rows in a coding that knows only the counts, and
//! the dictionary as it is stored.

use outcrop_column::{BLOCK_ROWS, EncodeOptions, EncodeReport, Encoder, Profile};

/// Rows of `distinct` words drawn with probabilities of `rank ^ -skew`, all seeded alike.
struct Words {
    words: Vec<String>,
    /// Running sum of the weights.
    sums: Vec<f64>,
    state: u64,
}

impl Words {
    fn new(distinct: u64, skew: f64) -> Self {
        let words = (0..distinct).map(word).collect();
        let sums = (1..=distinct).scan(0.0, |sum, rank| {
            *sum += (rank as f64).powf(-skew);
            Some(*sum)
        });
        Self {
            sums: sums.collect(),
            words,
            state: 1,
        }
    }

    fn draw(&mut self) -> &str {
        let unit = (split_mix(&mut self.state) >> 11) as f64 / (1_u64 << 53) as f64;
        let wanted = unit * self.sums.last().expect("there is a word");
        let rank = self.sums.partition_point(|&sum| sum <= wanted);
        &self.words[rank]
    }
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// Seven letters that have nothing to do with the number.
fn word(number: u64) -> String {
    let mut state = number;
    let mut letters = split_mix(&mut state);
    (0..7)
        .map(|_| {
            let letter = b'a' + (letters % 26) as u8;
            letters /= 26;
            char::from(letter)
        })
        .collect()
}

/// What is said of the file, which is not packed.
fn encoded(rows: u64, distinct: u64, skew: f64, profile: Profile) -> EncodeReport {
    let mut words = Words::new(distinct, skew);
    let mut encoder = Encoder::new(EncodeOptions {
        profile,
        ..EncodeOptions::default()
    });
    for _ in 0..rows {
        encoder.push(words.draw().as_bytes()).unwrap();
    }
    encoder.never_pack();
    encoder.finish(&mut Vec::new()).unwrap()
}

/// Header, footer with three sections, and class table.
const FIXED_BYTES: u64 = 64 + (24 + 40 + 3 * 48) + (8 + 16 * 8);
/// What the tables of a codes section and a class map have for a block.
const BLOCK_BYTES: u64 = 32;

#[expect(clippy::print_stdout, reason = "the figures are wanted in records")]
fn check(rows: u64, distinct: u64, skew: f64, profile: Profile, bar: f64) {
    let report = encoded(rows, distinct, skew, profile);
    let sections = report.dictionary_bytes + report.class_map_bytes + report.codes_bytes;
    let blocks = rows.div_ceil(BLOCK_ROWS as u64) + distinct.div_ceil(BLOCK_ROWS as u64);
    let tables = FIXED_BYTES + BLOCK_BYTES * blocks;
    let gaps = report.file_bytes.saturating_sub(sections + FIXED_BYTES);
    assert!(gaps * 100 <= report.file_bytes + 100 * 8 * 4, "{report:?}");
    let floor = report.floor_bytes + report.dictionary_bytes;
    let ratio = (report.file_bytes - tables.min(report.file_bytes)) as f64 / floor as f64;
    println!(
        "| {rows} | {distinct} | {skew} | {profile:?} | {} | {} | {} | {ratio:.3} | {bar} |",
        report.file_bytes, report.floor_bytes, report.dictionary_bytes
    );
    assert!(
        ratio <= bar,
        "{rows} rows, {distinct} words, skew {skew}, {profile:?}: {ratio:.4} of the floor, {report:?}"
    );
}

/// The bars of the design are 1.02 for uniform and 1.05 for skewed columns. A
/// higher one is due to the format.
#[test]
fn files_are_near_the_floor_for_few_and_many_values_and_rows() {
    for profile in [Profile::Balanced, Profile::Fastest] {
        for rows in [50_000, 200_000] {
            check(rows, 2, 0.0, profile, 1.02);
            // Two values take a bit a row, though one of them comes twice as often: rows that are
            // searched in place have whole bits.
            check(rows, 2, 1.0, profile, 1.11);
            // log2 100 = 6.64 bits in classes of 6.81.
            check(rows, 100, 0.0, profile, 1.03);
            // The tags of classes have four bits, their entropy here is 3.6.
            check(rows, 100, 1.2, profile, 1.10);
            check(rows, 1000, 0.0, profile, 1.02);
            check(rows, 1000, 1.0, profile, 1.05);
        }
        // The floor assumes that each word's count is known. Where that is four, knowing
        // it is worth half a bit per row.
        check(200_000, 50_000, 0.0, profile, 1.06);
        check(200_000, 50_000, 1.0, profile, 1.06);
    }
    // What is not searched in place has the entropy of each part of a row.
    for (distinct, skew, bar) in [
        (2, 1.0, 1.03),
        (100, 0.0, 1.02),
        (100, 1.2, 1.03),
        (1000, 1.2, 1.05),
    ] {
        check(BLOCK_ROWS as u64, distinct, skew, Profile::Smallest, bar);
    }
}
