//! Whose limits and prices an answer is under, and that one difference is judged by one rule on every page.

use outcrop_report::answer::Claim;
use outcrop_report::placement::Origin;
use outcrop_report::{Constraints, Placement, Report};
use outcrop_results::RunView;
use outcrop_schema::kv::THROUGHPUT;

use crate::kv_fixture::of;
use crate::placement::{USUAL, least_ratio, stored};
use crate::{compression_fixture, filesystem};

/// The advice of the only layer of a run, where a ratio of so much is needed.
fn advice_at(run: &RunView, ratio: f64) -> Vec<Claim> {
    let report = Report::under(run, &[], &least_ratio(ratio), None);
    assert_eq!(report.layers.len(), 1);
    report.layers[0].answer.advice.clone()
}

/// Claims that advise something to do with compression.
fn on_compression(claims: &[Claim]) -> Vec<&Claim> {
    const TOPICS: [&str; 9] = [
        "Compress blocks",
        "Block size",
        "Compression",
        "Codec",
        "Smallest",
        "Balanced",
        "Fastest",
        "Fastest small reads, p50",
        "Within the limits",
    ];
    let claims = claims.iter();
    claims
        .filter(|claim| TOPICS.contains(&claim.topic.as_str()) && !claim.brief.contains("instead of"))
        .collect()
}

#[test]
fn advice_of_every_layer_says_which_limit_it_breaks_and_is_no_instruction_then() {
    let runs = [
        of(&USUAL),
        filesystem::choice(),
        compression_fixture::Builder::new(3)
            .speeds(&compression_fixture::CODECS, &[4, 64], &[1])
            .build(),
    ];
    for run in &runs {
        // Nothing reaches a ratio of 40: all advice breaks the limit.
        let claims = advice_at(run, 40.0);
        let found = on_compression(&claims);
        assert!(!found.is_empty(), "{claims:?}");
        for claim in found {
            for text in [&claim.brief, &claim.text] {
                assert!(text.contains("breaks the limit on the ratio ("), "{text}");
                assert!(text.contains(" of at least 40.0)"), "{text}");
            }
            assert_eq!(claim.action, None, "{claim:?}");
        }
        // Everything reaches a ratio of a hundredth.
        let without = Report::of(run).layers[0].answer.advice.clone();
        assert_eq!(advice_at(run, 0.01), without);
    }
}

#[test]
fn where_something_keeps_the_limits_it_is_advised_instead_of_what_does_not() {
    // Without limits ext4 has the lowest latency, and without compression it has a ratio of 0.99.
    let files = filesystem::choice();
    let claims = advice_at(&files, 2.0);
    for claim in on_compression(&claims) {
        assert!(
            claim.brief.starts_with("btrfs ") && !claim.brief.starts_with("btrfs none"),
            "{claim:?}"
        );
        assert!(!claim.text.contains("breaks"), "{claim:?}");
    }
    let codecs = compression_fixture::Builder::new(3)
        .speeds(&compression_fixture::CODECS, &[4, 64], &[1])
        .build();
    let fastest = |ratio: f64| {
        let claims = advice_at(&codecs, ratio);
        let claim = claims.iter().find(|claim| claim.topic == "Fastest").unwrap();
        claim.brief.clone()
    };
    assert!(fastest(0.01).starts_with("lz4:1"), "{}", fastest(0.01));
    assert!(fastest(2.2).starts_with("zstd:1"), "{}", fastest(2.2));
    // The same figures and the same words as the answer above the layers.
    let report = Report::under(&of(&USUAL), &[], &least_ratio(2.4), None);
    let candidates = &report.placement.as_ref().unwrap().candidates;
    let lz4 = candidates.iter().find(|one| one.name().contains("lz4")).unwrap();
    let reason = lz4.left_out.clone().unwrap();
    assert_eq!(reason, "breaks the limit on the ratio (1.83 of at least 2.40)");
    let advice = &report.layers[0].answer.advice[0];
    assert!(
        advice
            .brief
            .starts_with(&format!("rocksdb lz4 16KiB on ext4 {reason}; without limits, ")),
        "{}",
        advice.brief
    );
    // However little is known of the throughput, the limit on the ratio is broken.
    let mut noisy = of(&USUAL);
    for trial in &mut noisy.trials {
        let noise = 1.0 + 0.9 * f64::from(trial.repetition);
        let speeds = trial
            .values
            .iter_mut()
            .filter(|value| value.metric == THROUGHPUT.name);
        speeds.for_each(|speed| speed.value = speed.value.map(|value| value * noise));
    }
    let noisy = advice_at(&noisy, 2.4);
    assert!(noisy[0].brief.contains(&reason), "{}", noisy[0].brief);
    for width in [80, 100] {
        let screen = report.screen(width, false);
        assert!(
            screen.contains("breaks the limit") && screen.contains("Within the limits given"),
            "{screen}"
        );
    }
}

