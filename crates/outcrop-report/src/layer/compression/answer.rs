//! Which codec and which block size, for three wishes, and how sure that is.

use outcrop_measure::metric::Metric;
use outcrop_results::RunView;
use outcrop_schema::compression::{
    COMPRESSION_RATIO, Data, Direction, LATENCY, MEASUREMENT, Measurement, SAMPLED_SHARE, SCHEMA, SPEED,
};

use super::super::undecided::add_rival;
use super::super::{cautions, may_lack_cells, subjects};
use super::apart::Apart;
use super::by_size;
use super::cell::{CompressionCell, some_of};
use super::front;
use super::incompressible::{highest, incompressible};
use super::stages::{self, STAGES};
use super::wishes::{Candidate, Choice, Wish, candidates, choices, distinct, held_fixed};
use crate::answer::{Absence, Answer, Capability, Caution, Claim, Reading, column_of};
use crate::cell::Cell;
use crate::number::Number;
use crate::placement::{Bound, Bounded, Bounds, Kept, Limit, Verdict};

/// How the codec of a choice stands to the limits; of the smallest, with what keeps them apart from those compared.
fn judged(choice: &Choice<'_, '_>, bounds: &Bounds<'_>, apart: Option<&Apart<'_, '_>>) -> Verdict {
    let mut verdict = judge(&choice.best, bounds);
    if choice.wish == Wish::Smallest && verdict.kept != Kept::Keeps {
        verdict
            .why
            .extend(apart.into_iter().map(|apart| apart.keeping(bounds)));
    }
    verdict
}

/// The answer of a compression run.
pub(super) fn answer(run: &RunView, cells: &[Cell<'_>], bounds: &Bounds<'_>) -> Answer {
    let measured = candidates(cells);
    let all = distinct(&measured);
    let apart = Apart::of(cells, &measured);
    let kept: Vec<_> = all
        .iter()
        .filter(|one| judge(one, bounds).is_kept())
        .copied()
        .collect();
    // Codecs that keep the limit on the ratio, where any does.
    let (usable, choices) = match choices(&kept) {
        choices if choices.is_empty() => (&all, self::choices(&all)),
        choices => (&kept, choices),
    };
    let given = bounds.besides(&[Limit::P99, Limit::CpuShare]).pop();
    let able = |those: &[Candidate<'_, '_>]| those.iter().filter(|one| one.compresses()).count();
    // Named in each sentence on the best, where it leaves any out.
    let limit = given.as_deref().filter(|_| able(usable) < able(&all));
    // A run of stages alone has no speeds to choose by; what it measured is the answer then.
    let is_of_stages = |cell: &Cell<'_>| cell.is(&MEASUREMENT, &Measurement::Stages);
    let is_stages_alone = cells.iter().all(is_of_stages);
    let mut advice: Vec<Claim> = match only_one(&choices) {
        Some(only) => vec![no_choice(only, limit, apart)],
        None => choices
            .iter()
            .map(|choice| recommendation(choice, limit, ahead(run), apart))
            .collect(),
    };
    for (claim, choice) in advice.iter_mut().zip(&choices) {
        let verdict = judged(choice, bounds, apart.as_ref());
        *claim = claim.clone().under(&choice.best.cell.words(), &verdict);
    }
    advice.extend(no_balance(&choices, bounds, limit));
    let mut capabilities = capabilities(&choices);
    if is_stages_alone {
        advice.extend(STAGES.iter().filter_map(|stage| stages::claim(cells, stage)));
        capabilities.clear();
    }
    let is_any_codec = all.iter().any(|one| !one.cell.is_copy());
    if choices.is_empty() && is_any_codec {
        advice.push(
            apart
                .and_then(|apart| apart.alone())
                .unwrap_or_else(|| incompressible(&all)),
        );
        capabilities.clear();
    }
    advice.extend(
        by_size::block_size(&choices, usable, |one| judge(one, bounds))
            .into_iter()
            .chain(by_size::balanced(&kept, limit)),
    );
    let fronts = Direction::ALL.into_iter();
    // Of a run that is not kept there is no report.
    let in_report = match run.dir.as_os_str().is_empty() {
        true => "",
        false => "; the report has the figure",
    };
    advice.extend(fronts.filter_map(|direction| front::named(&all, direction, in_report)));
    let own = sample(&choices, &all)
        .into_iter()
        .chain(stages::sums(cells))
        .chain(by_size::short_blocks(&measured));
    let subject = held_fixed(&all).unwrap_or_else(|| subjects(cells));
    let given = given.map_or_else(String::new, |limit| format!("; limit: {limit}"));
    Answer {
        subject: format!("Compression of {subject}{given}"),
        capabilities,
        advice,
        cautions: cautions(run, &SCHEMA, cells, own),
    }
}

/// How a codec stands to the limits: by its ratio, which of a sample has an interval.
fn judge(one: &Candidate<'_, '_>, bounds: &Bounds<'_>) -> Verdict {
    bounds.judge(Bounded {
        ratio: Bound::of(one.cell.number(&COMPRESSION_RATIO)),
        ..Bounded::default()
    })
}

/// The best for every wish, where nothing else was to be chosen.
fn only_one<'k, 'c, 'a>(choices: &'k [Choice<'c, 'a>]) -> Option<&'k Candidate<'c, 'a>> {
    let is_alone = |choice: &Choice<'_, '_>| choice.ties.is_empty() && choice.next.is_none();
    let only = choices.first().filter(|_| choices.iter().all(is_alone));
    only.map(|choice| &choice.best)
}

