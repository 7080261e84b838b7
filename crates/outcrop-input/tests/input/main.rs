//! Compressed data of every format: read, refused where they are damaged, and never more memory than allowed.

#![expect(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use std::io::{self, ErrorKind, Read, Write};

use outcrop_input::{Compression, Container, Input, InputError};

/// A few kilobytes that compress, and do not repeat as a whole.
fn text() -> Vec<u8> {
    (0..2000_u32)
        .flat_map(|line| format!("{line},track {},{}\n", line * line % 97, line % 7).into_bytes())
        .collect()
}

/// One frame, with a checksum of its content where the format can have one.
fn packed(compression: Compression, content: &[u8]) -> Vec<u8> {
    match compression {
        Compression::Gzip => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(content).unwrap();
            encoder.finish().unwrap()
        }
        Compression::Zstd => {
            let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
            encoder.include_checksum(true).unwrap();
            encoder.write_all(content).unwrap();
            encoder.finish().unwrap()
        }
        Compression::Xz => {
            let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 6);
            encoder.write_all(content).unwrap();
            encoder.finish().unwrap()
        }
        Compression::Bzip2 => {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
            encoder.write_all(content).unwrap();
            encoder.finish().unwrap()
        }
        Compression::Lz4 => {
            let info = lz4_flex::frame::FrameInfo::new()
                .block_size(lz4_flex::frame::BlockSize::Max64KB)
                .content_checksum(true);
            let mut encoder = lz4_flex::frame::FrameEncoder::with_frame_info(info, Vec::new());
            encoder.write_all(content).unwrap();
            encoder.finish().unwrap()
        }
    }
}

fn unpacked(data: &[u8]) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    Input::open("plays", data)?.read_to_end(&mut content)?;
    Ok(content)
}

#[test]
fn every_format_is_recognised_by_its_first_bytes_and_read_frame_after_frame() {
    let text = text();
    for compression in Compression::ALL {
        let mut data = packed(compression, &text);
        let input = Input::open("plays", data.as_slice()).unwrap();
        assert_eq!(input.compression(), Some(compression));
        assert!(unpacked(&data).unwrap() == text, "{compression}");
        data.extend(packed(compression, b"and more"));
        assert!(unpacked(&data).unwrap().ends_with(b"and more"), "{compression}");
        assert!(
            unpacked(&packed(compression, b"")).unwrap().is_empty(),
            "{compression}"
        );
    }
}

#[test]
fn who_reads_on_after_the_end_is_told_of_the_end_again() {
    for compression in Compression::ALL {
        let data = packed(compression, &text());
        let mut input = Input::open("plays", data.as_slice()).unwrap();
        input.read_to_end(&mut Vec::new()).unwrap();
        for _ in 0..2 {
            assert_eq!(input.read(&mut [0; 16]).unwrap(), 0, "{compression}");
        }
    }
}

#[test]
fn what_is_not_compressed_comes_out_as_it_is() {
    for plain in [
        &b""[..],
        b"B",
        b"BZh9 is a word",
        b"\x1f\x8bx",
        b"id,name\n1,a\n",
        b"PAR1....",
    ] {
        let input = Input::open("plain", plain).unwrap();
        assert_eq!(input.compression(), None);
        assert_eq!(unpacked(plain).unwrap(), plain);
    }
}

#[test]
fn data_cut_anywhere_are_called_truncated() {
    // Several blocks, so that a cut between two of them is among the cuts.
    let text: Vec<u8> = text().into_iter().cycle().take(200_000).collect();
    for compression in Compression::ALL {
        let data = packed(compression, &text);
        for cut in (11..data.len())
            .step_by(1 + data.len() / 300)
            .chain(data.len() - 12..data.len())
        {
            let error = unpacked(&data[..cut]).expect_err("a frame without its end");
            assert_eq!(
                error.kind(),
                ErrorKind::UnexpectedEof,
                "{compression} at {cut}: {error}"
            );
            let message = error.to_string();
            assert!(
                message.contains("plays is truncated") && message.contains("at byte"),
                "{message}"
            );
        }
    }
    // The blocks of an LZ4 frame end where the next one's length is missing.
    let data = packed(Compression::Lz4, &text);
    let mut block_ends = vec![7];
    while let Some(length) = data
        .get(*block_ends.last().unwrap()..)
        .and_then(|rest| rest.first_chunk::<4>())
    {
        let length = u32::from_le_bytes(*length) & 0x7fff_ffff;
        if length == 0 {
            break;
        }
        block_ends.push(block_ends.last().unwrap() + 4 + length as usize);
    }
    assert!(block_ends.len() > 2, "one block only");
    for end in block_ends {
        assert_eq!(
            unpacked(&data[..end]).unwrap_err().kind(),
            ErrorKind::UnexpectedEof
        );
    }
}

