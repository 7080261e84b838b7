//! Where zstd's time goes: stacked bars by level, block size and entropy beside the published ones, and what independent
//! bytes turn around at 4 KiB.

use std::collections::BTreeMap;

use outcrop_measure::units::format_bytes;

use super::super::cell::Cell;
use super::super::findings::{STAGE_SUM, some_of};
use super::super::references::Published;
use super::super::stages::{self, Blocks, Stage, StageShares};
use crate::chart::{Bar, BarChart, BarGroup, Facet, Part, Quantity, Scale, Segment, SeriesKind, axis};
use crate::section::FigureSlot;

const PLAN: &str = "zstd-stages";

pub(super) fn all(cells: &[Cell<'_>], published: &Published) -> Vec<FigureSlot> {
    let ours = stages::measured(cells);
    let theirs = stages::published(published);
    let of = |blocks: Blocks, is_cold: bool| -> Vec<&StageShares> {
        ours.iter()
            .filter(|one| one.blocks == blocks && one.is_cold == is_cold)
            .collect()
    };
    let caveats = published.caveats("asic-stages");
    let mut slots = vec![
        stacked(
            &of(Blocks::Natural, false),
            &theirs,
            "stage-shares",
            "Stages of zstd, natural blocks",
            &format!("Filled: here. Pale: published (arXiv 2509.23693, figure 2). {caveats}"),
        ),
        stacked(
            &of(Blocks::Independent, false),
            &[],
            "stage-shares-independent",
            "Stages of zstd, independent bytes",
            "Made content: every byte drawn alone, with that order-0 entropy. Nothing published is like it.",
        ),
        at_4_kib(&ours, &theirs),
    ];
    let cold = of(Blocks::Natural, true);
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

/// `level 3, 4 bit`.
fn label(one: &StageShares) -> String {
    match one.bits {
        Some(bits) => format!("level {}, {bits} bit", one.level),
        None => format!("level {}", one.level),
    }
}

/// Facets by block size, rows by level and entropy, published bars below ours.
fn stacked(ours: &[&StageShares], theirs: &[StageShares], id: &str, title: &str, remark: &str) -> FigureSlot {
    if ours.is_empty() {
        return FigureSlot::missing(title, "no cell measured the stages of such blocks.", PLAN);
    }
    let mut sizes: Vec<u64> = ours.iter().map(|one| one.block_size_bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let facet = |size: u64| Facet {
        title: format_bytes(size),
        groups: ours
            .iter()
            .filter(|one| one.block_size_bytes == size)
            .map(|one| {
                let published = theirs.iter().find(|other| other.is_like(one));
                BarGroup {
                    label: label(one),
                    bars: [
                        (SeriesKind::Measured, Some(*one)),
                        (SeriesKind::Published, published),
                    ]
                    .into_iter()
                    .filter_map(|(kind, shares)| Some(stack(shares?, kind)))
                    .collect(),
                }
            })
            .collect(),
    };
    let chart = BarChart {
        value: axis("Share of compression time", Quantity::Percent, Scale::Linear),
        parts: Stage::ALL
            .into_iter()
            .enumerate()
            .map(|(hue, stage)| Part {
                name: stage.words().to_owned(),
                hue,
            })
            .collect(),
        facets: sizes.into_iter().map(facet).collect(),
    };
    let mut caption = remark.to_owned();
    caption.push_str(&doubts(ours));
    caption.push_str(&entropies(ours));
    FigureSlot::of(chart.draw(id, title, caption), title, PLAN)
}

fn stack(one: &StageShares, kind: SeriesKind) -> Bar {
    let spelled: Vec<String> = Stage::ALL
        .into_iter()
        .zip(one.shares)
        .map(|(stage, share)| format!("{} {:.1} %", stage.words(), share * 100.0))
        .collect();
    let whose = if kind == SeriesKind::Published {
        ", published"
    } else {
        ""
    };
    let sum = one
        .sum_ratio
        .map_or_else(String::new, |sum| format!("; sum ÷ whole {sum:.2}"));
    Bar {
        kind,
        segments: one
            .shares
            .into_iter()
            .enumerate()
            .map(|(part, share)| Segment {
                part,
                value: share * 100.0,
                interval: None,
            })
            .collect(),
        note: format!("{}{whose}: {}{sum}", one.words(), spelled.join(", ")),
    }
}

/// Which bars are not to be relied on.
fn doubts(ours: &[&StageShares]) -> String {
    let off: Vec<String> = ours
        .iter()
        .filter_map(|one| {
            let sum = one.sum_ratio.filter(|sum| !STAGE_SUM.contains(sum))?;
            Some(format!("{} ({sum:.2})", one.words()))
        })
        .collect();
    if off.is_empty() {
        String::new()
    } else {
        format!(
            " Not to be relied on, because the stages do not add up to 0.85 to 1.15 of the whole: {}.",
            some_of(&off)
        )
    }
}

/// Where the blocks do not have the entropy that was asked for.
fn entropies(ours: &[&StageShares]) -> String {
    let mut off: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for one in ours {
        let Some((asked, reached)) = one.bits.zip(one.reached_bits) else {
            continue;
        };
        if (asked - reached).abs() > 0.25 {
            let range = off.entry(format!("{asked}")).or_insert((reached, reached));
            *range = (range.0.min(reached), range.1.max(reached));
        }
    }
    let off: Vec<String> = off
        .into_iter()
        .map(|(asked, (low, high))| {
            let (low, high) = (format!("{low:.1}"), format!("{high:.1}"));
            let reached = if low == high {
                low
            } else {
                format!("{low} to {high}")
            };
            format!("{asked} asked, {reached} reached")
        })
        .collect();
    if off.is_empty() {
        String::new()
    } else {
        format!(
            " The data have no blocks of every entropy (bit/B): {}.",
            off.join("; ")
        )
    }
}

/// The share of match finding over entropy at 4 KiB: natural, published and independent.
fn at_4_kib(ours: &[StageShares], theirs: &[StageShares]) -> FigureSlot {
    const TITLE: &str = "Match finding at 4 KiB by entropy";
    let is_shown = |one: &&StageShares| one.block_size_bytes == 4096 && one.bits.is_some() && !one.is_cold;
    let mut levels: Vec<i32> = ours.iter().filter(is_shown).map(|one| one.level).collect();
    levels.sort_unstable();
    levels.dedup();
    let has = |blocks: Blocks| ours.iter().filter(is_shown).any(|one| one.blocks == blocks);
    if !has(Blocks::Natural) || !has(Blocks::Independent) {
        let reason = "natural blocks and independent bytes of one entropy were not both measured at 4 KiB.";
        return FigureSlot::missing(TITLE, reason, PLAN);
    }
    let bar = |part: usize, kind: SeriesKind, one: &StageShares| {
        let value = one.match_finding() * 100.0;
        let segment = Segment {
            part,
            value,
            interval: None,
        };
        Bar::single(kind, segment, format!("{}: {value:.1} %", one.words()))
    };
    let facet = |level: i32| {
        let mut bits: Vec<f64> = ours
            .iter()
            .filter(is_shown)
            .filter(|one| one.level == level)
            .filter_map(|one| one.bits)
            .collect();
        bits.sort_by(f64::total_cmp);
        bits.dedup();
        let at = |all: &[StageShares], blocks: Blocks, bits: f64| {
            all.iter()
                .find(|one| is_shown(one) && (one.level, one.bits, one.blocks) == (level, Some(bits), blocks))
                .cloned()
        };
        let group = |bits: f64| {
            let shown = [
                (0, SeriesKind::Measured, at(ours, Blocks::Natural, bits)),
                (0, SeriesKind::Published, at(theirs, Blocks::Natural, bits)),
                (1, SeriesKind::Measured, at(ours, Blocks::Independent, bits)),
            ];
            BarGroup {
                label: format!("{bits} bit"),
                bars: shown
                    .into_iter()
                    .filter_map(|(part, kind, one)| Some(bar(part, kind, &one?)))
                    .collect(),
            }
        };
        Facet {
            title: format!("level {level}"),
            groups: bits.into_iter().map(group).collect(),
        }
    };
    let part = |name: &str, hue| Part {
        name: name.to_owned(),
        hue,
    };
    let chart = BarChart {
        value: axis(
            "Match finding's share of the time",
            Quantity::Percent,
            Scale::Linear,
        ),
        parts: vec![part("natural blocks", 0), part("independent bytes", 1)],
        facets: levels.into_iter().map(facet).collect(),
    };
    let caption = "Natural blocks of so much entropy against made ones of the same entropy: the same number, another kind of data. The \
                   finding below says what turns around, and why."
        .to_owned();
    FigureSlot::of(chart.draw("match-finding-at-4k", TITLE, caption), TITLE, PLAN)
}
