//! The one answer across the layers: which candidate is chosen, under which constraints, and what is said of it.

use outcrop_report::placement::{Candidate, Sureness};
use outcrop_report::{Constraints, Placement, Prices, Report};
use outcrop_results::Value;
use outcrop_schema::kv::{COMPRESSED_BELOW, COMPRESSION, COMPRESSION_UNKNOWN, CPU, KERNEL_THREADS_CPU};
use proptest::prelude::*;

use crate::kv_fixture::{Stored, of};

pub(crate) const fn stored(
    codec: &'static str,
    filesystem: &'static str,
    throughput: f64,
    stored: f64,
) -> Stored {
    Stored {
        codec,
        block_size: "16KiB",
        filesystem,
        throughput,
        stored,
    }
}

/// Compressing in the store costs nothing that can be seen; btrfs saves more and costs a quarter of the throughput.
pub(crate) const USUAL: [Stored; 4] = [
    stored("none", "ext4", 100e3, 110e6),
    stored("lz4", "ext4", 99e3, 60e6),
    stored("none", "btrfs", 90e3, 112e6),
    stored("none", "btrfs zstd:1", 75e3, 40e6),
];

fn answer(cells: &[Stored], constraints: &Constraints) -> Placement {
    Placement::of(&of(cells), constraints, None).expect("the run has stores with and without compression")
}

fn first(cells: &[Stored], constraints: &Constraints) -> String {
    answer(cells, constraints).answer[0].clone()
}

pub(crate) fn least_ratio(min_ratio: f64) -> Constraints {
    Constraints {
        min_ratio: Some(min_ratio),
        ..Constraints::default()
    }
}

#[test]
fn cpu_time_in_the_answer_is_that_of_the_tables_and_named_otherwise_where_a_filesystem_compresses() {
    let mut run = of(&USUAL);
    for trial in &mut run.trials {
        let is_compressed =
            trial.factors["compression"] == "lz4" || trial.factors["filesystem"].contains("zstd");
        trial
            .values
            .retain(|value| ![CPU.name, KERNEL_THREADS_CPU.name].contains(&value.metric.as_str()));
        let own = if is_compressed { 14_400.0 } else { 12_000.0 };
        trial.values.push(Value::measured(CPU, own));
        trial.values.push(Value::measured(KERNEL_THREADS_CPU, 9_600.0));
    }
    let text = |constraints: &Constraints| Placement::of(&run, constraints, None).unwrap().answer.join(" ");
    let of_store = text(&Constraints::default());
    assert!(of_store.contains("CPU time per operation +20 %"), "{of_store}");
    let of_filesystem = text(&least_ratio(2.4));
    assert!(
        of_filesystem.contains("CPU time per operation with kernel threads +11 %"),
        "{of_filesystem}"
    );
}

#[test]
fn the_answer_is_what_saves_most_where_throughput_ties() {
    let placement = answer(&USUAL, &Constraints::default());
    let text = placement.answer.join(" ");
    assert!(
        text.starts_with("Compress in the store's own blocks with lz4, blocks of 16 KiB"),
        "{text}"
    );
    assert!(
        text.contains(
            "it takes 55 % of the space; no measurable change in throughput (99.0 k/s), read p99 and CPU time per \
             operation."
        ),
        "{text}"
    );
    assert!(
        text.contains(
            "Second best: no compression; no measurable change in throughput compared with the answer. Less space: btrfs zstd:1 in the filesystem, \
             which takes 36 % of the space without compression; throughput −24 % compared with the answer, −25 % compared with no compression. It would \
             be the answer if you need a ratio of 2.75"
        ),
        "{text}"
    );
    assert!(
        text.contains("a ratio of 2.75 (`outcrop report runs/20261121T020000Z-kv --min-ratio 2.75`)"),
        "{text}"
    );
    assert!(
        text.contains(
            "This is not clear: the 75 % intervals of 3 trials per cell leave no other answer open, but their confidence is too low."
        ),
        "{text}"
    );
    assert_eq!(placement.sureness, Some(Sureness::NotClear));
}

