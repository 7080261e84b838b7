//! Files that are no results: one sentence each, and never a panic.

use std::fs::{self, File};
use std::path::Path;

use outcrop_fio::{ImportOptions, import};
use proptest::prelude::*;

use crate::samples::{imported, older};

#[test]
fn each_file_that_is_no_result_is_named_in_one_sentence_and_the_others_are_imported() {
    let folder = tempfile::tempdir().unwrap();
    let whole = older(5_000.0, 4, 0.7);
    let files: [(&str, &[u8], &str); 9] = [
        (
            "cut.json",
            &whole.as_bytes()[..whole.len() / 2],
            "in the middle of a report",
        ),
        ("empty.json", b"", "it is empty"),
        (
            "foreign.json",
            br#"{"name": "a package", "version": 3}"#,
            "it has no \"jobs\"",
        ),
        (
            "github.json",
            br#"{"jobs": [{"id": 4, "steps": []}]}"#,
            "its jobs have no \"read\"",
        ),
        ("jobs.json", br#"{"jobs": 4}"#, "not a result of fio: line 1"),
        ("list.json", b"[1, 2, 3]", "contains no JSON"),
        (
            "none.json",
            br#"{"fio version": "fio-3.33", "jobs": []}"#,
            "it contains no job",
        ),
        ("text.json", b"fio: failed to open\n", "contains no JSON"),
        ("words.json", b"\xff\xfe{\n\xff}", "contains no JSON"),
    ];
    for (name, bytes, _) in files {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    fs::write(
        folder.path().join("whole_qd4.json"),
        format!("fio: a warning\n{whole}"),
    )
    .unwrap();
    fs::write(folder.path().join("notes.txt"), "not looked at").unwrap();
    std::os::unix::fs::symlink("/", folder.path().join("loop")).unwrap();
    let imported = imported(&[folder.path()]);
    assert_eq!((imported.trials.len(), imported.files.len()), (1, 1));
    assert_eq!(imported.left_out.len(), files.len(), "{:#?}", imported.left_out);
    for ((name, _, says), sentence) in files.iter().zip(&imported.left_out) {
        assert!(sentence.contains(name) && sentence.contains(says), "{sentence}");
        assert_eq!(sentence.lines().count(), 1, "{sentence}");
    }
}

#[test]
fn a_folder_without_a_result_says_what_was_expected() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |path: &Path| {
        import(&[path.to_owned()], &ImportOptions::default())
            .unwrap_err()
            .to_string()
    };
    assert!(refused(folder.path()).contains("--output-format=json"));
    let missing = folder.path().join("missing");
    assert!(refused(&missing).contains("cannot read"), "{}", refused(&missing));
    for index in 0..20 {
        fs::write(folder.path().join(format!("{index:02}.json")), "{").unwrap();
    }
    let many = refused(folder.path());
    assert!(
        many.contains("00.json") && many.contains("and 15 more files"),
        "{many}"
    );
}

#[test]
fn a_file_larger_than_any_result_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("huge.json");
    File::create(&path).unwrap().set_len(10 << 30).unwrap();
    let refused = import(&[path], &ImportOptions::default())
        .unwrap_err()
        .to_string();
    assert!(refused.contains("more than 64 MiB"), "{refused}");
}

#[test]
fn a_deeply_nested_file_is_refused_and_not_the_end_of_the_stack() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep.json");
    fs::write(&path, format!("{{\"x\": {}", "[".repeat(1 << 20))).unwrap();
    let refused = import(&[path], &ImportOptions::default())
        .unwrap_err()
        .to_string();
    assert!(refused.contains("deep.json: it "), "{refused}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn a_changed_byte_is_imported_or_named_and_never_a_panic(position in any::<prop::sample::Index>(), byte: u8) {
        let mut bytes = older(5_000.0, 4, 0.7).into_bytes();
        let position = position.index(bytes.len());
        bytes[position] = byte;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("randrw_qd8.json");
        fs::write(&path, bytes).unwrap();
        if let Ok(imported) = import(&[path], &ImportOptions::default()) {
            let run = imported.write_run(folder.path(), "fio", "2026-11-23T01:00:00Z");
            prop_assert!(run.is_ok(), "{:?}", run.map_err(|error| error.to_string()));
        }
    }
}
