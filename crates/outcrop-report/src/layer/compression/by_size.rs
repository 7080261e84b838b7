//! Block sizes: what larger ones give and cost, and the balanced codec of each, as the best of another does not help who has to take one.

use std::collections::{BTreeMap, BTreeSet};

use outcrop_measure::metric::Unit;
use outcrop_schema::compression::CODEC;

use super::answer::read_statistic;
use super::cell::{CompressionCell, some_of};
use super::wishes::{Candidate, Choice, Wish, choices};
use crate::answer::{Caution, Claim, NOT_DECIDED};
use crate::cell::Cell;
use crate::number::Number;
use crate::placement::Verdict;

/// Larger blocks whose ratio is less than this many times that of a smaller size are not worth slower reads.
const WORTH_BLOCKS: f64 = 1.03;

/// What larger blocks of the balanced codec, or else of the smallest, give and cost, as far as the data tell: of the cells that may be used,
/// and with what limits say of the one that is advised.
pub(super) fn block_size(
    choices: &[Choice<'_, '_>],
    usable: &[Candidate<'_, '_>],
    judge: impl Fn(&Candidate<'_, '_>) -> Verdict,
) -> Option<Claim> {
    let balanced = choices.iter().find(|choice| choice.wish == Wish::Balanced);
    let codec = balanced.or_else(|| choices.first())?.best.cell.spelling(&CODEC);
    let same = || usable.iter().filter(|one| one.cell.spelling(&CODEC) == codec);
    let least = same().min_by_key(|one| one.cell.size_bytes())?;
    // Sampled clusters are at least as long as a block: other clusters would be other data.
    let larger = same().filter(|one| one.cell.size_bytes() > least.cell.size_bytes());
    let known: Vec<_> = larger
        .filter_map(|one| Some((one, one.gain_over(least)?)))
        .collect();
    // Sizes that surely save, unless none does.
    let surely: Vec<_> = known.iter().filter(|(_, (low, _))| *low > 1.0).copied().collect();
    let known = if surely.is_empty() { known } else { surely };
    let (most, (low, high)) = worth_most(least, &known)?;
    let (small, large) = (least.cell.size(), most.cell.size());
    let gain = (most.ratio / least.ratio - 1.0) * 100.0;
    let interval = interval_in_words(low, high);
    let (reading, reads) = reading(choices, least.cell, most.cell);
    let is_worth_it = most.ratio >= least.ratio * WORTH_BLOCKS;
    let brief = match low > 1.0 {
        true if is_worth_it => format!("{large} instead of {small}: ratio {gain:+.0} % ({codec}){reading}"),
        true => format!("stay with {small}: {large} adds only {gain:.1} % to the ratio ({codec}){reading}"),
        false => format!("{small}: {large} gives no measurably higher ratio ({codec}){reading}"),
    };
    let advice = match is_worth_it {
        true if low > 1.0 => {
            "Use large blocks for data that are read sequentially, small blocks for random reads.".to_owned()
        }
        true => format!("The sample does not show that blocks of {large} save anything: stay with {small}."),
        false => format!("That gain does not justify larger reads: stay with {small}."),
    };
    let text = format!(
        "With {codec}, blocks of {large} instead of {small} change the ratio by {gain:+.1} % ({:.2} to {:.2}{interval}){reading}. {advice}",
        least.ratio, most.ratio
    );
    let mut numbers = vec![Number::derived("gain in ratio", gain / 100.0, Unit::Ratio, 2)];
    // What is known too badly is not in the sentence.
    if let Some((name, slow, fast)) = reads
        && slow.told_beside().is_some()
        && fast.told_beside().is_some()
    {
        let named = |number: &Number, size: &str| number.clone().named(format!("{name} of reading {size}"));
        numbers.extend([named(slow, &large), named(fast, &small)]);
    }
    let advised = if is_worth_it && low > 1.0 { most } else { least };
    let claim = Claim::new("Block size", brief, text, numbers);
    let claim = claim.unless_disturbed([least.cell, most.cell]);
    Some(claim.under(&advised.cell.words(), &judge(advised)))
}

