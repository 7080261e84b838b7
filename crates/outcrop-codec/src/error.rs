//! What can go wrong with a codec: a spelling that names none, or bytes that none of them wrote.

/// A codec that does not exist, or a block that it cannot compress or decompress.
///
/// One word: what a codec answers for a block comes back in registers, at a cost that a copy of 4 KiB would show.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct CodecError(Box<CodecErrorKind>);

/// The kinds of [`CodecError`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodecErrorKind {
    /// No codec has this name.
    #[error("there is no codec `{seen}`; the codecs are {known}")]
    UnknownCodec {
        /// The name as given.
        seen: String,
        /// Every codec of this build, with what each accepts.
        known: String,
    },
    /// The codec exists, but not with this level or shape.
    #[error("codec `{codec}` has no setting `{seen}`; write {accepted}")]
    Setting {
        /// The codec's name.
        codec: &'static str,
        /// What stood behind the colon.
        seen: String,
        /// What may stand there, as a clause.
        accepted: &'static str,
    },
    /// The library is the system's, and not there.
    #[error("{codec} cannot be used on this machine: {why}")]
    Absent {
        /// The codec's name.
        codec: &'static str,
        /// What the linker says, and the package to install.
        why: String,
    },
    /// The target buffer cannot hold the result.
    #[error("{codec} needs up to {needed} B for this block, and the target has {available} B")]
    TargetTooSmall {
        /// The codec's name.
        codec: &'static str,
        /// Bytes that are always enough.
        needed: usize,
        /// Bytes that there were.
        available: usize,
    },
    /// A block larger than the library can address.
    #[error("{codec} takes blocks of at most {limit} B, and this one has {seen} B")]
    BlockTooLarge {
        /// The codec's name.
        codec: &'static str,
        /// Largest block.
        limit: usize,
        /// This block.
        seen: usize,
    },
    /// The compressed bytes are damaged, incomplete or not this codec's.
    #[error("{codec} cannot decompress this block of {compressed_bytes} B: {why}")]
    Corrupt {
        /// The codec's name.
        codec: &'static str,
        /// Length of the compressed block.
        compressed_bytes: usize,
        /// What the library says, or what was seen and expected.
        why: String,
    },
    /// The library refused to compress, which no input should bring about.
    #[error("{codec} cannot compress this block of {source_bytes} B: {why}")]
    Refused {
        /// The codec's name.
        codec: &'static str,
        /// Length of the block.
        source_bytes: usize,
        /// What the library says.
        why: String,
    },
    /// The library could not make its context.
    #[error("{codec} cannot allocate its context; lower the level or the number of threads")]
    OutOfMemory {
        /// The codec's name.
        codec: &'static str,
    },
}

impl CodecError {
    /// What went wrong.
    pub fn kind(&self) -> &CodecErrorKind {
        &self.0
    }

    pub(crate) fn setting(codec: &'static str, seen: impl Into<String>, accepted: &'static str) -> Self {
        Self::from(CodecErrorKind::Setting {
            codec,
            seen: seen.into(),
            accepted,
        })
    }

    #[cfg(feature = "system")]
    pub(crate) fn absent(codec: &'static str, why: String) -> Self {
        Self::from(CodecErrorKind::Absent { codec, why })
    }

    pub(crate) fn target_too_small(codec: &'static str, needed: usize, target: &[u8]) -> Self {
        Self::from(CodecErrorKind::TargetTooSmall {
            codec,
            needed,
            available: target.len(),
        })
    }

    #[cfg(any(feature = "dpzip", feature = "lz4", feature = "system", feature = "zstd"))]
    pub(crate) fn block_too_large(codec: &'static str, limit: usize, block: &[u8]) -> Self {
        Self::from(CodecErrorKind::BlockTooLarge {
            codec,
            limit,
            seen: block.len(),
        })
    }

    #[cfg(any(feature = "brotli", feature = "system", feature = "zlib", feature = "zstd"))]
    pub(crate) fn out_of_memory(codec: &'static str) -> Self {
        Self::from(CodecErrorKind::OutOfMemory { codec })
    }

    pub(crate) fn corrupt(codec: &'static str, compressed: &[u8], why: impl Into<String>) -> Self {
        Self::from(CodecErrorKind::Corrupt {
            codec,
            compressed_bytes: compressed.len(),
            why: why.into(),
        })
    }

    #[allow(dead_code, reason = "a build with `none` alone has no library that refuses")]
    pub(crate) fn refused(codec: &'static str, source: &[u8], why: impl Into<String>) -> Self {
        Self::from(CodecErrorKind::Refused {
            codec,
            source_bytes: source.len(),
            why: why.into(),
        })
    }
}

impl From<CodecErrorKind> for CodecError {
    #[cold]
    fn from(kind: CodecErrorKind) -> Self {
        Self(Box::new(kind))
    }
}
