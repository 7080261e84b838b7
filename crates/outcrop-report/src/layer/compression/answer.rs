//! Which codec and which block size, for three wishes, and how sure that is.

use outcrop_measure::metric::Unit;
use outcrop_results::RunView;

use super::super::cautions::{lost_trials, note, repetitions, warning, width};
use super::LAYER;
use super::cell::{Cell, Direction};
use super::findings::STAGE_SUM;
use super::stages::{self, Blocks, Stage, StageShares};
use super::wishes::{Candidate, Choice, Wish, candidates, choices, front, held_fixed};
use crate::answer::{Answer, Capability, Caution, Claim, Reading, ReadingOutcome};
use crate::environment;
use crate::number::Number;

/// The plan that measures what the answer needs.
const PLAN: &str = "throughput-latency";
/// Names of ties and of the front that fit a sentence.
const MOST_NAMES: usize = 6;

/// The answer of a compression run.
pub(super) fn answer(run: &RunView, cells: &[Cell<'_>]) -> Answer {
    let all = candidates(cells);
    let choices = choices(&all);
    let subjects: std::collections::BTreeSet<&str> = cells.iter().map(|cell| cell.view.subject).collect();
    let subject = match held_fixed(&all) {
        fixed if fixed.is_empty() => subjects.into_iter().collect::<Vec<_>>().join(", "),
        fixed => fixed,
    };
    // A run of stages alone has no speeds to choose by; what it measured is the answer then.
    let is_stages_alone = cells.iter().all(Cell::is_of_stages);
    let mut advice: Vec<Claim> = choices.iter().map(recommendation).collect();
    advice.extend(stage_claims(cells).into_iter().filter(|_| is_stages_alone));
    advice.extend(block_size(&choices, &all));
    advice.extend(
        Direction::BOTH
            .into_iter()
            .filter_map(|direction| named_front(&all, direction)),
    );
    Answer {
        subject: format!("Compression of {subject}"),
        capabilities: if is_stages_alone {
            Vec::new()
        } else {
            capabilities(&choices)
        },
        advice,
        cautions: cautions(run, cells, &choices),
    }
}

/// A column per wish.
fn capabilities(choices: &[Choice<'_, '_>]) -> Vec<Capability> {
    let row = |label: &str, with_name: bool, number: &dyn Fn(&Cell<'_>) -> Result<Number, String>| {
        let reading = |wish: &Wish| {
            let choice = choices.iter().find(|choice| choice.wish == *wish);
            let outcome = match choice.map(|choice| (choice.best.cell, number(choice.best.cell))) {
                Some((cell, Ok(number))) => ReadingOutcome::Measured {
                    number,
                    conditions: if with_name {
                        cell.short_name()
                    } else {
                        String::new()
                    },
                },
                Some((_, Err(reason))) => ReadingOutcome::Missing { reason },
                None => ReadingOutcome::Missing {
                    reason: format!(
                        "no codec of this run was measured in both directions and made the data smaller; \
                         plans/{PLAN}.toml has them"
                    ),
                },
            };
            Reading {
                column: wish.name().to_owned(),
                outcome,
            }
        };
        Capability {
            label: label.to_owned(),
            readings: Wish::ALL.iter().map(reading).collect(),
        }
    };
    let of = |metric: &'static str| {
        move |cell: &Cell<'_>| {
            let reason = || cell.unavailable(metric).unwrap_or("not in this run").to_owned();
            cell.number(metric).cloned().ok_or_else(reason)
        }
    };
    // The furthest percentile that short trials support for all of them.
    let has = |name: &&&str| {
        let metric = read_metric(name);
        choices
            .iter()
            .all(|choice| choice.best.cell.number(metric).is_some())
    };
    let latency = ["p99", "p95", "p90", "p50", "mean"]
        .iter()
        .find(has)
        .copied()
        .unwrap_or("p99");
    vec![
        row("Ratio", true, &of("compression_ratio")),
        row("Compress speed", false, &of("compress_speed")),
        row("Decompress speed", false, &of("decompress_speed")),
        row(
            &format!("Read a block, {latency}"),
            false,
            &of(read_metric(latency)),
        ),
    ]
}

/// The metric of what reading one block back takes.
fn read_metric(name: &str) -> &'static str {
    match name {
        "p99" => "decompress_latency_p99",
        "p95" => "decompress_latency_p95",
        "p90" => "decompress_latency_p90",
        "p50" => "decompress_latency_p50",
        _ => "decompress_latency_mean",
    }
}

