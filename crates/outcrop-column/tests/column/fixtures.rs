//! Golden files of version 1, and the second reader: Python, written from the specification alone.

use std::path::{Path, PathBuf};
use std::process::Command;

use outcrop_column::{EncodeOptions, Encoder, Index, PackedForm, Profile};

use crate::names::{named, some_rows};
use crate::oracle::{Row, check_file, encode, encode_unpacked, push_all};
use crate::tokens::phrases;

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/v1")
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn word(number: u64) -> Row {
    Some(format!("word-{number:05}").into_bytes())
}

/// Numbers below 2^21 without any order.
fn scattered(row: u64) -> u64 {
    u64::from((row as u32).wrapping_mul(2_654_435_761) >> 11)
}

/// Name, options and rows of each fixture; the tokens are a group of two blocks. Deterministic: the files are compared byte for byte with today's.
fn fixtures() -> Vec<(&'static str, EncodeOptions, Vec<Row>)> {
    let balanced = |index| EncodeOptions {
        index,
        ..Default::default()
    };
    let fastest = EncodeOptions {
        profile: Profile::Fastest,
        ..balanced(Index::Postings)
    };
    let smallest = EncodeOptions {
        profile: Profile::Smallest,
        ..Default::default()
    };
    let mixed: Vec<Row> = (0..500_u64)
        .map(|row| match row % 11 {
            0 => None,
            1 => Some(Vec::new()),
            2 => Some(vec![0xff, 0, row as u8]),
            3 => Some(vec![b'l'; row as usize]),
            _ => word(row * row % 61),
        })
        .collect();
    // A few frequent and many rare values: class-tagged blocks and a class map; more than one block.
    let skewed: Vec<Row> = (0..70_000_u64)
        .map(|row| word(row.wrapping_mul(2_654_435_761) % (1 + row.wrapping_mul(40_503) % 2_048)))
        .collect();
    vec![
        ("empty", balanced(Index::Postings), Vec::new()),
        ("one-null", balanced(Index::Postings), vec![None]),
        ("constant", balanced(Index::None), vec![word(1); 300]),
        (
            "runs",
            fastest,
            (0..4000).map(|row| word(row * row / 160_000)).collect(),
        ),
        ("ascending", balanced(Index::None), (0..3000).map(word).collect()),
        ("mixed", balanced(Index::Postings), mixed.clone()),
        ("mixed-only", balanced(Index::Only), mixed.clone()),
        (
            "mixed-smallest",
            EncodeOptions {
                profile: Profile::Smallest,
                index: Index::Postings,
                threads: 1,
            },
            mixed,
        ),
        ("skewed", fastest, skewed),
        // Forms that only the smallest profile writes: planes, deltas and runs of whole bytes under zstd.
        (
            "smallest-planes",
            smallest,
            (0..6000)
                .map(|row| match scattered(row) {
                    noise if noise % 16 == 0 => word(noise % 3001),
                    _ => word(row % 701 * 7919 % 3001),
                })
                .collect(),
        ),
        (
            "smallest-deltas",
            smallest,
            (0..3000).map(|row| word(row * 3 + row % 7 % 3)).collect(),
        ),
        (
            "smallest-runs",
            smallest,
            (0..6000)
                .map(|row| word(scattered(if row % 3 == 0 { row } else { row / 3 }) % 300))
                .collect(),
        ),
        ("smallest-tokens", smallest, phrases(70_000, 32)),
    ]
}

#[test]
fn the_smallest_profile_is_among_the_golden_files_in_each_of_its_forms() {
    for (name, encoding) in [
        ("smallest-planes", "planes + zstd"),
        ("smallest-deltas", "deltas + zstd"),
        ("smallest-runs", "runs + zstd"),
        ("smallest-tokens", "tokens + zstd"),
    ] {
        let column = outcrop_column::Column::open(folder().join(format!("{name}.ocol"))).unwrap();
        let report = column.report().unwrap();
        let names = &report.segments[0].encodings;
        assert!(names.contains_key(encoding), "{name} holds {names:?}");
    }
}

#[test]
fn every_golden_file_of_version_1_is_read_and_is_what_is_written_today() {
    for (name, options, rows) in fixtures() {
        let path = folder().join(format!("{name}.ocol"));
        let written = encode_unpacked(&rows, options);
        if std::env::var_os("OUTCROP_WRITE_FIXTURES").is_some() {
            std::fs::create_dir_all(folder()).unwrap();
            std::fs::write(&path, &written).unwrap();
        }
        let golden = std::fs::read(&path).unwrap();
        check_file(&golden, &rows, 5);
        // zstd's bytes may change with its version; what it becomes may not.
        let uses_zstd = matches!(options.profile, Profile::Smallest) || rows.len() > 1000;
        assert!(
            uses_zstd || golden == written,
            "{name} is written differently now: a new format version, or a mistake?"
        );
    }
}

