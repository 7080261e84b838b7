//! One compression cell with its factors parsed.
//!
//! Names of factors and metrics are those of docs/design/0004-compression.md.

use outcrop_measure::ByteSize;
use outcrop_measure::units::format_bytes;
use outcrop_results::CellView;

use super::super::readings::Readings;
use crate::number::Number;

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// Into blocks.
    Compress,
    /// Back out of them.
    Decompress,
}

impl Direction {
    /// Both, in the order of the page.
    pub(super) const BOTH: [Self; 2] = [Self::Compress, Self::Decompress];

    /// `compress`, `decompress`: the prefix of metrics and the start of identifiers.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Compress => "compress",
            Self::Decompress => "decompress",
        }
    }

    /// The same as the first word of a heading.
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Compress => "Compress",
            Self::Decompress => "Decompress",
        }
    }

    /// The metric of a direction: `compress_speed`.
    pub(super) fn metric(self, name: &str) -> String {
        format!("{}_{name}", self.name())
    }
}

/// What the bytes of a cell are.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Content {
    /// The subject's own blocks.
    Natural,
    /// Those of the subject's blocks whose order-0 entropy is nearest to so many bits per byte.
    NaturalOf(f64),
    /// Made, each byte drawn alone, of that order-0 entropy.
    Entropy(f64),
    /// Made, so that an LZ coder reaches about that ratio.
    Compressible(f64),
    /// Made, nothing but zeros.
    Zeros,
    /// Made, incompressible.
    Random,
    /// Anything else, as it is spelled.
    Other(String),
}

impl Content {
    fn parse(text: &str) -> Self {
        let other = || Self::Other(text.to_owned());
        let (name, argument) = text
            .split_once(':')
            .map_or((text, None), |(name, argument)| (name, Some(argument)));
        let number = argument.and_then(|argument| argument.parse::<f64>().ok());
        match (name, number, argument) {
            ("natural", None, None) => Self::Natural,
            ("natural", Some(bits), _) => Self::NaturalOf(bits),
            ("entropy", Some(bits), _) => Self::Entropy(bits),
            ("compressible", Some(ratio), _) => Self::Compressible(ratio),
            ("zeros", None, None) => Self::Zeros,
            ("random", None, None) => Self::Random,
            _ => other(),
        }
    }

    /// Compressed ÷ original in percent that the content asks for.
    pub(super) fn asked_percent(&self) -> Option<f64> {
        match self {
            Self::Compressible(ratio) if *ratio >= 1.0 => Some(100.0 / ratio),
            Self::Zeros => Some(0.0),
            Self::Random => Some(100.0),
            _ => None,
        }
    }
}

/// One combination of factors, with the median of every metric.
#[derive(Clone, Debug)]
pub(super) struct Cell<'a> {
    /// `zstd:3`.
    pub(super) codec: String,
    /// Bytes of one block, compressed on its own.
    pub(super) block_size_bytes: u64,
    pub(super) threads: u32,
    pub(super) content: Content,
    /// The records behind it.
    pub(super) view: &'a CellView<'a>,
    readings: Readings,
}

impl<'a> Cell<'a> {
    /// A cell of this run; none without a codec and a block size.
    pub(super) fn measured(view: &'a CellView<'a>) -> Option<Self> {
        let size = view.factor("compression_block_size")?.parse::<ByteSize>().ok()?;
        Some(Self {
            codec: view.factor("codec")?.to_owned(),
            block_size_bytes: size.0,
            threads: view
                .factor("threads")
                .and_then(|text| text.parse().ok())
                .unwrap_or(1),
            content: Content::parse(view.factor("content").unwrap_or("natural")),
            view,
            readings: Readings::of(view),
        })
    }

    /// Its place in the order of the page: by codec, block size and threads.
    pub(super) fn rank(&self) -> impl Ord + use<> {
        let (family, level) = family_and_level(&self.codec);
        (family_order(family), level, self.block_size_bytes, self.threads)
    }

    /// Whether its stages were measured, not its speed.
    pub(super) fn is_of_stages(&self) -> bool {
        self.view.factor("measurement") == Some("stages")
    }

