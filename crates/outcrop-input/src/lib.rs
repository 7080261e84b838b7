//! Data as users have them: compressed files are recognised by their first bytes and read as a stream.
//!
//! [`Input`] wraps any reader. What begins as a gzip, zstd, xz, bzip2 or LZ4 frame comes out decompressed; everything else
//! comes out as it is. Memory is bounded whatever the data claim: decoders get a limit on their windows, nothing is collected
//! unless a caller asks for it with a limit ([`Input::read_all`]), and data that are damaged or end too early are an
//! error that names the place. [`Container`] names formats that hold compressed parts and are not opened here.
//!
//! It opens no file, knows no layer, and never goes by a file's name.
//!
//! ```
//! use std::io::Read;
//! use outcrop_input::{Compression, Input};
//!
//! let packed = zstd::encode_all(&b"plays"[..], 3)?;
//! let mut input = Input::open("plays.csv.zst", packed.as_slice())?;
//! assert_eq!(input.compression(), Some(Compression::Zstd));
//! let mut text = String::new();
//! input.read_to_string(&mut text)?;
//! assert_eq!(text, "plays");
//! # Ok::<(), std::io::Error>(())
//! ```

mod container;
mod decoder;
mod error;
mod format;
mod input;

pub use container::Container;
pub use error::InputError;
pub use format::{Compression, HEAD_BYTES};
pub use input::{Input, tells_of_no_memory};
