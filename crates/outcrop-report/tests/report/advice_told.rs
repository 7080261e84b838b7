//! What advice says of figures that are known badly, and of places that they do not decide.

use outcrop_report::Report;
use outcrop_report::answer::Claim;
use outcrop_results::RunView;
use outcrop_schema::cache;
use outcrop_schema::compression::{CODEC, COMPRESSION_BLOCK_SIZE, COMPRESSION_RATIO, SPEED};
use outcrop_schema::filesystem::{FILE_SIZE, IOPS, LATENCY, OPERATION, SPACE_RATIO};

use crate::cache_fixture;
use crate::compression_fixture::{Builder, codec};
use crate::device_limits::set;
use crate::filesystem;
use crate::filesystem_costs::cell;

fn claim(run: &RunView, topic: &str) -> Claim {
    let report = Report::of(run);
    let advice = &report.layers[0].answer.advice;
    let claim = advice.iter().find(|claim| claim.topic == topic);
    claim.unwrap_or_else(|| panic!("no {topic}: {advice:?}")).clone()
}

/// Codecs of which two have nearly the same speed, which is known to ± `spread`.
fn near(spread: f64, repetitions: u32, with_fast: bool) -> RunView {
    let builder = Builder {
        spread,
        ..Builder::new(repetitions)
    };
    let mut codecs = vec![
        codec("zstd:1", 2.2, 2.38e8, 9e8),
        codec("snappy", 1.6, 2.5e8, 9.5e8),
    ];
    codecs.extend(with_fast.then(|| codec("lz4:1", 1.5, 2e9, 9e9)));
    builder.speeds(&codecs, &[64], &[1]).build()
}

#[test]
fn figures_that_a_run_lacks_are_measured_on_its_data_but_for_those_of_generated_content() {
    let subject = "[plan.subject]\ndata = \"/srv/dump\"\n";
    let plan = format!("[run]\n[[plan]]\nname = \"own\"\nlayer = \"compression\"\n{subject}");
    let run = RunView {
        plan,
        ..near(0.001, 3, true)
    };
    let page = Report::of(&run).to_html();
    assert!(page.contains("<code>outcrop run ratio-percentiles --data /srv/dump</code>"));
    assert!(page.contains("<code>outcrop run robustness</code>"));
}

#[test]
fn a_place_on_the_front_that_rests_on_a_speed_that_overlaps_is_not_decided() {
    for direction in ["compress", "decompress"] {
        let topic = format!("Front, {direction}");
        let sure = claim(&near(0.001, 3, true), &topic);
        assert_eq!(sure.brief, "3 of 3 cells; the report has the figure");
        // A run that is not kept has no folder, and no report.
        let unkept = RunView {
            dir: std::path::PathBuf::new(),
            ..near(0.001, 3, true)
        };
        assert_eq!(claim(&unkept, &topic).brief, "3 of 3 cells");
        let partly = claim(&near(0.2, 3, true), &topic);
        assert!(
            partly.brief.starts_with("2 of 3 cells, 1 not decided;"),
            "{}",
            partly.brief
        );
        for words in ["Certain: zstd:1 64K, lz4:1 64K.", ": snappy 64K."] {
            assert!(partly.text.contains(words), "{}", partly.text);
        }
        // The highest ratio is on every front, so that its place is no statement.
        for run in [near(0.2, 3, false), near(0.2, 1, true)] {
            let open = claim(&run, &topic);
            assert!(
                !open.is_decided() && open.text.starts_with("Not decided: "),
                "{open:?}"
            );
        }
    }
    let report = Report::of(&near(0.2, 3, true));
    let page = report.to_html();
    assert!(page.contains("a cell with a better ratio may be as fast: snappy 64K"));
}

#[test]
fn a_cell_that_overlapping_medians_keep_off_the_front_is_named_as_not_decided() {
    // zlib is beaten by zstd for certain; snappy is slower than the denser zstd by its median alone.
    let run = |spread: f64| {
        let builder = Builder {
            spread,
            ..Builder::new(3)
        };
        let codecs = [
            codec("zstd:1", 2.2, 2.5e8, 9.5e8),
            codec("zlib:1", 2.0, 3e7, 1e8),
            codec("snappy", 1.6, 2.4e8, 9e8),
            codec("lz4:1", 1.5, 2e9, 9e9),
        ];
        builder.speeds(&codecs, &[64], &[1]).build()
    };
    let unsure = "By the medians alone, another cell is beaten too, but not decidedly: snappy 64K.";
    for direction in ["compress", "decompress"] {
        let topic = format!("Front, {direction}");
        let open = claim(&run(0.2), &topic);
        assert!(
            open.brief.starts_with("2 of 4 cells, 1 not decided;"),
            "{}",
            open.brief
        );
        assert!(open.text.ends_with(unsure), "{}", open.text);
        let sure = claim(&run(0.001), &topic);
        assert_eq!(sure.brief, "2 of 4 cells; the report has the figure");
        assert!(sure.text.ends_with(": zstd:1 64K, lz4:1 64K."), "{}", sure.text);
    }
    let page = Report::of(&run(0.2)).to_html();
    assert!(page.contains("Pale, but beaten by the medians alone, which does not decide it: snappy 64K."));
}