/// The interval of a ratio over another with the digits of the gain beside it; empty where they do not tell its ends apart.
fn interval_in_words(low: f64, high: f64) -> String {
    let [from, to] = [low, high].map(|end| format!("{:+.1} %", (end - 1.0) * 100.0));
    match from == to {
        true => String::new(),
        false => format!(", 95 % interval for all the data {from} to {to}"),
    }
}

/// A percentile of reading a block of the larger and of the smaller size.
type Reads<'c> = (&'static str, &'c Number, &'c Number);

/// How long reading a block takes, as a clause and in numbers.
fn reading<'c, 'a>(
    choices: &[Choice<'c, 'a>],
    least: &'c Cell<'a>,
    most: &'c Cell<'a>,
) -> (String, Option<Reads<'c>>) {
    // The statistic of the table above, where these two have it as well.
    let mut cells: Vec<&Cell<'_>> = choices.iter().map(|choice| choice.best.cell).collect();
    cells.extend([least, most]);
    let statistic = read_statistic(&cells).or_else(|| read_statistic(&[least, most]));
    let reads = statistic.and_then(|(name, metric)| {
        let [slow, fast] = [most, least].map(|one| one.number(&metric));
        Some((name, slow?, fast?))
    });
    let told = |(name, slow, fast): (&str, &Number, &Number)| match (slow.told_beside(), fast.told_beside()) {
        (Some(slow), Some(fast)) => format!("; reading a block takes {slow} instead of {fast} ({name})"),
        _ => format!("; how long reading a block takes is {NOT_DECIDED} ({name})"),
    };
    // A whole file that is shorter takes no longer in larger blocks: its time would be taken for that of a block of this size.
    let short = [most, least]
        .into_iter()
        .find_map(|one| Some((one.size(), one.short_blocks()?)));
    let reads = reads.filter(|_| short.is_none());
    let reading = match short {
        Some((size, mean)) => format!(
            "; the time to read a block of {size} is not given: most blocks are shorter, {mean} on average, because the files are small"
        ),
        None => reads.map(told).unwrap_or_default(),
    };
    (reading, reads)
}

