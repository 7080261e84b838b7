//! Where data comes from: files, directories, block devices, stdin, or the embedded sample. Only ever read.

mod packed;
mod walk;

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use outcrop_input::{Compression, Input};
use outcrop_measure::seed::Seed;

use self::packed::{Kind, Packed};
use crate::error::CompressError;
use crate::identity::Fingerprint;
use crate::sample::{CLUSTER_BYTES, Piece, Sample};
use crate::{embedded, stream};

/// Data that can be sampled.
#[derive(Clone, Debug)]
pub struct Source {
    entries: Vec<Entry>,
    notes: Vec<String>,
    /// The stream that the entries were already drawn from, if they were.
    drawn_from: Option<stream::Drawn>,
    /// The compressed file that is read instead of entries.
    packed: Option<Packed>,
}

#[derive(Clone, Debug)]
struct Entry {
    name: String,
    bytes: u64,
    place: Place,
}

#[derive(Clone, Debug)]
enum Place {
    File(PathBuf),
    Memory(Arc<[u8]>),
}

impl Source {
    /// A file, all files below a directory (symbolic links are not followed), or a block device. A file that is compressed by
    /// gzip, zstd, xz, bzip2 or LZ4 is read decompressed.
    ///
    /// # Errors
    /// When the path does not exist, cannot be read, is of another kind, or holds no data.
    pub fn open(path: &Path) -> Result<Self, CompressError> {
        let metadata = std::fs::metadata(path).map_err(|source| CompressError::path("find", path, source))?;
        let kind = metadata.file_type();
        if kind.is_dir() {
            let (files, notes) = walk::files(path)?;
            let entries = files.into_iter().map(|file| Entry {
                name: file
                    .path
                    .strip_prefix(path)
                    .unwrap_or(&file.path)
                    .display()
                    .to_string(),
                bytes: file.bytes,
                place: Place::File(file.path),
            });
            return Ok(Self::of(entries.collect(), notes));
        }
        if !kind.is_file() && !kind.is_block_device() {
            let seen = if kind.is_fifo() {
                "a named pipe"
            } else if kind.is_socket() {
                "a socket"
            } else {
                "a character device"
            };
            return Err(CompressError::WrongKind {
                path: path.to_owned(),
                seen,
            });
        }
        let mut file = File::open(path).map_err(|source| CompressError::path("read", path, source))?;
        // A block device says nothing in its metadata, but where its end is.
        let bytes = file
            .seek(SeekFrom::End(0))
            .map_err(|source| CompressError::path("find the end of", path, source))?;
        if bytes == 0 {
            let what = path.display().to_string();
            return Err(CompressError::Empty { what });
        }
        let name = path
            .file_name()
            .map_or_else(|| path.display().to_string(), |name| name.display().to_string());
        // The bytes of a device are its own, whatever they begin with.
        let seen = if kind.is_file() {
            file.rewind()
                .and_then(|()| Kind::of(&mut file))
                .map_err(|source| CompressError::path("read", path, source))?
        } else {
            Kind::default()
        };
        if let Some(compression) = seen.compression {
            let notes = vec![packed::is_decompressed(&name, compression)];
            let path = path.to_owned();
            return Ok(Self {
                packed: Some(Packed {
                    path,
                    name,
                    compression,
                }),
                ..Self::of(Vec::new(), notes)
            });
        }
        let notes = seen
            .container
            .map(|container| packed::is_container(&name, container));
        let entry = Entry {
            name,
            bytes,
            place: Place::File(path.to_owned()),
        };
        Ok(Self::of(vec![entry], Vec::from_iter(notes)))
    }

    /// All that `reader` yields, decompressed where it is compressed; of more than `limit_bytes`, a random sample of its clusters.
    ///
    /// # Errors
    /// When it yields nothing or fails, or `stop` is raised.
    pub fn from_reader(
        reader: &mut dyn Read,
        limit_bytes: u64,
        seed: Seed,
        stop: &AtomicBool,
    ) -> Result<Self, CompressError> {
        let mut input = Input::open("stdin", reader).map_err(CompressError::Stdin)?;
        let notes = input
            .compression()
            .map(|compression| packed::is_decompressed("stdin", compression))
            .or_else(|| {
                input
                    .container()
                    .map(|container| packed::is_container("stdin", container))
            });
        let stream = stream::read(&mut input, "stdin", (limit_bytes, CLUSTER_BYTES), seed, stop)?;
        let entries = stream.pieces.into_iter().map(|(offset, content)| Entry {
            name: format!("stdin+{offset}"),
            bytes: content.len() as u64,
            place: Place::Memory(content.into()),
        });
        Ok(Self {
            drawn_from: stream.drawn,
            ..Self::of(entries.collect(), Vec::from_iter(notes))
        })
    }

