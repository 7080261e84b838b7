//! Plain text, kernels and techniques: what the report makes of cells that hold something back.

use outcrop_report::section::FigureSlot;
use outcrop_report::{Finding, Report, Verdict};
use outcrop_results::RunView;
use outcrop_schema::column::{
    CODES_BYTES, DICTIONARY_BYTES, ENCODE_SPEED, FILE_BYTES, FORMAT, Format, INDEX, Index, KERNELS, Kernels,
    LATENCY, OPERATION, PLAIN_POSTINGS_BYTES, POSTINGS_BYTES, PROFILE, ROW_COUNT, ROW_RATE, SEARCH_MODE,
    TEXT_BYTES, THREADS, WITHOUT, Without,
};
use outcrop_schema::{FactorRef, Settings};
use outcrop_workload::column::{Operation, SearchMode};

use crate::column_fixture::{Builder, encoded, looked_up};

fn in_plain_text() -> Settings {
    let mut factors = looked_up(Index::None, SearchMode::InMemory);
    factors.set(&FORMAT, Format::Text("none".parse().expect("a codec")));
    let without: [FactorRef; 5] = [&INDEX, &PROFILE, &SEARCH_MODE, &KERNELS, &WITHOUT];
    without.iter().for_each(|factor| factors.remove(factor.about()));
    factors
}

fn with_kernels(mut factors: Settings, kernels: Kernels) -> Settings {
    factors.set(&KERNELS, kernels);
    factors
}

/// A run in which text takes 1 ms, postings 1 µs, and a scan of codes so many nanoseconds by kernels.
fn searched(scans: &[(Kernels, f64)]) -> RunView {
    let text = Builder::new().generated(in_plain_text(), &[(LATENCY.p50, 1e6)]);
    let scan = |builder: Builder, (kernels, time): &(Kernels, f64)| {
        let of = |index, mode| with_kernels(looked_up(index, mode), *kernels);
        let mut decoded = with_kernels(encoded(), *kernels);
        decoded.set(&OPERATION, Operation::Decode);
        decoded.remove(&THREADS);
        builder
            .generated(of(Index::None, SearchMode::Scan), &[(LATENCY.p50, *time)])
            .generated(of(Index::Postings, SearchMode::InMemory), &[(LATENCY.p50, 1e3)])
            .generated(decoded, &[(ROW_RATE, 1e9)])
    };
    scans.iter().fold(text, scan).build()
}

fn finding(run: &RunView, id: &str) -> Finding {
    let report = Report::of(run);
    let found = report.layers[0].findings.iter().find(|finding| finding.id == id);
    found.unwrap_or_else(|| panic!("no finding {id}")).clone()
}

fn values_of(run: &RunView, figure: &str) -> Option<String> {
    let report = Report::of(run);
    let figures = report.figures();
    let found = figures.into_iter().find(|one| one.id == figure)?;
    Some(found.to_csv().expect("a table"))
}

#[test]
fn one_figure_has_text_dictionary_postings_and_kernels_together() {
    let run = searched(&[
        (Kernels::Scalar, 4e5),
        (Kernels::Avx2, 5e4),
        (Kernels::Avx512, 4e4),
    ]);
    let values = values_of(&run, "column-kernels").expect("the figure");
    for part in [
        "plain text, scan",
        "dictionary codes, scan",
        "dictionary, postings",
        "decode to text",
    ] {
        assert!(values.contains(part), "{part}: {values}");
    }
    for part in ["memchr", "scalar", "avx2", "avx512"] {
        assert!(values.contains(part), "{part}: {values}");
    }
    let usual = searched(&[(Kernels::Widest, 4e4)]);
    let drawn = &Report::of(&usual).layers[0].figures;
    let names_kernels = |slot: &FigureSlot| match slot {
        FigureSlot::Drawn(figure) => figure.id == "column-kernels",
        FigureSlot::Missing(missing) => missing.plan == "column-kernels",
    };
    assert!(!drawn.iter().any(names_kernels), "kernels were no factor");
}

#[test]
fn a_figure_of_searches_counts_those_with_other_kernels_as_not_drawn() {
    let kernels = [Kernels::Scalar, Kernels::Avx2, Kernels::Widest];
    let run = searched(&kernels.map(|one| (one, 5e4)));
    let report = Report::of(&run);
    let figures = report.figures();
    let searches = figures.iter().find(|figure| figure.id == "column-search");
    let caption = &searches.expect("the text is drawn").caption;
    assert!(
        caption.ends_with(" Not drawn: 4 cells (kernels scalar, avx2)."),
        "{caption}"
    );
}

#[test]
fn vectors_are_held_against_plain_loops_and_codes_against_text() {
    let fast = searched(&[(Kernels::Scalar, 4e5), (Kernels::Avx2, 5e4)]);
    assert_eq!(finding(&fast, "vectors-halve-a-scan").verdict, Verdict::Holds);
    assert_eq!(
        finding(&fast, "codes-scan-faster-than-text").verdict,
        Verdict::Holds
    );
    let slow = searched(&[(Kernels::Scalar, 4e6), (Kernels::Avx2, 3e6)]);
    // Shorter, and not by half.
    let tested = finding(&slow, "vectors-halve-a-scan").tested;
    assert!(
        tested.ends_with("by intervals, above 0.5 in 1, undecided in 0."),
        "{tested}"
    );
    assert_eq!(
        finding(&slow, "vectors-halve-a-scan").verdict,
        Verdict::DoesNotHold
    );
    assert_eq!(
        finding(&slow, "codes-scan-faster-than-text").verdict,
        Verdict::DoesNotHold
    );
    let mut once = fast.clone();
    once.trials.retain(|trial| trial.repetition == 0);
    for id in ["vectors-halve-a-scan", "codes-scan-faster-than-text"] {
        let verdict = finding(&once, id).verdict;
        assert!(
            matches!(&verdict, Verdict::NotTestable(why) if why.contains("one trial")),
            "{verdict:?}"
        );
    }
    let alone = searched(&[(Kernels::Avx2, 5e4)]);
    let untested = finding(&alone, "vectors-halve-a-scan").verdict;
    assert!(matches!(untested, Verdict::NotTestable(_)), "{untested:?}");
}

