//! Sentences about engines, checked against the records.

mod agreement;

use outcrop_measure::metric::{Metric, Unit};
use outcrop_measure::units::format_count;
use outcrop_schema::RemarkKind;
use outcrop_schema::kv::{
    BACKGROUND_CPU, BETWEEN, CALLER_CPU, COMPRESSION, ENGINE, KERNEL_THREADS_CPU, LATENCY, MISMATCHES,
    NOT_SETTLED, PROCESSES, SETTLING, STALLED, STORED_RATIO, THREADS, THROUGHPUT, VERIFIED,
};
use outcrop_workload::store::{Settling, StoreEngine};

use self::agreement::Differences;
use super::cell::{blocks, generators, is_closed_loop, is_compressed, is_plain, pairs, words};
use super::codec::measuring_plain;
use crate::cell::Cell;
use crate::finding::{Finding, Verdict};
use crate::number::{Number, counted};

/// Little's law holds where the product is this near to the number of threads.
const LITTLE: f64 = 0.1;

/// CPU time and throughput are measured apart from each other, and each with its own noise.
const ABOVE_CORES: f64 = 0.10;

/// What of the machine decides what can be expected; none where it is not recorded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Machine {
    /// The memory that the page cache can have.
    pub(crate) memory_bytes: Option<f64>,
    pub(crate) cpus: Option<u64>,
}

