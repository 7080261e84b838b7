//! dpzip and libzstd read each other's pages of real files: those of the bundled sample, and those beside the repository
//! if there are any.

use std::path::Path;

use outcrop_codec::BlockCodec;
use outcrop_codec::dpzip::{Dpzip, DpzipOptions, PAGE_BYTES, frame_with_magic};

use crate::blocks::compressed;
use crate::dpzip::page_by_libzstd;

/// Of a file, at most as many pages as this: every file has its say, and the test stays quick.
const PAGES_OF_A_FILE: usize = 40;
const LARGEST_OF_THE_SAMPLE: usize = 1 << 20;

/// The content of each file.
fn files() -> Vec<Vec<u8>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let corpora = here.join("../../../shared/data/corpora");
    let folders = [
        here.join("../outcrop-compress/sample"),
        corpora.join("Calgary"),
        corpora.join("Canterbury"),
        corpora.join("Large"),
    ];
    let mut files = Vec::new();
    for entry in folders
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flatten()
    {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        files.push(match path.extension().and_then(|ending| ending.to_str()) {
            Some("zst") => by_libzstd(&bytes, LARGEST_OF_THE_SAMPLE),
            _ => bytes,
        });
    }
    assert!(files.len() >= 11, "the sample is in the repository");
    files
}

/// What libzstd reads in `frame`, `most` bytes at most.
fn by_libzstd(frame: &[u8], most: usize) -> Vec<u8> {
    let mut bytes = vec![0; most];
    let length = zstd_safe::decompress(&mut bytes[..], frame).unwrap();
    bytes.truncate(length);
    bytes
}

#[test]
fn real_pages_are_read_alike_by_libzstd_and_by_us() {
    let shapes = ["256x4", "512x4+longest+lazy", "1024x8+longest"];
    let mut codecs = shapes.map(|shape| Dpzip::new(shape.parse().unwrap()));
    let mut decoder = Dpzip::new(DpzipOptions::default());
    let mut of_libzstd = 0;
    for file in files() {
        let pages = file.chunks(PAGE_BYTES);
        let step = pages.len().div_ceil(PAGES_OF_A_FILE);
        for (index, page) in pages.step_by(step).enumerate() {
            let mut back = vec![0; page.len()];
            for codec in &mut codecs {
                let stored = compressed(codec, page);
                decoder.decompress(&stored, &mut back).unwrap();
                assert!(back == page, "our decoder reads a page of ours differently");
                let theirs = by_libzstd(&frame_with_magic(&stored, page.len()), page.len());
                assert!(theirs == page, "libzstd reads a page of ours differently");
            }
            let frame = page_by_libzstd(page, [1, 3, 9, 19][index % 4]);
            // A block that is not compressed has forms of its own here.
            if frame.len() < page.len() && frame[2] & 6 == 4 {
                back.fill(0);
                decoder.decompress(&frame, &mut back).unwrap();
                assert!(back == page, "our decoder reads a page of libzstd's differently");
                of_libzstd += 1;
            }
        }
    }
    assert!(of_libzstd > 100, "only {of_libzstd} pages of libzstd's were read");
}
