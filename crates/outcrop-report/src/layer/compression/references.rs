//! Published figures of compression beside ours, each with what to know before relying on it.

use std::collections::BTreeMap;

use outcrop_measure::ByteSize;
use outcrop_measure::units::format_bytes;
use outcrop_results::references;
use outcrop_results::{Reference, ReferenceRow};

use super::LAYER;
use super::cell::{Cell, Direction};
use super::findings;
use super::stages::{self, Stage};
use crate::section::{ReferenceSection, Table};

/// Percentiles that are published and measured.
pub(super) const PERCENTILES: [u32; 11] = [1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 99];

/// The references of this layer that ship.
pub(super) struct Published {
    references: Vec<Reference>,
}

impl Published {
    /// All of them.
    pub(super) fn shipped() -> Self {
        // A test of the results crate reads every shipped file; a broken one would only be missing here.
        let mut references = references::shipped().unwrap_or_default();
        references.retain(|reference| reference.rows.iter().any(|row| row.layer == LAYER));
        Self { references }
    }

    /// The rows of one reference.
    pub(super) fn rows(&self, name: &str) -> impl Iterator<Item = &ReferenceRow> {
        let found = self
            .references
            .iter()
            .filter(move |reference| reference.name == name);
        found.flat_map(|reference| &reference.rows)
    }

    /// What to know before relying on a reference, as one text.
    pub(super) fn caveats(&self, name: &str) -> String {
        let found = self.references.iter().filter(|reference| reference.name == name);
        found
            .flat_map(|reference| &reference.caveats)
            .cloned()
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Ratio at [`PERCENTILES`] of a codec family (`zstd`, `deflate`, …) at a block size.
    pub(super) fn block_ratios(&self, family: &str, block_size_bytes: u64) -> Vec<(u32, f64)> {
        let is_asked = |row: &&ReferenceRow| {
            let codec = row.factors.get("codec").map_or("", String::as_str);
            codec.split(':').next() == Some(family) && size_of(row) == Some(block_size_bytes)
        };
        let point = |row: &ReferenceRow| {
            let percentile = row.metric.strip_prefix("block_ratio_p")?.parse().ok()?;
            Some((percentile, row.value))
        };
        let mut curve: Vec<(u32, f64)> = self
            .rows("asic-ratio-percentiles")
            .filter(is_asked)
            .filter_map(point)
            .collect();
        curve.sort_by_key(|(percentile, _)| *percentile);
        curve
    }

    /// A metric of every subject at a block size, in the order of the publication.
    pub(super) fn by_subject(&self, block_size_bytes: u64, metric: &str) -> Vec<(&str, f64)> {
        self.rows("asic-throughput")
            .filter(|row| row.metric == metric && size_of(row) == Some(block_size_bytes))
            .map(|row| (row.subject.as_str(), row.value))
            .collect()
    }

    /// A metric of every subject over compressed ÷ original in percent.
    pub(super) fn by_compressibility(&self, metric: &str) -> BTreeMap<&str, Vec<(f64, f64)>> {
        let mut curves: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
        for row in self.rows("asic-robustness").filter(|row| row.metric == metric) {
            let percent = row
                .factors
                .get("compressed_percent")
                .and_then(|text| text.parse().ok());
            if let Some(percent) = percent {
                curves.entry(&row.subject).or_default().push((percent, row.value));
            }
        }
        curves
    }
}

fn size_of(row: &ReferenceRow) -> Option<u64> {
    let size = row.factors.get("compression_block_size")?;
    size.parse::<ByteSize>().ok().map(|size| size.0)
}

/// The codec of this run that stands for a published family: of level 1 where there is one, else the least level.
pub(super) fn representative<'c, 'a>(
    cells: impl Iterator<Item = &'c Cell<'a>>,
    family: &str,
) -> Option<&'c Cell<'a>>
where
    'a: 'c,
{
    let is_of = |cell: &&Cell<'_>| match family {
        "deflate" => cell.family().starts_with("deflate"),
        family => cell.family() == family,
    };
    cells.filter(is_of).min_by_key(|cell| {
        let level = cell.level().unwrap_or(1);
        (level < 1, level)
    })
}

