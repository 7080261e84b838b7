//! Published figures of compression beside ours, each with what to know before relying on it.

use outcrop_measure::units::format_bytes;
use outcrop_results::Reference;
use outcrop_schema::compression::{
    BLOCK_RATIOS, CODEC, COMPRESSED_PERCENT, CodecName, Direction, PUBLISHED_LATENCY, RATIO_PERCENTILES,
    SCHEMA, SPEED, block_ratio,
};

use super::cell::CompressionCell;
use super::stages::{self, Stage};
use super::{super::published, findings};
use crate::cell::{Cell, families, largest_family};
use crate::number::Number;
use crate::section::{ReferenceSection, Table};

/// Where zstd's time goes.
pub(super) const STAGES: &str = "asic-stages";
/// Ratios by percentile of blocks.
pub(super) const PERCENTILES: &str = "asic-ratio-percentiles";
/// Throughput and latency of devices and processors.
pub(super) const THROUGHPUT: &str = "asic-throughput";
/// Throughput by compressibility.
pub(super) const ROBUSTNESS: &str = "asic-robustness";

/// Block sizes that are published.
pub(super) const SIZES: [u64; 2] = [4 << 10, 64 << 10];
/// Codec families whose percentiles are published.
pub(super) const FAMILIES: [&str; 5] = ["snappy", "lz4", "deflate", "zstd", "dpzip"];

/// The references of this layer that ship, with their cells.
pub(super) struct Published(Vec<(Reference, Vec<Cell<'static>>)>);

impl Published {
    /// All of them; their cells by subject, in the order of the publication.
    pub(super) fn shipped() -> Self {
        let with_cells = |reference: Reference| {
            let mut cells = Cell::published(&SCHEMA, &reference);
            let subjects = || reference.rows.iter().map(|row| &row.subject);
            cells.sort_by_key(|cell| subjects().position(|subject| subject == cell.subject()));
            (reference, cells)
        };
        Self(published(&SCHEMA).into_iter().map(with_cells).collect())
    }

    /// Those that a reader asked to see in the charts.
    pub(super) fn beside(names: &[String]) -> Self {
        let mut all = Self::shipped();
        all.0.retain(|(reference, _)| names.contains(&reference.name));
        all
    }

    fn named(&self, name: &str) -> Option<&(Reference, Vec<Cell<'static>>)> {
        self.0.iter().find(|(reference, _)| reference.name == name)
    }

    /// The cells of one reference.
    pub(super) fn cells(&self, name: &str) -> &[Cell<'static>] {
        self.named(name).map_or(&[], |(_, cells)| cells)
    }

    /// What a caption says where a reference is drawn: how, and what to know before relying on it. Empty where it is not.
    pub(super) fn caption(&self, name: &str, how: &str) -> String {
        self.named(name).map_or_else(String::new, |(reference, _)| {
            format!(" {how} {}", reference.caveats.join(" "))
        })
    }

    /// The cells that have percentiles at a block size.
    pub(super) fn with_percentiles(&self, size_bytes: u64) -> Vec<&Cell<'static>> {
        let cells = self.cells(PERCENTILES).iter();
        cells.filter(|cell| cell.size_bytes() == size_bytes).collect()
    }

    /// Speeds over compressibility, one curve per device.
    pub(super) fn by_compressibility(&self) -> Vec<Vec<&Cell<'static>>> {
        let mut cells: Vec<&Cell<'static>> = self.cells(ROBUSTNESS).iter().collect();
        cells.sort_by(|one, other| one.compare(other, &[&COMPRESSED_PERCENT]));
        families(cells, &[&COMPRESSED_PERCENT])
    }
}

/// Cells of natural blocks of one size that have percentiles and differ in their codec only.
pub(super) fn with_percentiles<'c, 'a>(cells: &'c [Cell<'a>], size_bytes: u64) -> Vec<&'c Cell<'a>> {
    let fits = |cell: &&Cell<'_>| {
        let has_percentiles = cell.first_number(&BLOCK_RATIOS).is_some();
        cell.is_plain() && cell.is_natural() && cell.size_bytes() == size_bytes && has_percentiles
    };
    largest_family(cells.iter().filter(fits), &[&CODEC])
}

/// The codec that stands for a published family: of level 1 where there is one, else the least level.
pub(super) fn representative<'c, 'a>(cells: &[&'c Cell<'a>], family: &str) -> Option<&'c Cell<'a>> {
    let is_of = |cell: &&&Cell<'_>| match family {
        "deflate" => cell.family().starts_with(family),
        _ => cell.family() == family,
    };
    let level = |cell: &Cell<'_>| cell.get(&CODEC).and_then(CodecName::level).unwrap_or(1);
    let of_family = cells.iter().filter(is_of).copied();
    of_family.min_by_key(|cell| (level(cell) < 1, level(cell)))
}

