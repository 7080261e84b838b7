//! What the space goes to: the ratio of the whole engine next to that of its blocks alone, and the parts in which they differ.

use outcrop_measure::metric::Metric;
use outcrop_measure::units::format_ratio;
use outcrop_results::RunView;
use outcrop_schema::kv::{
    CONTENT, DATA_BLOCK_BYTES, DATA_BLOCK_RATIO, FILTER_BYTES, INDEX_BYTES, LOG_BYTES, OF_ENGINES, SCHEMA,
    STORED_BYTES, STORED_RATIO, UPPER_LEVELS_SHARE, VERSIONS_PER_RECORD,
};
use outcrop_workload::Content;

use super::super::blocks::{BlockRatio, ratio_of, ratios as block_ratios};
use super::super::cell::{blocks, family, is_compressed, is_compressed_below, with, words};
use super::super::naming::Naming;
use super::super::space::{log_share, matters};
use super::caption_of;
use super::of_loads::MOST_GROUPS;
use crate::cell::Cell;
use crate::chart::SeriesKind::{Derived, Measured};
use crate::chart::{Bar, BarChart, BarGroup, Facet, Part, Quantity, Scale, Segment, Support, axis};
use crate::command::{Commands, to_fill_in};
use crate::layer::not_drawn::cells_not_drawn;
use crate::number::counted;
use crate::section::FigureSlot;

const PLAN: &str = "kv-compression";
/// What the plan predict-codecs compresses: the content of values, unless a plan says otherwise.
const OF_CODECS: Content = Content::Compressible { ratio: 2.0 };
/// Of the whole: what sums of medians may be off by.
const ROUNDING: f64 = 1e-6;

/// The ratio of the whole engine, next to that of its blocks alone: by the engine's statistics, and by the compression layer where the run
/// has it on the same data.
pub(super) fn ratios(run: &RunView, cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Ratio of the whole engine, and of its blocks";
    let family = family(cells, OF_ENGINES, &STORED_RATIO);
    let drawn = &family[..family.len().min(MOST_GROUPS)];
    let naming = Naming::among(drawn);
    let known = block_ratios(run);
    let groups: Vec<BarGroup> = drawn
        .iter()
        .map(|cell| BarGroup {
            label: naming.settings(cell),
            bars: ratio_bars(cell, &known),
        })
        .collect();
    let has_blocks = family.iter().any(|cell| ratio_of(&known, cell).is_some());
    let beside = match has_blocks {
        true => String::new(),
        false => how_to_see_blocks(run, &family),
    };
    let chart = BarChart {
        value: axis(
            "Bytes of keys and values ÷ bytes stored",
            Quantity::Ratio,
            Scale::Linear,
        ),
        parts: Part::all(RATIOS),
        facets: vec![Facet {
            title: String::new(),
            groups,
        }],
    };
    let more = [
        where_they_part(&family, naming),
        beside,
        cells_not_drawn(with(cells, &STORED_RATIO), drawn),
    ];
    chart.slot("kv-space", TITLE, caption_of(&family, OF_ENGINES, more), PLAN)
}