/// Name, form and rows of each packed fixture.
pub(crate) fn packed_fixtures() -> Vec<(&'static str, PackedForm, Vec<Row>)> {
    let few = |row: u64| word(row * row % 7);
    let scattered_words = |row: u64| word(scattered(row) % 23);
    let and_null = |rows: Vec<Row>| rows.into_iter().chain([None]).collect();
    vec![
        ("packed-empty", PackedForm::Constant, Vec::new()),
        ("packed-nulls", PackedForm::Constant, vec![None; 3]),
        ("packed-constant", PackedForm::Constant, vec![word(1); 300]),
        ("packed-text", PackedForm::Text, (0..60).map(few).collect()),
        (
            "packed-lengths",
            PackedForm::Lengths,
            and_null((0..60).map(few).collect()),
        ),
        (
            "packed-dictionary",
            PackedForm::Dictionary,
            (0..900).map(scattered_words).collect(),
        ),
        (
            "packed-dictionary-lengths",
            PackedForm::DictionaryByLengths,
            and_null((0..900).map(scattered_words).collect()),
        ),
    ]
}

#[test]
fn every_packed_golden_file_is_read_and_has_the_form_that_is_written_today() {
    let smallest = EncodeOptions {
        profile: Profile::Smallest,
        ..Default::default()
    };
    for (name, form, rows) in packed_fixtures() {
        let path = folder().join(format!("{name}.ocol"));
        let written = encode(&rows, smallest);
        if std::env::var_os("OUTCROP_WRITE_FIXTURES").is_some() {
            std::fs::write(&path, &written).unwrap();
        }
        let golden = std::fs::read(&path).unwrap();
        check_file(&golden, &rows, 5);
        for file in [golden, written] {
            let report = outcrop_column::Column::open_in(file).unwrap().report().unwrap();
            assert_eq!(report.packed.map(|packed| packed.form), Some(form), "{name}");
        }
    }
}

#[test]
fn an_appended_golden_file_is_read() {
    let path = folder().join("appended.ocol");
    let (first, second): (Vec<Row>, Vec<Row>) = (
        (0..50).map(word).collect(),
        (40..90).map(|row| word(row % 60)).chain([None]).collect(),
    );
    if std::env::var_os("OUTCROP_WRITE_FIXTURES").is_some() {
        let options = EncodeOptions {
            index: Index::Postings,
            ..Default::default()
        };
        let old = encode(&first, options);
        let mut file = old.clone();
        let mut encoder = Encoder::new(options);
        push_all(&mut encoder, &second);
        encoder.append(&old, &mut file).unwrap();
        std::fs::write(&path, file).unwrap();
    }
    let rows: Vec<Row> = first.into_iter().chain(second).collect();
    check_file(&std::fs::read(path).unwrap(), &rows, 20);
}

/// Files of a column with a name, which the Python reader knows nothing of: it reads them as readers of before do.
const NAMED: [&str; 2] = ["named", "packed-named"];

#[test]
fn golden_files_with_a_name_are_read() {
    let postings = EncodeOptions {
        index: Index::Postings,
        ..Default::default()
    };
    let smallest = EncodeOptions {
        profile: Profile::Smallest,
        ..Default::default()
    };
    for (file_name, options) in NAMED.into_iter().zip([postings, smallest]) {
        let path = folder().join(format!("{file_name}.ocol"));
        if std::env::var_os("OUTCROP_WRITE_FIXTURES").is_some() {
            std::fs::write(&path, named("rock", options)).unwrap();
        }
        let golden = std::fs::read(&path).unwrap();
        let column = outcrop_column::Column::open_in(golden.clone()).unwrap();
        assert_eq!(column.name().unwrap().as_deref(), Some("rock"));
        assert_eq!(
            column.report().unwrap().packed.is_some(),
            file_name.starts_with("packed")
        );
        check_file(&golden, &some_rows(), 5);
    }
}

#[test]
fn the_python_reader_written_from_the_specification_agrees_on_every_fixture() {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    assert_eq!(
        paths.len(),
        fixtures().len() + packed_fixtures().len() + 1 + NAMED.len(),
        "each fixture and nothing else: {paths:?}"
    );
    for path in paths {
        let output = Command::new("python3")
            .arg(repository().join("tests/python/ocol_reader.py"))
            .arg(&path)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}: {}",
            path.display(),
            String::from_utf8_lossy(&output.stderr)
        );
        let column = outcrop_column::Column::open(&path).unwrap();
        let mut expected = String::new();
        if column.has_codes() {
            column
                .for_each_row(|value| {
                    expected += &value.map_or("null".to_owned(), |value| format!("={}", hex(value)));
                    expected.push('\n');
                    Ok(())
                })
                .unwrap();
        }
        if column.has_index() {
            let mut lists = Vec::new();
            for selection in [column.find_range(..), column.find_null()] {
                selection
                    .unwrap()
                    .for_each_value(|value, _| {
                        lists.push(value.map(<[u8]>::to_vec));
                        Ok(())
                    })
                    .unwrap();
            }
            // One line a distinct value of the whole file, nulls last.
            lists.sort_by(|a, b| a.is_none().cmp(&b.is_none()).then_with(|| a.cmp(b)));
            lists.dedup();
            for value in lists {
                let selection = value
                    .as_ref()
                    .map_or_else(|| column.find_null(), |value| column.find(value))
                    .unwrap();
                let rows: Vec<String> = selection.rows().unwrap().iter().map(u64::to_string).collect();
                let name = value
                    .as_ref()
                    .map_or("null".to_owned(), |value| format!("={}", hex(value)));
                expected += &format!("{name}: {}\n", rows.join(" "));
            }
        }
        assert!(
            String::from_utf8_lossy(&output.stdout) == expected,
            "{}: the readers disagree",
            path.display()
        );
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
