//! Which library a codec was: how a trial remarks it.

use crate::remark::{Remark, RemarkKind};

/// Which library it was.
pub const LIBRARY: RemarkKind = RemarkKind::new(
    "codec-library",
    "the codec's library with its version and file",
    "",
);

/// What the text of a remark of [`LIBRARY`] begins with.
const LIBRARY_IS: &str = "library: ";

/// The library of a codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Library<'a> {
    /// Its name and version: `libzstd 1.5.4`.
    pub name: &'a str,
    /// Its file, where it is the system's.
    pub file: Option<&'a str>,
}

impl<'a> Library<'a> {
    /// As a trial remarks it.
    pub fn remark(&self) -> Remark {
        LIBRARY.remark(match self.file {
            Some(file) => format!("{LIBRARY_IS}{} ({file})", self.name),
            None => format!("{LIBRARY_IS}{}", self.name),
        })
    }

    /// From the text of such a remark.
    pub fn of(text: &'a str) -> Option<Self> {
        let said = text.strip_prefix(LIBRARY_IS)?;
        let file = said.split_once(" (").and_then(|(name, rest)| {
            let file = rest.strip_suffix(')')?;
            file.starts_with('/').then_some((name, file))
        });
        Some(match file {
            Some((name, file)) => Self {
                name,
                file: Some(file),
            },
            None => Self {
                name: said,
                file: None,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_read_as_it_was_remarked() {
        for library in [
            Library {
                name: "libzstd 1.5.4",
                file: Some("/usr/lib/x86_64-linux-gnu/libzstd.so.1.5.4"),
            },
            Library {
                name: "lz4_flex 0.14 (safe)",
                file: None,
            },
        ] {
            assert_eq!(Library::of(&library.remark().text), Some(library));
        }
        assert_eq!(Library::of("the longest block has 3 B"), None);
    }
}
