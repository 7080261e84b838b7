//! Damaged and made-up column files: `compact -o` makes a good file, or an error and no file, and errors say what to do.

use std::path::Path;

use outcrop_column::{Column, EncodeOptions, Encoder, Index, Profile};

use crate::harness::{names_in, outcrop, workplace};

/// The bytes of a small column: a null, an empty value, a long one, and some that repeat.
fn small_file(index: Index, profile: Profile) -> Vec<u8> {
    let mut encoder = Encoder::new(EncodeOptions {
        index,
        profile,
        threads: 1,
    });
    for row in 0..300_u32 {
        match row {
            13 => encoder.push_null().unwrap(),
            14 => encoder.push(b"").unwrap(),
            15 => encoder.push(&[b'l'; 200]).unwrap(),
            _ => encoder.push(format!("w{}", row * row % 31).as_bytes()).unwrap(),
        }
    }
    let mut file = Vec::new();
    encoder.finish(&mut file).unwrap();
    file
}

/// Compacts these bytes into a new file, as the command does; what came of it.
fn compacted(dir: &Path, bytes: Vec<u8>) -> Result<Vec<Option<Vec<u8>>>, String> {
    let output = dir.join("out.ocol");
    let compact = || {
        let column = Column::open_in(bytes)?;
        let encoder = column.compact(EncodeOptions {
            threads: 1,
            ..Default::default()
        })?;
        encoder.write(&output)
    };
    let result = compact();
    if let Err(error) = result {
        assert_eq!(names_in(dir), Vec::<String>::new(), "{error}: nothing is left");
        return Err(error.to_string());
    }
    let written = Column::open(&output).unwrap();
    assert!(written.verify().unwrap().damage.is_empty());
    let rows = rows(&written);
    drop(written);
    std::fs::remove_file(&output).unwrap();
    Ok(rows)
}

fn rows(column: &Column) -> Vec<Option<Vec<u8>>> {
    let mut rows = Vec::new();
    column
        .for_each_row(|value| {
            rows.push(value.map(<[u8]>::to_vec));
            Ok(())
        })
        .unwrap();
    rows
}

#[test]
fn a_damaged_file_is_compacted_to_its_own_rows_or_not_at_all() {
    let dir = workplace();
    let kinds = [
        (Index::None, Profile::Balanced),
        (Index::Postings, Profile::Smallest),
        (Index::Postings, Profile::Fastest),
    ];
    for (index, profile) in kinds {
        let sound = small_file(index, profile);
        let right = compacted(dir.path(), sound.clone()).unwrap();
        assert_eq!(right.len(), 300);
        let mut refused = 0;
        for at in (0..sound.len()).step_by(5) {
            let mut damaged = sound.clone();
            damaged[at] ^= 1 << (at % 8);
            // Every byte of a file is under some checksum, or says nothing about the rows.
            match compacted(dir.path(), damaged) {
                Ok(rows) => assert!(rows == right, "other rows, byte {at} of {}", sound.len()),
                Err(_) => refused += 1,
            }
        }
        // What compacting does not read, such as postings, may be damaged.
        assert!(refused > 50, "{refused} of {}", sound.len());
        for cut in (0..sound.len()).step_by(23) {
            compacted(dir.path(), sound[..cut].to_vec()).unwrap_err();
        }
    }
}

/// The checksums of footer and header, as the format has them.
fn resealed(mut file: Vec<u8>) -> Vec<u8> {
    let footer = usize::try_from(u64::from_le_bytes(file[40..48].try_into().unwrap())).unwrap();
    let crc = crc32c::crc32c(&file[footer..]);
    file[56..60].copy_from_slice(&crc.to_le_bytes());
    let crc = crc32c::crc32c(&file[..60]);
    file[60..64].copy_from_slice(&crc.to_le_bytes());
    file
}

#[test]
fn verifying_never_sends_anybody_to_verify_and_a_truncated_file_says_what_is_missing() {
    let dir = workplace();
    let dir = dir.path();
    let sound = small_file(Index::Postings, Profile::Fastest);
    let cut = sound.len() / 2;
    std::fs::write(dir.join("cut.ocol"), &sound[..cut]).unwrap();
    let missing = format!(
        "truncated column file: it has {cut} of {} bytes, and the last {} are missing; copy it again in full",
        sound.len(),
        sound.len() - cut
    );
    for args in [["column", "verify", "cut.ocol"], ["column", "info", "cut.ocol"]] {
        let seen = outcrop(dir, &args);
        assert_eq!(seen.code, Some(2), "{seen:?}");
        assert!(seen.stderr.contains(&missing), "{seen:?}");
        assert!(!seen.stderr.contains("all damage"), "{seen:?}");
    }
    // Each byte behind the header: in some part of the file, or in what says where parts are.
    let mut sent = 0;
    for at in (64..sound.len()).step_by(29) {
        let mut damaged = sound.clone();
        damaged[at] ^= 0x10;
        std::fs::write(dir.join("damaged.ocol"), damaged).unwrap();
        let verified = outcrop(dir, &["column", "verify", "damaged.ocol"]);
        let said = format!("{}{}", verified.stdout, verified.stderr);
        assert!(!said.contains("lists all damage"), "{verified:?}");
        let found = outcrop(dir, &["column", "find", "damaged.ocol", "w1"]);
        if found.stderr.contains("`outcrop column verify` lists all damage") {
            sent += 1;
            assert!(
                verified.stdout.contains("; restore the file from a copy"),
                "it lists some: {verified:?}"
            );
        }
    }
    assert!(sent > 0, "a search sends its user to `verify`");
}

#[test]
fn sections_that_lie_over_each_other_by_design_are_refused_or_read_without_harm() {
    let dir = workplace();
    let sound = small_file(Index::Postings, Profile::Fastest);
    assert_eq!(sound[3], b'O', "the ordinary form has sections");
    let footer = usize::try_from(u64::from_le_bytes(sound[40..48].try_into().unwrap())).unwrap();
    let sections = u32::from_le_bytes(sound[footer + 56..footer + 60].try_into().unwrap()) as usize;
    assert!(sections >= 3, "{sections}");
    let field = |section: usize, offset: usize| footer + 64 + 48 * section + offset;
    let mut tried = 0;
    for one in 0..sections {
        for other in (0..sections).filter(|&other| other != one) {
            // Start, length, table's place and table's length of the other: alone, in pairs, and all.
            for which in 1..16_usize {
                let mut file = sound.clone();
                for (bit, offset) in [8, 16, 24, 32].into_iter().enumerate() {
                    if which & (1 << bit) != 0 {
                        let from = field(other, offset);
                        file.copy_within(from..from + 8, field(one, offset));
                    }
                }
                let file = resealed(file);
                tried += 1;
                std::fs::write(dir.path().join("in.ocol"), &file).unwrap();
                let compact = outcrop(dir.path(), &["column", "compact", "in.ocol", "-o", "out.ocol"]);
                assert!(matches!(compact.code, Some(0 | 2 | 3)), "{compact:?}");
                assert!(!compact.stderr.contains("panicked"), "{compact:?}");
                if compact.code == Some(0) {
                    let verified = outcrop(dir.path(), &["column", "verify", "out.ocol"]);
                    assert_eq!(verified.code, Some(0), "{verified:?}");
                    std::fs::remove_file(dir.path().join("out.ocol")).unwrap();
                }
                assert_eq!(names_in(dir.path()), ["in.ocol"]);
                std::fs::remove_file(dir.path().join("in.ocol")).unwrap();
            }
        }
    }
    assert!(tried >= 90, "{tried}");
}
