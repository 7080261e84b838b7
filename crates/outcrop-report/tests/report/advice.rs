//! Advice never contradicts the table above it: for any figures, the setting that is advised is among the best of the table, and the
//! smallest of those that tie.

use outcrop_measure::metric::Metric;
use outcrop_report::Report;
use outcrop_report::answer::Claim;
use outcrop_results::{CellRow, CellTable, Estimate, RunView, Value};
use outcrop_schema::FactorRef;
use outcrop_schema::cache::{HIT_RATIO, MEMORY, POLICY};
use outcrop_schema::column::{COLUMN, FILE_BYTES, FORMAT, OPERATION, PROFILE, TEXT_BYTES};
use outcrop_schema::compression::{CODEC, COMPRESSION_RATIO, SPEED};
use outcrop_schema::device::{IOPS, LATENCY, QUEUE_DEPTH};
use proptest::prelude::*;

use crate::advice_jobs::with_as_many_in_flight;
use crate::cache_fixture::{self, Factors};
use crate::column_fixture::{self, FileColumn};
use crate::compression_fixture::{self, codec};
use crate::fixture::RunBuilder;

/// A point is the unit in which the cache's advice is stated: figures nearer than this are worth the same.
const POINT: f64 = 0.01;
/// Hit ratios nearer than this are no reason to choose a policy.
const TIE: f64 = 0.005;
const MEMORIES: [&str; 4] = ["8MiB", "16MiB", "32MiB", "64MiB"];
const POLICIES: [&str; 3] = ["fifo", "lru", "s3-fifo"];
const DEPTHS: [u32; 5] = [1, 4, 16, 64, 256];
const CODECS: [&str; 4] = ["lz4:1", "snappy", "zstd:1", "zstd:19"];
const COLUMNS: [&str; 3] = ["city", "name", "state"];

pub(crate) fn advice(run: &RunView, topic: &str) -> Option<Claim> {
    let report = Report::of(run);
    let claims = &report.layers[0].answer.advice;
    let claim = claims.iter().find(|claim| claim.topic == topic)?.clone();
    claim.is_decided().then_some(claim)
}

#[test]
fn a_depth_whose_p99_is_not_known_is_not_said_to_double_it() {
    let mut run = RunBuilder::new(3).cells(&[4096], &[1, 8], &[100]).build();
    let deep = run.trials.iter_mut();
    for trial in deep.filter(|trial| trial.factors[QUEUE_DEPTH.name] == "8") {
        for metric in [LATENCY.both.p99, LATENCY.read.p99] {
            trial.values.retain(|value| value.metric != metric.name);
            let unknown = Value::unavailable(metric, "too few operations");
            trial.values.push(unknown);
        }
    }
    let claim = advice(&run, "Read latency").unwrap();
    for text in [&claim.brief, &claim.text] {
        assert!(text.contains("the p99 of QD 8 is not known"), "{text}");
        assert!(!text.contains("double"), "{text}");
    }
}

/// A run at QD 1 with a p99 of 93 µs, and at QD 8 with these, in µs.
pub(crate) fn with_p99s_at_8(p99s: [f64; 5]) -> RunView {
    let mut run = RunBuilder::new(5).cells(&[4096], &[1, 8], &[100]).build();
    for trial in &mut run.trials {
        let p99_us = match trial.factors[QUEUE_DEPTH.name].as_str() {
            "8" => p99s[trial.repetition as usize],
            _ => 93.0 + 0.1 * f64::from(trial.repetition),
        };
        for metric in [LATENCY.both.p99, LATENCY.read.p99] {
            trial.values.retain(|value| value.metric != metric.name);
            trial.values.push(Value::measured(metric, p99_us * 1e3));
        }
    }
    run
}

#[test]
fn a_depth_whose_p99_may_be_more_or_less_than_twice_as_much_decides_no_advice_on_latency() {
    // Twice 93 µs is 186 µs, which lies within 172 µs to 1.85 ms.
    let report = Report::of(&with_p99s_at_8([172.0, 190.0, 315.0, 900.0, 1850.0]));
    let mut claims = report.layers[0].answer.advice.iter();
    let claim = claims.find(|claim| claim.topic == "Read latency").unwrap();
    assert!(
        claim
            .brief
            .starts_with("not decided (p99 at QD 8: 315 µs (172 µs–1.85 ms))"),
        "{claim:?}"
    );
    assert_eq!(claim.action, None, "{claim:?}");
    // What is as uncertain, and more than twice as much in any case, decides it.
    let claim = advice(
        &with_p99s_at_8([300.0, 400.0, 515.0, 900.0, 1850.0]),
        "Read latency",
    )
    .unwrap();
    for text in [&claim.brief, &claim.text] {
        assert!(
            text.contains("; at QD 8 it is more than twice as much: 515 µs (300 µs–1.85 ms)"),
            "{text}"
        );
    }
    // Where the screen has no room for all of it, what is cut off is a figure and not the claim.
    let mut named = 0;
    for width in 60..=120 {
        let screen = Report::of(&with_p99s_at_8([300.0, 400.0, 515.0, 900.0, 1850.0])).screen(width, false);
        let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        if words.contains("; at QD 8") {
            named += 1;
            assert!(
                words.contains("; at QD 8 it is more than twice as much"),
                "{screen}"
            );
        }
    }
    assert!(named > 0, "no width has room for it");
}

