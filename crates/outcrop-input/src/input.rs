//! Data as a stream of plain bytes, whatever they are compressed by.

use std::io::{self, Chain, Cursor, ErrorKind, Read};

use crate::container::Container;
use crate::decoder::Decoder;
use crate::error::InputError;
use crate::format::{Compression, HEAD_BYTES};

/// The first bytes, which were examined, and the rest.
type Whole<R> = Chain<Cursor<Vec<u8>>, R>;

/// A reader that decompresses what is compressed.
pub struct Input<R: Read> {
    name: String,
    compression: Option<Compression>,
    container: Option<Container>,
    decoder: Decoder<Whole<R>>,
    decompressed_bytes: u64,
}

impl<R: Read> Input<R> {
    /// Looks at the first bytes. `name` is what errors call the data.
    ///
    /// # Errors
    /// When the reader fails, or a decoder cannot be made.
    pub fn open(name: impl Into<String>, mut reader: R) -> io::Result<Self> {
        let mut head = Vec::with_capacity(HEAD_BYTES);
        reader.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head)?;
        let (compression, container) = (Compression::of(&head), Container::of(&head));
        Ok(Self {
            name: name.into(),
            compression,
            container,
            decoder: Decoder::new(Cursor::new(head).chain(reader), compression)?,
            decompressed_bytes: 0,
        })
    }

    /// What the data are compressed by; `None` where they are read as they are.
    pub const fn compression(&self) -> Option<Compression> {
        self.compression
    }

    /// The container that the data are, which is read as it is.
    pub const fn container(&self) -> Option<Container> {
        self.container
    }

    /// All that is left, decompressed.
    ///
    /// # Errors
    /// As reading; [`InputError::TooLarge`] where it is more than `limit_bytes`, without holding more than those.
    pub fn read_all(&mut self, limit_bytes: u64) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        self.by_ref().take(limit_bytes).read_to_end(&mut all)?;
        if all.len() as u64 == limit_bytes && self.read(&mut [0])? > 0 {
            let name = self.name.clone();
            return Err(io::Error::new(
                ErrorKind::FileTooLarge,
                InputError::TooLarge { name, limit_bytes },
            ));
        }
        Ok(all)
    }

    fn explained(&self, error: io::Error) -> io::Error {
        let Some(compression) = self.compression else {
            return error;
        };
        // The system's own errors are not the data's.
        if error.raw_os_error().is_some() || error.kind() == ErrorKind::Interrupted {
            return error;
        }
        let (name, offset) = (self.name.clone(), self.decoder.offset());
        let decompressed_bytes = self.decompressed_bytes;
        let (kind, error) = match error.kind() {
            _ if tells_of_a_long_window(&error.to_string()) => (
                ErrorKind::FileTooLarge,
                InputError::LongWindow { name, compression },
            ),
            _ if tells_of_no_memory(&error.to_string()) => {
                (ErrorKind::OutOfMemory, InputError::NoMemory { name, compression })
            }
            ErrorKind::UnexpectedEof => (
                ErrorKind::UnexpectedEof,
                InputError::Truncated {
                    name,
                    compression,
                    offset,
                    decompressed_bytes,
                },
            ),
            _ => (
                ErrorKind::InvalidData,
                InputError::Damaged {
                    name,
                    compression,
                    offset,
                    decompressed_bytes,
                    reason: error.to_string(),
                },
            ),
        };
        io::Error::new(kind, error)
    }
}

impl<R: Read> Read for Input<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let read = self.decoder.read(target).map_err(|error| self.explained(error))?;
        self.decompressed_bytes += read as u64;
        Ok(read)
    }
}

/// Whether these are the last words of zstd or liblzma, or of who passes them on as text, where they got no memory. Neither has a kind of error
/// for that.
pub fn tells_of_no_memory(words: &str) -> bool {
    words.ends_with("Allocation error : not enough memory") || words == "can't allocate memory"
}

/// The same of a window beyond the limit that the decoder was given.
fn tells_of_a_long_window(words: &str) -> bool {
    words.ends_with("Frame requires too much memory for decoding") || words == "memory limit reached"
}