/// One codec at two block sizes, of which the larger has so many times the ratio.
fn two_sizes(spread: f64, gain: f64) -> RunView {
    let builder = Builder {
        spread,
        ..Builder::new(3)
    };
    let codecs = [codec("zstd:1", 2.0, 3e8, 9e8)];
    let mut run = builder.speeds(&codecs, &[4, 64], &[1]).build();
    let is_large = |size: &str| size.starts_with("64");
    for trial in &mut run.trials {
        if is_large(&trial.factors[COMPRESSION_BLOCK_SIZE.name]) {
            set(trial, COMPRESSION_RATIO, 2.0 * gain);
        }
    }
    run
}

#[test]
fn a_codec_that_may_be_the_fastest_for_all_that_is_known_leaves_the_choice_undecided() {
    let mut run = near(0.001, 3, false);
    let brief = |run: &RunView, topic: &str| claim(run, topic).brief;
    assert!(
        brief(&run, "Fastest").starts_with("snappy"),
        "{}",
        brief(&run, "Fastest")
    );
    for trial in &mut run.trials {
        if trial.factors[CODEC.name] == "zstd:1" {
            let factor = [0.5, 1.0, 1.5][trial.repetition as usize];
            set(trial, SPEED.compress, 2.38e8 * factor);
        }
    }
    let fastest = brief(&run, "Fastest");
    assert!(
        fastest.starts_with("not decided (compress speed of zstd:1, 64 KiB"),
        "{fastest}"
    );
}

#[test]
fn what_larger_blocks_cost_is_said_with_its_interval_or_not_at_all() {
    let narrow = claim(&two_sizes(0.02, 1.2), "Block size");
    assert!(
        narrow
            .brief
            .contains("reading a block takes 117 µs instead of 7.28 µs"),
        "{}",
        narrow.brief
    );
    let wider = claim(&two_sizes(0.15, 1.2), "Block size");
    assert!(wider.brief.contains("takes 117 µs ("), "{}", wider.brief);
    // What the sentence states is in its numbers.
    for claim in [&narrow, &wider] {
        let names = claim.numbers.iter().map(|number| number.name.as_str());
        let names: Vec<&str> = names.collect();
        assert_eq!(names.len(), 3, "{names:?}");
    }
    let wide = claim(&two_sizes(0.4, 1.2), "Block size");
    assert!(
        wide.is_decided()
            && wide
                .brief
                .contains("how long reading a block takes is not decided"),
        "{}",
        wide.brief
    );
    assert_eq!(wide.numbers.len(), 1);
}

#[test]
fn larger_blocks_that_save_next_to_nothing_are_not_advised() {
    let little = claim(&two_sizes(0.02, 1.012), "Block size");
    assert!(
        little
            .brief
            .starts_with("stay with 4 KiB: 64 KiB adds only 1.2 % to the ratio"),
        "{}",
        little.brief
    );
    assert!(!little.text.contains("Use large blocks"), "{}", little.text);
    let much = claim(&two_sizes(0.02, 1.2), "Block size");
    assert!(
        much.brief.starts_with("64 KiB instead of 4 KiB"),
        "{}",
        much.brief
    );
}

/// Two configurations, of which the smaller one's p50 in its three trials is this many times its median.
fn smallest(shares: [f64; 3]) -> Claim {
    let mut run = filesystem::Builder::new()
        .btrfs("zstd:3", &[(SPACE_RATIO, 2.72)])
        .btrfs("none", &[(SPACE_RATIO, 1.0)])
        .run;
    for trial in &mut run.trials {
        if trial.cell.ends_with("zstd:3") {
            let p50 = 836_000.0 * shares[trial.repetition as usize];
            set(trial, LATENCY.p50, p50);
        }
    }
    claim(&run, "Smallest")
}

#[test]
fn a_latency_beside_the_least_space_has_its_interval_or_is_left_out() {
    let wide = smallest([1.0, 0.36, 1.16]);
    assert!(wide.brief.contains("p50 not decided"), "{}", wide.brief);
    assert!(!wide.text.contains("836"), "{}", wide.text);
    let told = smallest([1.0, 0.8, 1.2]);
    assert!(
        told.brief.contains("p50 836 µs (669 µs–1.00 ms)"),
        "{}",
        told.brief
    );
    let is_p50 = |claim: &Claim| claim.numbers.iter().any(|number| number.value == 836_000.0);
    assert!(is_p50(&told) && !is_p50(&wide));
    let narrow = smallest([1.0, 0.99, 1.01]);
    assert!(narrow.brief.contains("p50 836 µs, "), "{}", narrow.brief);
}