    /// The embedded sample: the Snappy test set, 2.9 MB.
    ///
    /// # Errors
    /// When this build lacks zstd, which it is stored by.
    pub fn embedded() -> Result<Self, CompressError> {
        let entries = embedded::files()?.into_iter().map(|(name, content)| Entry {
            name: name.to_owned(),
            bytes: content.len() as u64,
            place: Place::Memory(content.into()),
        });
        Ok(Self::of(entries.collect(), Vec::new()))
    }

    /// Bytes of the embedded sample, without unpacking it.
    pub fn embedded_bytes() -> u64 {
        embedded::total_bytes()
    }

    fn of(entries: Vec<Entry>, notes: Vec<String>) -> Self {
        Self {
            entries,
            notes,
            drawn_from: None,
            packed: None,
        }
    }

    /// Bytes of all the data; of a stream, those that went by. `None` for a compressed file: they are known when it was read.
    pub fn bytes(&self) -> Option<u64> {
        match (&self.packed, &self.drawn_from) {
            (Some(_), _) => None,
            (None, Some(drawn)) => Some(drawn.bytes),
            (None, None) => Some(self.held_bytes()),
        }
    }

    /// Bytes of the largest file, which no block is longer than; `None` where that is known only when the data were read.
    pub fn largest_file_bytes(&self) -> Option<u64> {
        match (&self.packed, &self.drawn_from) {
            (None, None) => self.entries.iter().map(|entry| entry.bytes).max(),
            _ => None,
        }
    }

    /// What the file is compressed by, whose decompressed bytes are the data.
    pub fn compression(&self) -> Option<Compression> {
        self.packed.as_ref().map(|packed| packed.compression)
    }

    /// Remarks on the data: what was left out and why.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What tells these data from others, by their content and not by their names. Of more than 64 MiB it is that of
    /// pieces at places that depend on nothing but the length.
    ///
    /// *Cost*: reads up to 64 MiB, or 4 MiB of more, however many files they are. A compressed file is decompressed once more, to its end.
    ///
    /// # Errors
    /// When the data cannot be read, or `stop` is raised.
    pub fn fingerprint(&self, stop: &AtomicBool) -> Result<String, CompressError> {
        if let Some(drawn) = &self.drawn_from {
            return Ok(drawn.fingerprint.clone());
        }
        if let Some(packed) = &self.packed {
            return packed.fingerprint(stop);
        }
        let mut fingerprint = Fingerprint::of(self.held_bytes());
        for entry in &self.entries {
            match &entry.place {
                Place::Memory(content) => fingerprint.add_held(content),
                Place::File(path) => fingerprint.add_file(path, entry.bytes, stop)?,
            }
        }
        Ok(fingerprint.spelled())
    }

    fn held_bytes(&self) -> u64 {
        self.entries.iter().map(|entry| entry.bytes).sum()
    }

