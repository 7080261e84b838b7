//! Where data may come from, and what is said of data that cannot be compressed.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use outcrop_compress::{CompressError, Source};
use outcrop_measure::seed::Seed;

static GO_ON: AtomicBool = AtomicBool::new(false);

fn drawn(source: &Source, limit_bytes: u64) -> outcrop_compress::Sample {
    source.draw(limit_bytes, 4096, Seed(7), &GO_ON).unwrap()
}

fn refused(path: &Path) -> String {
    Source::open(path).unwrap_err().to_string()
}

#[test]
fn a_file_is_taken_whole_while_it_fits() {
    let here = tempfile::tempdir().unwrap();
    let path = here.path().join("data");
    let content: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
    std::fs::write(&path, &content).unwrap();
    let source = Source::open(&path).unwrap();
    let sample = drawn(&source, 1 << 20);
    assert_eq!((sample.bytes(), sample.share()), (content.as_slice(), 1.0));
    assert_eq!(sample.pieces()[0].name, "data");
}

#[test]
fn a_directory_is_all_its_files_in_the_order_of_their_names_without_links() {
    let here = tempfile::tempdir().unwrap();
    std::fs::create_dir(here.path().join("b")).unwrap();
    std::fs::write(here.path().join("b/two"), "22").unwrap();
    std::fs::write(here.path().join("a"), vec![b'1'; 5000]).unwrap();
    std::fs::write(here.path().join("empty"), "").unwrap();
    symlink(here.path(), here.path().join("loop")).unwrap();
    let sample = drawn(&Source::open(here.path()).unwrap(), 1 << 20);
    let names: Vec<_> = sample.pieces().iter().map(|piece| piece.name.as_str()).collect();
    assert_eq!(names, ["a", "b/two"]);
    assert_eq!(sample.bytes().len(), 5002);
}

#[test]
fn data_that_cannot_be_compressed_is_said_to_be_so_in_a_sentence() {
    let here = tempfile::tempdir().unwrap();
    let empty = here.path().join("empty");
    std::fs::write(&empty, "").unwrap();
    assert!(
        refused(&empty).contains("is empty: there is nothing to compress"),
        "{}",
        refused(&empty)
    );
    let without = refused(here.path());
    assert!(
        without.contains("no readable file with data") && without.contains("1 empty"),
        "{without}"
    );
    let nothing = here.path().join("nothing");
    std::fs::create_dir(&nothing).unwrap();
    assert!(
        refused(&nothing).contains("no file at all"),
        "{}",
        refused(&nothing)
    );
    let absent = refused(&here.path().join("absent"));
    assert!(
        absent.contains("cannot find") && absent.contains("absent"),
        "{absent}"
    );
    let device = refused(Path::new("/dev/null"));
    assert!(
        device.contains("a character device; expected a file, a directory or a block device"),
        "{device}"
    );
}

#[test]
fn one_byte_is_data_and_a_block_larger_than_it_is_not() {
    let here = tempfile::tempdir().unwrap();
    let path = here.path().join("byte");
    std::fs::write(&path, "x").unwrap();
    let source = Source::open(&path).unwrap();
    assert_eq!(source.draw(1 << 20, 1, Seed(1), &GO_ON).unwrap().bytes(), b"x");
    let error = source.draw(1 << 20, 4096, Seed(1), &GO_ON).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a block of 4 KiB is larger than the data, 1 B; give blocks of at most that"
    );
}

#[test]
fn the_embedded_sample_is_the_snappy_test_set() {
    let source = Source::embedded().unwrap();
    assert_eq!(source.bytes(), Some(Source::embedded_bytes()));
    let sample = drawn(&source, 16 << 20);
    assert_eq!((sample.pieces().len(), sample.bytes().len()), (11, 2_928_371));
    let html = sample.pieces().iter().find(|piece| piece.name == "html").unwrap();
    assert_eq!(html.range.len(), 102_400);
    let text = String::from_utf8_lossy(&sample.bytes()[html.range.clone()]);
    assert!(text.contains("<html"), "the page is a page");
}