/// What the page says about each reference.
pub(super) fn sections(published: &Published, cells: &[Cell<'_>]) -> Vec<ReferenceSection> {
    let section = |reference: &Reference| {
        let (findings, table) = match reference.name.as_str() {
            "asic-stages" => (
                findings::of_published_stages(&stages::published(published)),
                stage_table(published, cells),
            ),
            "asic-ratio-percentiles" => (Vec::new(), percentile_table(published, cells)),
            "asic-throughput" => (Vec::new(), throughput_table(published)),
            _ => (Vec::new(), robustness_table(published)),
        };
        ReferenceSection {
            name: reference.name.clone(),
            title: reference.title.clone(),
            findings,
            table,
            caveats: reference.caveats.clone(),
        }
    };
    published.references.iter().map(section).collect()
}

fn strings<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

fn stage_table(published: &Published, cells: &[Cell<'_>]) -> Table {
    let ours = stages::measured(cells);
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let row = |theirs: &stages::StageShares| {
        let is_ours = |one: &&stages::StageShares| {
            one.is_like(theirs) && one.blocks == stages::Blocks::Natural && !one.is_cold
        };
        let mine = ours.iter().find(is_ours);
        let mut row = vec![theirs.words()];
        for index in 0..Stage::ALL.len() {
            let of = |one: &stages::StageShares| one.shares.get(index).map(|share| percent(*share));
            row.push(mine.and_then(of).unwrap_or_else(|| "–".to_owned()));
            row.push(of(theirs).unwrap_or_default());
        }
        row
    };
    let mut head = vec!["cell".to_owned()];
    for stage in Stage::ALL {
        head.push(format!("{}, here", stage.words()));
        head.push("published".to_owned());
    }
    Table {
        caption: "Shares of compression time, natural blocks of this run beside the published ones. A dash: this run has \
                  no such cell."
            .to_owned(),
        head,
        rows: stages::published(published).iter().map(row).collect(),
    }
}

fn percentile_table(published: &Published, cells: &[Cell<'_>]) -> Table {
    let mut rows = Vec::new();
    for size in [4 << 10, 64 << 10] {
        for family in ["snappy", "lz4", "deflate", "zstd", "dpzip"] {
            let of_size = cells
                .iter()
                .filter(|cell| cell.is_plain() && cell.block_size_bytes == size);
            let mine = representative(of_size, family);
            let theirs: BTreeMap<u32, f64> = published.block_ratios(family, size).into_iter().collect();
            let mut row = vec![
                format_bytes(size),
                family.to_owned(),
                mine.map_or_else(|| "–".to_owned(), |cell| cell.codec.clone()),
            ];
            for percentile in [1, 50, 99] {
                let here = mine.and_then(|cell| cell.value(&format!("block_ratio_p{percentile}")));
                row.push(here.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}")));
                let there = theirs.get(&percentile);
                row.push(there.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}")));
            }
            rows.push(row);
        }
    }
    Table {
        caption: "Compression ratio at percentiles of blocks: p1 is among the worst compressible blocks, p99 among the best. Other \
                  data than theirs: read the shapes."
            .to_owned(),
        head: strings([
            "block",
            "published as",
            "here",
            "p1, here",
            "published",
            "p50, here",
            "published",
            "p99, here",
            "published",
        ]),
        rows,
    }
}

fn throughput_table(published: &Published) -> Table {
    let mut rows = Vec::new();
    for size in [4 << 10, 64 << 10] {
        for (subject, _) in published.by_subject(size, "compress_speed") {
            let mut row = vec![subject.to_owned(), format_bytes(size)];
            for direction in Direction::BOTH {
                for metric in ["speed", "latency_as_published"] {
                    let found = published.rows("asic-throughput").find(|row| {
                        row.subject == subject
                            && size_of(row) == Some(size)
                            && row.metric == direction.metric(metric)
                    });
                    row.push(found.map_or_else(|| "–".to_owned(), |row| row.unit.format(row.value)));
                }
            }
            rows.push(row);
        }
    }
    Table {
        caption:
            "As published. Whole devices and whole machines; ours in the figures are one or a few threads."
                .to_owned(),
        head: strings([
            "subject",
            "request",
            "compress throughput",
            "compress latency, as published",
            "decompress throughput",
            "decompress latency, as published",
        ]),
        rows,
    }
}

fn robustness_table(published: &Published) -> Table {
    let [compress, decompress] =
        Direction::BOTH.map(|direction| published.by_compressibility(&direction.metric("speed")));
    let mut rows = Vec::new();
    for (subject, curve) in &compress {
        for (percent, speed) in curve {
            let back = decompress
                .get(subject)
                .and_then(|curve| curve.iter().find(|(other, _)| other == percent));
            let spelled = |value: f64| outcrop_measure::metric::Unit::BytesPerSecond.format(value);
            rows.push(vec![
                (*subject).to_owned(),
                format!("{percent:.0} %"),
                spelled(*speed),
                back.map_or_else(|| "–".to_owned(), |(_, speed)| spelled(*speed)),
            ]);
        }
    }
    Table {
        caption: "Throughput as published, by compressed ÷ original.".to_owned(),
        head: strings(["subject", "compressed ÷ original", "compress", "decompress"]),
        rows,
    }
}