/// What one codec gives: with one candidate there is nothing to choose, so its figures need not decide anything.
fn no_choice(only: &Candidate<'_, '_>, limit: Option<&str>, apart: Option<Apart<'_, '_>>) -> Claim {
    let (words, figures) = (only.cell.words(), only.figures());
    let [mut brief, mut why] = match (limit, apart) {
        (Some(limit), None) => [
            format!("nothing else keeps {limit}"),
            format!("that keeps {limit}."),
        ],
        (Some(limit), Some(_)) => [
            format!("nothing else that was compared keeps {limit}"),
            format!("of those compared that keeps {limit}."),
        ],
        (None, None) => ["nothing to choose from", "to choose from."].map(str::to_owned),
        (None, Some(_)) => ["nothing else was compared", "to compare."].map(str::to_owned),
    };
    if let Some(apart) = apart {
        brief.push_str(&format!("; {}", apart.in_short()));
        why.push_str(&apart.sentence());
    }
    Claim::new(
        "Codec",
        format!("{words}: ratio {figures}; {brief}"),
        format!("{words}: ratio {figures}. It is the only codec and block size {why}"),
        Vec::new(),
    )
}

/// Statistics of reading a block, the furthest percentile first.
const READS: [(&str, Metric); 5] = {
    let latency = LATENCY.decompress;
    [
        ("p99", latency.p99),
        ("p95", latency.p95),
        ("p90", latency.p90),
        ("p50", latency.p50),
        ("mean", latency.mean),
    ]
};

