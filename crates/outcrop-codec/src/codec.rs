//! The one trait that every block compressor stands behind, and the choice between a kept and a fresh context.

use crate::{CodecError, CodecSpec};

/// Compresses and decompresses independent blocks between the caller's buffers.
///
/// An implementation owns its library's contexts and keeps them from block to block; the blocks know
/// nothing of each other. One thread uses it at a time.
pub trait BlockCodec: Send {
    /// Bytes that the compressed form of any block of `source_bytes` fits in.
    fn compressed_bound(&self, source_bytes: usize) -> usize;

    /// Compresses `source` to the front of `target`; answers the compressed length.
    ///
    /// # Errors
    /// When `target` is smaller than [`BlockCodec::compressed_bound`] and too small for the result.
    fn compress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError>;

    /// Decompresses `source` to `target`, which has exactly the block's uncompressed length; answers that length.
    ///
    /// # Errors
    /// When `source` is not a block of this length that this codec wrote. Memory stays bounded by the
    /// context and `target`, whatever `source` claims. What `target` holds then is undefined.
    fn decompress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError>;

    /// The same, with input and output through buffers of a page where the library streams: how a kernel does it, whose pages are
    /// not next to each other. A codec without streams decompresses in one go.
    ///
    /// # Errors
    /// As [`BlockCodec::decompress`].
    fn decompress_in_pages(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        self.decompress(source, target)
    }

    /// Memory of the contexts as the library states it, after use; `None` when it does not say.
    fn context_bytes(&self) -> Option<usize>;
}

/// Whether contexts live from block to block, or are made anew for each, as some filesystems do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ContextUse {
    /// One context for all blocks.
    #[default]
    Reused,
    /// A context per block and direction, its making and dropping included in each call.
    Fresh,
    /// As fresh, and decompressed page by page: [`BlockCodec::decompress_in_pages`].
    InPages,
}

/// A codec opened with a [`ContextUse`]; itself a [`BlockCodec`].
pub struct Coder {
    spec: CodecSpec,
    context_use: ContextUse,
    kept: Box<dyn BlockCodec>,
    /// Memory of the last context that was made for one block.
    fresh_bytes: Option<usize>,
}

impl Coder {
    /// Opens `spec`.
    ///
    /// # Errors
    /// As [`CodecSpec::open`].
    pub fn open(spec: &CodecSpec, context_use: ContextUse) -> Result<Self, CodecError> {
        Ok(Self {
            spec: *spec,
            context_use,
            kept: spec.open()?,
            fresh_bytes: None,
        })
    }

    /// Runs `work` with a new context.
    fn with_fresh<T>(
        &mut self,
        work: impl FnOnce(&mut dyn BlockCodec) -> Result<T, CodecError>,
    ) -> Result<T, CodecError> {
        let mut fresh = self.spec.open()?;
        let done = work(fresh.as_mut());
        self.fresh_bytes = fresh.context_bytes();
        done
    }
}

impl BlockCodec for Coder {
    fn compressed_bound(&self, source_bytes: usize) -> usize {
        self.kept.compressed_bound(source_bytes)
    }

    fn compress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        match self.context_use {
            ContextUse::Reused => self.kept.compress(source, target),
            ContextUse::Fresh | ContextUse::InPages => {
                self.with_fresh(|codec| codec.compress(source, target))
            }
        }
    }

    fn decompress(&mut self, source: &[u8], target: &mut [u8]) -> Result<usize, CodecError> {
        match self.context_use {
            ContextUse::Reused => self.kept.decompress(source, target),
            ContextUse::Fresh => self.with_fresh(|codec| codec.decompress(source, target)),
            ContextUse::InPages => self.with_fresh(|codec| codec.decompress_in_pages(source, target)),
        }
    }

    fn context_bytes(&self) -> Option<usize> {
        match self.context_use {
            ContextUse::Reused => self.kept.context_bytes(),
            ContextUse::Fresh | ContextUse::InPages => self.fresh_bytes,
        }
    }
}