    /// Whether it is as most people run a codec: one that keeps its context, with warm caches.
    pub(super) fn is_plain(&self) -> bool {
        !self.is_of_stages()
            && matches!(self.view.factor("context"), None | Some("reused"))
            && matches!(self.view.factor("caches"), None | Some("warm"))
    }

    /// Whether it only copies.
    pub(super) fn is_copy(&self) -> bool {
        self.codec == "none"
    }

    /// `zstd`: the codec without its level.
    pub(super) fn family(&self) -> &str {
        family_and_level(&self.codec).0
    }

    /// The level, where it has one.
    pub(super) fn level(&self) -> Option<i32> {
        self.codec.split_once(':')?.1.parse().ok()
    }

    /// The number of a metric.
    pub(super) fn number(&self, metric: &str) -> Option<&Number> {
        self.readings.numbers.get(metric)
    }

    /// The value of a metric.
    pub(super) fn value(&self, metric: &str) -> Option<f64> {
        self.number(metric).map(|number| number.value)
    }

    /// Why a metric has no value.
    pub(super) fn unavailable(&self, metric: &str) -> Option<&str> {
        self.readings.unavailable.get(metric).map(String::as_str)
    }

    /// The speed of one direction.
    pub(super) fn speed(&self, direction: Direction) -> Option<&Number> {
        self.number(&direction.metric("speed"))
    }

    /// `64 KiB`.
    pub(super) fn size(&self) -> String {
        format_bytes(self.block_size_bytes)
    }

    /// The cell in words: `zstd:3, 64 KiB`, with threads, context and caches where they are not the usual ones.
    pub(super) fn words(&self) -> String {
        let mut text = format!("{}, {}", self.codec, self.size());
        if self.threads > 1 {
            text.push_str(&format!(", {} threads", self.threads));
        }
        let unusual = [("context", "reused"), ("caches", "warm"), ("content", "natural")];
        for (name, usual) in unusual {
            if let Some(value) = self.view.factor(name).filter(|value| *value != usual) {
                let value = if name == "content" {
                    value.to_owned()
                } else {
                    format!("{value} {name}")
                };
                text.push_str(&format!(", {value}"));
            }
        }
        text
    }

    /// A name short enough to stand beside a point: `zstd:3 64K`, `libdeflate:6 4K`.
    pub(super) fn short_name(&self) -> String {
        let size = self
            .size()
            .replace(" KiB", "K")
            .replace(" MiB", "M")
            .replace(" B", "");
        format!("{} {size}", self.short_codec())
    }

    /// The codec without what its library's name says already: `libdeflate:6`. `deflate-zlib` keeps it: `zlib` is another codec.
    pub(super) fn short_codec(&self) -> &str {
        match self.codec.strip_prefix("deflate-") {
            Some(short) if self.family() != "deflate-zlib" => short,
            _ => &self.codec,
        }
    }
}

/// `zstd:-5` is `zstd` and −5; a codec without a level has 0.
fn family_and_level(codec: &str) -> (&str, i32) {
    match codec.split_once(':') {
        Some((family, level)) => (family, level.parse().unwrap_or(0)),
        None => (codec, 0),
    }
}

/// Families in the order of the page; what is not known here comes last.
const FAMILIES: [&str; 12] = [
    "zstd",
    "lz4",
    "lz4hc",
    "lz4_flex",
    "snappy",
    "deflate-libdeflate",
    "deflate-zlib",
    "deflate-zlib-rs",
    "zlib",
    "brotli",
    "dpzip",
    "none",
];

fn family_order(family: &str) -> usize {
    FAMILIES
        .iter()
        .position(|name| *name == family)
        .unwrap_or(FAMILIES.len())
}

/// Colour of a family, the same in every figure. Libraries of one format share it.
pub(super) fn hue(family: &str) -> usize {
    match family {
        "zstd" => 0,
        "lz4" | "lz4hc" | "lz4_flex" => 1,
        "snappy" => 2,
        name if name == "zlib" || name.starts_with("deflate") => 3,
        "brotli" => 4,
        "dpzip" => 5,
        "none" => 7,
        _ => 6,
    }
}
