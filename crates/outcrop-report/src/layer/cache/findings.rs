//! Sentences about caches, checked against the records.

mod peers;

use outcrop_measure::interval::median;
use outcrop_measure::metric::Unit;

use super::cell::Cell;
use crate::finding::{Finding, Verdict};
use crate::number::Number;

/// How far a store may be from its policy simulated, as a ratio of gets.
const FROM_SIMULATION: f64 = 0.01;
/// How far concurrency may be from throughput × latency.
const LITTLE: f64 = 0.1;
/// Below this share of the closed loop, every request offered has to be answered …
const EASY_SHARE: f64 = 60.0;
/// … to so many parts of what was offered.
const ANSWERED: f64 = 0.98;
/// A policy is behind another when it hits so much less.
const BEHIND: f64 = 0.002;

/// All of them, in the order of the page.
pub(super) fn all(cells: &[Cell<'_>]) -> Vec<Finding> {
    vec![
        verified(cells),
        as_simulated(cells),
        s3_fifo_beside_lru(cells),
        littles_law(cells),
        open_loop_is_answered(cells),
        peers::less_cpu(cells),
        peers::hits_more(cells),
    ]
}

fn verified(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "cache-values-verified";
    const SENTENCE: &str = "Every value that came back was the one stored under its key.";
    let trials: usize = cells.iter().map(|cell| cell.view().completed.len()).sum();
    let counts: Vec<&Number> = cells
        .iter()
        .filter_map(|cell| cell.number("mismatched_values"))
        .collect();
    if counts.is_empty() {
        return Finding::not_testable(ID, SENTENCE, "no server of this run could be measured");
    }
    let wrong: f64 = counts.iter().map(|number| number.value).sum();
    Finding {
        id: ID.to_owned(),
        sentence: SENTENCE.to_owned(),
        verdict: Verdict::from_test(wrong == 0.0),
        tested: format!("every value of every get in {trials} trials, by length and bytes."),
        meaning: String::new(),
        numbers: vec![Number::derived(
            "values that differed",
            wrong,
            Unit::Count,
            counts.len(),
        )],
    }
}

fn as_simulated(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "cache-hits-as-simulated";
    const SENTENCE: &str = "Our server hits as often as a textbook simulation of its policy with as many items, within one point.";
    let ours = cells.iter().filter(|cell| cell.rank() == 0);
    let pairs: Vec<(&Cell<'_>, f64)> = ours
        .filter_map(|cell| {
            let difference = cell.value("hit_ratio")? - cell.value("simulated_hit_ratio")?;
            Some((cell, difference))
        })
        .collect();
    let Some((worst, difference)) = pairs
        .iter()
        .max_by(|left, right| left.1.abs().total_cmp(&right.1.abs()))
    else {
        return Finding::not_testable(ID, SENTENCE, "no policy was simulated; cache-policies does it");
    };
    let outside = pairs
        .iter()
        .filter(|(_, difference)| difference.abs() > FROM_SIMULATION)
        .count();
    Finding {
        id: ID.to_owned(),
        sentence: SENTENCE.to_owned(),
        verdict: Verdict::from_test(outside == 0),
        tested: format!(
            "median hit ratio − median simulated hit ratio in {} cells; {outside} differ by more than a point, most {} \
             at {} ({:+.2} points). Requests and items are as many; the draws are others.",
            pairs.len(),
            worst.factor("policy"),
            worst.factor("memory"),
            difference * 100.0
        ),
        meaning: "Where it holds, the store's policy is the one of its paper; sizes of values, which the simulation does not \
                  have, change nothing. W-TinyLFU feels them: a short warm-up leaves the simulation with more of the cold keys \
                  of the fill, as none of equal size makes room for two, and where few items fit a large one costs the server several."
            .to_owned(),
        numbers: vec![Number::derived(
            "largest difference",
            difference.abs(),
            Unit::Ratio,
            pairs.len(),
        )],
    }
}

fn s3_fifo_beside_lru(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "cache-s3-fifo-beside-lru";
    const SENTENCE: &str = "S3-FIFO hits at least as often as LRU, whatever the memory.";
    let of = |policy: &'static str| cells.iter().filter(move |cell| cell.factor("policy") == policy);
    let pairs: Vec<(&Cell<'_>, f64)> = of("s3-fifo")
        .filter_map(|cell| {
            let lru = of("lru").find(|lru| lru.is_like(cell, &["policy"]))?;
            Some((cell, cell.value("hit_ratio")? - lru.value("hit_ratio")?))
        })
        .collect();
    let Some((worst, difference)) = pairs.iter().min_by(|left, right| left.1.total_cmp(&right.1)) else {
        return Finding::not_testable(
            ID,
            SENTENCE,
            "the two were not measured under one load; cache-policies does it",
        );
    };
    let best = pairs
        .iter()
        .map(|(_, difference)| *difference)
        .fold(f64::NEG_INFINITY, f64::max);
    Finding {
        id: ID.to_owned(),
        sentence: SENTENCE.to_owned(),
        verdict: Verdict::from_test(*difference >= -BEHIND),
        tested: format!(
            "hit ratio of S3-FIFO − that of LRU in {} pairs of cells, from {:+.2} points (at {}) to {:+.2}; behind counts from \
             0.2 points on.",
            pairs.len(),
            difference * 100.0,
            worst.factor("memory"),
            best * 100.0
        ),
        meaning: String::new(),
        numbers: vec![
            Number::derived("least advantage", *difference, Unit::Ratio, pairs.len()),
            Number::derived("greatest advantage", best, Unit::Ratio, pairs.len()),
        ],
    }
}

fn littles_law(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "cache-littles-law";
    const SENTENCE: &str = "In a closed loop, connections × pipeline = throughput × mean latency.";
    // Sets that follow misses are in flight beside the pipeline: where many miss, more is in flight than was asked for.
    let ratios: Vec<f64> = cells
        .iter()
        .filter(|cell| cell.is_closed_loop() && cell.value("hit_ratio").is_some_and(|ratio| ratio > 0.95))
        .filter_map(|cell| {
            let asked = cell.parsed::<f64>("connections")? * cell.parsed::<f64>("pipeline")?;
            Some(cell.value("throughput")? * cell.value("latency_mean")? / 1e9 / asked)
        })
        .collect();
    let Some(worst) = ratios
        .iter()
        .copied()
        .max_by(|left, right| (left - 1.0).abs().total_cmp(&(right - 1.0).abs()))
    else {
        return Finding::not_testable(ID, SENTENCE, "no closed loop had more than 95 % hits");
    };
    Finding {
        id: ID.to_owned(),
        sentence: SENTENCE.to_owned(),
        verdict: Verdict::from_test((worst - 1.0).abs() <= LITTLE),
        tested: format!(
            "throughput × mean latency ÷ (connections × pipeline) in {} closed loops with more than 95 % hits, within 10 %.",
            ratios.len()
        ),
        meaning: "Where it does not hold, latency or throughput is counted wrongly, or the driver was too late to ask again."
            .to_owned(),
        numbers: vec![Number::derived("farthest from 1", worst, Unit::Ratio, ratios.len())],
    }
}

fn open_loop_is_answered(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "cache-open-loop-answered";
    const SENTENCE: &str =
        "Offered 60 % of what a closed loop gets, or less, every server answers all of it.";
    let share = |cell: &Cell<'_>| -> Option<f64> {
        cell.factor("arrival")
            .split_once(':')?
            .1
            .strip_suffix('%')?
            .parse()
            .ok()
    };
    let loops = cells
        .iter()
        .filter(|cell| share(cell).is_some_and(|share| share <= EASY_SHARE));
    let answered: Vec<Answered> = loops.filter_map(answered).collect();
    let Some(worst) = answered
        .iter()
        .min_by(|left, right| left.margin().total_cmp(&right.margin()))
    else {
        return Finding::not_testable(ID, SENTENCE, "no open loop had a share of 60 % or less");
    };
    Finding {
        id: ID.to_owned(),
        sentence: SENTENCE.to_owned(),
        verdict: Verdict::from_test(worst.margin() >= 0.0),
        tested: format!(
            "answers ÷ requests offered, of each trial, the median in each of {} open loops; at least 0.98, less what a Poisson \
             process may fall short by (two standard deviations of the number offered). Sets on miss count as answers too.",
            answered.len()
        ),
        meaning: String::new(),
        numbers: vec![Number::derived(
            "least answered",
            worst.share,
            Unit::Ratio,
            answered.len(),
        )],
    }
}

/// How much of an open loop was answered.
struct Answered {
    /// Answers by requests offered.
    share: f64,
    /// Two standard deviations of the number offered, as a share of it.
    noise: f64,
}

impl Answered {
    /// Above what is asked for.
    fn margin(&self) -> f64 {
        self.share + self.noise - ANSWERED
    }
}

/// Medians over trials. Each trial offers a share of its own closed loop: medians of answers and of offers may come from
/// different trials.
fn answered(cell: &Cell<'_>) -> Option<Answered> {
    let answered = cell.view().metric("throughput")?.values;
    let offered = cell.view().metric("offered_load")?.values;
    let durations = cell.view().completed.iter().map(|trial| trial.duration_s);
    if answered.len() != offered.len() || offered.len() != durations.len() {
        return None;
    }
    let shares: Vec<f64> = answered
        .iter()
        .zip(&offered)
        .map(|(answered, offered)| answered / offered)
        .collect();
    let counts: Vec<f64> = offered
        .iter()
        .zip(durations)
        .map(|(offered, duration)| offered * duration)
        .collect();
    Some(Answered {
        share: median(&shares)?,
        noise: 2.0 / median(&counts)?.max(1.0).sqrt(),
    })
}
