//! Where zstd's time goes: stacked bars by level, block size and entropy beside the published ones, and what independent
//! bytes turn around at 4 KiB.

use std::collections::BTreeMap;

use outcrop_schema::compression::{BLOCK_ENTROPY, CACHES, CONTENT, STAGE_SUM_RATIO};

use super::super::cell::{CompressionCell, some_of};
use super::super::references::{self, Published};
use super::super::stages::{self, MATCH_FINDING, STAGE_SUM, STAGES};
use crate::cell::{Cell, families};
use crate::chart::{Bar, BarChart, BarGroup, Facet, Part, Quantity, Scale, Segment, SeriesKind, axis};
use crate::section::FigureSlot;

const PLAN: &str = "zstd-stages";

pub(super) fn all(cells: &[Cell<'_>], published: &Published) -> Vec<FigureSlot> {
    let ours = stages::of_one_subject(cells);
    let theirs = stages::of(published.cells(references::STAGES));
    let of = |is_independent: bool, is_cold: bool| -> Vec<&Cell<'_>> {
        let is_asked = |cell: &&&Cell<'_>| {
            stages::is_independent(cell) == is_independent && cell.is_default(&CACHES) != is_cold
        };
        ours.iter().filter(is_asked).copied().collect()
    };
    let how = "Filled: this run. Pale: published (arXiv 2509.23693, figure 2).";
    let beside = published.caption(references::STAGES, how);
    let mut slots = vec![
        stacked(
            &of(false, false),
            &theirs,
            "stage-shares",
            "Stages of zstd, natural blocks",
            beside.trim_start(),
        ),
        stacked(
            &of(true, false),
            &[],
            "stage-shares-independent",
            "Stages of zstd, independent bytes",
            "Generated content: every byte drawn independently, with that order-0 entropy.",
        ),
        at_4_kib(&ours, &theirs),
    ];
    let cold = of(false, true);
    if !cold.is_empty() {
        slots.push(stacked(
            &cold,
            &[],
            "stage-shares-cold",
            "Stages of zstd, natural blocks, cold caches",
            "Before each block the core's private caches were filled with other data.",
        ));
    }
    slots
}

/// Facets by block size, rows by level and entropy, published bars below ours.
fn stacked(ours: &[&Cell<'_>], theirs: &[&Cell<'_>], id: &str, title: &str, remark: &str) -> FigureSlot {
    if ours.is_empty() {
        return FigureSlot::missing(title, "no cell measured the stages of such blocks.", PLAN);
    }
    let group = |one: &&Cell<'_>| {
        let published = stages::alike(theirs, one).map(|other| stack(other, SeriesKind::Published));
        let level = stages::level(one).unwrap_or_default();
        BarGroup {
            label: match stages::bits(one) {
                Some(bits) => format!("level {level}, {bits} bit"),
                None => format!("level {level}"),
            },
            bars: [stack(one, SeriesKind::Measured)]
                .into_iter()
                .chain(published)
                .collect(),
        }
    };
    let of_one_size = |cells: &[&Cell<'_>]| Facet {
        title: cells.first().map(|cell| cell.size()).unwrap_or_default(),
        groups: cells.iter().map(group).collect(),
    };
    let sizes = ours.chunk_by(|one, other| one.size_bytes() == other.size_bytes());
    let chart = BarChart {
        value: axis("Share of compression time", Quantity::Percent, Scale::Linear),
        parts: STAGES
            .iter()
            .enumerate()
            .map(|(hue, stage)| part(stage.words, hue))
            .collect(),
        facets: sizes.map(of_one_size).collect(),
    };
    let caption = format!("{remark}{}{}", doubts(ours), entropies(ours));
    FigureSlot::of(chart.draw(id, title, caption), title, PLAN)
}

fn part(name: &str, hue: usize) -> Part {
    Part {
        name: name.to_owned(),
        hue,
    }
}

fn stack(one: &Cell<'_>, kind: SeriesKind) -> Bar {
    let shares = STAGES
        .iter()
        .filter_map(|stage| Some((stage.words, stage.share(one)? * 100.0)));
    let spelled: Vec<String> = shares
        .clone()
        .map(|(words, percent)| format!("{words} {percent:.1} %"))
        .collect();
    let whose = match kind {
        SeriesKind::Published => ", published",
        _ => "",
    };
    let sum = one.value(&STAGE_SUM_RATIO);
    let sum = sum.map_or_else(String::new, |sum| format!("; sum ÷ whole {sum:.2}"));
    Bar {
        kind,
        segments: shares
            .enumerate()
            .map(|(part, (_, percent))| Segment::bare(part, percent))
            .collect(),
        note: format!("{}{whose}: {}{sum}", stages::words(one), spelled.join(", ")),
    }
}