#[test]
fn constraints_come_first_and_what_breaks_them_is_said() {
    let filesystem = first(&USUAL, &least_ratio(2.4));
    assert!(
        filesystem.starts_with(
            "Within the limits given for this report (--min-ratio 2.4), compress in the filesystem with btrfs zstd:1"
        ),
        "{filesystem}"
    );
    let nothing = answer(&USUAL, &least_ratio(9.0));
    let text = nothing.answer.join(" ");
    assert_eq!(
        text,
        "None of the cells compared meets the limits given for this report (--min-ratio 9). btrfs zstd:1 in the filesystem takes the least space: ratio 2.75. Only lz4 and btrfs zstd:1 were measured; what may have the ratio: other codecs (`compression` in a plan, or --compression of `outcrop kv`; quick effort measures the fewest), other filesystems or levels (`filesystem` in a plan)."
    );
    assert!(
        nothing
            .candidates
            .iter()
            .all(|candidate| candidate.left_out.is_some())
    );
    let fast = Constraints {
        p99_ns: Some(1e3),
        ..Constraints::default()
    };
    let slow = first(&USUAL, &fast);
    assert!(
        slow.starts_with("None of the cells compared meets the limits given for this report (--p99 1us)"),
        "{slow}"
    );
    // The fixture does not say how many CPUs there were: what cannot be checked is not met.
    let frugal = Constraints {
        cpu_share: Some(0.5),
        ..Constraints::default()
    };
    let unknown = answer(&USUAL, &frugal);
    assert_eq!(
        unknown.candidates[0].left_out.as_deref(),
        Some("may break the limit on the CPU share, which is not known")
    );
}

#[test]
fn at_the_users_prices_the_cheapest_is_named_with_the_price_that_changes_it() {
    let at = |gb_month: f64| {
        let text = format!(
            "currency = \"EUR\"\ncpu_hour = 0.04\ngb_month = {gb_month}\ndata = \"1TB\"\noperations_per_second = 50000\n"
        );
        let prices = Prices::read(&text).unwrap();
        let placement = Placement::of(&of(&USUAL), &Constraints::default(), Some(&prices));
        placement.unwrap().answer[1].clone()
    };
    let dear = at(1.0);
    assert!(
        dear.starts_with("At the prices given for this report, the cheapest is filesystem: btrfs zstd:1: "),
        "{dear}"
    );
    let cheap = at(0.0001);
    assert!(
        cheap.starts_with("At the prices given for this report, the cheapest is no compression: "),
        "{cheap}"
    );
    assert!(
        cheap.contains("becomes the cheapest if 1 GB of space costs more than"),
        "{cheap}"
    );
}

#[test]
fn what_has_no_cost_because_its_cpu_time_is_unknown_is_named_beside_the_cheapest() {
    let mut run = of(&USUAL);
    for trial in &mut run.trials {
        if trial.factors[COMPRESSION.name] == "lz4" {
            // More than the processes used: something else ran.
            trial
                .values
                .retain(|value| value.metric != KERNEL_THREADS_CPU.name);
            trial.values.push(Value::measured(KERNEL_THREADS_CPU, 1e9));
        }
    }
    let text = "currency = \"EUR\"\ncpu_hour = 0.04\ngb_month = 0.1\ndata = \"1TB\"\noperations_per_second = 50000\n";
    let prices = Prices::read(text).unwrap();
    let placement = Placement::of(&run, &Constraints::default(), Some(&prices)).unwrap();
    let said = &placement.answer[1];
    assert!(
        said.ends_with("; the cost of store: lz4, blocks of 16 KiB is unknown."),
        "{said}"
    );
}

#[test]
fn where_nothing_saves_space_or_all_that_saves_costs_the_answer_is_not_to_compress() {
    let useless = [
        stored("none", "ext4", 100e3, 110e6),
        stored("lz4", "ext4", 98e3, 110e6),
    ];
    assert!(
        first(&useless, &Constraints::default())
            .starts_with("Do not compress: nothing that was compared saves space")
    );
    let costly = [
        stored("none", "ext4", 100e3, 110e6),
        stored("lz4", "ext4", 60e3, 50e6),
    ];
    let text = first(&costly, &Constraints::default());
    assert!(
        text.starts_with("Do not compress where throughput matters"),
        "{text}"
    );
}

#[test]
fn compression_that_saves_nothing_is_not_advised_however_fast_it_was() {
    let lucky = [
        stored("none", "ext4", 100e3, 110e6),
        stored("lz4", "ext4", 104e3, 111e6),
    ];
    let text = first(&lucky, &Constraints::default());
    assert!(text.starts_with("Do not compress"), "{text}");
}