#[test]
fn a_flipped_bit_is_an_error_or_changes_nothing() {
    let text = text();
    for compression in Compression::ALL {
        let whole = packed(compression, &text);
        let mut refused = 0;
        for place in (0..whole.len()).step_by(1 + whole.len() / 400) {
            let mut data = whole.clone();
            data[place] ^= 0x10;
            if Compression::of(&data) != Some(compression) {
                continue;
            }
            match unpacked(&data) {
                Ok(content) => assert!(content == text, "{compression}: byte {place} changed the content"),
                Err(error) => {
                    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
                    assert!(
                        matches!(
                            inner,
                            Some(InputError::Damaged { .. } | InputError::Truncated { .. })
                        ),
                        "{error}"
                    );
                    refused += 1;
                }
            }
        }
        assert!(refused > 100, "{compression}: {refused}");
    }
}

#[test]
fn a_bomb_is_read_as_a_stream_and_refused_where_all_of_it_must_be_held() {
    let zeros = vec![0; 4 << 20];
    for compression in Compression::ALL {
        let data = packed(compression, &zeros);
        assert!(data.len() < zeros.len() / 100, "{compression}");
        let mut input = Input::open("bomb", data.as_slice()).unwrap();
        let error = input.read_all(1 << 20).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        assert!(error.to_string().contains("bomb is larger than 1 MiB"), "{error}");
    }
    let exact = packed(Compression::Zstd, b"12345678");
    assert_eq!(
        Input::open("exact", exact.as_slice())
            .unwrap()
            .read_all(8)
            .unwrap(),
        b"12345678"
    );
}

#[test]
fn a_window_larger_than_128_mib_is_refused_before_it_is_allocated() {
    // A frame of zstd whose window descriptor says 1 GiB, and one raw block.
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0, 20 << 3, 0x09, 0, 0, b'x'];
    // A block of xz whose dictionary is said to be 1 GiB, after the 12 bytes of the stream's header.
    let mut block = packed(Compression::Xz, b"x");
    let length = (usize::from(block[12]) + 1) * 4;
    let (header, checksum) = block[12..12 + length].split_at_mut(length - 4);
    assert_eq!(
        header[2..4],
        [0x21, 1],
        "the filter LZMA2, which has one byte of properties"
    );
    header[4] = 36;
    let mut crc = flate2::Crc::new();
    crc.update(header);
    checksum.copy_from_slice(&crc.sum().to_le_bytes());
    for (data, compression, tool) in [
        (&frame[..], Compression::Zstd, "`zstd -dk --long=31 FILE`"),
        (&block, Compression::Xz, "`xz -dk FILE`"),
    ] {
        let error = unpacked(data).unwrap_err();
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
        assert!(
            matches!(inner, Some(InputError::LongWindow { compression: of, .. }) if *of == compression),
            "{error:?}"
        );
        assert!(error.to_string().ends_with(tool), "{error}");
    }
}

#[test]
fn containers_of_compressed_parts_are_named() {
    let name = |head: &[u8]| Container::of(head).map(|container| container.name);
    assert_eq!(name(b"PAR1\x15\x04"), Some("Parquet"));
    assert_eq!(name(b"\xff\xd8\xff\xe0\0\x10JFIF"), Some("JPEG"));
    assert_eq!(name(b"\0\0\0\x20ftypisom"), Some("MP4"));
    assert_eq!(name(b"id,name\n"), None);
    assert_eq!(name(b""), None);
}