/// Which bars are not to be relied on.
fn doubts(ours: &[&Cell<'_>]) -> String {
    let doubt = |one: &&Cell<'_>| {
        let sum = one
            .value(&STAGE_SUM_RATIO)
            .filter(|sum| !STAGE_SUM.contains(sum))?;
        Some(format!("{} ({sum:.2})", stages::words(one)))
    };
    let off: Vec<String> = ours.iter().filter_map(doubt).collect();
    if off.is_empty() {
        return String::new();
    }
    format!(
        " Unreliable, because the stages do not add up to 0.85 to 1.15 of the whole: {}.",
        some_of(&off, "; ")
    )
}

/// Where the blocks do not have the entropy that was asked for.
fn entropies(ours: &[&Cell<'_>]) -> String {
    let mut off: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for one in ours {
        let both = stages::bits(one).zip(one.value(&BLOCK_ENTROPY));
        if let Some((asked, reached)) = both.filter(|(asked, reached)| (asked - reached).abs() > 0.25) {
            let (low, high) = off.entry(asked.to_string()).or_insert((reached, reached));
            (*low, *high) = (low.min(reached), high.max(reached));
        }
    }
    let range = |(asked, (low, high)): (String, (f64, f64))| {
        let mut ends = vec![format!("{low:.1}"), format!("{high:.1}")];
        ends.dedup();
        format!("{asked} requested, {} reached", ends.join(" to "))
    };
    let off: Vec<String> = off.into_iter().map(range).collect();
    if off.is_empty() {
        return String::new();
    }
    format!(
        " The data have no blocks of every entropy (bit/B): {}.",
        off.join("; ")
    )
}

/// The share of match finding over entropy at 4 KiB: natural, published and independent.
fn at_4_kib(ours: &[&Cell<'_>], theirs: &[&Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Match finding at 4 KiB by entropy";
    let mut shown = ours.to_vec();
    shown.retain(|cell| stages::at_4_kib(cell));
    let is_made = |cell: &&Cell<'_>| stages::is_independent(cell);
    if shown.iter().all(is_made) || !shown.iter().any(is_made) {
        let reason = "natural blocks and independent bytes of one entropy were not both measured at 4 KiB.";
        return FigureSlot::missing(TITLE, reason, PLAN);
    }
    let bar = |part: usize, kind: SeriesKind, one: &Cell<'_>| {
        let value = MATCH_FINDING.share(one)? * 100.0;
        let note = format!("{}: {value:.1} %", stages::words(one));
        Some(Bar::single(kind, Segment::bare(part, value), note))
    };
    // Natural blocks of an entropy, the published ones like them, and independent bytes of it.
    let group = |cells: &[&Cell<'_>]| {
        let natural = cells.iter().find(|cell| !stages::is_independent(cell)).copied();
        let made = cells.iter().find(|cell| stages::is_independent(cell)).copied();
        let published = cells.first().and_then(|cell| stages::alike(theirs, cell));
        let bits = cells.first().and_then(|cell| stages::bits(cell));
        let bars = [
            (0, SeriesKind::Measured, natural),
            (0, SeriesKind::Published, published),
            (1, SeriesKind::Measured, made),
        ];
        BarGroup {
            label: bits.map_or_else(String::new, |bits| format!("{bits} bit")),
            bars: bars
                .into_iter()
                .filter_map(|(part, kind, one)| bar(part, kind, one?))
                .collect(),
        }
    };
    let facet = |cells: Vec<&Cell<'_>>| {
        let level = cells
            .first()
            .and_then(|cell| stages::level(cell))
            .unwrap_or_default();
        let by_entropy = cells.chunk_by(|one, other| stages::bits(one) == stages::bits(other));
        Facet {
            title: format!("level {level}"),
            groups: by_entropy.map(group).collect(),
        }
    };
    let chart = BarChart {
        value: axis(
            "Match finding's share of the time",
            Quantity::Percent,
            Scale::Linear,
        ),
        parts: vec![part("natural blocks", 0), part("independent bytes", 1)],
        facets: families(shown, &[&CONTENT]).into_iter().map(facet).collect(),
    };
    let caption = "Natural blocks compared with generated ones of the same entropy: the same number, but another kind of data. The finding below explains the reversal."
        .to_owned();
    FigureSlot::of(chart.draw("match-finding-at-4k", TITLE, caption), TITLE, PLAN)
}