#[test]
fn a_throughput_ties_within_5_percent_and_no_farther_where_intervals_are_apart() {
    // The fixture's intervals are ± 1 %.
    for (throughput, is_chosen) in [(96e3, true), (94e3, false)] {
        let cells = [
            stored("none", "ext4", 100e3, 110e6),
            stored("lz4", "ext4", throughput, 60e6),
        ];
        let placement = answer(&cells, &Constraints::default());
        let chosen = placement.candidates[placement.best.unwrap()].name();
        assert_eq!(chosen.starts_with("store"), is_chosen, "{throughput}: {chosen}");
    }
}

#[test]
fn the_fastest_without_compression_stands_for_the_others_unless_it_breaks_a_limit() {
    let cells = [
        stored("none", "ext4", 100e3, 110e6),
        stored("none", "btrfs", 90e3, 100e6),
        stored("none", "btrfs zstd:1", 50e3, 40e6),
    ];
    let placement = answer(&cells, &Constraints::default());
    let plain = |placement: &Placement| {
        let mut candidates = placement.candidates.iter();
        candidates
            .find(|one| one.name() == "no compression")
            .unwrap()
            .what
            .clone()
    };
    assert_eq!(plain(&placement), "blocks of 16 KiB, ext4");
    // Ratios are those to what one has otherwise, and not to what happens to take the least space.
    let compressed = placement
        .candidates
        .iter()
        .find(|one| one.name().starts_with("filesystem"))
        .unwrap();
    assert_eq!(compressed.ratio.as_ref().unwrap().value, 2.75);
}

#[test]
fn a_run_without_a_store_in_both_forms_has_no_answer() {
    let compressed = [
        stored("lz4", "ext4", 100e3, 50e6),
        stored("zstd:1", "ext4", 90e3, 40e6),
    ];
    assert!(Placement::of(&of(&compressed), &Constraints::default(), None).is_none());
}

#[test]
fn hardware_is_modelled_and_never_the_answer() {
    let placement = answer(&USUAL, &Constraints::default());
    let candidates = placement.candidates.iter();
    let modelled: Vec<_> = candidates.filter(|one| one.bound_by.is_some()).collect();
    assert!(!modelled.is_empty());
    assert!(
        modelled
            .iter()
            .all(|one| one.left_out.is_some() && one.ratio.is_none())
    );
    assert!(placement.candidates[placement.best.unwrap()].bound_by.is_none());
    let text = placement.answer.join(" ");
    assert!(
        text.contains("That is modelled; unvalidated in this run"),
        "{text}"
    );
}

#[test]
fn page_and_screen_begin_with_it() {
    let report = Report::of(&of(&USUAL));
    let page = report.to_html();
    let places = [
        "What the kv layer can do",
        "Compress in the store's own blocks with lz4",
        "href=\"#kv-answer\"",
        "id=\"placement\"",
    ];
    let places = places.map(|part| page.find(part).unwrap_or_else(|| panic!("no {part}")));
    assert!(places.is_sorted(), "{places:?}");
    assert!(page.contains("id=\"figure-placement\""));
    let screen = report.screen(80, false);
    assert!(
        screen.contains("Compress in the store's own blocks with lz4"),
        "{screen}"
    );
    assert!(
        screen.lines().count() <= 22 && screen.lines().all(|line| line.chars().count() <= 80),
        "{screen}"
    );
}

