//! Column files that our encoder does not write, made by hand as docs/format/ocol.md specifies them: small, sound, and costly to read.

/// Values that share all but their last bytes, each in one row. Front coding leaves next to nothing of them, and zstd nothing of the first.
pub(crate) fn of_one_prefix(value_bytes: usize, values: u32) -> Vec<u8> {
    assert!((2..=16).contains(&values), "one bucket");
    let dictionary = dictionary(value_bytes, values);
    let codes = codes(values);
    let mut file = vec![0; 64];
    let mut table = Vec::new();
    for section in [&dictionary, &codes] {
        file.resize(file.len().next_multiple_of(8), 0);
        push_u32s(&mut table, &[section.kind, 0]);
        push_u64s(
            &mut table,
            &[
                file.len() as u64,
                (section.blocks.len() + section.table.len()) as u64,
                section.blocks.len() as u64,
                section.table.len() as u64,
            ],
        );
        push_u32s(&mut table, &[crc32c::crc32c(&section.table), section.parameter]);
        file.extend(&section.blocks);
        file.extend(&section.table);
    }
    file.resize(file.len().next_multiple_of(8), 0);
    let rows = u64::from(values);
    let mut footer = b"OCFT".to_vec();
    push_u32s(&mut footer, &[1]);
    push_u64s(&mut footer, &[rows, rows, rows, 0, rows * value_bytes as u64, 0]);
    push_u32s(&mut footer, &[2, 0]);
    footer.extend(table);
    let header = header(file.len() as u64, &footer);
    file[..64].copy_from_slice(&header);
    file.extend(footer);
    file
}

struct Section {
    kind: u32,
    parameter: u32,
    blocks: Vec<u8>,
    table: Vec<u8>,
}

/// One block of one bucket: the first value whole, of each other one its last four bytes.
fn dictionary(value_bytes: usize, values: u32) -> Section {
    let prefix_bytes = value_bytes - 4;
    let mut raw = vec![0x0f];
    push_varint(&mut raw, value_bytes - 15);
    raw.resize(raw.len() + prefix_bytes, b'0');
    raw.extend(b"0000");
    for value in 1..values {
        raw.push(0xf4);
        push_varint(&mut raw, prefix_bytes - 15);
        raw.extend(format!("{value:04}").bytes());
    }
    let blocks = zstd::bulk::compress(&raw, 3).unwrap();
    let mut table = Vec::new();
    // Offset, bytes when decompressed, end of the fence, which is empty.
    push_u64s(&mut table, &[0, raw.len() as u64, 0]);
    push_u32s(&mut table, &[crc32c::crc32c(&blocks), 1]);
    Section {
        kind: 1,
        parameter: 4,
        blocks,
        table,
    }
}

/// The codes 0, 1, 2, … in one block of planes of four bits.
fn codes(values: u32) -> Section {
    let mut blocks = vec![3, 4];
    push_u32s(&mut blocks, &[0]);
    blocks.extend((0..values).step_by(2).map(|code| {
        let next = if code + 1 < values { code + 1 } else { 0 };
        (code | next << 4) as u8
    }));
    let mut table = Vec::new();
    push_u32s(&mut table, &[1, 0, values, 4]);
    push_u64s(&mut table, &[0]);
    let length = blocks.len() as u32;
    push_u32s(
        &mut table,
        &[length, crc32c::crc32c(&blocks), 0, values - 1, 0, 0],
    );
    Section {
        kind: 3,
        parameter: 0,
        blocks,
        table,
    }
}

fn header(footer_at: u64, footer: &[u8]) -> Vec<u8> {
    let mut header = b"\x8aOCOL\r\n\x1a".to_vec();
    header.extend([1, 0, 0, 0]);
    push_u32s(&mut header, &[0]);
    push_u64s(&mut header, &[0, 0, 0, footer_at, footer.len() as u64]);
    push_u32s(&mut header, &[crc32c::crc32c(footer)]);
    let crc = crc32c::crc32c(&header);
    push_u32s(&mut header, &[crc]);
    header
}

fn push_u32s(bytes: &mut Vec<u8>, numbers: &[u32]) {
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

fn push_u64s(bytes: &mut Vec<u8>, numbers: &[u64]) {
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

fn push_varint(bytes: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}
