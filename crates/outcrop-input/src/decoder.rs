//! One decoder per format over a reader that counts, each with a bound on its memory.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use liblzma::bufread::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};
use lz4_flex::frame::FrameDecoder;

use crate::format::Compression;

/// Largest window of zstd, as its own tool takes by default: 128 MiB.
const ZSTD_WINDOW_LOG: u32 = 27;
/// Memory that xz may take: its highest preset needs 65 MiB.
const XZ_MEMORY_BYTES: u64 = 128 << 20;

/// A buffered reader that counts what was taken from it.
pub(crate) struct Counted<R> {
    reader: BufReader<R>,
    /// Bytes that were taken.
    pub(crate) taken: u64,
    /// Whether somebody wanted more than there was.
    has_ended: bool,
}

impl<R: Read> Counted<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self {
            reader: BufReader::with_capacity(64 << 10, reader),
            taken: 0,
            has_ended: false,
        }
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(target)?;
        self.taken += read as u64;
        self.has_ended |= read == 0 && !target.is_empty();
        Ok(read)
    }
}

impl<R: Read> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.taken += amount as u64;
        self.reader.consume(amount);
    }
}

/// A stream of decompressed bytes, or of the bytes as they are.
pub(crate) enum Decoder<R: Read> {
    Plain(Counted<R>),
    Gzip(Box<MultiGzDecoder<Counted<R>>>),
    Zstd(Box<zstd::Decoder<'static, Counted<R>>>),
    Xz(Box<XzDecoder<Counted<R>>>),
    Bzip2(Box<MultiBzDecoder<Counted<R>>>),
    Lz4(Box<Lz4Frames<R>>),
}

impl<R: Read> Decoder<R> {
    pub(crate) fn new(reader: R, compression: Option<Compression>) -> io::Result<Self> {
        let reader = Counted::new(reader);
        Ok(match compression {
            None => Self::Plain(reader),
            Some(Compression::Gzip) => Self::Gzip(Box::new(MultiGzDecoder::new(reader))),
            Some(Compression::Zstd) => {
                let mut decoder = zstd::Decoder::with_buffer(reader)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG)?;
                Self::Zstd(Box::new(decoder))
            }
            Some(Compression::Xz) => {
                let stream = Stream::new_stream_decoder(XZ_MEMORY_BYTES, CONCATENATED)?;
                Self::Xz(Box::new(XzDecoder::new_stream(reader, stream)))
            }
            Some(Compression::Bzip2) => Self::Bzip2(Box::new(MultiBzDecoder::new(reader))),
            Some(Compression::Lz4) => Self::Lz4(Box::new(Lz4Frames {
                decoder: FrameDecoder::new(reader),
                is_over: false,
            })),
        })
    }

    /// Bytes of the file that were read so far.
    pub(crate) fn offset(&self) -> u64 {
        match self {
            Self::Plain(reader) => reader.taken,
            Self::Gzip(decoder) => decoder.get_ref().taken,
            Self::Zstd(decoder) => decoder.get_ref().taken,
            Self::Xz(decoder) => decoder.get_ref().taken,
            Self::Bzip2(decoder) => decoder.get_ref().taken,
            Self::Lz4(frames) => frames.decoder.get_ref().taken,
        }
    }
}

impl<R: Read> Read for Decoder<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(reader) => reader.read(target),
            Self::Gzip(decoder) => decoder.read(target),
            Self::Zstd(decoder) => decoder.read(target),
            Self::Xz(decoder) => decoder.read(target),
            Self::Bzip2(decoder) => decoder.read(target),
            Self::Lz4(frames) => frames.read(target),
        }
    }
}

/// Frame after frame. The library takes the end of the data between two blocks for the end of the frame; a frame that ends
/// properly never asks for a byte that is not there.
pub(crate) struct Lz4Frames<R: Read> {
    decoder: FrameDecoder<Counted<R>>,
    /// The last frame has ended properly, and nothing follows it. A caller may ask again; the library would then look for
    /// the first byte of another frame.
    is_over: bool,
}

impl<R: Read> Lz4Frames<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.is_over || target.is_empty() {
                return Ok(0);
            }
            let read = self.decoder.read(target)?;
            if read > 0 {
                return Ok(read);
            }
            let reader = self.decoder.get_mut();
            if reader.has_ended {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            self.is_over = reader.fill_buf()?.is_empty();
        }
    }
}
