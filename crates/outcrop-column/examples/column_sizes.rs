//! Prints what each string column of `|`-separated tables takes under the `smallest` profile, beside zstd -19
//! of its text: `column_sizes TABLE.csv.zst…`. A string column has a value that is no number.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use outcrop_column::{Column, EncodeOptions, EncodeReport, Encoder, PackedForm, Profile, Result};

fn main() -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "column,text B,smallest B,zstd -19 B,ratio,form,ordinary form B,dictionary B,class map B,codes B,encodings"
    )?;
    let (mut ours, mut theirs, mut larger, mut count) = (0, 0, 0, 0);
    for table in std::env::args().skip(1) {
        let bytes = zstd::decode_all(std::fs::File::open(&table)?)?;
        let rows: Vec<Vec<&[u8]>> = bytes
            .strip_suffix(b"\n")
            .unwrap_or(&bytes)
            .split(|&byte| byte == b'\n')
            .map(|row| row.split(|&byte| byte == b'|').collect())
            .collect();
        let name = Path::new(&table)
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        let name = name.trim_end_matches(".csv.zst");
        for number in 0..rows.first().map_or(0, Vec::len) {
            let values = rows
                .iter()
                .map(|row| row.get(number).copied().unwrap_or_default());
            let values: Vec<&[u8]> = values.collect();
            if values.iter().all(|value| value.is_empty() || is_number(value)) {
                continue;
            }
            let text = [values.join(&b'\n'), b"\n".to_vec()].concat();
            // The four bytes are the checksum that the command-line tool adds.
            let peer = zstd::bulk::compress(&text, 19)?.len() + 4;
            let (report, encodings) = encode(&values, false)?;
            let (ordinary, _) = encode(&values, true)?;
            let size = report.file_bytes;
            ours += size;
            theirs += peer as u64;
            larger += u64::from(size > peer as u64);
            count += 1;
            writeln!(
                out,
                "{name}.{number},{},{size},{peer},{:.3},{},{},{},{},{},{encodings}",
                text.len(),
                size as f64 / peer as f64,
                report.packed.map_or("ordinary", PackedForm::name),
                ordinary.file_bytes,
                report.dictionary_bytes,
                report.class_map_bytes,
                report.codes_bytes,
            )?;
        }
    }
    writeln!(
        out,
        "all {count}: smallest {ours}, zstd -19 {theirs}; {larger} columns larger"
    )?;
    Ok(())
}

fn is_number(value: &[u8]) -> bool {
    std::str::from_utf8(value).is_ok_and(|value| value.trim().parse::<f64>().is_ok())
}

/// The sizes of the column, and how many blocks each encoding has.
fn encode(values: &[&[u8]], is_ordinary: bool) -> Result<(EncodeReport, String)> {
    let mut encoder = Encoder::new(EncodeOptions {
        profile: Profile::Smallest,
        ..EncodeOptions::default()
    });
    for value in values {
        encoder.push(value)?;
    }
    if is_ordinary {
        encoder.never_pack();
    }
    let mut file = Vec::new();
    let report = encoder.finish(&mut file)?;
    let column = Column::open_in(file)?;
    let mut blocks = BTreeMap::new();
    for segment in column.report()?.segments {
        for (name, encoding) in segment.encodings {
            *blocks.entry(name).or_insert(0) += encoding.block_count;
        }
    }
    let described: Vec<String> = blocks
        .iter()
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    Ok((report, described.join("; ")))
}