#[test]
fn a_screen_of_80_columns_says_which_data_the_answer_is_about() {
    for mut run in [of(&USUAL), crate::six_layers::six_layers()] {
        let stores = run
            .trials
            .iter_mut()
            .filter(|trial| trial.layer == outcrop_schema::kv::SCHEMA.name);
        for trial in stores {
            trial.subject = "databases of customers-of-the-year.parquet 212 MB".into();
        }
        let screen = Report::of(&run).screen(80, false);
        let said: Vec<&str> = screen.split_whitespace().collect();
        assert!(
            said.join(" ")
                .contains("records of customers-of-the-year.parquet 212 MB"),
            "{screen}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever was measured: the answer meets the constraint, nothing that meets it is faster beyond the margin and the intervals, and a
    /// stricter constraint never gives less space saved.
    #[test]
    fn the_choice_meets_its_constraints(
        speeds in prop::collection::vec((50e3..100e3_f64, 30e6..110e6_f64), 3),
        wanted in 1.0..3.0_f64,
    ) {
        let mut cells = USUAL;
        for (cell, (throughput, bytes)) in cells.iter_mut().zip(speeds) {
            (cell.throughput, cell.stored) = (throughput, bytes);
        }
        let placement = answer(&cells, &least_ratio(wanted));
        let meets: Vec<_> = placement.candidates.iter().filter(|one| one.left_out.is_none()).collect();
        for candidate in &meets {
            prop_assert!(candidate.ratio.as_ref().unwrap().value >= wanted);
        }
        prop_assert_eq!(meets.is_empty(), placement.best.is_none());
        let ratio = |one: &Candidate| one.ratio.as_ref().unwrap().value;
        if let Some(best) = placement.best {
            let best = &placement.candidates[best];
            let fastest = meets[0];
            let (own, top) = (best.throughput.value, fastest.throughput.value);
            prop_assert!(best.left_out.is_none() && own >= top * 0.9, "{own} of {top}");
            // Nothing as fast as the fastest saves more.
            for candidate in meets.iter().filter(|one| one.throughput.value >= top * 0.95) {
                prop_assert!(ratio(candidate) <= ratio(best) * 1.02 + 1e-9);
            }
            // What is said to be the answer at another ratio is.
            if let Some(more) = placement.saves_more {
                let named = placement.candidates[more].name();
                let least = (ratio(&placement.candidates[more]) * 100.0).floor() / 100.0;
                let stricter = answer(&cells, &least_ratio(least));
                let chosen = &stricter.candidates[stricter.best.unwrap()];
                prop_assert!(ratio(chosen) >= ratio(best));
                prop_assert_eq!(chosen.name(), named);
            }
        }
        for (index, candidate) in meets.iter().enumerate() {
            let beaten = meets.iter().enumerate().any(|(other, rival)| {
                other != index
                    && rival.throughput.value > candidate.throughput.value
                    && ratio(rival) > ratio(candidate)
            });
            prop_assert!(!(beaten && candidate.on_front));
        }
    }
}

#[test]
fn a_directory_that_compresses_by_itself_is_named_instead_of_being_taken_for_no_compression() {
    let as_is = [
        stored("none", "as-is", 100e3, 110e6),
        stored("lz4", "as-is", 99e3, 60e6),
    ];
    let mut run = of(&as_is);
    for trial in &mut run.trials {
        trial.notes.push(COMPRESSED_BELOW.remark("btrfs compress=zstd:3"));
    }
    let placement = Placement::of(&run, &Constraints::default(), None).unwrap();
    assert_eq!((placement.best, placement.sureness), (None, None));
    let text = placement.answer.join(" ");
    assert!(
        text.contains("the directory's own filesystem compresses already (btrfs compress=zstd:3)"),
        "{text}"
    );
    assert!(
        placement
            .candidates
            .iter()
            .all(|one| one.name() != "no compression")
    );
    // Nor is one that does not say whether it compresses.
    let mut unknown = of(&as_is);
    let why = "whether /tank (zfs) compresses is not known: zfs does not start";
    for trial in &mut unknown.trials {
        trial.notes.push(COMPRESSION_UNKNOWN.remark(why));
    }
    let placement = Placement::of(&unknown, &Constraints::default(), None).unwrap();
    assert_eq!((placement.best, placement.sureness), (None, None));
    assert!(placement.answer.join(" ").contains(why), "{:?}", placement.answer);
    let plain = of(&as_is);
    let best = Placement::of(&plain, &Constraints::default(), None).unwrap().best;
    assert!(best.is_some());
}

#[test]
fn the_price_that_changes_the_answer_is_the_nearest_of_all_candidates() {
    // With dearer space the last one wins, although the first two are the cheapest now.
    let cells = [
        stored("none", "ext4", 100e3, 110e6),
        stored("lz4", "ext4", 20e3, 109e6),
        stored("none", "btrfs zstd:1", 80e3, 40e6),
    ];
    let text = "currency = \"EUR\"\ncpu_hour = 0.04\ngb_month = 0.00001\ndata = \"1TB\"\noperations_per_second = 50000\n";
    let prices = Prices::read(text).unwrap();
    let placement = Placement::of(&of(&cells), &Constraints::default(), Some(&prices)).unwrap();
    let said = placement.answer[1].clone();
    assert!(
        said.contains("filesystem: btrfs zstd:1 becomes the cheapest if 1 GB of space costs more than"),
        "{said}"
    );
}