    /// Takes all of the data, or a random sample for blocks of `block_bytes` that has `limit_bytes` on average.
    ///
    /// A sample consists of clusters, drawn without replacement with the same probability each: 128 KiB, or the
    /// next multiple of the block. *Cost*: the sample in memory, and one read per cluster.
    ///
    /// # Errors
    /// When the data cannot be read or is smaller than one block, or `stop` is raised.
    pub fn draw(
        &self,
        limit_bytes: u64,
        block_bytes: u64,
        seed: Seed,
        stop: &AtomicBool,
    ) -> Result<Sample, CompressError> {
        if let Some(packed) = &self.packed {
            return packed.draw(limit_bytes, block_bytes, seed, stop);
        }
        let data_bytes = self
            .drawn_from
            .as_ref()
            .map_or_else(|| self.held_bytes(), |drawn| drawn.bytes);
        if block_bytes > data_bytes {
            return Err(CompressError::BlockLargerThanData {
                block_bytes,
                data_bytes,
            });
        }
        if self.drawn_from.is_some() && block_bytes > CLUSTER_BYTES {
            return Err(CompressError::BlockLargerThanPiece {
                block_bytes,
                piece_bytes: CLUSTER_BYTES,
            });
        }
        let everything = self.held_bytes() <= limit_bytes.max(block_bytes) || self.drawn_from.is_some();
        let wanted: Vec<Range> = if everything {
            (0..self.entries.len())
                .map(|entry| Range {
                    entry,
                    offset: 0,
                    bytes: self.entries[entry].bytes,
                })
                .collect()
        } else {
            self.draw_clusters(limit_bytes, cluster_bytes(block_bytes), seed)
        };
        let mut sample = Sample::new(data_bytes, self.population_clusters(block_bytes));
        let mut open: Option<(usize, File)> = None;
        for range in wanted {
            if stop.load(Ordering::Relaxed) {
                return Err(CompressError::Interrupted);
            }
            self.read(&range, &mut open, &mut sample)?;
        }
        if sample.bytes().is_empty() {
            let what = "the data (its files were truncated during the run)".to_owned();
            return Err(CompressError::Empty { what });
        }
        Ok(sample)
    }

    /// Clusters of all the data.
    fn population_clusters(&self, block_bytes: u64) -> u64 {
        match &self.drawn_from {
            Some(drawn) => drawn.clusters,
            None => self
                .entries
                .iter()
                .map(|entry| entry.bytes.div_ceil(cluster_bytes(block_bytes)))
                .sum(),
        }
    }

    fn draw_clusters(&self, limit_bytes: u64, cluster_bytes: u64, seed: Seed) -> Vec<Range> {
        let counts: Vec<u64> = self
            .entries
            .iter()
            .map(|entry| entry.bytes.div_ceil(cluster_bytes))
            .collect();
        let total: u64 = counts.iter().sum();
        let mean_bytes = self.held_bytes() as f64 / total as f64;
        let wanted = ((limit_bytes as f64 / mean_bytes) as u64).clamp(1, total);
        let mut drawn = stream::distinct_below(total, wanted, seed).into_iter().peekable();
        let mut first = 0;
        let mut ranges = Vec::new();
        for (entry, count) in counts.iter().enumerate() {
            while let Some(cluster) = drawn.next_if(|cluster| *cluster < first + count) {
                let offset = (cluster - first) * cluster_bytes;
                let bytes = (self.entries[entry].bytes - offset).min(cluster_bytes);
                ranges.push(Range { entry, offset, bytes });
            }
            first += count;
        }
        ranges
    }

    /// Appends a range to the sample. Of a file that shrank meanwhile, what is left.
    fn read(
        &self,
        range: &Range,
        open: &mut Option<(usize, File)>,
        sample: &mut Sample,
    ) -> Result<(), CompressError> {
        let entry = &self.entries[range.entry];
        let piece = |bytes: &[u8]| Piece::of(&entry.name, range.offset, bytes.len());
        let path = match &entry.place {
            Place::Memory(content) => {
                let content = &content[range.offset as usize..][..range.bytes as usize];
                sample.push(piece(content), content);
                return Ok(());
            }
            Place::File(path) => path,
        };
        let failed = |source| CompressError::path("read", path, source);
        if open.as_ref().is_none_or(|(index, _)| *index != range.entry) {
            *open = Some((range.entry, File::open(path).map_err(failed)?));
        }
        let Some((_, file)) = open else { return Ok(()) };
        let mut content = vec![0; range.bytes as usize];
        let mut filled = 0;
        while filled < content.len() {
            match file.read_at(&mut content[filled..], range.offset + filled as u64) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(error)),
            }
        }
        content.truncate(filled);
        sample.push(piece(&content), &content);
        Ok(())
    }
}

struct Range {
    entry: usize,
    offset: u64,
    bytes: u64,
}

/// The least multiple of the block that is no shorter than [`CLUSTER_BYTES`]: no block is cut by its cluster's end.
fn cluster_bytes(block_bytes: u64) -> u64 {
    CLUSTER_BYTES.div_ceil(block_bytes.max(1)) * block_bytes.max(1)
}
