//! Writes that fail: the old file or none, never half a file.

use outcrop_column::storage::{AtomicFile, FailingWriter};
use outcrop_column::{Column, EncodeOptions, Encoder, Index};

fn encoder(prefix: &str) -> Encoder {
    let mut encoder = Encoder::new(EncodeOptions {
        index: Index::Postings,
        ..Default::default()
    });
    for row in 0..1000 {
        encoder.push(format!("{prefix}{}", row % 37).as_bytes()).unwrap();
    }
    encoder
}

#[test]
fn an_encode_that_fails_at_any_call_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("column.ocol");
    encoder("old").write(&path).unwrap();
    let old = std::fs::read(&path).unwrap();
    let mut calls = 0;
    loop {
        let mut file = AtomicFile::create(&path).unwrap();
        let mut failing = FailingWriter::after(calls, &mut file);
        if encoder("new").finish(&mut failing).is_ok() {
            file.commit().unwrap();
            break;
        }
        drop(file);
        assert!(std::fs::read(&path).unwrap() == old);
        assert_eq!(
            std::fs::read_dir(folder.path()).unwrap().count(),
            1,
            "no temporary file stays behind"
        );
        calls += 1;
    }
    assert!(
        calls >= 5,
        "sections, footer, header and syncs were each made to fail: {calls}"
    );
    assert_eq!(
        Column::open(&path)
            .unwrap()
            .find(b"new3")
            .unwrap()
            .count()
            .unwrap(),
        28 - 1
    );
}

#[test]
fn an_append_that_fails_at_any_call_leaves_the_old_rows() {
    let mut sound = Vec::new();
    encoder("old").finish(&mut sound).unwrap();
    let mut calls = 0;
    loop {
        let mut file = sound.clone();
        let mut failing = FailingWriter::after(calls, &mut file);
        let appended = encoder("new").append(&sound, &mut failing);
        let calls_made = failing.calls_made();
        if appended.is_ok() {
            let column = Column::open_in(file).unwrap();
            assert_eq!(column.row_count(), 2000);
            break;
        }
        // A torn header is the one thing that a failing call may leave: a sector is written whole by a disk.
        let is_header_write = calls_made == calls + 1 && file[..64] != sound[..64];
        if !is_header_write {
            let column = Column::open_in(file).unwrap();
            assert_eq!(column.row_count(), 1000);
            assert!(column.verify().unwrap().damage.is_empty());
            assert_eq!(column.find_prefix(b"old").unwrap().count().unwrap(), 1000);
        }
        calls += 1;
    }
    assert!(calls >= 5, "{calls}");
}

#[test]
fn a_missing_folder_is_named_in_the_error() {
    let error = encoder("x")
        .write(std::path::Path::new("/nonexistent/folder/column.ocol"))
        .unwrap_err();
    assert!(error.to_string().contains("/nonexistent/folder"), "{error}");
}