/// The furthest percentile that short trials support for all of some cells.
pub(super) fn read_statistic(cells: &[&Cell<'_>]) -> Option<(&'static str, Metric)> {
    let has = |(_, metric): &(&str, Metric)| cells.iter().all(|cell| cell.number(metric).is_some());
    READS.into_iter().find(has)
}

/// A column per wish; one where there is nothing to choose, and none for a balance that there is not.
fn capabilities(choices: &[Choice<'_, '_>]) -> Vec<Capability> {
    let only = only_one(choices);
    let cells: Vec<&Cell<'_>> = choices.iter().map(|choice| choice.best.cell).collect();
    let (name, read) = read_statistic(&cells).unwrap_or(READS[0]);
    let has_balance = choices.iter().any(|choice| choice.wish == Wish::Balanced);
    let wishes = match only {
        Some(_) => &[Wish::Balanced][..],
        None if has_balance || choices.is_empty() => &Wish::ALL,
        None => &[Wish::Smallest, Wish::Fastest],
    };
    let row = |label: &str, metric: Metric| {
        let reading = |wish: &Wish| {
            let wish = *wish;
            let choice = choices.iter().find(|choice| choice.wish == wish);
            let cell = choice.map(|choice| choice.best.cell);
            let conditions = match cell {
                // Where the column is called so, it has been said.
                Some(cell) if metric == COMPRESSION_RATIO && only.is_none() => cell.short_name(),
                // The time is that of what was read.
                Some(cell) if metric == read => {
                    let mean = cell.short_blocks();
                    mean.map_or_else(String::new, |mean| format!("of {mean} on average"))
                }
                _ => String::new(),
            };
            let number = cell.and_then(|cell| cell.number(&metric));
            let found = number.map(|number| (number.clone(), conditions));
            let column = match only {
                Some(only) => only.cell.short_name(),
                None => column_of(wish.name()),
            };
            let unknown = || "not in this run".to_owned();
            Reading::of(&column, found, || match cell {
                Some(cell) => Absence::recorded_or(cell.unavailable(&metric), unknown),
                None => Absence::from(
                    "no codec of this run was measured in both directions and made the data smaller; \
                     plans/throughput-latency.toml has them"
                        .to_owned(),
                ),
            })
        };
        Capability {
            label: label.to_owned(),
            readings: wishes.iter().map(reading).collect(),
        }
    };
    vec![
        row("Ratio", COMPRESSION_RATIO),
        row("Compress speed", SPEED.compress),
        row("Decompress speed", SPEED.decompress),
        row(&format!("Read a block, {name}"), read),
    ]
}

/// How the best is called: what a run has not measured yet may be better.
fn ahead(run: &RunView) -> &'static str {
    match may_lack_cells(run, SCHEMA.name) {
        true => "the best so far",
        false => "clear",
    }
}

/// The best for a wish, and in which words it is ahead of what is next.
fn recommendation(
    choice: &Choice<'_, '_>,
    limit: Option<&str>,
    clear: &str,
    apart: Option<Apart<'_, '_>>,
) -> Claim {
    let Choice {
        wish,
        best,
        ties,
        next,
    } = choice;
    let is_sure = best.speed.compress.interval.is_some() || *wish == Wish::Smallest;
    let names: Vec<String> = ties.iter().map(|one| one.cell.short_name()).collect();
    let names = some_of(&names, ", ");
    let sureness = match (ties.len(), next) {
        (0, _) if !is_sure => "one trial only, so its certainty is unknown".to_owned(),
        (0, Some(next)) => {
            let figure = match wish {
                Wish::Smallest => format!("{:.2}", next.ratio),
                Wish::Balanced | Wish::Fastest => next.figures(),
            };
            format!("{clear}; the next is {} ({figure})", next.cell.words())
        }
        (0, None) => "the only candidate".to_owned(),
        _ => format!("tie with {names}: {}", tie_of(choice)),
    };
    let brief_sureness = match ties.len() {
        0 if next.is_none() => "the only candidate".to_owned(),
        0 if is_sure => clear.to_owned(),
        0 => "one trial".to_owned(),
        1 => format!("tie with {names}"),
        count => format!("tie with {count} others"),
    };
    // Only of the ratio is it known whether that is better.
    let second = next.map_or(best.ratio, |next| next.ratio);
    let apart = apart.filter(|apart| *wish == Wish::Smallest && apart.is_above(second));
    let brief_sureness = match apart.filter(|apart| apart.is_above(best.ratio)) {
        Some(apart) => format!("{brief_sureness} among those compared; {}", apart.in_short()),
        None => brief_sureness,
    };
    // It may be slower in one of them.
    let brief_sureness = match wish {
        Wish::Fastest => format!("both directions combined; {brief_sureness}"),
        Wish::Smallest | Wish::Balanced => brief_sureness,
    };
    let among = apart.map_or("", |_| " among those compared");
    let higher = apart.map_or_else(String::new, |apart| apart.sentence());
    let meaning = meaning(*wish, limit);
    let (words, figures) = (best.cell.words(), best.figures());
    let claim = Claim::new(
        wish.name(),
        format!("{words} ({brief_sureness})"),
        format!("{words}: ratio {figures}. {meaning}{among}: {sureness}.{higher}"),
        numbers_of(choice),
    );
    let compared = std::iter::once(best).chain(ties).chain(next);
    let compared: Vec<&Cell<'_>> = compared.map(|one| one.cell).collect();
    // The one instruction of the first screen; the other two wishes stand beside it in the layer's section.
    match wish {
        Wish::Balanced => {
            let action = format!("Compress with {words}: ratio {figures} ({brief_sureness})");
            claim.advising(action).unless_disturbed(compared)
        }
        Wish::Smallest => claim,
        Wish::Fastest => claim.unless_disturbed(compared),
    }
}

