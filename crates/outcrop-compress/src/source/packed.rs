//! A compressed file: what is measured are its decompressed bytes, which are read as a stream.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use outcrop_input::{Compression, Container, HEAD_BYTES, Input};
use outcrop_measure::seed::Seed;

use super::cluster_bytes;
use crate::error::CompressError;
use crate::identity::Fingerprint;
use crate::sample::{CLUSTER_BYTES, Piece, Sample};
use crate::stream;

/// A compressed file.
#[derive(Clone, Debug)]
pub(super) struct Packed {
    pub(super) path: PathBuf,
    pub(super) name: String,
    pub(super) compression: Compression,
}

impl Packed {
    /// Decompresses all of it and keeps clusters at random: where one begins is not known before.
    pub(super) fn draw(
        &self,
        limit_bytes: u64,
        block_bytes: u64,
        seed: Seed,
        stop: &AtomicBool,
    ) -> Result<Sample, CompressError> {
        let mut input = self.open()?;
        let limit_bytes = limit_bytes.max(block_bytes);
        let stream = stream::read(
            &mut input,
            &self.name,
            (limit_bytes, cluster_bytes(block_bytes)),
            seed,
            stop,
        )?;
        let data_bytes = stream.bytes;
        if block_bytes > data_bytes {
            return Err(CompressError::BlockLargerThanData {
                block_bytes,
                data_bytes,
            });
        }
        let clusters = stream.drawn.map_or(1, |drawn| drawn.clusters);
        let mut sample = Sample::new(data_bytes, clusters);
        for (offset, content) in stream.pieces {
            sample.push(Piece::of(&self.name, offset, content.len()), &content);
        }
        Ok(sample)
    }

    /// What tells its decompressed bytes from others: however they were packed, they are the same data.
    pub(super) fn fingerprint(&self, stop: &AtomicBool) -> Result<String, CompressError> {
        let mut input = self.open()?;
        let mut fingerprint = Fingerprint::of_stream();
        let mut piece = vec![0; CLUSTER_BYTES as usize];
        let mut bytes = 0;
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(CompressError::Interrupted);
            }
            match input.read(&mut piece) {
                Ok(0) => break,
                Ok(read) => {
                    fingerprint.add(&piece[..read]);
                    bytes += read as u64;
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(CompressError::stream(&self.name, error)),
            }
        }
        fingerprint.end(bytes);
        Ok(fingerprint.spelled())
    }

    fn open(&self) -> Result<Input<File>, CompressError> {
        let failed = |source| CompressError::path("read", &self.path, source);
        let file = File::open(&self.path).map_err(failed)?;
        Input::open(&self.name, file).map_err(failed)
    }
}

/// What a file is by its first bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Kind {
    pub(super) compression: Option<Compression>,
    pub(super) container: Option<Container>,
}

impl Kind {
    /// Of a file that is open at its start.
    pub(super) fn of(file: &mut File) -> std::io::Result<Self> {
        let mut head = Vec::with_capacity(HEAD_BYTES);
        file.take(HEAD_BYTES as u64).read_to_end(&mut head)?;
        Ok(Self {
            compression: Compression::of(&head),
            container: Container::of(&head),
        })
    }
}

/// Said of data that were decompressed.
pub(super) fn is_decompressed(name: &str, compression: Compression) -> String {
    format!("{name}: {compression}, read decompressed")
}

/// Said of a file that holds compressed parts and is not opened.
pub(super) fn is_container(name: &str, container: Container) -> String {
    let Container { name: kind, parts } = container;
    format!(
        "{name} is a {kind} file, whose {parts} may be compressed already. These figures are for the file as it is, not for the values in \
         it"
    )
}

/// Files of a directory that a note names before it counts.
const MOST_NAMED: usize = 3;

/// Said of a directory with files that are compressed: the first of them by name, with what compressed them.
pub(super) fn some_are_compressed<'k>(
    root: &Path,
    files: usize,
    compressed: impl Iterator<Item = (&'k Path, Kind)>,
) -> Option<String> {
    let named: Vec<String> = compressed
        .filter_map(|(path, kind)| {
            let by = kind.compression.map(|compression| compression.to_string());
            let by = by.or_else(|| kind.container.map(|container| container.name.to_owned()))?;
            let name = path.strip_prefix(root).unwrap_or(path);
            Some(format!("{} ({by})", name.display()))
        })
        .collect();
    let (shown, rest) = named.split_at(named.len().min(MOST_NAMED));
    let rest = match rest.len() {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    (!named.is_empty()).then(|| {
        format!(
            "{} of {files} files in {} are compressed already and were measured as they are: {}{rest}; --data FILE measures the content \
             of one of them",
            named.len(),
            root.display(),
            shown.join(", ")
        )
    })
}
