//! Blocks of tokens, which share their bytes as a group: what `smallest` writes where phrases come again.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use outcrop_column::storage::ReadAt;
use outcrop_column::{BLOCK_ROWS, Column, EncodeOptions, Encoder, Index, Profile, Technique, encode_text};

use crate::oracle::{Row, check_file, encode_unpacked, push_all, shaped};

pub(crate) const SMALLEST: EncodeOptions = EncodeOptions {
    profile: Profile::Smallest,
    index: Index::None,
    threads: 1,
};

/// Words of a phrase.
const PHRASE_ROWS: u64 = 24;

fn mixed(number: u64) -> u64 {
    let mixed = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 17
}

/// Phrases in no order, each word by word: more distinct words than one byte tells apart, some of
/// them frequent, and one of them null.
pub(crate) fn phrases(row_count: u64, phrase_count: u64) -> Vec<Row> {
    let word = |row: u64| {
        let phrase = mixed(row / PHRASE_ROWS) % phrase_count;
        let drawn = mixed(phrase * PHRASE_ROWS + row % PHRASE_ROWS + 7_000_000);
        let word = drawn % (1 + (drawn >> 20) % 1201);
        (word != 13).then(|| format!("w{word}").into_bytes())
    };
    (0..row_count).map(word).collect()
}

/// Blocks of the encoding of that name, of all blocks.
fn blocks_of(file: &[u8], name: &str) -> (u64, u64) {
    let report = Column::open_in(file.to_vec()).unwrap().report().unwrap();
    let encodings = report.segments.iter().flat_map(|segment| &segment.encodings);
    encodings.fold((0, 0), |(found, all), (other, encoding)| {
        let count = encoding.block_count;
        (found + if *other == name { count } else { 0 }, all + count)
    })
}

/// Incompatible feature bits of an ordinary file.
fn features(file: &[u8]) -> u64 {
    u64::from_le_bytes(file[32..40].try_into().unwrap())
}

fn encode_without_tokens(rows: &[Row], options: EncodeOptions) -> Vec<u8> {
    let mut encoder = Encoder::new(options);
    push_all(&mut encoder, rows);
    encoder.never_pack();
    encoder.leave_out(Technique::Tokens);
    let mut file = Vec::new();
    encoder.finish(&mut file).unwrap();
    file
}

#[test]
fn every_search_in_groups_of_blocks_equals_the_plain_map() {
    // One block, two, and a group of eight with two blocks behind it; small ones before them.
    let row_counts = [8000, BLOCK_ROWS, BLOCK_ROWS + 1, 9 * BLOCK_ROWS + 4711];
    for (row_count, index) in
        row_counts
            .into_iter()
            .zip([Index::Postings, Index::None, Index::None, Index::None])
    {
        let rows = phrases(row_count as u64, 16);
        let file = encode_unpacked(&rows, EncodeOptions { index, ..SMALLEST });
        let (tokens, all) = blocks_of(&file, "tokens + zstd");
        assert_eq!(
            (tokens, all),
            (all, row_count.div_ceil(BLOCK_ROWS) as u64),
            "{row_count} rows"
        );
        check_file(&file, &rows, 3);
    }
}

/// A file that counts the bytes that are read of it.
struct Counted(Vec<u8>, Arc<AtomicU64>);

impl ReadAt for Counted {
    fn size_bytes(&self) -> u64 {
        self.0.size_bytes()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.1.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        self.0.read_exact_at(buffer, offset)
    }
}

#[test]
fn one_row_reads_its_group_and_not_the_file() {
    // Two groups of eight blocks, and one block behind them.
    let rows = phrases(16 * BLOCK_ROWS as u64 + 1000, 1000);
    let file = encode_unpacked(&rows, SMALLEST);
    let (tokens, all) = blocks_of(&file, "tokens + zstd");
    assert!(tokens >= 16 && all == 17, "{tokens} of {all}");
    let (bytes, read) = (file.len() as u64, Arc::new(AtomicU64::new(0)));
    let column = Column::open_in(Counted(file, Arc::clone(&read))).unwrap();
    let cost = |row: usize| {
        read.store(0, Ordering::Relaxed);
        assert_eq!(column.get(row as u64).unwrap(), rows[row]);
        read.load(Ordering::Relaxed)
    };
    let (first, second) = (cost(5), cost(8 * BLOCK_ROWS + 5));
    assert!(first > bytes / 4 && first < bytes * 6 / 10, "{first} of {bytes}");
    assert!(second < bytes * 6 / 10, "{second} of {bytes}");
    // The group is there still.
    let same = cost(15 * BLOCK_ROWS);
    assert!(same < bytes / 20, "{same} of {bytes}");
    let last = cost(16 * BLOCK_ROWS + 7);
    assert!(last < bytes / 10, "{last} of {bytes}");
}