fn without(
    without: Without,
    dictionary: f64,
    file: f64,
) -> (Settings, Vec<(outcrop_measure::metric::Metric, f64)>) {
    let mut factors = encoded();
    factors.set(&INDEX, Index::Postings);
    factors.set(&WITHOUT, without);
    let values = vec![
        (ROW_COUNT, 1e6),
        (DICTIONARY_BYTES, dictionary),
        (CODES_BYTES, 2e6),
        (POSTINGS_BYTES, 1e6),
        (PLAIN_POSTINGS_BYTES, 2.5e6),
        (FILE_BYTES, file),
        (ENCODE_SPEED, 1e9),
    ];
    (factors, values)
}

fn ablated(file_without: f64) -> RunView {
    let cells = [
        without(Without::Nothing, 1e5, 3.1e6),
        without(Without::FrontCoding, 2e5, file_without),
    ];
    let add = |builder: Builder, (factors, values): (Settings, Vec<_>)| builder.generated(factors, &values);
    cells.into_iter().fold(Builder::new(), add).build()
}

#[test]
fn each_technique_left_out_has_its_sections_in_a_figure_and_must_not_make_the_file_smaller() {
    let run = ablated(3.2e6);
    let values = values_of(&run, "column-ablation").expect("the figure");
    for part in [
        "all techniques",
        "without front-coding",
        "postings as plain numbers",
        "dictionary (text)",
        "codes (integers)",
    ] {
        assert!(values.contains(part), "{part}: {values}");
    }
    assert_eq!(finding(&run, "techniques-save").verdict, Verdict::Holds);
    assert_eq!(
        finding(&ablated(3.0e6), "techniques-save").verdict,
        Verdict::DoesNotHold
    );
}

#[test]
fn what_is_held_back_counts_neither_as_the_fastest_encode_nor_as_a_file_of_ours() {
    let (factors, values) = without(Without::All, 1e5, 3.1e6);
    let run = Builder::new().generated(factors, &values).build();
    let claims = &Report::of(&run).layers[0].answer.advice;
    assert!(claims.iter().all(|claim| claim.topic != "Encoding"), "{claims:?}");
}

#[test]
fn an_index_that_was_searched_on_disk_is_not_judged_in_memory_where_the_disk_gave_too_few_operations() {
    let with_slow = |p50: &[(outcrop_measure::metric::Metric, f64)]| {
        let sizes = [(TEXT_BYTES, 8e6), (FILE_BYTES, 1e6)];
        let known = |latency: f64| [(LATENCY.p50, latency), (FILE_BYTES, 1.5e6)];
        Builder::new()
            .generated(encoded(), &sizes)
            .generated(looked_up(Index::None, SearchMode::InMemory), &known(323.0))
            .generated(looked_up(Index::Postings, SearchMode::InMemory), &known(663.0))
            .generated(looked_up(Index::None, SearchMode::OnDisk), p50)
            .generated(looked_up(Index::Postings, SearchMode::OnDisk), &known(3200.0))
            .build()
    };
    let index = |run: &RunView| {
        let report = Report::of(run);
        let mut claims = report.layers[0].answer.advice.iter();
        claims
            .find(|claim| claim.topic == "Index")
            .map(|claim| claim.text.clone())
    };
    // 195 queries a second on disk, which are too few for a median.
    assert_eq!(index(&with_slow(&[(FILE_BYTES, 1e6)])), None);
    let known = index(&with_slow(&[(FILE_BYTES, 1e6), (LATENCY.p50, 5e6)]));
    assert!(
        known
            .as_ref()
            .is_some_and(|text| text.starts_with("Encode with `--index postings`")),
        "{known:?}"
    );
}

#[test]
fn a_missing_bar_is_said_to_be_missing_where_all_searches_are_with_other_kernels() {
    let mut run = searched(&[(Kernels::Scalar, 5e4), (Kernels::Avx2, 5e4)]);
    // No row is of a scan beside postings.
    for trial in &mut run.trials {
        let is_search = trial.factors.contains_key(SEARCH_MODE.name);
        if is_search && trial.factors[INDEX.name] == Index::Postings.to_string() {
            trial
                .factors
                .insert(SEARCH_MODE.name.to_owned(), SearchMode::Scan.to_string());
        }
    }
    let report = Report::of(&run);
    let figures = report.figures();
    let searches = figures.iter().find(|figure| figure.id == "column-search");
    let caption = &searches.expect("the text is drawn").caption;
    assert!(caption.contains("Not drawn: 4 cells"), "{caption}");
    assert!(
        caption.contains("A missing bar was not measured with all techniques and the widest kernels, or has"),
        "{caption}"
    );
}