#[test]
fn what_else_may_be_the_answer_is_named_or_that_nothing_else_keeps_the_limits() {
    let answer = |run: &RunView, constraints: &Constraints| {
        let placement = Placement::of(run, constraints, None).unwrap();
        placement.answer.join(" ")
    };
    let alone = answer(&of(&USUAL), &least_ratio(2.4));
    assert!(alone.contains("No other candidate meets the limits."), "{alone}");
    assert!(
        alone.contains("This is clear: nothing else that was compared meets the limits."),
        "{alone}"
    );
    assert!(!alone.contains("another answer"), "{alone}");
    // As fast, and smaller.
    let mut near = of(&[
        stored("none", "ext4", 100e3, 110e6),
        stored("lz4", "ext4", 99e3, 60e6),
        stored("none", "btrfs zstd:1", 88e3, 40e6),
    ]);
    for trial in &mut near.trials {
        let noise = 1.0 + 0.1 * (f64::from(trial.repetition) - 1.0);
        let speeds = trial
            .values
            .iter_mut()
            .filter(|value| value.metric == THROUGHPUT.name);
        speeds.for_each(|speed| speed.value = speed.value.map(|value| value * noise));
    }
    let open = answer(&near, &Constraints::default());
    assert!(
        open.contains("leave 2 other answers (no compression; btrfs zstd:1 in the filesystem) open"),
        "{open}"
    );
    // What saves nothing is second all the same.
    let useless = of(&[
        stored("none", "ext4", 100e3, 110e6),
        stored("lz4", "ext4", 80e3, 110e6),
    ]);
    let second = answer(&useless, &Constraints::default());
    assert!(
        second.contains(
            "Second best: lz4, blocks of 16 KiB in the store, which takes 100 % of the space and is slower than no compression (blocks of 16 KiB, \
             ext4): throughput −20 %."
        ),
        "{second}"
    );
}

#[test]
fn a_phone_is_told_that_the_table_of_where_to_compress_scrolls_and_its_caption_stays_on_the_screen() {
    let page = Report::of(&of(&USUAL)).to_html();
    let section = page.split("id=\"placement\"").nth(1).unwrap();
    let before_table = section.split("<table").next().unwrap();
    assert!(
        before_table.contains("scroll-cue") && before_table.contains("The table has 6 columns"),
        "{before_table}"
    );
    assert!(page.contains(".scroll caption{position:sticky"));
}

#[test]
fn what_is_not_certain_is_on_the_screen_of_one_layer_however_narrow_it_is() {
    let mut run = of(&[
        stored("none", "ext4", 100e3, 110e6),
        stored("lz4", "ext4", 112e3, 60e6),
    ]);
    for trial in &mut run.trials {
        let noise = 1.0 + 0.2 * (f64::from(trial.repetition) - 1.0);
        let speeds = trial
            .values
            .iter_mut()
            .filter(|value| value.metric == THROUGHPUT.name);
        speeds.for_each(|speed| speed.value = speed.value.map(|value| value * noise));
    }
    let limited = Constraints {
        p99_ns: Some(1e9),
        ..least_ratio(1.0)
    };
    for constraints in [Constraints::default(), limited] {
        let report = Report::under(&run, &[], &constraints, None);
        for width in [60, 70, 80, 100, 140] {
            let screen = report.screen(width, false);
            let flowing = screen.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(flowing.contains("This is not clear"), "{width}: {screen}");
            let doubt = [
                "Not certain, as the intervals overlap: throughput",
                "not certain: throughput +12 %",
            ];
            assert!(
                doubt.iter().any(|words| flowing.contains(words)),
                "{width}: {screen}"
            );
            assert!(screen.lines().count() <= 22, "{screen}");
        }
    }
}