#[test]
fn a_stream_is_kept_whole_or_as_a_sample_of_its_clusters() {
    let content: Vec<u8> = (0..1_000_000_u32).flat_map(u32::to_le_bytes).collect();
    let whole = Source::from_reader(&mut content.as_slice(), 8 << 20, Seed(3), &GO_ON).unwrap();
    assert_eq!(drawn(&whole, 8 << 20).bytes(), content);
    let part = Source::from_reader(&mut content.as_slice(), 1 << 20, Seed(3), &GO_ON).unwrap();
    let sample = drawn(&part, 1 << 20);
    assert_eq!((part.bytes(), sample.bytes().len()), (Some(4_000_000), 1 << 20));
    for piece in sample.pieces() {
        let offset: usize = piece.name.strip_prefix("stdin+").unwrap().parse().unwrap();
        assert_eq!(
            sample.bytes()[piece.range.clone()],
            content[offset..][..piece.range.len()]
        );
    }
    let nothing = Source::from_reader(&mut std::io::empty(), 1 << 20, Seed(3), &GO_ON).unwrap_err();
    assert!(matches!(nothing, CompressError::Empty { .. }), "{nothing}");
    let too_large = part.draw(1 << 20, 1 << 18, Seed(3), &GO_ON).unwrap_err();
    assert!(
        too_large.to_string().contains("sampled in pieces of 128 KiB"),
        "{too_large}"
    );
}

/// A read-only loop device over a file, gone when dropped.
struct LoopDevice(PathBuf);

impl LoopDevice {
    fn over(image: &Path) -> Result<Self, String> {
        let output = Command::new("losetup")
            .args(["--read-only", "--find", "--show"])
            .arg(image)
            .output()
            .map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
        }
        Ok(Self(PathBuf::from(
            String::from_utf8_lossy(&output.stdout).trim(),
        )))
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.0).status();
    }
}

#[test]
fn a_block_device_is_sampled_and_never_opened_for_writing() {
    let here = tempfile::tempdir().unwrap();
    let image = here.path().join("image");
    let content: Vec<u8> = (0..500_000_u32)
        .flat_map(u32::to_le_bytes)
        .take(1 << 20)
        .collect();
    std::fs::write(&image, &content).unwrap();
    // Nothing that asks for writing could open it.
    let device = match LoopDevice::over(&image) {
        Ok(device) => device,
        Err(why) => {
            println!("skipped: sampling a block device: {why}");
            return;
        }
    };
    let source = Source::open(&device.0).unwrap();
    assert_eq!(source.bytes(), Some(1 << 20));
    assert_eq!(drawn(&source, 2 << 20).bytes(), content);
    let part = drawn(&source, 256 << 10);
    assert_eq!((part.bytes().len(), part.pieces().len()), (256 << 10, 2));
    assert_eq!(std::fs::read(&image).unwrap(), content);
}

#[test]
fn a_compressed_file_and_a_compressed_stream_are_measured_decompressed_and_it_is_said() {
    let here = tempfile::tempdir().unwrap();
    let content: Vec<u8> = (0..1_000_000_u32).flat_map(u32::to_le_bytes).collect();
    let packed = zstd::encode_all(content.as_slice(), 1).unwrap();
    let path = here.path().join("plays.csv.zst");
    std::fs::write(&path, &packed).unwrap();
    let source = Source::open(&path).unwrap();
    assert_eq!(source.notes(), ["plays.csv.zst: zstd, read decompressed"]);
    assert_eq!(source.bytes(), None);
    let whole = drawn(&source, 8 << 20);
    assert_eq!((whole.bytes(), whole.share()), (content.as_slice(), 1.0));

    // Of more than the limit, clusters that blocks fill without remainder.
    let part = source.draw(1 << 20, 300_000, Seed(7), &GO_ON).unwrap();
    assert_eq!((part.data_bytes(), part.pieces().len()), (4_000_000, 3));
    for piece in part.pieces() {
        assert_eq!(piece.offset % 300_000, 0);
        assert_eq!(
            part.bytes()[piece.range.clone()],
            content[piece.offset as usize..][..piece.range.len()]
        );
    }
    let stdin = Source::from_reader(&mut packed.as_slice(), 8 << 20, Seed(3), &GO_ON).unwrap();
    assert_eq!(drawn(&stdin, 8 << 20).bytes(), content);
    assert_eq!(stdin.notes(), ["stdin: zstd, read decompressed"]);

    std::fs::write(&path, &packed[..packed.len() / 2]).unwrap();
    let error = source
        .draw(8 << 20, 4096, Seed(7), &GO_ON)
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("plays.csv.zst is truncated"), "{error}");
}

