//! Errors, intervals and the order of pairs.

use outcrop_measure::Seed;
use outcrop_predict::{
    Application, Checked, Component, Curve, Measured, MeasuredFigure, ModelError, Place, Split, Study,
};
use proptest::prelude::*;

fn checked(application: &str, component: &str, predicted: f64, measured: f64) -> Checked {
    Checked {
        application: application.to_owned(),
        component: component.to_owned(),
        left_out_with: component.to_owned(),
        predicted,
        measured,
    }
}

#[test]
fn without_a_measurement_there_is_no_interval() {
    assert_eq!(ModelError::default().interval(100.0, (90.0, 110.0)), None);
    let own = ModelError::of([checked("a", "qat", 110.0, 100.0)]);
    assert_eq!(own.without("qat").interval(100.0, (90.0, 110.0)), None);
}

#[test]
fn an_interval_of_few_pairs_has_no_more_confidence_than_they_give() {
    let of_pairs = |count| {
        let error = ModelError::of((0..count).map(|_| checked("a", "qat", 110.0, 100.0)));
        error.interval(100.0, (100.0, 100.0)).unwrap().confidence
    };
    assert_eq!([1, 4, 9, 30].map(of_pairs), [0.5, 0.8, 0.9, 0.9]);
}

#[test]
fn order_and_regret_are_counted() {
    let error = ModelError::of([
        checked("a", "one", 100.0, 100.0),
        checked("a", "two", 120.0, 80.0),
        checked("a", "three", 50.0, 50.0),
        checked("a", "near", 99.0, 101.0),
    ]);
    let ranking = error.ranking();
    // Five pairs differ by more than 10 %; `two` is put above `one` and `near`, wrongly.
    assert_eq!((ranking.pairs, ranking.right), (5, 3));
    assert!((ranking.regret - (1.0 - 80.0 / 101.0)).abs() < 1e-12);
}

#[test]
fn ninety_percent_intervals_hold_nine_of_ten_new_measurements() {
    let mut random = Seed(17).rng();
    let application = [store(0.0)];
    // Predicted: 5000 with each, which is measured with an error that nobody knows.
    let names: Vec<String> = (0..200).map(|component| component.to_string()).collect();
    let codecs: Vec<Component> = names.iter().map(|name| codec(name, 100_000.0)).collect();
    let measured: Vec<Measured> = names
        .iter()
        .map(|name| {
            let spread: f64 = (0..6).map(|_| random.random::<f64>() - 0.5).sum::<f64>() * 0.2;
            with(name, 5000.0 * spread.exp())
        })
        .collect();
    let study = Study::of(&application, &codecs, &measured).unwrap();
    let coverage = study.coverage().unwrap();
    assert_eq!(coverage.of, 200);
    assert!((0.85..=0.95).contains(&coverage.share()), "{coverage}");
}

/// A store that reads a block of 4 KiB for each operation, and whose throughput may be off by so much.
fn store(throughput_error: f64) -> Application {
    Application {
        name: "store".to_owned(),
        clients: Some(1.0),
        throughput: Some(10_000.0),
        throughput_error,
        block_size_bytes: Some(4096.0),
        decompressed: Some(Split {
            foreground: 1.0,
            background: 0.0,
        }),
        ..Application::default()
    }
}

/// Its measured throughput with a component.
fn with(component: &str, throughput: f64) -> Measured {
    Measured {
        application: "store".to_owned(),
        component: component.to_owned(),
        clients: None,
        figure: MeasuredFigure::Throughput(throughput),
    }
}

/// A codec on the CPU that takes so long for a block.
fn codec(name: &str, decompress_ns: f64) -> Component {
    let mut component = Component {
        name: name.to_owned(),
        place: Place::Cpu,
        ..Component::default()
    };
    component.decompress.latency = Some(Curve::constant(decompress_ns).unwrap());
    component
}

