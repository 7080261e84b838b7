//! Formats that hold compressed parts: read as they are, and known, so that nobody takes their ratio for that of the data.

/// A format whose content is usually compressed already, and which is not opened here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Container {
    /// As people call it: `Parquet`.
    pub name: &'static str,
    /// What in it is compressed: `pages`.
    pub parts: &'static str,
}

/// Name, what is compressed, where the magic is, and the magic.
type Known = (&'static str, &'static str, usize, &'static [u8]);

const KNOWN: &[Known] = &[
    ("Parquet", "pages", 0, b"PAR1"),
    ("ORC", "stripes", 0, b"ORC"),
    ("Avro", "blocks", 0, b"Obj\x01"),
    ("ZIP", "members", 0, b"PK\x03\x04"),
    ("7z", "members", 0, b"7z\xbc\xaf\x27\x1c"),
    ("JPEG", "pixels", 0, b"\xff\xd8\xff"),
    ("PNG", "pixels", 0, b"\x89PNG\r\n\x1a\n"),
    ("WebP", "pixels", 8, b"WEBP"),
    ("MP4", "frames", 4, b"ftyp"),
    ("Matroska", "frames", 0, b"\x1a\x45\xdf\xa3"),
    ("Ogg", "packets", 0, b"OggS"),
    ("FLAC", "frames", 0, b"fLaC"),
];

impl Container {
    /// The container that data with these first bytes are.
    pub fn of(head: &[u8]) -> Option<Self> {
        let begins = |(_, _, at, magic): &&Known| head.get(*at..).is_some_and(|rest| rest.starts_with(magic));
        let (name, parts, ..) = KNOWN.iter().find(begins)?;
        Some(Self { name, parts })
    }
}