/// All findings, in the order of the page.
pub(super) fn all(cells: &[Cell<'_>], machine: Machine) -> Vec<Finding> {
    let agreements = agreement::all(cells, machine.memory_bytes, Differences::All);
    let mut all = vec![verified(cells), settled(cells)];
    all.extend(with_one_meaning(agreements));
    all.extend([
        saves_space(cells),
        littles_law(cells),
        generators(cells).finding("kv-generator-was-on-time"),
    ]);
    all.extend(within_cores(cells, machine.cpus));
    all
}

/// A check that failed.
#[derive(Clone, Debug)]
pub(crate) struct FailedCheck {
    /// What is the case, and of how many cells, as a clause.
    pub(crate) clause: String,
    /// What to do, as a sentence.
    pub(crate) remedy: &'static str,
}

/// Checks of some cells that failed.
#[derive(Clone, Debug, Default)]
pub(crate) struct FailedChecks {
    /// Of what their throughput rests on.
    pub(crate) of_throughput: Vec<FailedCheck>,
    /// Of the rest.
    pub(crate) others: Vec<FailedCheck>,
}

/// The checks that failed for these cells, by the findings that the page has of all.
pub(crate) fn failed_checks(cells: &[Cell<'_>], machine: Machine) -> FailedChecks {
    let failures = |findings: Vec<Finding>| {
        let mut failed: Vec<Finding> = findings;
        failed.retain(|one| one.verdict == Verdict::DoesNotHold);
        // Several checks may fail in the same way.
        failed.dedup_by_key(|one| one.failure);
        let check = |one: &Finding| FailedCheck {
            clause: format!("{} ({})", as_clause(one.failure), one.extent),
            remedy: one.remedy,
        };
        failed.iter().map(check).collect::<Vec<_>>()
    };
    let excess = agreement::all(cells, machine.memory_bytes, Differences::Excess);
    let mut others = failures(excess.into());
    others.extend(failures(within_cores(cells, machine.cpus).into_iter().collect()));
    others.extend(stalled(cells));
    FailedChecks {
        of_throughput: failures(vec![verified(cells), settled(cells), littles_law(cells)]),
        others,
    }
}

/// Throughput that fell far for a while.
fn stalled(cells: &[Cell<'_>]) -> Option<FailedCheck> {
    let stalled: Vec<(f64, &Cell<'_>)> = cells
        .iter()
        .map(|cell| (remarks(cell, &STALLED), cell))
        .filter(|(trials, _)| *trials > 0.0)
        .collect();
    let extent = extent(&stalled, cells.len())?;
    Some(FailedCheck {
        clause: format!("throughput fell below a tenth of the median for a while ({extent})"),
        remedy: "Measure for longer (--duration), so that stalls have the share of time that they have in production.",
    })
}

/// How many trials of a cell made a remark of this kind.
fn remarks(cell: &Cell<'_>, kind: &RemarkKind) -> f64 {
    let trials = cell.trials().iter();
    let remarked = trials.filter(|trial| trial.notes.iter().any(|note| kind.is_kind_of(note)));
    remarked.count() as f64
}

/// Of how many cells something is the case, and of which most: `2 of 6 cells, most: rocksdb lz4 4KiB`; none where there is none.
fn extent(failed: &[(f64, &Cell<'_>)], n: usize) -> Option<String> {
    let most = failed.iter().max_by(|one, other| one.0.total_cmp(&other.0));
    most.map(|(_, cell)| {
        format!(
            "{} of {}, most: {}",
            failed.len(),
            counted(n, "cell"),
            blocks(cell)
        )
    })
}

/// The same within a sentence.
fn as_clause(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first = letters.next().map(|letter| letter.to_lowercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// What it means where engine and device differ is said once.
fn with_one_meaning(mut findings: [Finding; 3]) -> [Finding; 3] {
    let mut is_said = false;
    for finding in &mut findings {
        if is_said {
            finding.meaning.clear();
        }
        is_said |= !finding.meaning.is_empty();
    }
    findings
}

/// The value that lies farthest from a target, with its cell.
fn farthest<'c, 'a>(
    found: impl Iterator<Item = (f64, &'c Cell<'a>)>,
    target: f64,
) -> Option<(f64, &'c Cell<'a>, usize)> {
    let found: Vec<(f64, &Cell<'_>)> = found.collect();
    let n = found.len();
    let distance = |value: f64| (value - target).abs();
    let (value, cell) = found
        .into_iter()
        .max_by(|one, other| distance(one.0).total_cmp(&distance(other.0)))?;
    Some((value, cell, n))
}

fn verified(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "kv-values-verified";
    const SENTENCE: &str =
        "Every value that was read is the newest of its key, or one that was being written.";
    // Every trial counts: the median over trials would hide the values that one of them got wrong.
    let sum = |cell: &Cell<'_>, metric: &Metric| {
        let trials = cell.trials().iter();
        trials.filter_map(|trial| trial.number(metric)).sum::<f64>()
    };
    let checked: Vec<&Cell<'_>> = cells.iter().filter(|cell| sum(cell, &VERIFIED) > 0.0).collect();
    let verified: f64 = checked.iter().map(|cell| sum(cell, &VERIFIED)).sum();
    if verified == 0.0 {
        return Finding::not_testable(ID, SENTENCE, "no value was read that can be compared");
    }
    let mut failed: Vec<(f64, &Cell<'_>)> = cells.iter().map(|cell| (sum(cell, &MISMATCHES), cell)).collect();
    failed.retain(|(wrong, _)| *wrong > 0.0);
    // The sum of nothing is -0.0, which the page would show.
    let wrong = failed.iter().map(|(wrong, _)| wrong).sum::<f64>() + 0.0;
    let tested = "every value of every read and scan of all trials, by length, bytes and key; and that it is not older than a version \
                  acknowledged before the read began, for the first 1,048,576 records of each process. A value below 12 B has no version \
                  and, where sizes vary, no length to compare. A scan of YCSB's keys cannot compare a value below 24 B, which does not \
                  name its key; it is not counted.";
    let numbers = [
        Number::derived("values that differed", wrong, Unit::Count, checked.len()),
        Number::derived("values compared", verified, Unit::Count, checked.len()),
    ];
    let extent = extent(&failed, checked.len());
    let of_values = extent.map(|extent| {
        let [wrong, verified] = [wrong, verified].map(format_count);
        format!("{wrong} of {verified} values; {extent}")
    });
    Finding::tested(ID, SENTENCE, failed.is_empty(), tested)
        .of_run("Some returned values were not stored under their key, or were out of date")
        .extent(of_values.unwrap_or_default())
        .remedy("Do not rely on this engine: measure it again, and if values differ again, report that to its developers.")
        .numbers(numbers)
}

fn settled(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "kv-settled";
    const SENTENCE: &str = "Compaction had settled before every run that waited for it.";
    let waited: Vec<&Cell<'_>> = cells
        .iter()
        .filter(|cell| cell.is(&SETTLING, &Settling::Compacted) && cell.number(&THROUGHPUT).is_some())
        .collect();
    let n = waited.len();
    if n == 0 {
        return Finding::not_testable(ID, SENTENCE, "no cell waited for compaction");
    }
    let mut unsettled: Vec<(f64, &Cell<'_>)> = waited
        .iter()
        .map(|cell| (remarks(cell, &NOT_SETTLED), *cell))
        .collect();
    unsettled.retain(|(trials, _)| *trials > 0.0);
    let tested = format!(
        "whether the engine said in {} that nothing was pending or running; {} had not settled.",
        counted(n, "cell"),
        unsettled.len()
    );
    Finding::tested(ID, SENTENCE, unsettled.is_empty(), tested)
        .of_run("Compaction was still at work when some runs began")
        .extent(extent(&unsettled, n).unwrap_or_default())
        .remedy("Use fewer records (--records), or a disk that is not busy with other work: compaction then ends in time.")
}

fn saves_space(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "kv-codecs-save-space";
    const SENTENCE: &str = "Every codec makes the database smaller than uncompressed blocks do.";
    let gains = pairs(cells).into_iter().filter_map(|(cell, plain)| {
        let gain = cell.value(&STORED_RATIO)? / plain.value(&STORED_RATIO)?;
        Some((gain, cell))
    });
    let found: Vec<(f64, &Cell<'_>)> = gains.collect();
    let n = found.len();
    let Some((least, cell)) = found.into_iter().min_by(|one, other| one.0.total_cmp(&other.0)) else {
        let reason = match (
            cells.iter().find(|cell| is_compressed(cell)),
            cells.iter().any(is_plain),
        ) {
            (Some(cell), false) => {
                let plain = measuring_plain(cell);
                format!("no cell has uncompressed blocks alone; {plain} adds them")
            }
            (Some(_), true) if pairs(cells).is_empty() => "no two cells differ in the codec alone".to_owned(),
            (Some(_), true) => {
                "of two cells that differ in the codec alone, the size of one is not known".to_owned()
            }
            (None, _) => "no cell has compressed blocks; the plan kv-compression has them".to_owned(),
        };
        return Finding::not_testable(ID, SENTENCE, reason);
    };
    let tested = format!(
        "space without ÷ with compression in {} of cells that differ in the codec alone; the least is {}.",
        counted(n, "pair"),
        cell.label(&[&ENGINE, &COMPRESSION])
    );
    let number = Number::derived("least gain", least, Unit::Ratio, n);
    Finding::tested(ID, SENTENCE, least > 1.0, tested).numbers([number])
}

fn littles_law(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "kv-littles-law";
    const SENTENCE: &str =
        "In a closed loop, threads × processes = throughput × (mean latency + time between operations).";
    let is_meant = |cell: &&Cell<'_>| is_closed_loop(cell) && !cell.is(&ENGINE, &StoreEngine::None);
    let ratios = cells.iter().filter(is_meant).filter_map(|cell| {
        let workers = cell.place(&THREADS)? * cell.place(&PROCESSES)?;
        let time_ns = cell.value(&LATENCY.mean)? + cell.value(&BETWEEN)?;
        let ratio = cell.value(&THROUGHPUT)? * time_ns / 1e9 / workers;
        Some((ratio, cell))
    });
    let ratios: Vec<(f64, &Cell<'_>)> = ratios.collect();
    let mut outside = ratios.clone();
    outside
        .iter_mut()
        .for_each(|(ratio, _)| *ratio = (*ratio - 1.0).abs());
    outside.retain(|(distance, _)| *distance > LITTLE);
    let Some((worst, cell, n)) = farthest(ratios.into_iter(), 1.0) else {
        // Runs of earlier versions do not have it.
        let why = "no engine was measured in a closed loop with the time between operations";
        return Finding::not_testable(ID, SENTENCE, why);
    };
    let tested = format!(
        "throughput × (mean latency + time between operations) ÷ (threads × processes) in {}, within 10 %; farthest: {}.",
        counted(n, "closed loop"),
        words(cell)
    );
    let meaning =
        "Below 1, threads began late or ended early, or the operations of some are missing from the figures.";
    let number = Number::derived("farthest from 1", worst, Unit::Ratio, n);
    Finding::tested(ID, SENTENCE, outside.is_empty(), tested)
        .of_run("Operations and their times do not add up to the time of the threads (Little's law)")
        .extent(extent(&outside, n).unwrap_or_default())
        .remedy("Measure for longer (--duration): threads that begin late or end early then weigh less.")
        .otherwise(meaning)
        .numbers([number])
}

/// No store keeps more cores busy than there are: by the CPU time that was measured in the same trials, not by a prediction of it.
fn within_cores(cells: &[Cell<'_>], cpus: Option<u64>) -> Option<Finding> {
    let cpus = cpus? as f64;
    let shares = cells.iter().filter_map(|cell| {
        let own_ns = cell.value(&CALLER_CPU)? + cell.value(&BACKGROUND_CPU)?;
        // The kernel's threads are those of the whole machine: where they outweigh the processes, something else ran.
        let kernel_ns = cell.value(&KERNEL_THREADS_CPU).filter(|kernel| *kernel <= own_ns);
        let cpu_ns = own_ns + kernel_ns.unwrap_or(0.0);
        Some((cell.value(&THROUGHPUT)? * cpu_ns / 1e9 / cpus, cell))
    });
    let shares: Vec<(f64, &Cell<'_>)> = shares.collect();
    let mut above = shares.clone();
    above.retain(|(share, _)| *share > 1.0 + ABOVE_CORES);
    let (share, cell, n) = farthest(shares.into_iter(), 0.0)?;
    let tested = format!(
        "throughput × CPU time of an operation (callers, engine and kernel threads, measured in the same trials) ÷ the CPUs of the run in {}, \
         at most 1 within 10 %; the highest: {}.",
        counted(n, "cell"),
        words(cell)
    );
    let sentence = "No store does more operations than its own CPU time of an operation, as measured, and the cores allow.";
    let number = Number::derived("largest share of the cores", share, Unit::Ratio, n);
    Some(
        Finding::tested("kv-bound-holds", sentence, above.is_empty(), tested)
            .of_run("Some stores did more operations than their own CPU time and the cores allow")
            .extent(extent(&above, n).unwrap_or_default())
            .remedy("Measure for longer (--duration) while nothing else runs: CPU time is counted separately from the operations.")
            .otherwise(
                "The CPU times or the counts of operations are wrong, and so is what is predicted from them.",
            )
            .numbers([number]),
    )
}