/// The numbers that decide a choice, and those that the sentence on it states besides.
fn numbers_of(choice: &Choice<'_, '_>) -> Vec<Number> {
    let (ties, next) = (&choice.ties, &choice.next);
    let mut numbers = choice.best.decisive(choice.wish);
    let by_speed = ties.iter().chain(next).filter(|_| choice.wish != Wish::Smallest);
    let speeds = by_speed.flat_map(|one| {
        let words = one.cell.words();
        [one.speed.compress, one.speed.decompress]
            .map(|number| (format!("{} of {words}", number.name), number))
    });
    add_rival(&mut numbers, speeds);
    choice.add_wide_ties(&mut numbers);
    let stated = stated_beside(choice, &numbers);
    numbers.extend(stated);
    numbers
}

/// What the best for a wish is the best in, and among which codecs.
fn meaning(wish: Wish, limit: Option<&str>) -> String {
    let kept = limit.map(|limit| format!("keep {limit}"));
    match wish {
        // The smallest keeps a limit if any does.
        Wish::Smallest => "It has the highest ratio".to_owned(),
        Wish::Balanced => {
            let kept = kept.map_or_else(String::new, |kept| format!(", among the codecs that {kept}"));
            format!("It is the nearest to both the best ratio and the best speed{kept}")
        }
        Wish::Fastest => {
            let kept = kept.map_or_else(String::new, |kept| format!(" and {kept}"));
            format!(
                "It has the highest speed in both directions combined, among the codecs that make the data smaller{kept}"
            )
        }
    }
}