#[test]
fn a_setting_of_one_trial_with_as_many_requests_in_flight_leaves_the_advice_on_latency_undecided() {
    let several = [119.0, 119.5, 120.0, 120.5, 121.0];
    let report = Report::of(&with_as_many_in_flight(&several, &[150.0]));
    let mut claims = report.layers[0].answer.advice.iter();
    let claim = claims.find(|claim| claim.topic == "Read latency").unwrap();
    assert!(
        claim
            .brief
            .starts_with("not decided (p99 at 4 jobs × QD 1: 150 µs, "),
        "{claim:?}"
    );
}

fn spelling(row: &CellRow, factor: FactorRef) -> String {
    row.setting(factor)
        .map_or("", |setting| setting.spelling())
        .to_owned()
}

fn estimate(row: &CellRow, metric: &Metric) -> Option<Estimate> {
    row.figures.get(metric.name)?.estimate().cloned()
}

fn value(row: &CellRow, metric: &Metric) -> f64 {
    estimate(row, metric).map_or(f64::NAN, |estimate| estimate.value)
}

/// The rows of a table with all of these values.
fn rows_with<'t>(table: &'t CellTable, wanted: &[(FactorRef, &str)]) -> Vec<&'t CellRow> {
    let has = |row: &&CellRow| {
        wanted
            .iter()
            .all(|(factor, text)| spelling(row, *factor) == *text)
    };
    table.rows.iter().filter(has).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_depth_advised_is_the_smallest_whose_iops_tie_with_the_highest(
        factors in prop::array::uniform5(0.3_f64..3.0),
        spread in 0.001_f64..0.08,
    ) {
        let builder = RunBuilder { spread, ..RunBuilder::new(5) };
        let mut run = builder.cells(&[4096], &DEPTHS, &[100]).build();
        for trial in &mut run.trials {
            let place = DEPTHS.iter().position(|depth| trial.factors[QUEUE_DEPTH.name] == depth.to_string());
            let factor = factors[place.unwrap()];
            for one in &mut trial.values {
                if one.metric.contains("iops") {
                    one.value = one.value.map(|value| value * factor);
                }
            }
        }
        let table = CellTable::of(&run);
        let all: Vec<(String, Estimate)> = table
            .rows
            .iter()
            .map(|row| (spelling(row, &QUEUE_DEPTH), estimate(row, &IOPS.both).unwrap()))
            .collect();
        let highest = all.iter().max_by(|one, other| one.1.value.total_cmp(&other.1.value)).unwrap();
        let low = highest.1.interval.unwrap().low;
        let smallest = all.iter().find(|(_, one)| one.interval.unwrap().high >= low).unwrap();
        if let Some(claim) = advice(&run, "Read throughput") {
            let expected = format!("QD {}:", smallest.0);
            prop_assert!(claim.brief.starts_with(&expected), "{} instead of {expected} {all:?}", claim.brief);
        }
    }

    #[test]
    fn the_codec_advised_has_the_highest_ratio_or_speed_of_the_table(
        figures in prop::array::uniform4((1.05_f64..4.0, 1e7_f64..1e9, 1e8_f64..4e9)),
        spread in 0.001_f64..0.05,
    ) {
        let builder = compression_fixture::Builder { spread, ..compression_fixture::Builder::new(5) };
        let codecs: Vec<_> = CODECS
            .into_iter()
            .zip(figures)
            .map(|(name, (ratio, compress, decompress))| codec(name, ratio, compress, decompress))
            .collect();
        let run = builder.speeds(&codecs, &[4], &[1]).build();
        let table = CellTable::of(&run);
        let both = |row: &CellRow| {
            1.0 / (1.0 / value(row, &SPEED.compress) + 1.0 / value(row, &SPEED.decompress))
        };
        let ratio = |row: &CellRow| value(row, &COMPRESSION_RATIO);
        for (topic, score) in [("Smallest", &ratio as &dyn Fn(&CellRow) -> f64), ("Fastest", &both)] {
            let best = table.rows.iter().max_by(|one, other| score(one).total_cmp(&score(other))).unwrap();
            if let Some(claim) = advice(&run, topic) {
                let advised = claim.brief.split(',').next().unwrap();
                let advised = rows_with(&table, &[(&CODEC, advised)])[0];
                // Ratios within half a percent tie, and of those the faster codec is advised.
                let ties = topic == "Smallest" && claim.brief.contains("tie with");
                let least = score(best) * if ties { 0.995 } else { 1.0 };
                prop_assert!(score(advised) >= least, "{} {}", topic, claim.brief);
            }
        }
    }

    #[test]
    fn the_policy_and_the_memory_advised_are_the_best_and_the_smallest_of_the_table(
        hits in prop::array::uniform12(0.5_f64..0.99),
    ) {
        let mut builder = cache_fixture::Builder::new();
        let mut hits = hits.into_iter();
        for policy in POLICIES {
            // More memory never loses hits.
            let mut of_policy: Vec<f64> = hits.by_ref().take(MEMORIES.len()).collect();
            of_policy.sort_by(f64::total_cmp);
            for (memory, ratio) in MEMORIES.into_iter().zip(of_policy) {
                let changes: Factors<'_> = &[(&MEMORY, memory), (&POLICY, policy)];
                builder = builder.cell("cache-policies", changes, (ratio, ratio), 1e5, 6000.0);
            }
        }
        let run = builder.run;
        let table = CellTable::of(&run);
        let of = |policy: &str, memory: &str| value(rows_with(&table, &[(&POLICY, policy), (&MEMORY, memory)])[0], &HIT_RATIO);
        if let Some(claim) = advice(&run, "Policy") {
            let policy = claim.brief.split(' ').next().unwrap();
            let memory = claim.brief.split(" hit with ").nth(1).unwrap().split(" of memory").next().unwrap();
            let memory = memory.replace(' ', "");
            for other in POLICIES {
                // Of those that tie, what they hit with more memory decides.
                prop_assert!(of(policy, &memory) > of(other, &memory) - TIE, "{} but {other}", claim.brief);
            }
        }
        if let Some(claim) = advice(&run, "Memory") {
            let (memory, rest) = claim.brief.split_once(" of memory with ").unwrap();
            let (memory, policy) = (memory.replace(' ', ""), rest.split(':').next().unwrap());
            let most = MEMORIES.iter().map(|memory| of(policy, memory)).fold(0.0, f64::max);
            let smallest = MEMORIES.iter().find(|memory| of(policy, memory) >= most - POINT).unwrap();
            prop_assert_eq!(&memory, smallest, "{}", claim.brief);
        }
    }

    #[test]
    fn the_columns_and_the_profile_advised_are_those_of_the_sizes_in_the_table(
        sizes in prop::array::uniform3((0.05_f64..0.9, 0.7_f64..1.0, 0.05_f64..0.9)),
    ) {
        const TEXT: f64 = 1e6;
        let mut builder = column_fixture::Builder::new();
        for (name, (balanced, smallest, zstd)) in COLUMNS.into_iter().zip(sizes) {
            builder = builder.of_file(FileColumn {
                name,
                rows: 1e5,
                distinct: 1e3,
                text: TEXT,
                balanced: TEXT * balanced,
                smallest: TEXT * balanced * smallest,
                zstd: TEXT * zstd,
                lookups: (1e6, 1e3),
            });
        }
        let run = builder.build();
        let table = CellTable::of(&run);
        let least = |column: &str, is: &dyn Fn(&CellRow) -> bool| {
            let rows = rows_with(&table, &[(&COLUMN, column), (&OPERATION, "encode")]).into_iter();
            rows.filter(|row| is(row)).map(|row| value(row, &FILE_BYTES)).fold(f64::INFINITY, f64::min)
        };
        let is_file = |row: &CellRow| spelling(row, &FORMAT) == "ocol";
        let is_balanced = |row: &CellRow| is_file(row) && spelling(row, &PROFILE) == "balanced";
        let named = |topic: &str, column: &str| {
            advice(&run, topic).is_some_and(|claim| claim.brief.contains(&format!(" {column}")))
        };
        for column in COLUMNS {
            let (balanced, smallest) = (least(column, &is_balanced), least(column, &is_file));
            let saves = smallest < balanced * 0.95;
            prop_assert_eq!(named("Profile", column), saves, "{} {} {}", column, balanced, smallest);
            let advised = if saves { smallest } else { balanced };
            let text = value(rows_with(&table, &[(&COLUMN, column), (&OPERATION, "encode")])[0], &TEXT_BYTES);
            if named("Worth a dictionary", column) {
                prop_assert!(advised <= text * 0.5);
                prop_assert!(advised <= least(column, &|row| !is_file(row)) * 1.1);
            }
            if named("Not worth it", column) {
                prop_assert!(advised > text * 0.5);
            }
        }
    }
}