#[test]
fn a_file_needs_the_feature_of_tokens_if_it_has_them_and_keeps_it_when_rows_are_added() {
    let (phrases, few) = (phrases(8000, 16), shaped("few", 1000));
    let (with, plain) = (
        encode_unpacked(&phrases, SMALLEST),
        encode_unpacked(&few, SMALLEST),
    );
    assert_eq!((features(&with), features(&plain)), (1, 0));
    let default = EncodeOptions::default();
    assert_eq!(features(&encode_unpacked(&phrases, default)), 0);

    // Rows behind a file that needs it, and such rows behind a file that does not.
    for (first, second, rows) in [
        (&with, &few, [&phrases[..], &few].concat()),
        (&plain, &phrases, [&few[..], &phrases].concat()),
    ] {
        let mut file = first.clone();
        let mut encoder = Encoder::new(SMALLEST);
        push_all(&mut encoder, second);
        encoder.append(first, &mut file).unwrap();
        assert_eq!(features(&file), 1);
        check_file(&file, &rows, 3);
    }
    // Whole segments behind another file.
    let mut file = plain.clone();
    Column::open_in(with)
        .unwrap()
        .append_segments(&plain, &mut file)
        .unwrap();
    assert_eq!(features(&file), 1);
    check_file(&file, &[&few[..], &phrases].concat(), 3);

    // A packed file that rows are added to becomes an ordinary one, with tokens where they pay.
    let mut packed = Vec::new();
    let mut encoder = Encoder::new(SMALLEST);
    push_all(&mut encoder, &phrases);
    assert!(encoder.finish(&mut packed).unwrap().packed.is_some());
    let mut file = packed.clone();
    let mut encoder = Encoder::new(SMALLEST);
    push_all(&mut encoder, &few);
    encoder.append(&packed, &mut file).unwrap();
    assert_eq!(features(&file), 1);
    check_file(&file, &[&phrases[..], &few].concat(), 3);
}

#[test]
fn a_reader_without_the_feature_says_so_in_one_sentence() {
    let mut file = encode_unpacked(&phrases(8000, 16), SMALLEST);
    // To this reader a file of the future is what this file is to readers before it.
    file[32] = 2;
    let crc = crc32c::crc32c(&file[..60]);
    file[60..64].copy_from_slice(&crc.to_le_bytes());
    let error = Column::open_in(file).map(drop).unwrap_err().to_string();
    assert_eq!(
        error,
        "the file has version 1.0 with incompatible features 0x2; this release knows version 1 and features 0x1: use a newer release"
    );
}

/// A file whose first 60 bytes were changed, with the checksum that they now have.
fn with_header(file: &[u8], change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut file = file.to_vec();
    change(&mut file[..60]);
    let crc = crc32c::crc32c(&file[..60]);
    file[60..64].copy_from_slice(&crc.to_le_bytes());
    file
}

/// What each way to read codes answers.
fn answers_of(file: &[u8]) -> Vec<String> {
    let column = Column::open_in(file.to_vec()).unwrap();
    let answers = [
        column.get(17).map(drop),
        column.decode_text(&mut io::sink()),
        column
            .find_prefix(b"")
            .and_then(|selection| selection.rows_by_scan())
            .map(drop),
        column.for_each_batch(|_| Ok(())),
    ];
    let shown = |answer: outcrop_column::Result<()>| match answer {
        Ok(()) => "fine".to_owned(),
        Err(error) => error.to_string(),
    };
    let damage = column.verify().unwrap().damage;
    let damage = damage.iter().map(ToString::to_string);
    answers.into_iter().map(shown).chain(damage).collect()
}

#[test]
fn groups_that_the_header_does_not_announce_are_refused() {
    let file = encode_unpacked(&phrases(8000, 16), SMALLEST);
    assert!(answers_of(&file).iter().all(|answer| answer == "fine"));
    let answers = answers_of(&with_header(&file, |header| header[32] = 0));
    assert_eq!(answers.len(), 5);
    for answer in answers {
        assert!(
            answer.contains("a group of tokens, which the header does not announce"),
            "{answer}"
        );
    }
}

