//! What the fuzz targets do with bytes that nobody vouches for; the tests do the same over fixed seeds.

#![allow(
    clippy::unwrap_used,
    reason = "the files that are damaged here are written here, and sound until then"
)]

use std::sync::OnceLock;

use outcrop_column::{Column, EncodeOptions, Encoder, Index, Profile};

/// Asks a column everything that can be asked, in memory and preloaded. Answers and errors are both welcome.
pub(crate) fn ask_everything(file: &[u8]) {
    for preload in [false, true] {
        let Ok(mut column) = Column::open_in(file.to_vec()) else {
            continue;
        };
        if preload && column.preload().is_err() {
            continue;
        }
        let _ = column.verify();
        let _ = column.name();
        let _ = column.report();
        let _ = column.decode_text(&mut std::io::sink());
        for value in [&b"w1"[..], b"", b"w99", b"zzz"] {
            let _ = column.find(value).and_then(|selection| selection.rows());
            let _ = column
                .find_prefix(value)
                .and_then(|selection| selection.rows_by_scan());
        }
        let _ = column
            .matching(|value| value.len().is_multiple_of(2))
            .and_then(|selection| selection.count());
        let _ = column.get(17);
        let _ = column.find_null().and_then(|selection| selection.rows());
        let _ = column.for_each_batch(|_| Ok(()));
    }
}

/// Small files of every kind: few rows, so that a flip of each of their bytes can be tried.
pub(crate) fn small_files() -> &'static [Vec<u8>] {
    static FILES: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    FILES.get_or_init(|| {
        let mut files = Vec::new();
        for index in [Index::None, Index::Postings, Index::Only] {
            for profile in [Profile::Balanced, Profile::Smallest, Profile::Fastest] {
                for shape in 0..5_u32 {
                    files.push(small_file(index, profile, shape));
                }
            }
        }
        files
    })
}

/// A number without any order among those of other numbers.
fn mixed(number: u32) -> u32 {
    let mixed = (number + 1).wrapping_mul(0x9e37_79b9);
    (mixed ^ mixed >> 15).wrapping_mul(0x85eb_ca6b) >> 5
}

/// Shape 0 repeats irregularly and has a null, 1 ascends, 2 comes in runs, 3 is skewed enough for classes, 4 has
/// phrases, which the smallest profile writes as tokens.
fn small_file(index: Index, profile: Profile, shape: u32) -> Vec<u8> {
    let mut encoder = Encoder::new(EncodeOptions {
        index,
        profile,
        threads: 1,
    });
    if shape == 1 {
        encoder.set_name("unit").unwrap();
    }
    let row_count: u32 = match shape {
        3 => 2000,
        4 => 8000,
        _ => 200,
    };
    if shape == 4 {
        encoder.never_pack();
    }
    for row in 0..row_count {
        let drawn = mixed(mixed(row / 24) % 16 * 24 + row % 24);
        let value = match shape {
            0 if row % 13 == 5 => {
                encoder.push_null().unwrap();
                continue;
            }
            0 => format!("w{}", row * row % 31),
            1 => format!("w{row:04}"),
            2 => format!("w{}", row / 40),
            4 => format!("w{}", drawn % (1 + (drawn >> 9) % 1201)),
            _ => format!("w{}", row * 48_271 % (1 + row * 40_503 % 90)),
        };
        encoder.push(value.as_bytes()).unwrap();
    }
    let mut file = Vec::new();
    encoder.finish(&mut file).unwrap();
    file
}

/// One of the small files, with changes that `edits` spells: the file, then
/// position and byte, three bytes each.
#[allow(dead_code, reason = "not every fuzz target edits")]
pub(crate) fn edited(edits: &[u8]) -> Vec<u8> {
    let files = small_files();
    let (&which, edits) = edits.split_first().unwrap_or((&0, &[]));
    let mut file = files[usize::from(which) % files.len()].clone();
    let first = if is_packed(&file) { 4 } else { 64 };
    for edit in edits.as_chunks::<3>().0 {
        let position = first + usize::from(u16::from_le_bytes([edit[0], edit[1]])) % (file.len() - first);
        file[position] = edit[2];
    }
    file
}