/// What the smallest and the fastest cost against each other, where nothing is between the two; none where something is balanced.
fn no_balance(choices: &[Choice<'_, '_>], bounds: &Bounds<'_>, limit: Option<&str>) -> Option<Claim> {
    let of = |wish: Wish| choices.iter().find(|choice| choice.wish == wish);
    if of(Wish::Balanced).is_some() {
        return None;
    }
    let (smallest, fastest) = (of(Wish::Smallest)?, of(Wish::Fastest)?);
    let (small, fast) = (&smallest.best, &fastest.best);
    let less = (1.0 - fast.ratio / small.ratio) * 100.0;
    let times = fast.speed_over(small);
    let [small_words, fast_words] = [small, fast].map(|one| one.cell.words());
    let of_sample = match small.is_sampled() && !small.is_surely_smaller(fast) {
        true => " in this sample",
        false => "",
    };
    let in_short = format!(
        "{small_words} takes {less:.0} % less space{of_sample}; {fast_words} is {times:.1} times as fast, both directions combined"
    );
    let numbers = [small, fast].into_iter().flat_map(|one| {
        let named = |number: Number| {
            let name = format!("{} of {}", number.name, one.cell.words());
            number.named(name)
        };
        let decisive = [Wish::Smallest, Wish::Fastest].map(|wish| one.decisive(wish));
        decisive.into_iter().flatten().map(named)
    });
    let kept = limit.map_or_else(String::new, |limit| format!(" that keeps {limit}"));
    let claim = Claim::new(
        Wish::Balanced.name(),
        format!("none: {in_short}"),
        format!(
            "No candidate{kept} is nearer to both the best ratio and the best speed, by 5 % or more, than the smallest and the fastest are. {in_short}."
        ),
        numbers.collect(),
    );
    let action = format!("Compress with {small_words} for space or with {fast_words} for speed: {in_short}");
    let claim = claim.advising(action).unless_disturbed([small.cell, fast.cell]);
    // What the smallest breaks, both break, as its ratio is the highest.
    let mut both = [small, fast].into_iter().map(|one| (one, judge(one, bounds)));
    let limited = both.find(|(_, verdict)| verdict.kept != Kept::Keeps);
    Some(match limited {
        Some((one, verdict)) => claim.under(&one.cell.words(), &verdict),
        None => claim,
    })
}

/// The numbers that the sentence on a choice states besides those that decide it.
fn stated_beside(choice: &Choice<'_, '_>, decisive: &[Number]) -> Vec<Number> {
    let ending = format!(" of {}", choice.best.cell.words());
    let is_new = |number: &Number| {
        let bare = number.name.strip_suffix(&ending);
        bare.is_none_or(|bare| decisive.iter().all(|known| known.name != bare))
    };
    let mut stated: Vec<Number> = choice.best.stated().into_iter().filter(is_new).collect();
    if choice.ties.is_empty() && choice.wish != Wish::Smallest {
        stated.extend(choice.next.iter().flat_map(Candidate::stated));
    }
    stated
}

/// Why candidates are a tie.
fn tie_of(choice: &Choice<'_, '_>) -> &'static str {
    let are_same = || choice.ties.iter().all(|one| choice.best.is_surely_as_small(one));
    match choice.wish {
        Wish::Smallest if choice.best.is_sampled() && !are_same() => {
            "the sample does not show which is smaller by more than 0.05 % on all the data; a larger --sample-size may"
        }
        Wish::Smallest => "their ratios are the same within 0.05 %",
        Wish::Balanced | Wish::Fastest => "their intervals overlap",
    }
}

/// How much of the data the ratios rest on; said of the highest one where nothing is chosen.
fn sample(choices: &[Choice<'_, '_>], all: &[Candidate<'_, '_>]) -> Option<Caution> {
    let chosen = choices.first().map(|choice| &choice.best);
    let cell = chosen.or_else(|| highest(all))?.cell;
    let share = cell.value(&SAMPLED_SHARE)?;
    if share >= 0.9995 {
        let is_embedded = cell.subject().starts_with(&Data::Sample.to_string());
        return is_embedded.then(|| {
            Caution::note(
                "The data are the embedded sample, not yours: `--data DIR` measures yours, and codecs differ more by data \
                 than by anything else.",
            )
        });
    }
    let (part, words) = (share * 100.0, cell.words());
    let number = cell.number(&COMPRESSION_RATIO)?;
    match (number.ends(), &number.no_interval) {
        (Some((low, high)), _) => {
            let text = format!(
                "The ratios come from a sample of {part:.1} % of the data; on all the data, {words} would have between {low:.2} and {high:.2} (95 %)."
            );
            Some(Caution::warning_if(high / low > 1.1, text))
        }
        (None, reason) => {
            let reason = reason.as_deref().unwrap_or("their error is unknown");
            Some(Caution::warning(format!(
                "The ratios come from a sample of {part:.1} % of the data. There is no interval for {words}: {reason}."
            )))
        }
    }
}