fn recommendation(choice: &Choice<'_, '_>) -> Claim {
    let Choice {
        wish,
        best,
        ties,
        next,
    } = choice;
    let name = best.cell.words();
    let figures = format!(
        "ratio {:.2}, {} in, {} out",
        best.ratio, best.compress, best.decompress
    );
    let is_repeated = best.compress.interval.is_some();
    let sureness = match (ties.as_slice(), next) {
        ([], _) if !is_repeated && *wish != Wish::Smallest => {
            "one trial only: nothing says how sure that is".to_owned()
        }
        ([], Some(next)) => format!(
            "clear; the next is {} ({})",
            next.cell.words(),
            figure_of(*wish, next)
        ),
        ([], None) => "the only candidate".to_owned(),
        (ties, _) => format!("tie with {}: their intervals overlap", names(ties)),
    };
    let brief_sureness = match (ties.len(), is_repeated || *wish == Wish::Smallest) {
        (0, true) => "clear".to_owned(),
        (0, false) => "one trial".to_owned(),
        (1, _) => format!("tie with {}", names(ties)),
        (count, _) => format!("tie with {count} others"),
    };
    let meaning = match wish {
        Wish::Smallest => "It has the highest ratio",
        Wish::Balanced => {
            "It is nearest to the best ratio and the best speed at once, both on a logarithmic scale over the candidates"
        }
        Wish::Fastest => {
            "It moves the most bytes a second through both directions, of those that make the data smaller"
        }
    };
    Claim {
        topic: wish.name().to_owned(),
        brief: format!("{} ({brief_sureness})", best.cell.words()),
        text: format!("{name}: {figures}. {meaning}: {sureness}."),
        numbers: vec![best.compress.clone(), best.decompress.clone()],
    }
}

/// The figure that decides a wish.
fn figure_of(wish: Wish, one: &Candidate<'_, '_>) -> String {
    match wish {
        Wish::Smallest => format!("{:.2}", one.ratio),
        Wish::Balanced | Wish::Fastest => {
            format!("{:.2}, {} in, {} out", one.ratio, one.compress, one.decompress)
        }
    }
}

fn names(ones: &[Candidate<'_, '_>]) -> String {
    let mut names: Vec<String> = ones
        .iter()
        .take(MOST_NAMES)
        .map(|one| one.cell.short_name())
        .collect();
    if ones.len() > MOST_NAMES {
        names.push(format!("{} more", ones.len() - MOST_NAMES));
    }
    names.join(", ")
}

/// What larger blocks of the balanced codec give and cost.
fn block_size(choices: &[Choice<'_, '_>], all: &[Candidate<'_, '_>]) -> Option<Claim> {
    let balanced = choices.iter().find(|choice| choice.wish == Wish::Balanced)?;
    let same = all
        .iter()
        .filter(|one| one.cell.codec == balanced.best.cell.codec);
    let least = same.clone().min_by_key(|one| one.cell.block_size_bytes)?;
    let most = same.max_by_key(|one| one.cell.block_size_bytes)?;
    if least.cell.block_size_bytes == most.cell.block_size_bytes {
        return None;
    }
    let gain = (most.ratio / least.ratio - 1.0) * 100.0;
    let read = match (least.read_latency(), most.read_latency()) {
        (Some(low), Some(high)) => format!("one block takes {low} instead of {high} to read back"),
        _ => "a small read decompresses less".to_owned(),
    };
    let (small, large) = (least.cell.size(), most.cell.size());
    Some(Claim {
        topic: "Block size".to_owned(),
        brief: format!(
            "{large} instead of {small}: ratio {gain:+.0} % ({})",
            least.cell.codec
        ),
        text: format!(
            "With {}, blocks of {large} instead of {small} change the ratio by {gain:+.1} % ({:.2} to {:.2}). With the small \
             ones {read}: take large blocks for what is read whole, small ones for what is read at random.",
            least.cell.codec, least.ratio, most.ratio
        ),
        numbers: vec![Number::derived("gain in ratio", gain / 100.0, Unit::Ratio, 2)],
    })
}