#[test]
fn limits_and_prices_of_the_run_hold_unless_the_report_is_given_others_and_it_says_whose_they_are() {
    let mut run = of(&USUAL);
    run.plan = "[run]\nmin_ratio = \"2.4\"\n\n[run.prices]\ncurrency = \"EUR\"\ncpu_hour = \"0.04\"\ngb_month = \"1\"\n\
                data = \"1TB\"\noperations_per_second = \"50000\"\n\n[[plan]]\nname = \"placement\"\nlayer = \"kv\"\n"
        .to_owned();
    let own = Placement::of(&run, &Constraints::default(), None).unwrap();
    assert_eq!(own.constraints.min_ratio, Some(2.4));
    assert_eq!(
        (own.constraints_from, own.prices_from),
        (Some(Origin::Run), Some(Origin::Run))
    );
    assert!(
        own.answer[0].starts_with(
            "Within the limits that this run was given (--min-ratio 2.4), compress in the filesystem"
        ),
        "{:?}",
        own.answer
    );
    assert!(
        own.answer[1].starts_with("At the prices that this run was given, the cheapest is"),
        "{:?}",
        own.answer
    );
    for width in [80, 120] {
        let screen = Report::of(&run).screen(width, false);
        let screen = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            screen.contains("the cheapest"),
            "who gave prices reads the cost: {screen}"
        );
    }
    let other = Placement::of(&run, &least_ratio(9.0), None).unwrap();
    assert_eq!(other.constraints_from, Some(Origin::Report));
    let text = other.answer.join(" ");
    assert!(
        text.contains("the limits given for this report (--min-ratio 9)"),
        "{text}"
    );
}

#[test]
fn a_quarter_less_throughput_is_said_of_the_stack_and_of_the_engine_though_the_intervals_overlap() {
    let mut run = of(&[
        stored("none", "ext4", 100e3, 110e6),
        stored("lz4", "ext4", 75e3, 60e6),
    ]);
    for trial in &mut run.trials {
        let noise = 1.0 + 0.2 * (f64::from(trial.repetition) - 1.0);
        let speeds = trial
            .values
            .iter_mut()
            .filter(|value| value.metric == THROUGHPUT.name);
        speeds.for_each(|speed| speed.value = speed.value.map(|value| value * noise));
    }
    let report = Report::of(&run);
    let stack = report.placement.as_ref().unwrap().answer.join(" ");
    let claims = &report.layers[0].answer.advice;
    let engine = &claims
        .iter()
        .find(|claim| claim.topic == "Compress blocks")
        .unwrap()
        .text;
    for text in [&stack, engine] {
        assert!(text.contains("throughput −25 %"), "{text}");
        assert!(text.contains("ot certain"), "{text}");
    }
    assert!(
        engine.contains("Compared with rocksdb none 16KiB on ext4"),
        "{engine}"
    );
}

#[test]
fn what_was_not_measured_on_the_data_given_says_so_and_is_not_judged_by_their_limits() {
    let report = |measured: &str| {
        let mut run = filesystem::choice();
        run.plan = format!(
            "[run]\ndata = \"/mnt/food.csv\"\n\n[[plan]]\nname = \"fs-choice\"\nlayer = \"filesystem\"\n\n\
             [plan.subject]\ndata = \"{measured}\"\n"
        );
        run.trials.extend(compression_fixture::complete().trials);
        Report::under(&run, &[], &least_ratio(40.0), None)
    };
    let filesystems = |report: &Report| {
        let layers = report.layers.iter();
        let mut layers = layers.filter(|layer| layer.layer == "filesystem");
        let layer = layers.next().expect("filesystems were measured");
        format!("{:?} {:?}", layer.answer.subject, layer.answer.advice)
    };
    let other = report("sample");
    let said = filesystems(&other);
    assert!(!said.contains("breaks the limit"), "{said}");
    assert!(
        said.contains("For the built-in sample, not your data: "),
        "{said}"
    );
    assert!(other.to_html().contains("built-in sample, not your data"));
    let screen = other.screen(120, false);
    let row = screen.lines().find(|line| line.starts_with("filesystem "));
    assert!(
        row.unwrap().contains("built-in sample, not your data"),
        "{screen}"
    );
    let own = report("/mnt/food.csv");
    let said = filesystems(&own);
    assert!(said.contains("breaks the limit"), "{said}");
    assert!(!said.contains("not your data") && !own.screen(120, false).contains("not your data"));
}