#[test]
fn what_trials_leave_open_widens_the_interval_that_is_shown_and_counted() {
    // Predicted: 5000 with either. One is measured so, the other 10 % lower.
    let codecs = [codec("one", 100_000.0), codec("two", 100_000.0)];
    let measured = [with("one", 5000.0), with("two", 4500.0)];
    let coverage = |throughput_error| {
        let applications = [store(throughput_error)];
        let study = Study::of(&applications, &codecs, &measured).unwrap();
        study.coverage().map(|coverage| (coverage.within, coverage.of))
    };
    // The model's error alone, from the exact one, is nothing.
    assert_eq!(coverage(0.0), Some((1, 2)));
    assert_eq!(coverage(0.2), Some((2, 2)));
}

#[test]
fn a_codec_is_left_out_with_all_of_its_libraries_and_levels() {
    let with_algorithm = |name: &str, algorithm: Option<&str>| Component {
        algorithm: algorithm.map(str::to_owned),
        ..codec(name, 100_000.0)
    };
    let codecs = [
        with_algorithm("zstd@system:1", Some("zstd")),
        with_algorithm("btrfs zstd:3", Some("zstd")),
        with_algorithm("lz4@system", Some("lz4")),
    ];
    // Predicted: 5000 with each. Those of zstd are twice as fast, lz4 is 5 % off.
    let measured = [
        with("zstd@system:1", 10_000.0),
        with("btrfs zstd:3", 10_000.0),
        with("lz4@system", 5250.0),
    ];
    let application = [store(0.0)];
    let study = Study::of(&application, &codecs, &measured).unwrap();
    let factor = |name: &str| {
        let is_of = |case: &&outcrop_predict::Case<'_>| case.component.is_some_and(|own| own.name == name);
        let interval = study.cases.iter().find(is_of).unwrap().interval.unwrap();
        interval.high / interval.estimate
    };
    assert!((factor("zstd@system:1") - 1.05).abs() < 1e-9);
    assert!((factor("lz4@system") - 2.0).abs() < 1e-9);
}

#[test]
fn the_larger_error_of_a_run_and_of_published_hardware_counts_for_hardware() {
    let application = [store(0.0)];
    let mut card = codec("card", 20_000.0);
    card.place = Place::Accelerator;
    let components = [card, codec("one", 100_000.0)];
    let factor = |measured: f64| {
        let study = Study::of(&application, &components, &[with("one", measured)]).unwrap();
        let case = study
            .cases
            .iter()
            .find(|case| case.component.is_some_and(|own| own.name == "card"));
        let case = case.unwrap();
        assert!(case.is_validated);
        let from_figures = case.outcome.as_ref().unwrap().from_figures;
        let interval = case.interval.unwrap();
        assert_eq!(interval.estimate, case.outcome.as_ref().unwrap().throughput);
        assert!(interval.low < from_figures.0);
        interval.low
    };
    // A codec that was predicted exactly says nothing good of hardware; one that was wrong by ten does something bad.
    let of_published = factor(5000.0);
    assert!(factor(4900.0) == of_published && factor(500.0) < of_published);
}

#[test]
fn without_a_choice_there_is_no_regret() {
    let none = ModelError::of([checked("a", "one", 100.0, 100.0)]).ranking();
    assert_eq!((none.pairs, none.choices), (0, 0));
    let best = ModelError::of([checked("a", "one", 100.0, 100.0), checked("a", "two", 50.0, 50.0)]);
    assert!(best.ranking().regret.is_sign_positive());
}

proptest! {
    #[test]
    fn an_interval_holds_its_value_and_widens_with_error(
        errors in proptest::collection::vec(0.5f64..2.0, 1..30),
        low in 0.5f64..1.0,
        high in 1.0f64..2.0,
    ) {
        let pairs = errors.iter().map(|ratio| checked("a", "x", *ratio, 1.0));
        let error = ModelError::of(pairs);
        let wide = error.interval(10.0, (10.0 * low, 10.0 * high)).unwrap();
        let (from, to) = (wide.low, wide.high);
        prop_assert!(from <= 10.0 * low * (1.0 + 1e-9) && 10.0 * high <= to * (1.0 + 1e-9));
        let narrow = error.interval(10.0, (10.0, 10.0)).unwrap();
        let (narrow_from, narrow_to) = (narrow.low, narrow.high);
        prop_assert!(from <= narrow_from * (1.0 + 1e-9) && narrow_to <= to * (1.0 + 1e-9));
    }
}