/// The members of the front of ratio against the speed of a direction, from the smallest result to the fastest.
fn named_front(all: &[Candidate<'_, '_>], direction: Direction) -> Option<Claim> {
    let on_front = front(all, direction);
    let mut members: Vec<&Candidate<'_, '_>> = all
        .iter()
        .zip(&on_front)
        .filter_map(|(one, is_member)| is_member.then_some(one))
        .collect();
    members.sort_by(|one, other| other.ratio.total_cmp(&one.ratio));
    let able = all.iter().filter(|one| one.compresses()).count();
    (able > 1).then(|| {
        let names: Vec<String> = members.iter().map(|one| one.cell.short_name()).collect();
        Claim {
            topic: format!("Front, {}", direction.name()),
            brief: format!("{} of {able} cells; see the figure", members.len()),
            text: format!(
                "{} of {able} cells are beaten by no other in both ratio and {} speed, from the smallest result to the fastest: {}.",
                members.len(),
                direction.name(),
                names.join(", ")
            ),
            numbers: Vec::new(),
        }
    })
}

/// Where the time goes: each stage's least and greatest share over natural blocks with warm caches whose parts add up.
fn stage_claims(cells: &[Cell<'_>]) -> Vec<Claim> {
    let measured = stages::measured(cells);
    let believed: Vec<&StageShares> = measured
        .iter()
        .filter(|one| one.blocks == Blocks::Natural && !one.is_cold)
        .filter(|one| one.sum_ratio.is_some_and(|sum| STAGE_SUM.contains(&sum)))
        .collect();
    let claim = |(index, stage): (usize, Stage)| {
        let by_share =
            |one: &&&StageShares, other: &&&StageShares| one.shares[index].total_cmp(&other.shares[index]);
        let (least, most) = (
            believed.iter().min_by(by_share)?,
            believed.iter().max_by(by_share)?,
        );
        let percent = |one: &StageShares| format!("{:.0} %", one.shares[index] * 100.0);
        Some(Claim {
            topic: stage.words().to_owned(),
            brief: format!("{} to {} of the time", percent(least), percent(most)),
            text: format!(
                "from {} of zstd's time at {} to {} at {}, over natural blocks with warm caches.",
                percent(least),
                least.words(),
                percent(most),
                most.words()
            ),
            numbers: Vec::new(),
        })
    };
    Stage::ALL.into_iter().enumerate().filter_map(claim).collect()
}

/// Everything a careful reader must know, warnings first.
fn cautions(run: &RunView, cells: &[Cell<'_>], choices: &[Choice<'_, '_>]) -> Vec<Caution> {
    let mut cautions = Vec::new();
    cautions.extend(lost_trials(run, LAYER));
    let speeds = cells.iter().filter_map(|cell| cell.speed(Direction::Compress));
    cautions.extend(width("compress speed", speeds.clone()));
    cautions.extend(repetitions(speeds));
    cautions.extend(sample(choices));
    cautions.extend(stage_sums(cells));
    // The device's section of the page has said so already where there is one.
    if run.trials.iter().all(|trial| trial.layer != "device") {
        cautions.extend(environment::warnings(&run.environment).into_iter().map(note));
    }
    cautions.sort_by_key(|caution| std::cmp::Reverse(caution.severity));
    cautions
}

/// How much of the data the ratios rest on.
fn sample(choices: &[Choice<'_, '_>]) -> Option<Caution> {
    let cell = choices.first()?.best.cell;
    let share = cell.value("sampled_share")?;
    if share >= 0.9995 {
        return cell.view.subject.starts_with("sample").then(|| {
            note(
                "The data are the embedded sample, not yours: `--data DIR` measures yours, and codecs differ more by data \
                 than by anything else."
                    .to_owned(),
            )
        });
    }
    let (low, high) = (
        cell.value("compression_ratio_low")?,
        cell.value("compression_ratio_high")?,
    );
    let text = format!(
        "The ratios rest on {:.1} % of the data; of all of it, {} would have between {low:.2} and {high:.2} (95 %).",
        share * 100.0,
        cell.words()
    );
    Some(if high / low > 1.1 {
        warning(text)
    } else {
        note(text)
    })
}

/// Stage cells whose parts do not add up.
fn stage_sums(cells: &[Cell<'_>]) -> Option<Caution> {
    let stages = cells.iter().filter(|cell| cell.is_of_stages());
    let sums = stages.filter_map(|cell| cell.value("stage_sum_ratio"));
    let (total, off) = (
        sums.clone().count(),
        sums.filter(|sum| !STAGE_SUM.contains(sum)).count(),
    );
    (off > 0).then(|| {
        warning(format!(
            "In {off} of {total} cells the stages of zstd do not add up to 0.85 to 1.15 of the whole: their shares are not to be \
             relied on. The captions name them."
        ))
    })
}
