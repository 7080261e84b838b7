//! Runs of several queue depths: figures by access size have a line for each, a row that lacks one depth says so, and advice keeps to what the
//! intervals show.

use outcrop_report::Report;
use outcrop_results::{RunView, Value};
use outcrop_schema::device::{ARRIVAL, Direction, LATENCY, QUEUE_DEPTH};

use crate::advice::{advice, with_p99s_at_8};
use crate::device_limits::{missing, row};
use crate::fixture::{RunBuilder, SIZES};

/// Names of the figures by access size.
fn by_size(report: &Report) -> Vec<String> {
    let figures = report.figures();
    let ids = figures.iter().map(|figure| figure.id.clone());
    ids.filter(|id| id.contains("-by-size")).collect()
}

fn caption(report: &Report, id: &str) -> String {
    let figures = report.figures();
    let figure = figures.iter().find(|figure| figure.id == id);
    figure
        .unwrap_or_else(|| panic!("no {id}: {:?}", by_size(report)))
        .caption
        .clone()
}

/// The names of the lines of a figure, each once.
fn lines(report: &Report, id: &str) -> Vec<String> {
    let figures = report.figures();
    let figure = figures.iter().find(|figure| figure.id == id);
    let csv = figure.expect("it is drawn").to_csv();
    let mut names: Vec<String> = Vec::new();
    for line in csv.expect("it has values").lines().skip(1) {
        let (name, _) = line.split_once(',').expect("the first column is the series");
        let name = name.to_owned();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn run_of(sizes: &[u64], depths: &[u32], mixes: &[u8]) -> RunView {
    RunBuilder::new(3).cells(sizes, depths, mixes).build()
}

#[test]
fn figures_by_access_size_draw_a_line_for_each_of_two_depths() {
    let report = Report::of(&run_of(&SIZES, &[1, 16], &[100, 0]));
    for direction in ["reads", "writes"] {
        let latency = lines(&report, &format!("latency-by-size-of-{direction}"));
        assert_eq!(latency, ["QD 1 p50", "QD 16 p50", "QD 1 p99", "QD 16 p99"]);
        let bandwidth = format!("bandwidth-by-size-of-{direction}");
        assert_eq!(lines(&report, &bandwidth), ["QD 1", "QD 16"]);
        let all = caption(&report, &bandwidth);
        assert!(!all.contains("It draws"), "nothing is left out: {all}");
    }
    for id in ["latency-by-size", "bandwidth-by-size"] {
        let beside = caption(&report, id);
        let said = format!(
            "It draws 1 of 2 queue depths of reads and 1 of 2 of writes; for more of them, see {id}-of-reads and {id}-of-writes."
        );
        assert!(beside.contains(&said), "{beside}");
    }
}

#[test]
fn a_run_of_one_depth_has_the_figures_by_access_size_that_it_always_had() {
    let report = Report::of(&run_of(&SIZES, &[32], &[100, 0]));
    assert_eq!(by_size(&report), ["bandwidth-by-size", "latency-by-size"]);
    for id in by_size(&report) {
        let caption = caption(&report, &id);
        assert!(!caption.contains("It draws"), "{caption}");
    }
}

#[test]
fn a_figure_without_room_for_all_lines_draws_the_ends_and_those_evenly_between_and_says_so() {
    let sizes: Vec<u64> = (0..8).map(|power| 4096 << power).collect();
    let report = Report::of(&run_of(&sizes, &[1, 2, 4, 16, 64, 256], &[100]));
    let id = "bandwidth-by-size-of-reads";
    assert_eq!(lines(&report, id), ["QD 1", "QD 4", "QD 16", "QD 256"]);
    let depths = caption(&report, id);
    assert!(
        depths.ends_with("Not drawn: 2 curves (queue depth 2, 64)."),
        "{depths}"
    );
    let id = "iops-by-depth-of-reads";
    let drawn = lines(&report, id);
    assert_eq!(drawn.len(), 6, "{drawn:?}");
    assert_eq!(
        (drawn[0].as_str(), drawn[5].as_str()),
        ("4 KiB random", "512 KiB random")
    );
    let sizes = caption(&report, id);
    assert!(
        sizes.ends_with(" Not drawn: 2 curves (io block size 16 KiB, 128 KiB)."),
        "{sizes}"
    );
    let alone = caption(&report, "latency-by-size");
    assert!(
        alone.contains(
            "It draws 1 of 6 queue depths of reads; for more of them, see latency-by-size-of-reads."
        ),
        "{alone}"
    );
}

/// `ssd-queue-depth` and `ssd-access-size` in one run: writes at QD 32 alone.
#[test]
fn a_run_with_writes_at_one_depth_is_not_said_to_have_no_cell_with_only_writes() {
    let reads = RunBuilder::new(3).cells(&[4096], &[1, 32], &[100]);
    let report = Report::of(&reads.cells(&[4096], &[32], &[0]).build());
    assert_eq!(missing(row(&report, "Highest IOPS"), Direction::Write), None);
    for label in ["QD 1 latency, p50", "QD 1 latency, p99"] {
        let why = missing(row(&report, label), Direction::Write).unwrap();
        assert!(
            why.starts_with(
                "this run has no closed-loop cell with only writes at QD 1 (one request in flight); `outcrop device"
            ) && why.contains("--queue-depth 1` measures it"),
            "{label}: {why}"
        );
    }
    let none = Report::of(&run_of(&[4096], &[1, 32], &[100]));
    for row in &none.layers[0].answer.capabilities {
        let why = missing(row, Direction::Write).unwrap();
        assert!(
            why.starts_with("this run has no cell with only writes; "),
            "{why}"
        );
    }
}

#[test]
fn a_run_whose_writes_alone_are_an_open_loop_is_not_said_to_have_no_cell_with_only_writes() {
    let mut run = run_of(&[4096], &[1, 32], &[100, 0]);
    let writes = run
        .trials
        .iter_mut()
        .filter(|trial| trial.factors["read_write_mix"] == "0:100");
    for trial in writes {
        trial.factors.insert(ARRIVAL.name.into(), "poisson:4000".into());
    }
    let report = Report::of(&run);
    let why = missing(row(&report, "Highest IOPS"), Direction::Write).unwrap();
    assert!(
        why.starts_with("this run has no closed-loop cell with only writes; "),
        "{why}"
    );
}

#[test]
fn a_depth_is_said_to_keep_the_tail_only_where_the_intervals_of_both_depths_show_it() {
    let kept = advice(
        &with_p99s_at_8([140.0, 142.0, 145.0, 148.0, 150.0]),
        "Read latency",
    )
    .unwrap();
    assert!(
        kept.brief.starts_with("QD 8: p99 145 µs, at most twice QD 1; "),
        "{kept:?}"
    );
    // Between 1.7 and 2.2 times 93 µs: the median alone is less than twice as much.
    let open = advice(
        &with_p99s_at_8([160.0, 170.0, 180.0, 190.0, 200.0]),
        "Read latency",
    )
    .unwrap();
    assert!(open.brief.starts_with("QD 1: p99 93.2 µs, "), "{open:?}");
    for text in [&open.brief, &open.text] {
        assert!(
            text.contains("; at QD 8 it may be more than twice as much: 180 µs (160–200)"),
            "{text}"
        );
        assert!(
            !text.contains("stays within") && !text.contains("at most twice"),
            "{text}"
        );
    }
    assert!(
        open.action
            .unwrap()
            .starts_with("For low latency, keep to QD 1 with ")
    );
}

#[test]
fn a_terminal_names_the_figure_that_is_known_badly_also_where_it_cuts_the_advice_short() {
    let mut run = RunBuilder::new(5).cells(&[4096], &[1, 8], &[100]).build();
    for trial in run
        .trials
        .iter_mut()
        .filter(|trial| trial.factors[QUEUE_DEPTH.name] == "1")
    {
        let p99_ns = [80e3, 90e3, 100e3, 115e3, 127e3][trial.repetition as usize];
        for metric in [LATENCY.both.p99, LATENCY.read.p99] {
            trial.values.retain(|value| value.metric != metric.name);
            trial.values.push(Value::measured(metric, p99_ns));
        }
    }
    let report = Report::of(&run);
    let mut claims = report.layers[0].answer.advice.iter();
    let claim = claims.find(|claim| claim.topic == "Read latency").unwrap();
    let doubt = "; uncertain: p99 at QD 1 ± 27 %";
    assert!(claim.brief.ends_with(doubt), "{claim:?}");
    assert!(
        claim
            .text
            .contains("Uncertain: p99 at QD 1 is known only to ± 27 %."),
        "{claim:?}"
    );
    for width in 60..=160 {
        let screen = report.screen(width, false);
        let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(doubt), "{width}: {screen}");
    }
}

#[test]
fn a_mix_at_several_depths_has_its_depth_its_lines_and_both_ends_of_its_tail() {
    let of = |mixes: &[u8]| RunBuilder::new(5).cells(&[4096], &[2, 8, 32], mixes).build();
    let run = of(&[70]);
    let report = Report::of(&run);
    let advised = advice(&run, "Mix throughput").expect("there is one").brief;
    assert!(
        advised.contains("QD ") && advised.contains("70:30 mix"),
        "{advised}"
    );
    assert_eq!(lines(&report, "iops-by-depth"), ["4 KiB random 70:30 mix"]);
    let by_depth = lines(&report, "latency-by-depth");
    assert!(by_depth.contains(&"read p50".to_owned()) && by_depth.contains(&"write p99".to_owned()));
    assert!(caption(&report, "latency-by-depth").starts_with("4 KiB random 70:30 mix. "));
    let tails = |report: &Report| {
        let figures = report.figures();
        let tail = figures.iter().find(|figure| figure.id == "latency-tail");
        tail.expect("it is drawn").to_csv().unwrap()
    };
    for name in ["\"read in a 70:30 mix, QD 2\"", "\"write in a 70:30 mix, QD 32\""] {
        assert!(tails(&report).contains(name), "{name}");
    }
    assert!(caption(&report, "latency-tail").contains("Not drawn: 1 cell (queue depth 8)"));
    // Beside reads alone the figures of a single direction say where the mix is.
    let both = Report::of(&of(&[100, 70]));
    assert_eq!(
        lines(&both, "iops-by-depth"),
        ["4 KiB random read", "4 KiB random 70:30 mix"]
    );
    for id in ["latency-by-depth", "bandwidth-vs-latency"] {
        let said = caption(&both, id);
        assert!(said.contains("Mixes are drawn in IOPS by queue depth"), "{said}");
    }
    for name in [
        "read QD 2",
        "read QD 32",
        "\"read in a 70:30 mix, QD 2\"",
        "\"read in a 70:30 mix, QD 32\"",
    ] {
        assert!(tails(&both).contains(name), "{name}");
    }
}