#[test]
fn a_class_map_of_tokens_is_refused() {
    let rows = shaped("skewed", BLOCK_ROWS);
    let file = encode_unpacked(&rows, EncodeOptions::default());
    let number = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap()) as usize;
    let footer = number(40);
    let mut sections = (0..3).map(|section| footer + 64 + 48 * section);
    let map = sections
        .find(|&at| file[at] == 2)
        .expect("skewed rows have classes");
    let symbols = number(footer + 24);
    // A group of one block, each class a token of one byte.
    let mut group = [&[6, 0, 1, 0, 0, 1, 0, 0, 0][..], &(symbols as u32).to_le_bytes()].concat();
    group.resize(group.len() + symbols, 0);
    let mut table = vec![0; 8 + 32];
    table[16..20].copy_from_slice(&(group.len() as u32).to_le_bytes());
    table[20..24].copy_from_slice(&crc32c::crc32c(&group).to_le_bytes());
    // The section stands where the footer was, and the footer behind it.
    let mut changed = [&file[..footer], &group, &table, &file[footer..]].concat();
    let new_footer = footer + group.len() + table.len();
    let section = new_footer + (map - footer);
    for (place, value) in [
        (section + 8, footer),
        (section + 16, group.len() + table.len()),
        (section + 24, group.len()),
        (section + 32, table.len()),
        (40, new_footer),
    ] {
        changed[place..place + 8].copy_from_slice(&(value as u64).to_le_bytes());
    }
    changed[section + 40..section + 44].copy_from_slice(&crc32c::crc32c(&table).to_le_bytes());
    let crc = crc32c::crc32c(&changed[new_footer..]);
    changed[56..60].copy_from_slice(&crc.to_le_bytes());
    // With the feature, too: it is about codes.
    for feature in [0, 1] {
        let answers = answers_of(&with_header(&changed, |header| header[32] = feature));
        assert!(
            answers
                .iter()
                .all(|answer| answer.contains("a group of tokens, which a class map cannot have")),
            "{answers:?}"
        );
    }
}

#[test]
fn a_file_that_may_only_be_read_is_read_and_refuses_new_rows_in_one_sentence() {
    let rows = shaped("few", 1000);
    let file = with_header(&encode_unpacked(&rows, SMALLEST), |header| header[24] = 2);
    check_file(&file, &rows, 3);
    let mut encoder = Encoder::new(SMALLEST);
    push_all(&mut encoder, &rows);
    let mut longer = file.clone();
    let error = encoder.append(&file, &mut longer).map(drop).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the file has read-only-compatible features 0x2, which this release does not know: it can be read but not appended to; \
         append with a newer release, or decode it and encode it again"
    );
    assert!(longer == file);
}

#[test]
fn where_tokens_do_not_pay_the_file_is_byte_for_byte_what_it_was_without_them() {
    let distinct = |row_count| shaped("distinct", row_count);
    let columns = [
        shaped("skewed", 2 * BLOCK_ROWS + 5),
        shaped("few", BLOCK_ROWS + 1),
        shaped("nulls", BLOCK_ROWS),
        shaped("equal", 3 * BLOCK_ROWS),
        distinct(BLOCK_ROWS / 2),
    ];
    for rows in columns {
        let file = encode_unpacked(&rows, SMALLEST);
        assert_eq!(features(&file), 0);
        assert!(
            file == encode_without_tokens(&rows, SMALLEST),
            "{} rows",
            rows.len()
        );
    }
    // No profile but the smallest writes them.
    for profile in [Profile::Balanced, Profile::Fastest] {
        let options = EncodeOptions { profile, ..SMALLEST };
        let rows = phrases(8000, 16);
        assert!(encode_unpacked(&rows, options) == encode_without_tokens(&rows, options));
    }
}

#[test]
fn groups_do_not_depend_on_the_number_of_threads() {
    let rows = phrases(17 * BLOCK_ROWS as u64 + 100, 32);
    let text: Vec<u8> = rows
        .iter()
        .flat_map(|row| row.iter().flatten().copied().chain([b'\n']))
        .collect();
    let encoded = |threads| {
        let mut file = Vec::new();
        let options = EncodeOptions { threads, ..SMALLEST };
        encode_text(&text[..], options)
            .unwrap()
            .finish(&mut file)
            .unwrap();
        file
    };
    let files = [1, 2, 3].map(encoded);
    assert_eq!(features(&files[0]), 1);
    assert!(files[0] == files[1] && files[1] == files[2]);
    let mut decoded = Vec::new();
    Column::open_in(files[0].clone())
        .unwrap()
        .decode_text(&mut decoded)
        .unwrap();
    assert!(decoded == text);
}