/// Makes all checksums of header, footer, section tables and blocks right again,
/// so that damage gets past them.
#[allow(dead_code, reason = "not every fuzz target edits")]
pub(crate) fn reseal(file: &mut [u8]) {
    if is_packed(file) {
        let _ = reseal_packed(file);
        return;
    }
    let _ = reseal_sections(file);
    let Some(footer) = u64_at(file, 40).and_then(|at| file.get(usize::try_from(at).ok()?..)) else {
        return;
    };
    let crc = crc32c::crc32c(footer);
    file[56..60].copy_from_slice(&crc.to_le_bytes());
    let crc = crc32c::crc32c(&file[..60]);
    file[60..64].copy_from_slice(&crc.to_le_bytes());
}

/// The file with its first block of codes at another place of the section, all checksums right; none where it has no such block.
#[allow(dead_code, reason = "no fuzz target needs it")]
pub(crate) fn misplaced(file: &[u8], offset: u64) -> Option<Vec<u8>> {
    let mut file = file.to_vec();
    let footer = usize::try_from(u64_at(&file, 40)?).ok()?;
    let sections = u32_at(&file, footer + 56)? as usize;
    let mut places = (0..sections.min(5)).map(|section| footer + 64 + 48 * section);
    let codes = places.find(|at| u32_at(&file, *at) == Some(3))?;
    let table = usize::try_from(u64_at(&file, codes + 8)? + u64_at(&file, codes + 24)?).ok()?;
    let entry = table + 8 + 8 * u32_at(&file, table)?.min(16) as usize;
    file.get_mut(entry..entry + 8)?
        .copy_from_slice(&offset.to_le_bytes());
    reseal(&mut file);
    Some(file)
}

fn is_packed(file: &[u8]) -> bool {
    file[3] != b'O'
}

/// The checksum stands behind the body, and the body says where it ends.
fn reseal_packed(file: &mut [u8]) -> Option<()> {
    let mut at = 4;
    match file[3] {
        b'C' => {
            let (_row_count, size) = (varint(file, &mut at)?, varint(file, &mut at)?);
            at = at.checked_add(usize::try_from(size.saturating_sub(1)).ok()?)?;
        }
        b'T' | b'L' => skip_frame(file, &mut at)?,
        _ => {
            let row_count = varint(file, &mut at)?;
            skip_frame(file, &mut at)?;
            for _ in 0..row_count.div_ceil(65_536) {
                let length = varint(file, &mut at)?;
                at = at.checked_add(usize::try_from(length).ok()?)?;
            }
        }
    }
    let crc = crc32c::crc32c(file.get(..at)?);
    file.get_mut(at..at.checked_add(4)?)?
        .copy_from_slice(&crc.to_le_bytes());
    Some(())
}

fn varint(file: &[u8], at: &mut usize) -> Option<u64> {
    for shift in (0..63).step_by(7) {
        let byte = *file.get(*at)?;
        *at += 1;
        if byte < 0x80 || shift == 56 {
            return Some(u64::from(byte & 0x7f) << shift);
        }
    }
    None
}

fn skip_frame(file: &[u8], at: &mut usize) -> Option<()> {
    *at += 1 + [1, 2, 4, 8][usize::from(*file.get(*at)? >> 6)];
    loop {
        let header = u32_at(file, *at)? & 0xff_ffff;
        let size = if header >> 1 & 3 == 1 { 1 } else { header >> 3 };
        *at += 3 + size as usize;
        if header & 1 == 1 {
            return Some(());
        }
    }
}

/// A packed file of any form with a right checksum: `bytes` are what its frame holds, after one byte for the
/// form, and in a dictionary form one for the rows and one for where the list of values ends.
#[allow(dead_code, reason = "not every fuzz target makes files up")]
pub(crate) fn made_up(bytes: &[u8]) -> Vec<u8> {
    let (&form, bytes) = bytes.split_first().unwrap_or((&0, &[]));
    let form = b"CTLDE"[usize::from(form) % 5];
    let mut file = [b"\x8aOC", &[form][..]].concat();
    match (form, bytes) {
        (b'D' | b'E', &[row_count, end, ref rest @ ..]) => {
            let (values, block) = rest.split_at(usize::from(end).min(rest.len()));
            file.push(row_count & 0x7f);
            push_stored_frame(values, &mut file);
            let block = &block[..block.len().min(127)];
            file.push(block.len() as u8);
            file.extend_from_slice(block);
        }
        (b'T' | b'L', _) => push_stored_frame(bytes, &mut file),
        _ => file.extend_from_slice(bytes),
    }
    file.extend_from_slice(&[0; 4]);
    let _ = reseal_packed(&mut file);
    file
}

