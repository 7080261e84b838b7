//! What was taken of the data, in memory.

use std::ops::Range;

/// Data is drawn in pieces of this length, or of one block where that is longer.
pub const CLUSTER_BYTES: u64 = 128 << 10;

/// A contiguous part of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The file's name.
    pub name: String,
    /// Where in the file it begins.
    pub offset: u64,
    /// Where it lies in the sample.
    pub range: Range<usize>,
}

impl Piece {
    pub(crate) fn of(name: &str, offset: u64, bytes: usize) -> Self {
        Self {
            name: name.to_owned(),
            offset,
            range: 0..bytes,
        }
    }
}

/// Data to be compressed, and what it stands for.
#[derive(Clone, Debug)]
pub struct Sample {
    bytes: Vec<u8>,
    pieces: Vec<Piece>,
    data_bytes: u64,
    data_clusters: u64,
}

impl Sample {
    pub(crate) fn new(data_bytes: u64, data_clusters: u64) -> Self {
        Self {
            bytes: Vec::new(),
            pieces: Vec::new(),
            data_bytes,
            data_clusters,
        }
    }

    /// Generated content: all of it is taken, in one piece.
    pub fn generated(bytes: Vec<u8>, name: &str) -> Self {
        let piece = Piece::of(name, 0, bytes.len());
        Self {
            data_bytes: bytes.len() as u64,
            data_clusters: 1,
            pieces: vec![piece],
            bytes,
        }
    }

    pub(crate) fn push(&mut self, mut piece: Piece, content: &[u8]) {
        if content.is_empty() {
            return;
        }
        let start = self.bytes.len();
        piece.range = start..start + content.len();
        self.bytes.extend_from_slice(content);
        self.pieces.push(piece);
    }

    /// Everything that was taken.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its parts, in the order of files and offsets. When only a part of the data was taken, they are clusters.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Bytes of all the data that it stands for.
    pub const fn data_bytes(&self) -> u64 {
        self.data_bytes
    }

    /// Clusters of all the data that it stands for.
    pub(crate) const fn data_clusters(&self) -> u64 {
        self.data_clusters
    }

    /// What tells what was taken from other samples, by its content.
    pub fn fingerprint(&self) -> String {
        crate::identity::of_bytes(&self.bytes)
    }

    /// Share of the data that was taken: 1 when all of it was.
    pub fn share(&self) -> f64 {
        self.bytes.len() as f64 / self.data_bytes as f64
    }
}
