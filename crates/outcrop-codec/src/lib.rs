//! Block compressors behind one trait: zstd, deflate by three libraries, LZ4, Snappy, Brotli, a copy, and
//! [`dpzip`], a hardware page codec in our own software. Four of them also by the system's own libraries, opened at run time (`zstd@system`).
//!
//! A [`CodecSpec`] is a codec at one setting in one spelling (`zstd:3`, `lz4`, `deflate-libdeflate:1`,
//! `dpzip:512x4+longest+lazy`); it opens to a [`BlockCodec`], which works between the caller's buffers.
//! [`stages`] takes zstd apart into match finding, literal and sequence coding.
//!
//! It is not a profiler: no file, clock, thread or sampling here (that is `outcrop-compress`), and no stream
//! format. Blocks are independent, and the caller remembers how long each was.
//!
//! ```
//! use outcrop_codec::{BlockCodec, CodecSpec, Coder, ContextUse};
//!
//! let spec: CodecSpec = "zstd:1".parse()?;
//! let mut coder = Coder::open(&spec, ContextUse::Reused)?;
//! let block = [7u8; 4096];
//! let mut compressed = vec![0; coder.compressed_bound(block.len())];
//! let length = coder.compress(&block, &mut compressed)?;
//! let mut back = [0; 4096];
//! coder.decompress(&compressed[..length], &mut back)?;
//! assert_eq!(back, block);
//! # Ok::<(), outcrop_codec::CodecError>(())
//! ```

mod codec;
mod codecs;
#[cfg(feature = "dpzip")]
pub mod dpzip;
#[cfg(feature = "dpzip")]
mod entropy;
mod error;
mod registry;
#[cfg(feature = "zstd")]
pub mod stages;

pub use codec::{BlockCodec, Coder, ContextUse};
pub use error::{CodecError, CodecErrorKind};
pub use registry::{CodecFamily, CodecLibrary, CodecSpec, Setting, Settings, families};
