//! What a compression cell is called, and what is asked of its factors again and again.

use outcrop_measure::units::format_bytes;
use outcrop_schema::About;
use outcrop_schema::compression::{
    BLOCK_COUNT, CACHES, CODEC, COMPRESSION_BLOCK_SIZE, CONTENT, CONTEXT, CodecName, Direction, MEASUREMENT,
    THREADS, Threads, UNCOMPRESSED_BYTES,
};
use outcrop_workload::BlockContent;

use crate::cell::Cell;
use crate::number::{Number, counted};

/// Blocks whose mean length is below this share of their size are not blocks of that size.
const SHORT: f64 = 0.5;

/// A cell of this layer.
pub(super) trait CompressionCell {
    /// The cell itself.
    fn cell(&self) -> &Cell<'_>;

    /// `zstd`: the codec without its level.
    fn family(&self) -> &str {
        self.cell().get(&CODEC).map_or("", CodecName::family)
    }

    /// Whether it only copies.
    fn is_copy(&self) -> bool {
        self.cell().get(&CODEC).is_some_and(CodecName::is_copy)
    }

    /// Bytes of one block, compressed on its own.
    fn size_bytes(&self) -> u64 {
        self.cell().get(&COMPRESSION_BLOCK_SIZE).map_or(0, |size| size.0)
    }

    /// `64 KiB`.
    fn size(&self) -> String {
        format_bytes(self.size_bytes())
    }

    /// Bytes of a block on average, `256 kB`, where most are far shorter than the size because files end before: by the records that have both.
    fn short_blocks(&self) -> Option<String> {
        let [bytes, blocks] = [UNCOMPRESSED_BYTES, BLOCK_COUNT].map(|metric| self.cell().value(&metric));
        let mean = bytes? / blocks?;
        (mean < self.size_bytes() as f64 * SHORT).then(|| UNCOMPRESSED_BYTES.format(mean))
    }

    /// Threads; one where that is not said.
    fn threads(&self) -> u32 {
        let threads = self.cell().get(&THREADS).copied();
        threads.and_then(Threads::count).unwrap_or(1)
    }

    /// Whether its blocks are those of the subject, as they are.
    fn is_natural(&self) -> bool {
        let content = self.cell().get(&CONTENT);
        content.is_none_or(|content| *content == BlockContent::Natural)
    }

    /// Whether its speed was measured as most people run a codec: one that keeps its context, with warm caches.
    fn is_plain(&self) -> bool {
        let usual: [&About; 3] = [&MEASUREMENT, &CONTEXT, &CACHES];
        usual.iter().all(|factor| self.cell().is_default(factor))
    }

    /// The cell in words: `zstd:3, 64 KiB`, with threads, context, caches and content where they are not the usual ones.
    fn words(&self) -> String {
        let cell = self.cell();
        let mut words = vec![cell.spelling(&CODEC).to_owned(), self.size()];
        if self.threads() > 1 {
            words.push(counted(self.threads() as usize, "thread"));
        }
        let circumstances: [&About; 2] = [&CONTEXT, &CACHES];
        let unusual = circumstances.iter().filter(|factor| !cell.is_default(factor));
        words.extend(unusual.map(|factor| format!("{} {}", cell.spelling(factor), factor.words())));
        if !self.is_natural() {
            words.push(cell.spelling(&CONTENT).to_owned());
        }
        words.join(", ")
    }

    /// A name short enough to stand beside a point: `zstd:3 64K`, `libdeflate:6 4K`.
    fn short_name(&self) -> String {
        let size = self.size();
        let size = size.replace(" KiB", "K").replace(" MiB", "M").replace(" B", "");
        format!("{} {size}", self.short_codec())
    }

    /// The codec without what its library's name says already: `libdeflate:6`. `deflate-zlib` keeps it: `zlib` is another codec.
    fn short_codec(&self) -> &str {
        let codec = self.cell().spelling(&CODEC);
        let name = self.cell().get(&CODEC).map_or("", CodecName::of_any_library);
        match codec.strip_prefix("deflate-") {
            Some(short) if name != "deflate-zlib" => short,
            _ => codec,
        }
    }
}

impl CompressionCell for Cell<'_> {
    fn cell(&self) -> &Cell<'_> {
        self
    }
}

/// A direction as the first word of a heading.
pub(super) const fn title(direction: Direction) -> &'static str {
    match direction {
        Direction::Compress => "Compress",
        Direction::Decompress => "Decompress",
    }
}

/// The least and the largest value that a number's interval leaves open.
pub(super) fn ends(number: &Number) -> (f64, f64) {
    number.ends().unwrap_or((number.value, number.value))
}

/// The first names of a list, with how many more there are.
pub(super) fn some_of(names: &[String], separator: &str) -> String {
    const MOST: usize = 6;
    let mut shown: Vec<String> = names.iter().take(MOST).cloned().collect();
    if names.len() > MOST {
        shown.push(format!("{} more", names.len() - MOST));
    }
    shown.join(separator)
}