/// Which of two configurations reads soonest: one whose p50 is 463 µs, and one with these, in microseconds.
fn soonest(rival_us: [f64; 3]) -> Claim {
    let mut run = filesystem::Builder::new()
        .btrfs("zstd:3", &[(SPACE_RATIO, 2.72)])
        .btrfs("none", &[(SPACE_RATIO, 1.0)])
        .run;
    for trial in &mut run.trials {
        let repetition = trial.repetition as usize;
        let p50_us = match trial.cell.ends_with("zstd:3") {
            true => 463.0 + f64::from(trial.repetition),
            false => rival_us[repetition],
        };
        set(trial, LATENCY.p50, p50_us * 1e3);
    }
    claim(&run, "Fastest small reads, p50")
}

#[test]
fn a_filesystem_is_not_the_fastest_while_a_rival_that_is_hardly_known_may_be_faster() {
    let open = soonest([4000.0, 80.9, 4000.0]);
    assert!(
        open.brief
            .starts_with("not decided (p50 of btrfs none: 4.00 ms (80.9 µs–4.00 ms)); ")
            && open.brief.contains("--repetitions 9"),
        "{}",
        open.brief
    );
    assert_eq!(open.action, None);
    // However little is known of it, it is slower; or it is known well enough to be a tie.
    for (rival_us, words) in [
        ([4000.0, 900.0, 4000.0], "btrfs zstd:3: "),
        ([470.0, 460.0, 480.0], "; a tie with btrfs none"),
    ] {
        let decided = soonest(rival_us);
        assert!(
            decided.is_decided() && decided.brief.contains(words),
            "{}",
            decided.brief
        );
    }
}

#[test]
fn small_files_are_not_read_fastest_where_a_rival_that_is_hardly_known_may_be_faster() {
    let small = |rival: [f64; 3]| {
        let factors = [(OPERATION.name, "small-files"), (FILE_SIZE.name, "1500")];
        let builder = cell(filesystem::Builder::new(), ("btrfs", "zstd:3"), &factors, &[]);
        let mut run = cell(builder, ("ext4", "none"), &factors, &[]).run;
        for trial in &mut run.trials {
            let of_rival = rival[trial.repetition as usize];
            let is_rival = trial.cell.starts_with("ext4");
            set(
                trial,
                IOPS,
                if is_rival {
                    of_rival
                } else {
                    7000.0 + f64::from(trial.repetition)
                },
            );
        }
        claim(&run, "Files of 1500 B")
    };
    let open = small([1000.0, 9000.0, 1000.0]);
    assert!(
        open.brief
            .starts_with("not decided (files of 1500 B read per second, ext4 none: "),
        "{}",
        open.brief
    );
    assert!(small([1000.0, 3000.0, 1000.0]).is_decided());
}

/// Offered loads of which none keeps the objective, while others used this share of the CPUs.
fn offered(others: f64) -> RunView {
    let mut builder = cache_fixture::Builder::new();
    for arrival in ["poisson:10%", "poisson:80%"] {
        let changes: cache_fixture::Factors<'_> =
            &[(&cache::ARRIVAL, arrival), (&cache::OBJECTIVE, "p99<300us")];
        builder = builder.cell("cache-peers", changes, (1.0, 1.0), 2e4, 6000.0);
    }
    for trial in &mut builder.run.trials {
        trial.others_cpu_share = Some(others);
    }
    builder.run
}

#[test]
fn advice_on_the_load_of_a_cache_is_withheld_where_other_programs_used_the_cpus() {
    let quiet = claim(&offered(0.05), "Load");
    assert!(quiet.brief.starts_with("no offered load met"), "{}", quiet.brief);
    let busy = claim(&offered(0.48), "Load");
    assert_eq!(
        busy.brief,
        "not decided: other programs used 48 % of the CPUs during the trials of these cells"
    );
    let screen = Report::of(&offered(0.48)).screen(100, false);
    assert!(screen.contains("other programs used 48 %"), "{screen}");
    // Where a load met it, it is advised no more either.
    let mut met = offered(0.48);
    for trial in &mut met.trials {
        set(trial, cache::LATENCY.p99, 1e5);
    }
    let met = claim(&met, "Load");
    assert!(!met.is_decided() && met.action.is_none(), "{met:?}");
}

#[test]
fn codecs_are_not_chosen_by_speeds_that_other_programs_disturbed() {
    let mut run = near(0.001, 3, true);
    assert!(claim(&run, "Fastest").is_decided());
    for trial in &mut run.trials {
        trial.others_cpu_share = Some(0.3);
    }
    for topic in ["Fastest", "Balanced"] {
        assert!(!claim(&run, topic).is_decided(), "{topic}");
    }
    assert!(
        claim(&run, "Smallest").is_decided(),
        "sizes are the same on any machine"
    );
}
