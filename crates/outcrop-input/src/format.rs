//! Formats of compressed files, by their first bytes.

use std::fmt;

/// As many first bytes tell every format.
pub const HEAD_BYTES: usize = 16;

/// A format that [`crate::Input`] decompresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// RFC 1952; several members are one stream.
    Gzip,
    /// RFC 8878; several frames are one stream, skippable frames are skipped.
    Zstd,
    /// The .xz format; several streams are one.
    Xz,
    /// bzip2; several streams are one.
    Bzip2,
    /// LZ4 frames, not bare blocks; several frames are one stream.
    Lz4,
}

impl Compression {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Gzip, Self::Zstd, Self::Xz, Self::Bzip2, Self::Lz4];

    /// The format that data with these first bytes are in; `None` where they are in none of these.
    pub fn of(head: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.begins(head))
    }

    /// As people call it: `zstd`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Xz => "xz",
            Self::Bzip2 => "bzip2",
            Self::Lz4 => "LZ4",
        }
    }

    fn begins(self, head: &[u8]) -> bool {
        match self {
            // The third byte is the method, deflate: the only one there is.
            Self::Gzip => head.starts_with(&[0x1f, 0x8b, 8]),
            // A frame, or a skippable frame as pzstd writes first.
            Self::Zstd => {
                head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
                    || matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
            }
            Self::Xz => head.starts_with(&[0xfd, b'7', b'z', b'X', b'Z', 0]),
            // The magic of a block (π) or of the end (√π) tells the format from a text that begins with BZh.
            Self::Bzip2 => match head {
                [b'B', b'Z', b'h', b'1'..=b'9', block @ ..] => {
                    block.starts_with(&[0x31, 0x41, 0x59, 0x26, 0x53, 0x59])
                        || block.starts_with(&[0x17, 0x72, 0x45, 0x38, 0x50, 0x90])
                }
                _ => false,
            },
            Self::Lz4 => head.starts_with(&[0x04, 0x22, 0x4d, 0x18]),
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
