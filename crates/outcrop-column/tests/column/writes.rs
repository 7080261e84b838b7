//! Writes that fail, and writers side by side: the old file or none, never half a file, and no row lost.

use outcrop_column::storage::{AtomicFile, ExclusiveFile, FailingWriter, WriteAt as _};
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

#[test]
fn appended_columns_keep_their_bytes_and_answer_as_one() {
    let mut first = Vec::new();
    encoder("old").finish(&mut first).unwrap();
    let mut second = Vec::new();
    encoder("new").finish(&mut second).unwrap();
    let other = Column::open_in(second).unwrap();
    let mut file = first.clone();
    let report = other.append_segments(&first, &mut file).unwrap();
    assert_eq!((report.row_count, report.file_bytes), (1000, file.len() as u64));
    let mut twice = file.clone();
    let both = Column::open_in(file).unwrap();
    both.append_segments(&twice.clone(), &mut twice).unwrap();
    let column = Column::open_in(twice).unwrap();
    assert_eq!(column.row_count(), 4000);
    assert!(column.verify().unwrap().damage.is_empty());
    assert_eq!(column.find(b"new3").unwrap().rows().unwrap()[..2], [1003, 1040]);
    // A value of several segments comes once, with the sum of its rows, in the order of all values.
    let mut values = Vec::new();
    column
        .find_range(..)
        .unwrap()
        .for_each_value(|value, count| {
            values.push((value.map(<[u8]>::to_vec), count));
            Ok(())
        })
        .unwrap();
    assert_eq!(values.len(), 2 * 37);
    assert!(values.is_sorted());
    assert_eq!(values.iter().map(|(_, count)| count).sum::<u64>(), 4000);
}

#[test]
fn a_copy_of_segments_that_fails_at_any_call_leaves_the_old_rows() {
    let mut sound = Vec::new();
    encoder("old").finish(&mut sound).unwrap();
    let other = Column::open_in(sound.clone()).unwrap();
    for calls in 0.. {
        let mut file = sound.clone();
        let mut failing = FailingWriter::after(calls, &mut file);
        if other.append_segments(&sound, &mut failing).is_ok() {
            assert!(calls >= 5, "{calls}");
            break;
        }
        if file[..64] == sound[..64] {
            assert_eq!(Column::open_in(file).unwrap().row_count(), 1000);
        }
    }
}

#[test]
fn writers_that_append_at_the_same_time_lose_no_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("column.ocol");
    encoder("first").write(&path).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..6 {
            let path = &path;
            scope.spawn(move || encoder(&format!("w{writer}-")).append_to(path).unwrap());
        }
    });
    let column = Column::open(&path).unwrap();
    assert_eq!(column.row_count(), 7000);
    assert!(column.verify().unwrap().damage.is_empty());
    for writer in 0..6 {
        let prefix = format!("w{writer}-");
        assert_eq!(
            column.find_prefix(prefix.as_bytes()).unwrap().count().unwrap(),
            1000
        );
    }
}

#[test]
fn rows_appended_while_a_file_is_compacted_onto_itself_are_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("column.ocol");
    encoder("first").write(&path).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let path = &path;
            scope.spawn(move || encoder(&format!("w{writer}-")).append_to(path).unwrap());
        }
        for _ in 0..3 {
            let lock = ExclusiveFile::open(&path).unwrap();
            let rows = Column::open(&path)
                .unwrap()
                .compact(EncodeOptions::default())
                .unwrap();
            rows.write(&path).unwrap();
            drop(lock);
        }
    });
    let column = Column::open(&path).unwrap();
    assert_eq!(column.row_count(), 5000);
    assert!(column.verify().unwrap().damage.is_empty());
    for writer in 0..4 {
        let prefix = format!("w{writer}-");
        assert_eq!(
            column.find_prefix(prefix.as_bytes()).unwrap().count().unwrap(),
            1000
        );
    }
}

#[test]
fn what_is_no_regular_file_is_refused_and_stays_what_it_is() {
    use std::os::unix::fs::FileTypeExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("special");
    // Like /dev/null, but ours.
    let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    for target in [&path, &link, &folder.path().to_path_buf()] {
        let refused = AtomicFile::create(target).unwrap_err();
        assert!(refused.to_string().contains("is not a regular file"), "{refused}");
    }
    assert!(std::fs::metadata(&path).unwrap().file_type().is_socket());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn a_link_through_the_kernels_trees_is_refused_and_one_to_a_file_is_itself_replaced() {
    use std::os::fd::AsRawFd as _;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    // What /dev/stdout is where stdout goes to a file, but ours.
    let redirected = std::fs::File::create(at("redirected")).unwrap();
    let descriptor = format!("/proc/self/fd/{}", redirected.as_raw_fd());
    std::os::unix::fs::symlink(&descriptor, at("stdout")).unwrap();
    std::os::unix::fs::symlink("stdout", at("twice")).unwrap();
    std::os::unix::fs::symlink("/dev/outcrop-no-such-file", at("nothing")).unwrap();
    // The kernel lets nobody make a file in these two.
    let hopeless = ["/proc/outcrop-no-such-file", "/sys/outcrop-no-such-file"].map(std::path::PathBuf::from);
    let links = [at("stdout"), at("twice"), at("nothing")];
    for target in links.iter().chain(&hopeless) {
        for refused in [AtomicFile::create(target), AtomicFile::create_new(target)] {
            let said = refused.unwrap_err().to_string();
            assert!(said.contains("where Outcrop never creates files"), "{said}");
        }
    }
    assert!(links.iter().all(|link| link.is_symlink()));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4);

    std::fs::write(at("old"), "old").unwrap();
    std::os::unix::fs::symlink("old", at("latest")).unwrap();
    let mut file = AtomicFile::create(&at("latest")).unwrap();
    file.write_all_at(b"new", 0).unwrap();
    file.commit().unwrap();
    assert!(!at("latest").is_symlink());
    let read = |name: &str| std::fs::read_to_string(at(name)).unwrap();
    assert_eq!((read("old").as_str(), read("latest").as_str()), ("old", "new"));
}

#[test]
fn what_killed_writers_left_is_removed_by_the_next_and_nothing_else_is() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    // Names that people may well give to files of their own, and that differ from a temporary one by little.
    let of_others = [
        ".ocol-backup",
        ".ocol-config",
        ".outcrop-unfinished-",
        ".outcrop-unfinished-a.3xY9Zk2mQp",
        ".outcrop-unfinished-aB3xY9",
        ".outcrop-unfinished-aB3xY9Zk2mQp1",
        "outcrop-unfinished-aB3xY9Zk2mQp",
    ];
    for name in of_others {
        std::fs::write(at(name), "precious").unwrap();
    }
    let folder_of_others = ".outcrop-unfinished-folderfolder";
    std::fs::create_dir(at(folder_of_others)).unwrap();
    std::fs::write(at(".outcrop-unfinished-aB3xY9Zk2mQp"), "left").unwrap();
    let writing = AtomicFile::create(&at("one")).unwrap();
    let held = std::fs::read_dir(folder.path()).unwrap().count();
    let also = AtomicFile::create(&at("two")).unwrap();
    // What somebody is writing stays.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), held + 1);
    writing.commit().unwrap();
    also.commit().unwrap();
    let mut names: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [&of_others[..6], &[folder_of_others, "one", of_others[6], "two"]].concat()
    );
}

#[test]
fn a_missing_folder_is_named_and_the_temporary_file_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let error = AtomicFile::create(&folder.path().join("absent/c.ocol"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("absent does not exist"), "{error}");
    assert!(!error.contains("/.outcrop-"), "{error}");
}