/// Which run has the ratio of single blocks next to that of the engine; nothing where there is no cell.
fn how_to_see_blocks(run: &RunView, family: &[&Cell<'_>]) -> String {
    const GENERAL: &str =
        "A run with the compression layer on the same data shows the ratio of single blocks";
    let codecs = match family.first().map(|cell| cell.get(&CONTENT)) {
        None => return String::new(),
        // Values are cut from the user's data.
        Some(None) => "codec-choice",
        Some(Some(content)) if *content == OF_CODECS => "predict-codecs",
        Some(Some(_)) => return format!("{GENERAL}."),
    };
    let command = Commands::of(run).plans(&[PLAN, codecs], &[&SCHEMA]);
    format!("{GENERAL}: {command}{}.", to_fill_in(&command))
}

/// What the bars of ratios are of.
const RATIOS: [&str; 4] = [
    "the engine's files",
    "the engine's files without its log",
    "data blocks alone, by the engine's statistics",
    "blocks alone, as the compression layer has it",
];

fn ratio_bars(cell: &Cell<'_>, ratios: &[BlockRatio]) -> Vec<Bar> {
    let own = cell
        .number(&STORED_RATIO)
        .map(|number| Bar::of(Measured, 0, number, &words(cell)));
    // A log that matters hides what the codec does.
    let log = log_share(cell).filter(|share| matters(*share) && *share < 1.0);
    let without_log = cell.value(&STORED_RATIO).zip(log).map(|(ratio, share)| {
        let ratio = ratio / (1.0 - share);
        let note = format!("{}, log left out: {ratio:.2}", blocks(cell));
        Bar::single(Derived, Segment::bare(1, ratio), note)
    });
    let of_data_blocks = cell.number(&DATA_BLOCK_RATIO).map(|number| {
        Bar::of(
            Measured,
            2,
            number,
            &format!("{}, data blocks alone", blocks(cell)),
        )
    });
    let of_blocks = ratio_of(ratios, cell).map(|ratio| {
        let note = format!("{}, blocks alone: {ratio:.2}", blocks(cell));
        Bar::single(Derived, Segment::bare(3, ratio), note)
    });
    let measured = own.into_iter().chain(without_log);
    measured.chain(of_data_blocks).chain(of_blocks).collect()
}

/// The space of a cell by what it is for.
struct Parts {
    /// What the engine and the files' names say of it, over the bytes of keys and values.
    known: [f64; 4],
    /// The whole space over the same.
    whole: f64,
    /// Trials behind the medians of these.
    n: usize,
}

/// The last one is what the others leave of the whole.
const NAMES: [&str; 5] = ["data blocks", "indexes", "bloom filters", "log", "the rest"];
const REST: usize = 4;

impl Parts {
    /// None where the engine does not say what its files hold, or a filesystem compresses them.
    fn of(cell: &Cell<'_>) -> Option<Self> {
        let known: [&Metric; 4] = [&DATA_BLOCK_BYTES, &INDEX_BYTES, &FILTER_BYTES, &LOG_BYTES];
        let stored = cell.number(&STORED_BYTES)?;
        let (stored, n) = (stored.value, stored.n);
        let user = stored * cell.value(&STORED_RATIO)?;
        let [data, index, filter, log] = known.map(|metric| cell.value(metric));
        let known = [data?, index?, filter?, log?].map(|bytes| bytes / user);
        let whole = stored / user;
        (!is_compressed_below(cell) && user > 0.0).then_some(Self { known, whole, n })
    }

    /// What the parts leave of the whole; below 0 where they exceed it.
    fn rest(&self) -> f64 {
        self.whole - self.known.iter().sum::<f64>()
    }

    /// By how much of the whole the parts exceed it; none where they do not.
    fn excess(&self) -> Option<f64> {
        let share = -self.rest() / self.whole;
        (share > ROUNDING).then_some(share)
    }

    /// A bar of them: the rest is not measured but what the others leave, and without length where they leave nothing.
    fn segments(&self) -> Vec<Segment> {
        let known = self.known.iter().enumerate();
        let n = Some(self.n);
        let segment = |part: usize, share: f64| Segment {
            support: Support {
                n,
                ..Support::default()
            },
            ..Segment::bare(part, share)
        };
        let mut segments: Vec<Segment> = known.map(|(part, share)| segment(part, *share)).collect();
        let rest = Some(self.rest()).filter(|rest| *rest > 0.0);
        segments.extend(rest.map(|rest| segment(REST, rest).of_kind(Derived)));
        segments
    }

    /// `data blocks 94 %, indexes 2.1 %, …`: of the space.
    fn words(&self) -> String {
        let percent = |share: f64| {
            let percent = share / self.whole * 100.0;
            let digits = usize::from(percent < 10.0);
            format!("{percent:.digits$} %")
        };
        let known = NAMES.iter().zip(&self.known);
        let mut words: Vec<String> = known
            .map(|(name, share)| format!("{name} {}", percent(*share)))
            .collect();
        words.push(match self.excess() {
            Some(excess) => format!("together {} more than the space", percent(excess * self.whole)),
            None => format!("{} {}", NAMES[REST], percent(self.rest().max(0.0))),
        });
        words.join(", ")
    }
}

/// What parts that exceed the whole mean; nothing where none do.
fn excess_in_words(family: &[&Cell<'_>]) -> String {
    let found = family.iter().filter_map(|cell| Parts::of(cell)?.excess());
    let found: Vec<f64> = found.collect();
    let Some(most) = found.iter().copied().reduce(f64::max) else {
        return String::new();
    };
    format!(
        "In {} the parts exceed the space, by up to {:.1} %, and leave no rest: the engine counts files that were removed before the space was \
         measured, or the medians are those of different trials.",
        counted(found.len(), "cell"),
        most * 100.0
    )
}

/// In what the ratio of the engine and that of its blocks differ, of the first compressed cell that says so.
fn where_they_part(family: &[&Cell<'_>], naming: Naming) -> String {
    const WHY: &str =
        "The ratios differ by index, bloom filters, the log, levels that are not merged, and keys.";
    let compressed = family.iter().filter(|cell| is_compressed(cell));
    let found = compressed
        .chain(family)
        .find_map(|cell| Some((cell, Parts::of(cell)?)));
    let Some((cell, parts)) = found else {
        return WHY.to_owned();
    };
    let versions = cell
        .value(&VERSIONS_PER_RECORD)
        .map_or_else(String::new, |versions| {
            format!("; its files hold each record {} times", format_ratio(versions))
        });
    let upper = cell.value(&UPPER_LEVELS_SHARE).map_or_else(String::new, |share| {
        format!(
            "; {:.0} % of the files' bytes lie above the deepest level",
            share * 100.0
        )
    });
    format!(
        "{WHY} Of the space of {}: {}{versions}{upper}.",
        naming.settings(cell),
        parts.words()
    )
}

/// Space over user's bytes by what it is for; of runs of earlier versions, which do not have it, nothing.
pub(super) fn parts(cells: &[Cell<'_>]) -> Option<FigureSlot> {
    const TITLE: &str = "What the space goes to";
    let family = family(cells, OF_ENGINES, &DATA_BLOCK_BYTES);
    let drawn = &family[..family.len().min(MOST_GROUPS)];
    let naming = Naming::among(drawn);
    let bar = |cell: &Cell<'_>| {
        let parts = Parts::of(cell)?;
        Some(Bar {
            kind: Measured,
            segments: parts.segments(),
            note: format!("{}: {}", words(cell), parts.words()),
        })
    };
    let group = |cell: &&Cell<'_>| BarGroup {
        label: naming.settings(cell),
        bars: bar(cell).into_iter().collect(),
    };
    let chart = BarChart {
        value: axis(
            "Bytes stored ÷ bytes of keys and values",
            Quantity::Ratio,
            Scale::Linear,
        ),
        parts: Part::all(NAMES),
        facets: vec![Facet {
            title: String::new(),
            groups: drawn.iter().map(group).collect(),
        }],
    };
    const HOW: &str = "After the load has settled. Medians. The rest is derived, the space less its known parts: what the engine's statistics leave \
                       out, and, of fjall where settling is not compacted, files that compaction has replaced.";
    let more = [
        HOW.to_owned(),
        excess_in_words(&family),
        cells_not_drawn(with(cells, &STORED_RATIO), drawn),
    ];
    match chart.draw("kv-space-parts", TITLE, caption_of(&family, OF_ENGINES, more)) {
        Some(figure) => Some(FigureSlot::Drawn(figure)),
        None => {
            let why = cells
                .iter()
                .find_map(|cell| cell.unavailable(&DATA_BLOCK_BYTES))?;
            Some(FigureSlot::missing(TITLE, &format!("{why}."), PLAN))
        }
    }
}