/// Size of dpzip's blocks over zstd's by percentile of sizes, as published: p1 are the smallest.
pub(super) fn size_over_zstd(cells: &[&Cell<'_>]) -> Vec<(u8, f64)> {
    let (dpzip, zstd) = (representative(cells, "dpzip"), representative(cells, "zstd"));
    let point = |percent: u8| {
        // Ratio and size run in opposite directions.
        let metric = block_ratio(100 - percent)?;
        Some((percent, zstd?.value(&metric)? / dpzip?.value(&metric)?))
    };
    RATIO_PERCENTILES.into_iter().filter_map(point).collect()
}

/// What the page says about each reference.
pub(super) fn sections(published: &Published, cells: &[Cell<'_>]) -> Vec<ReferenceSection> {
    let section = |(reference, theirs): &(Reference, Vec<Cell<'static>>)| {
        let (findings, table) = match reference.name.as_str() {
            STAGES => {
                let theirs = stages::of(theirs);
                let findings = findings::of_published_stages(&theirs);
                (findings, stage_table(&theirs, cells))
            }
            PERCENTILES => (Vec::new(), percentile_table(published, cells)),
            THROUGHPUT => (Vec::new(), throughput_table(theirs)),
            _ => {
                let findings = findings::of_published_robustness(&published.by_compressibility());
                (findings, robustness_table(published))
            }
        };
        ReferenceSection::of(reference.clone(), findings, table)
    };
    published.0.iter().map(section).collect()
}

fn table(caption: &str, head: &[&str], rows: Vec<Vec<String>>) -> Table {
    Table {
        caption: caption.to_owned(),
        head: head.iter().map(|word| (*word).to_owned()).collect(),
        rows,
    }
}

/// A value, or a dash where there is none.
fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "–".to_owned())
}

fn stage_table(theirs: &[&Cell<'_>], cells: &[Cell<'_>]) -> Table {
    let mut ours = stages::of_one_subject(cells);
    ours.retain(|cell| stages::is_usual(cell));
    let share = |stage: &Stage, cell: &Cell<'_>| Some(format!("{:.1} %", stage.share(cell)? * 100.0));
    let row = |theirs: &&Cell<'_>| {
        let mine = stages::alike(&ours, theirs);
        let shares = stages::STAGES
            .iter()
            .flat_map(|stage| [mine.and_then(|mine| share(stage, mine)), share(stage, theirs)]);
        let words = [stages::words(theirs)].into_iter();
        words.chain(shares.map(or_dash)).collect()
    };
    let heads = stages::STAGES.map(|stage| format!("{}, here", stage.words));
    let mut head = vec!["cell"];
    head.extend(heads.iter().flat_map(|here| [here.as_str(), "published"]));
    table(
        "Shares of compression time, natural blocks of this run next to the published ones. A dash means that this run has no such cell.",
        &head,
        theirs.iter().map(row).collect(),
    )
}

fn percentile_table(published: &Published, cells: &[Cell<'_>]) -> Table {
    let mut rows = Vec::new();
    for size in SIZES {
        let (ours, theirs) = (with_percentiles(cells, size), published.with_percentiles(size));
        for family in FAMILIES {
            let both = [representative(&ours, family), representative(&theirs, family)];
            let ratio = |cell: Option<&Cell<'_>>, percent: u8| {
                Some(format!("{:.2}", cell?.value(&block_ratio(percent)?)?))
            };
            let codec = both[0].map(|cell| cell.spelling(&CODEC).to_owned());
            let mut row = vec![format_bytes(size), family.to_owned(), or_dash(codec)];
            let ratios = [1, 50, 99].into_iter();
            row.extend(ratios.flat_map(|percent| both.map(|cell| or_dash(ratio(cell, percent)))));
            rows.push(row);
        }
    }
    table(
        "Compression ratio at percentiles of blocks: p1 is among the least compressible blocks, p99 among the most. The published data are different: compare the shapes.",
        &[
            "block",
            "published as",
            "here",
            "p1, here",
            "published",
            "p50, here",
            "published",
            "p99, here",
            "published",
        ],
        rows,
    )
}

fn throughput_table(theirs: &[Cell<'_>]) -> Table {
    let row = |cell: &Cell<'_>| {
        let metrics = Direction::ALL
            .into_iter()
            .flat_map(|direction| [SPEED.of(direction), PUBLISHED_LATENCY.of(direction)]);
        let numbers = metrics.map(|metric| or_dash(cell.number(&metric).map(Number::to_string)));
        let names = [cell.subject().to_owned(), cell.size()];
        names.into_iter().chain(numbers).collect()
    };
    let of_size = |size: u64| theirs.iter().filter(move |cell| cell.size_bytes() == size);
    table(
        "As published, for whole devices and whole machines; this run used one or a few threads.",
        &[
            "subject",
            "request",
            "compress throughput",
            "compress latency, as published",
            "decompress throughput",
            "decompress latency, as published",
        ],
        SIZES.into_iter().flat_map(of_size).map(row).collect(),
    )
}

fn robustness_table(published: &Published) -> Table {
    let row = |cell: &Cell<'_>| {
        let percent = cell.get(&COMPRESSED_PERCENT);
        let percent = percent.map(|percent| format!("{percent:.0} %"));
        let speed = |direction| cell.number(&SPEED.of(direction)).map(Number::to_string);
        let [compress, decompress] = Direction::ALL.map(speed);
        let texts = [percent, compress, decompress].map(or_dash);
        [cell.subject().to_owned()].into_iter().chain(texts).collect()
    };
    let curves = published.by_compressibility();
    table(
        "Throughput as published, by compressed ÷ original.",
        &["subject", "compressed ÷ original", "compress", "decompress"],
        curves.into_iter().flatten().map(row).collect(),
    )
}