/// The larger size to advise with its gain: the smallest that no other exceeds by as much as is worth it. Where none is worth it over the
/// least, that of the highest ratio, which shows it.
fn worth_most<'k, 'c, 'a>(
    least: &Candidate<'c, 'a>,
    known: &[(&'k Candidate<'c, 'a>, (f64, f64))],
) -> Option<(&'k Candidate<'c, 'a>, (f64, f64))> {
    let highest = known.iter().map(|(one, _)| one.ratio).fold(0.0, f64::max);
    let is_worth = |ratio: f64, than: f64| ratio >= than * WORTH_BLOCKS;
    let wanted = |one: &Candidate<'_, '_>| match is_worth(highest, least.ratio) {
        true => is_worth(one.ratio, least.ratio) && !is_worth(highest, one.ratio),
        false => one.ratio >= highest,
    };
    let wanted = known.iter().filter(|(one, _)| wanted(one));
    wanted.min_by_key(|(one, _)| one.cell.size_bytes()).copied()
}

/// Sizes whose blocks mostly are whole files that are shorter: what is measured by the block is not of blocks of that size.
pub(super) fn short_blocks(measured: &[Candidate<'_, '_>]) -> Option<Caution> {
    let short = measured.iter().map(|one| one.cell);
    let short = short.filter_map(|cell| Some((cell.size_bytes(), (cell.size(), cell.short_blocks()?))));
    let sizes: BTreeMap<u64, (String, String)> = short.collect();
    if sizes.is_empty() {
        return None;
    }
    let named = sizes
        .values()
        .map(|(size, mean)| format!("{size} ({mean} on average)"));
    let named = named.collect::<Vec<_>>().join(" and ");
    let pairs = measured.iter().flat_map(|one| {
        let smaller = measured.iter().filter(|other| one.repeats(other));
        let least = smaller.min_by_key(|other| other.cell.size_bytes());
        least.map(|least| (one.cell.size_bytes(), (one.cell.size(), least.cell.size())))
    });
    let pairs: BTreeMap<u64, (String, String)> = pairs.collect();
    let repeated = pairs.values().map(|(size, least)| {
        format!(" Blocks of {size} are the same as those of {least}, so the advice names only {least}.")
    });
    let repeated: String = repeated.collect();
    Some(Caution::note(format!(
        "Most blocks of {named} are shorter than that, because the files are small. Times per block describe these shorter blocks.{repeated}"
    )))
}

/// One claim for all block sizes; none where fewer than two of them have codecs to choose from, or no size has a balanced one.
pub(super) fn balanced(candidates: &[Candidate<'_, '_>], limit: Option<&str>) -> Option<Claim> {
    let sizes: BTreeSet<u64> = candidates.iter().map(|one| one.cell.size_bytes()).collect();
    let of_sizes: Vec<OfSize<'_, '_>> = sizes
        .iter()
        .filter_map(|size| OfSize::of(candidates, *size))
        .collect();
    let chosen = || of_sizes.iter().filter_map(|one| one.choice.as_ref());
    if of_sizes.len() < 2 || chosen().next().is_none() {
        return None;
    }
    let named = |one: &OfSize<'_, '_>| {
        let codec = one
            .choice
            .as_ref()
            .map_or("no codec", |choice| choice.best.cell.short_codec());
        let tie = one.choice.as_ref().map(tie).unwrap_or_default();
        format!("{codec} at {}{tie}", one.size)
    };
    let with_figures = |one: &OfSize<'_, '_>| match &one.choice {
        Some(choice) => {
            let figures = choice.best.figures();
            format!("{}, ratio {figures}{}", choice.best.cell.words(), tie(choice))
        }
        None => format!(
            "no codec at {}, where nothing is nearer than the smallest and the fastest",
            one.size
        ),
    };
    let numbers = chosen().flat_map(|choice| {
        let words = choice.best.cell.words();
        let decisive = choice.best.decisive(choice.wish).into_iter();
        let named = decisive.map(|number: Number| {
            let name = format!("{} of {words}", number.name);
            number.named(name)
        });
        let mut numbers: Vec<Number> = named.collect();
        choice.add_wide_ties(&mut numbers);
        numbers
    });
    let listed = |words: Vec<String>| words.join("; ");
    let kept = limit.map_or_else(String::new, |limit| format!(" that keep {limit}"));
    let text = format!(
        "Of the codecs at each block size{kept}, the nearest to both the best ratio and the best speed are: {}.",
        listed(of_sizes.iter().map(with_figures).collect())
    );
    let claim = Claim::new(
        "By block size",
        format!("balanced: {}", listed(of_sizes.iter().map(named).collect())),
        text,
        numbers.collect(),
    );
    let compared = candidates.iter().map(|one| one.cell);
    Some(claim.unless_disturbed(compared))
}

/// The choice among the codecs of one size.
struct OfSize<'c, 'a> {
    /// `64 KiB`.
    size: String,
    /// The balanced one; none where nothing is nearer to both bests than the smallest and the fastest.
    choice: Option<Choice<'c, 'a>>,
}

impl<'c, 'a> OfSize<'c, 'a> {
    /// None where fewer than two of its codecs make the data smaller.
    fn of(candidates: &[Candidate<'c, 'a>], bytes: u64) -> Option<Self> {
        let its = candidates.iter().filter(|one| one.cell.size_bytes() == bytes);
        let its: Vec<Candidate<'_, '_>> = its.copied().collect();
        let is_any_choice = its.iter().filter(|one| one.compresses()).count() > 1;
        let first = its.first().filter(|_| is_any_choice)?;
        Some(Self {
            size: first.cell.size(),
            choice: choices(&its)
                .into_iter()
                .find(|choice| choice.wish == Wish::Balanced),
        })
    }
}

/// ` (tie with lz4:1)`; empty where it is clear.
fn tie(choice: &Choice<'_, '_>) -> String {
    let names: Vec<String> = choice
        .ties
        .iter()
        .map(|one| one.cell.short_codec().to_owned())
        .collect();
    match names.is_empty() {
        true => String::new(),
        false => format!(" (tie with {})", some_of(&names, ", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::interval_in_words;

    #[test]
    fn an_interval_has_two_ends_that_differ_or_is_not_given() {
        let words = interval_in_words(1.168, 1.173);
        assert_eq!(words, ", 95 % interval for all the data +16.8 % to +17.3 %");
        for (low, high) in [(1.1712, 1.1713), (1.0, 1.0)] {
            assert_eq!(interval_in_words(low, high), "");
        }
    }
}
