//! What the answer says besides the answer: the ratio that would change it, what to measure next, and costs that tie.

use outcrop_report::{Constraints, Placement, Prices, Report};
use proptest::prelude::*;

use crate::fixture::RunBuilder;
use crate::kv_fixture::{Stored, of};
use crate::placement::{USUAL, least_ratio, stored};

fn answer(cells: &[Stored], constraints: &Constraints) -> Placement {
    Placement::of(&of(cells), constraints, None).expect("the run has stores with and without compression")
}

/// The ratio that is printed, and what is printed to be the answer with it.
fn statement(placement: &Placement) -> Option<(f64, String)> {
    let least = placement.least_ratio?;
    let text = placement.answer.join(" ");
    assert!(
        text.contains(&format!("if you need a ratio of {least} (`")),
        "{text}"
    );
    Some((least, placement.candidates[placement.saves_more?].name()))
}

fn best(placement: &Placement) -> Option<String> {
    placement.best.map(|best| placement.candidates[best].name())
}

#[test]
fn with_the_printed_ratio_the_named_candidate_is_the_answer_though_another_one_ties_with_it() {
    // Of what saves more, lz4 ties with snappy and saves most. With its ratio wanted snappy is out, and zlib ties with lz4.
    let cells = [
        stored("none", "ext4", 108e3, 110e6),
        stored("snappy", "ext4", 100e3, 75e6),
        stored("lz4", "ext4", 95.5e3, 55e6),
        stored("zlib:1", "ext4", 91.2e3, 44e6),
    ];
    let placement = answer(&cells, &Constraints::default());
    assert_eq!(best(&placement).as_deref(), Some("no compression"));
    let (least, named) = statement(&placement).unwrap();
    assert_eq!((least, named.as_str()), (2.5, "store: zlib:1, blocks of 16 KiB"));
    assert_eq!(best(&answer(&cells, &least_ratio(least))), Some(named));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_printed_ratio_gives_the_candidate_that_is_named_with_it(
        figures in prop::collection::vec((80e3..110e3_f64, 30e6..110e6_f64), 6),
        wanted in prop::option::of(1.0..2.0_f64),
    ) {
        let names = ["none", "snappy", "lz4", "zlib:1", "zstd:1", "zstd:3"];
        let cells: Vec<Stored> = names
            .into_iter()
            .zip(figures)
            .map(|(codec, (throughput, bytes))| stored(codec, "ext4", throughput, bytes))
            .collect();
        let constraints = Constraints { min_ratio: wanted, ..Constraints::default() };
        let placement = answer(&cells, &constraints);
        if let Some((least, named)) = statement(&placement) {
            prop_assert_eq!(best(&answer(&cells, &least_ratio(least))), Some(named));
        }
    }
}

#[test]
fn a_screen_has_one_command_for_all_that_is_open() {
    let shaky = RunBuilder {
        spread: 1.5,
        ..RunBuilder::new(3)
    };
    let mut run = of(&USUAL);
    run.trials
        .extend(shaky.cells(&[4096, 65536], &[1, 8, 32], &[100, 0]).build().trials);
    run.plan.push_str(
        "\n[[plan]]\nname = \"a\"\nlayer = \"device\"\n\n[[plan]]\nname = \"b\"\nlayer = \"column\"\n",
    );
    let report = Report::of(&run);
    let open = "outcrop run runs/20261121T020000Z-kv/plan.toml --layer";
    let flowing = |screen: &str| screen.split_whitespace().collect::<Vec<_>>().join(" ");
    for width in [80, 120, 160] {
        let screen = flowing(&report.screen(width, false));
        assert_eq!(screen.matches(open).count(), 1, "{screen}");
        assert!(
            screen.contains(&format!("{open} device,kv --repetitions 9")),
            "{screen}"
        );
        assert!(screen.contains("This is not clear"), "{screen}");
    }
    // The page says it where it is about.
    assert!(
        report
            .placement
            .unwrap()
            .answer
            .join(" ")
            .contains("More trials would narrow it")
    );
    // Where nothing else is open, the answer itself has the command.
    let alone = flowing(&Report::of(&of(&USUAL)).screen(160, false));
    assert!(alone.matches("outcrop run").count() <= 1, "{alone}");
}

#[test]
fn costs_have_their_intervals_and_one_that_ties_is_said_to() {
    let at = |cells: &[Stored]| {
        let text = "currency = \"EUR\"\ncpu_hour = 0.04\ngb_month = 0.05\ndata = \"1TB\"\noperations_per_second = 50000\n";
        let prices = Prices::read(text).unwrap();
        let placement = Placement::of(&of(cells), &Constraints::default(), Some(&prices));
        placement.unwrap().answer[1].clone()
    };
    let near = at(&[
        stored("none", "ext4", 100e3, 110e6),
        stored("lz4", "ext4", 99e3, 60e6),
        stored("snappy", "ext4", 98.5e3, 61e6),
    ]);
    let shown = |text: &str, before: &str| {
        let rest = text
            .split_once(before)
            .unwrap_or_else(|| panic!("{before}: {text}"))
            .1;
        let (value, ends) = rest.split_once(" EUR (").expect("a value with its ends");
        let (low, high) = ends.split_once(')').unwrap().0.split_once(" to ").unwrap();
        [value, low, high].map(|figure| figure.parse::<f64>().unwrap())
    };
    for before in [
        "the cheapest is store: lz4, blocks of 16 KiB: ",
        "; store: snappy, blocks of 16 KiB costs about as much: ",
    ] {
        let [value, low, high] = shown(&near, before);
        assert!(low <= value && value <= high && low < high, "{near}");
    }
    let far = at(&USUAL[..2]);
    assert!(far.contains("; then no compression: "), "{far}");
    // Its ratio is 1 by definition; its cost has the interval of the CPU time, and the two are apart.
    let [value, low, high] = shown(&far, "; then no compression: ");
    assert!(
        low < value && value < high && !far.contains("not certain"),
        "{far}"
    );
}