#[test]
fn compressed_parts_that_are_not_opened_are_hinted_at() {
    let here = tempfile::tempdir().unwrap();
    let path = here.path().join("orders.parquet");
    std::fs::write(&path, b"PAR1, and then pages").unwrap();
    let note = Source::open(&path).unwrap().notes().join(" ");
    // Whether they are is not read, and so nothing is said of what codecs gain.
    assert!(
        note.ends_with(
            "orders.parquet is a Parquet file, whose pages may be compressed already. These figures are for the file as it is, not for the \
             values in it"
        ),
        "{note}"
    );
    std::fs::write(here.path().join("plain"), "plain").unwrap();
    let note = Source::open(here.path()).unwrap().notes().join(" ");
    assert!(
        note.starts_with("1 of 2 files") && note.contains(": orders.parquet (Parquet);"),
        "{note}"
    );
    for name in ["a.csv.zst", "b.csv.zst", "c.csv.zst"] {
        std::fs::write(
            here.path().join(name),
            zstd::encode_all(&b"slate"[..], 1).unwrap(),
        )
        .unwrap();
    }
    let note = Source::open(here.path()).unwrap().notes().join(" ");
    assert!(
        note.contains(": a.csv.zst (zstd), b.csv.zst (zstd), c.csv.zst (zstd) and 1 more;"),
        "{note}"
    );
}

#[test]
fn data_are_told_apart_by_their_content_and_not_by_their_names() {
    let here = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &[u8]| {
        let path = here.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        Source::open(&path).unwrap().fingerprint(&GO_ON).unwrap()
    };
    let content = vec![7; 300_000];
    let mut other = content.clone();
    other[299_999] = 8;
    let first = write("a/data.bin", &content);
    assert_ne!(
        first,
        write("b/data.bin", &other),
        "one byte of a file of the same name and length"
    );
    assert_eq!(first, write("c/renamed.bin", &content));
    assert_ne!(first, write("d/data.bin", &content[..299_999]));
    let packed = zstd::encode_all(content.as_slice(), 1).unwrap();
    assert_eq!(
        first,
        write("e/data.bin.zst", &packed),
        "a compressed file is the data in it"
    );
    // A stream, also one that was too long to keep, is the file that it came from.
    for limit_bytes in [1 << 20, 128 << 10] {
        let stream = Source::from_reader(&mut content.as_slice(), limit_bytes, Seed(1), &GO_ON).unwrap();
        assert_eq!(stream.fingerprint(&GO_ON).unwrap(), first);
    }
    // Where one file ends and the next begins is part of what they are.
    let folder = |names: [(&str, &[u8]); 2]| {
        let here = tempfile::tempdir().unwrap();
        for (name, content) in names {
            std::fs::write(here.path().join(name), content).unwrap();
        }
        Source::open(here.path()).unwrap().fingerprint(&GO_ON).unwrap()
    };
    assert_ne!(
        folder([("a", b"12"), ("b", b"3")]),
        folder([("a", b"1"), ("b", b"23")])
    );
}

#[test]
fn large_data_are_told_apart_by_pieces_and_take_little_reading() {
    let here = tempfile::tempdir().unwrap();
    let path = here.path().join("image");
    // Sparse: the file has 1 GiB and takes none.
    let file = std::fs::File::create(&path).unwrap();
    file.set_len(1 << 30).unwrap();
    let empty = Source::open(&path).unwrap().fingerprint(&GO_ON).unwrap();
    assert!(empty.starts_with("pieces-"), "{empty}");
    use std::os::unix::fs::FileExt as _;
    file.write_all_at(&[1; 4096], 512 << 20).unwrap();
    assert_ne!(empty, Source::open(&path).unwrap().fingerprint(&GO_ON).unwrap());
}