/// A frame of one stored block, without magic number.
fn push_stored_frame(content: &[u8], file: &mut Vec<u8>) {
    let size = content.len() as u32;
    file.push(0xa0);
    file.extend_from_slice(&size.to_le_bytes());
    file.extend_from_slice(&(size << 3 | 1).to_le_bytes()[..3]);
    file.extend_from_slice(content);
}

/// Blocks first, since their checksums stand in the tables, whose checksums stand in the footer.
fn reseal_sections(file: &mut [u8]) -> Option<()> {
    let footer = usize::try_from(u64_at(file, 40)?).ok()?;
    let value_count = u64_at(file, footer.checked_add(24)?)?;
    let section_count = u32_at(file, footer + 56)?;
    for section in 0..section_count.min(5) as usize {
        let at = footer + 64 + 48 * section;
        let field = |offset| usize::try_from(u64_at(file, at + offset)?).ok();
        let (start, table_offset, table_length) = (field(8)?, field(24)?, field(32)?);
        let (kind, parameter) = (u32_at(file, at)?, u32_at(file, at + 44)?);
        let table = start.checked_add(table_offset)?;
        file.get(table..table.checked_add(table_length)?)?;
        let _ = match kind {
            1 => reseal_dictionary(file, start, table, value_count.div_ceil(1 << parameter.min(10))),
            2 | 3 => reseal_codes(file, start, table, table + table_length),
            6 => Some(()),
            _ => reseal_postings(file, start, table, table + table_length),
        };
        let crc = crc32c::crc32c(&file[table..table + table_length]);
        file.get_mut(at + 40..at + 44)?
            .copy_from_slice(&crc.to_le_bytes());
    }
    Some(())
}

fn reseal_dictionary(file: &mut [u8], start: usize, table: usize, block_count: u64) -> Option<()> {
    for block in 0..usize::try_from(block_count).ok()? {
        let entry = table + 32 * block;
        let from = start.checked_add(usize::try_from(u64_at(file, entry)?).ok()?)?;
        let to = if block as u64 + 1 == block_count {
            table
        } else {
            start.checked_add(usize::try_from(u64_at(file, entry + 32)?).ok()?)?
        };
        let crc = crc32c::crc32c(file.get(from..to)?);
        file.get_mut(entry + 24..entry + 28)?
            .copy_from_slice(&crc.to_le_bytes());
    }
    Some(())
}

fn reseal_codes(file: &mut [u8], start: usize, table: usize, end: usize) -> Option<()> {
    let mut entry = table + 8 + 8 * u32_at(file, table)?.min(16) as usize;
    while entry + 32 <= end {
        let from = start.checked_add(usize::try_from(u64_at(file, entry)?).ok()?)?;
        let crc = crc32c::crc32c(file.get(from..from.checked_add(u32_at(file, entry + 8)? as usize)?)?);
        file.get_mut(entry + 12..entry + 16)?
            .copy_from_slice(&crc.to_le_bytes());
        entry += 32;
    }
    Some(())
}

fn reseal_postings(file: &mut [u8], start: usize, table: usize, end: usize) -> Option<()> {
    const PAGE_BYTES: usize = 8 + 2 * 2040 + 4;
    let mut page = table;
    while page + PAGE_BYTES <= end {
        let mut group = start.checked_add(usize::try_from(u64_at(file, page)?).ok()?)?;
        for slot in 0..2040 {
            let length = usize::from(u16::from_le_bytes(
                file.get(page + 8 + 2 * slot..)?.first_chunk().copied()?,
            ));
            let next = group.checked_add(length)?;
            if length > 4 && next <= file.len() {
                let crc = crc32c::crc32c(&file[group..next - 4]);
                file[next - 4..next].copy_from_slice(&crc.to_le_bytes());
            }
            group = next;
        }
        let crc = crc32c::crc32c(&file[page..page + PAGE_BYTES - 4]);
        file[page + PAGE_BYTES - 4..page + PAGE_BYTES].copy_from_slice(&crc.to_le_bytes());
        page += PAGE_BYTES;
    }
    Some(())
}

fn u64_at(file: &[u8], at: usize) -> Option<u64> {
    file.get(at..)?
        .first_chunk()
        .map(|&bytes| u64::from_le_bytes(bytes))
}

fn u32_at(file: &[u8], at: usize) -> Option<u32> {
    file.get(at..)?
        .first_chunk()
        .map(|&bytes| u32::from_le_bytes(bytes))
}
