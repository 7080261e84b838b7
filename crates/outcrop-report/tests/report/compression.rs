//! Findings, answer and figures of the compression layer on runs whose truth is known.

use outcrop_report::section::FigureSlot;
use outcrop_report::{FileFormat, Finding, Report, Verdict};
use outcrop_results::RunView;

use crate::compression_fixture::{Builder, CODECS, codec, complete};
use crate::markup::elements;

fn finding(run: &RunView, id: &str) -> Finding {
    let report = Report::of(run);
    let found = report.layers[0].findings.iter().find(|finding| finding.id == id);
    found.unwrap_or_else(|| panic!("no finding {id}")).clone()
}

pub(crate) fn advice(run: &RunView, topic: &str) -> (String, String) {
    let report = Report::of(run);
    let claim = report.layers[0]
        .answer
        .advice
        .iter()
        .find(|claim| claim.topic == topic)
        .unwrap_or_else(|| panic!("no advice on {topic}"));
    (claim.brief.clone(), claim.text.clone())
}

#[test]
fn each_wish_has_its_codec_and_block_size_and_how_sure_it_is() {
    let run = complete();
    let (smallest, text) = advice(&run, "Smallest");
    assert_eq!(smallest, "zstd:19, 64 KiB (clear)");
    assert!(text.contains("the next is zstd:19, 16 KiB"), "{text}");
    // Copying is faster and saves nothing; speeds do not differ by block size, so those of one codec are a tie.
    let (fastest, _) = advice(&run, "Fastest");
    assert!(
        fastest.starts_with("lz4:1,") && fastest.contains("tie with"),
        "{fastest}"
    );
    let (balanced, _) = advice(&run, "Balanced");
    assert!(balanced.starts_with("zstd:1, 64 KiB"), "{balanced}");
    // Who has to take a block size is told the codec for it.
    let (brief, each) = advice(&run, "By block size");
    assert_eq!(
        brief,
        "balanced: zstd:1 at 4 KiB; zstd:1 at 16 KiB; zstd:1 at 64 KiB"
    );
    assert!(each.contains("zstd:1, 64 KiB, ratio "), "{each}");
    let (_, blocks) = advice(&run, "Block size");
    assert!(
        blocks.contains("blocks of 64 KiB instead of 4 KiB change the ratio by +20.0 %"),
        "{blocks}"
    );
    let (_, front) = advice(&run, "Front, compress");
    assert!(
        front.contains("zstd:19 64K, zstd:1 64K") && !front.contains("zlib"),
        "{front}"
    );
    assert!(!front.contains("none"), "a copy is on no front: {front}");
}

#[test]
fn blocks_that_are_shorter_files_are_said_to_be_so_and_have_no_time_of_a_block_of_their_size() {
    let files = [1000, 100, 100, 50, 20, 10];
    let sizes = [4, 64, 1024, 2048];
    let run = Builder::new(5)
        .speeds(&CODECS[3..5], &sizes, &[1])
        .of_files(&files);
    let run = run.build();
    let (brief, text) = advice(&run, "Block size");
    assert!(
        brief.starts_with("1 MiB instead of 4 KiB: ratio +40 %"),
        "{brief}"
    );
    for sentence in [&brief, &text] {
        assert!(
            sentence.contains("the time to read a block of 1 MiB is not given: most blocks are shorter, 218 kB on average, because the files are small"),
            "{sentence}"
        );
        assert!(!sentence.contains("reading a block takes"), "{sentence}");
    }
    let report = Report::of(&run);
    let answer = &report.layers[0].answer;
    let said = |words: &str| answer.cautions.iter().any(|caution| caution.text.contains(words));
    assert!(
        said("Most blocks of 1 MiB (218 kB on average) and 2 MiB (218 kB on average) are shorter than that"),
        "{:?}",
        answer.cautions
    );
    assert!(
        said("Blocks of 2 MiB are the same as those of 1 MiB"),
        "{:?}",
        answer.cautions
    );
    // Equal results bear the name of the smaller size, wherever one is chosen.
    for claim in &answer.advice {
        assert!(
            !claim.text.contains("2 MiB") && !claim.text.contains(" 2M"),
            "{claim:?}"
        );
    }
    let screen = report.screen(160, false);
    assert!(screen.contains("of 218 kB on average"), "{screen}");
    let long = Builder::new(5)
        .speeds(&CODECS[3..5], &sizes, &[1])
        .of_files(&[64 << 10]);
    let (brief, _) = advice(&long.build(), "Block size");
    assert!(brief.contains("; reading a block takes "), "{brief}");
}

#[test]
fn larger_blocks_are_advised_no_larger_than_the_ratio_gains_by() {
    let mut run = Builder::new(5)
        .speeds(&CODECS[3..4], &[4, 16, 64, 256], &[1])
        .build();
    // 2.42, 2.64 and 2.86 become 2.42, 2.80 and 2.86: the largest add 2 %.
    for trial in &mut run.trials {
        for value in &mut trial.values {
            let is_of_64k = trial.factors["compression_block_size"] == "64KiB";
            if is_of_64k && value.metric.starts_with("compression_ratio") {
                value.value = Some(2.80);
            }
        }
    }
    let (brief, _) = advice(&run, "Block size");
    assert!(
        brief.starts_with("64 KiB instead of 4 KiB: ratio +27 %"),
        "{brief}"
    );
}

#[test]
fn codecs_whose_intervals_overlap_are_a_tie() {
    let near = [codec("lz4:1", 1.6, 7e8, 3e9), codec("snappy", 1.5, 6.9e8, 2.9e9)];
    let tied = Builder {
        spread: 0.05,
        ..Builder::new(3)
    };
    let (brief, text) = advice(&tied.speeds(&near, &[4], &[1]).build(), "Fastest");
    assert_eq!(
        brief,
        "lz4:1, 4 KiB (both directions combined; tie with snappy 4K)"
    );
    assert!(text.contains("their intervals overlap"), "{text}");
    let apart = Builder {
        spread: 0.001,
        ..Builder::new(3)
    };
    let (brief, _) = advice(&apart.speeds(&near, &[4], &[1]).build(), "Fastest");
    assert_eq!(brief, "lz4:1, 4 KiB (both directions combined; clear)");
    let (brief, _) = advice(&Builder::new(1).speeds(&near, &[4], &[1]).build(), "Fastest");
    assert!(
        brief.starts_with("not decided (compress speed: 700 MB/s, one trial: its repeatability is unknown)"),
        "{brief}"
    );
}

#[test]
fn the_published_trends_hold_in_a_run_made_so_and_the_independent_bytes_reverse_them() {
    let run = complete();
    for id in [
        "stage-sums",
        "lz-share-by-level",
        "lz-share-by-chunk",
        "iid-reversal",
        "lz-share-published",
    ] {
        let finding = finding(&run, id);
        assert_eq!(finding.verdict, Verdict::Holds, "{finding:?}");
    }
    let difference = finding(&run, "lz-share-published");
    assert!(difference.meaning.contains("points"), "{}", difference.meaning);
    let off = Builder {
        stage_sum: 1.4,
        ..Builder::new(2)
    };
    let sums = finding(&off.stages().build(), "stage-sums");
    assert_eq!(sums.verdict, Verdict::DoesNotHold);
    assert!(
        sums.meaning.contains("level 1, 4 KiB, 1 bit/B: 1.40"),
        "{}",
        sums.meaning
    );
}

#[test]
fn the_drop_that_a_publication_claims_is_checked_against_its_own_curve() {
    let run = Builder::new(3).robustness(&CODECS[1..]).build();
    let page = Report::of(&run).to_html();
    for sentence in [
        "The compress throughput of DPZip drops by less than 15 %, however well the data compress, as its publication claims.",
        "13.5 GB/s at 100 % and 10.5 GB/s at 70 % (compressed ÷ original)",
        "By its own figures it drops by 22 %.",
        "By its own figures it drops by 16 %.",
    ] {
        assert!(page.contains(sentence), "{sentence}");
    }
}

#[test]
fn speeds_that_contradict_what_is_believed_are_found_out() {
    let run = complete();
    assert_eq!(finding(&run, "decompressing-is-faster").verdict, Verdict::Holds);
    assert_eq!(finding(&run, "copy-is-fastest").verdict, Verdict::Holds);
    assert_eq!(finding(&run, "threads-scale").verdict, Verdict::Holds);
    assert_eq!(finding(&run, "incompressible-is-faster").verdict, Verdict::Holds);
    assert_eq!(finding(&run, "larger-blocks-save-more").verdict, Verdict::Holds);
    let slow = finding(&run, "dpzip-against-zstd");
    assert_eq!(slow.verdict, Verdict::DoesNotHold);
    assert!(
        slow.tested.contains("compress 0.62") && slow.tested.contains("decompress 0.89"),
        "{}",
        slow.tested
    );

    let odd = [codec("none", 1.0, 1e9, 1e9), codec("brotli:1", 2.0, 2e9, 5e8)];
    let poor = Builder {
        efficiency: 0.5,
        ..Builder::new(3)
    };
    let run = poor.speeds(&odd, &[4], &[1, 2]).build();
    for id in ["decompressing-is-faster", "copy-is-fastest", "threads-scale"] {
        assert_eq!(finding(&run, id).verdict, Verdict::DoesNotHold, "{id}");
    }
}

#[test]
fn speeds_of_one_trial_or_beside_other_programs_decide_no_finding() {
    let ids = [
        "decompressing-is-faster",
        "threads-scale",
        "incompressible-is-faster",
        "dpzip-against-zstd",
    ];
    let mut once = complete();
    once.trials.retain(|trial| trial.repetition == 0);
    let mut busy = complete();
    busy.trials.retain(|trial| trial.repetition < 3);
    for trial in &mut busy.trials {
        trial.others_cpu_share = Some(0.8);
    }
    for (run, says) in [(&once, "one trial"), (&busy, "other programs used 80 %")] {
        for id in ids {
            let verdict = finding(run, id).verdict;
            let is_open = matches!(&verdict, Verdict::NotTestable(why) if why.to_lowercase().contains(says));
            assert!(is_open, "{id}: {verdict:?}");
        }
    }
}

#[test]
fn what_a_run_lacks_is_missing_with_its_reason_and_the_plan_that_measures_it() {
    let run = Builder::new(3).stages().build();
    let report = Report::of(&run);
    let missing: Vec<&str> = report.layers[0]
        .figures
        .iter()
        .filter_map(|slot| match slot {
            FigureSlot::Missing(missing) => Some(missing.plan.as_str()),
            FigureSlot::Drawn(_) => None,
        })
        .collect();
    for plan in ["throughput-latency", "ratio-percentiles", "robustness"] {
        assert!(missing.contains(&plan), "{missing:?}");
    }
    assert!(!missing.contains(&"zstd-stages"), "{missing:?}");
    assert_eq!(missing.len(), 3, "one sentence a plan: {missing:?}");
    let answer = &report.layers[0].answer;
    assert!(answer.capabilities.is_empty(), "{answer:?}");
    assert!(answer.advice[0].topic.starts_with("match finding"), "{answer:?}");
    let complete = Report::of(&complete());
    let lacking: Vec<&FigureSlot> = complete.layers[0]
        .figures
        .iter()
        .filter(|slot| matches!(slot, FigureSlot::Missing(_)))
        .collect();
    assert!(lacking.is_empty(), "{lacking:?}");
}

#[test]
fn the_page_of_codecs_is_well_formed_and_its_figures_have_names_of_their_own() {
    let report = Report::of(&complete());
    elements(&report.to_html()).unwrap();
    let mut ids: Vec<&str> = report.figures().iter().map(|figure| figure.id.as_str()).collect();
    ids.sort_unstable();
    let count = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), count);
    assert!(ids.contains(&"ratio-against-compress-speed"), "{ids:?}");
}

#[test]
fn the_screen_of_a_run_over_codecs() {
    insta::assert_snapshot!("codecs", Report::of(&complete()).screen(80, false));
}

#[test]
fn layers_share_one_screen() {
    let mut run = complete();
    run.trials.extend(crate::fixture::complete().trials);
    let report = Report::of(&run);
    insta::assert_snapshot!("two_layers", report.screen(80, false));
    for width in [60, 80, 120] {
        let screen = report.screen(width, false);
        assert!(screen.lines().count() <= 22, "{screen}");
        assert!(
            screen.lines().all(|line| line.chars().count() <= width),
            "{screen}"
        );
        assert!(
            screen.contains("smallest") && screen.contains("Highest IOPS"),
            "{screen}"
        );
    }
    elements(&report.to_html()).unwrap();
}

#[test]
fn a_run_of_one_cell_claims_no_more_than_it_has() {
    let run = Builder::new(3).speeds(&CODECS[3..4], &[64], &[1]).build();
    let (brief, text) = advice(&run, "Codec");
    assert!(
        brief.starts_with("zstd:1, 64 KiB: ratio ") && text.contains("the only codec and block size"),
        "{brief} {text}"
    );
    let answer = &Report::of(&run).layers[0].answer;
    let columns: Vec<&str> = answer.capabilities[0]
        .readings
        .iter()
        .map(|reading| reading.column.as_str())
        .collect();
    assert_eq!(columns, ["zstd:1 64K"], "nothing was chosen for any wish");
    let copy = Builder::new(3).speeds(&CODECS[..1], &[64], &[1]).build();
    let report = Report::of(&copy);
    assert!(report.layers[0].answer.advice.is_empty());
    assert!(report.to_html().contains("not measured: no codec of this run"));
}

#[test]
fn data_that_no_codec_makes_smaller_have_figures_and_no_recommendation() {
    let useless = [codec("lz4:1", 1.0, 3e9, 9e9), codec("dpzip", 1.0, 2e9, 8e9)];
    let run = Builder::new(3).speeds(&useless, &[4], &[1]).build();
    let report = Report::of(&run);
    assert!(
        report.layers[0]
            .answer
            .advice
            .iter()
            .all(|claim| claim.topic != "Smallest")
    );
    let advice = &report.layers[0].answer.advice[0];
    assert!(
        advice
            .action
            .as_deref()
            .is_some_and(|action| action.starts_with("Store these data uncompressed")),
        "{advice:?}"
    );
    let ids: Vec<&str> = report.figures().iter().map(|figure| figure.id.as_str()).collect();
    assert!(ids.contains(&"ratio-against-compress-speed"), "{ids:?}");
}

#[test]
fn cells_of_two_sets_of_data_are_never_compared() {
    let run = Builder::new(3)
        .of("logs")
        .speeds(&CODECS[..1], &[4], &[1])
        .speeds(&CODECS[3..4], &[64], &[1])
        .of("mail")
        .speeds(&CODECS[1..4], &[4], &[1])
        .speeds(&CODECS[3..4], &[4], &[2])
        .build();
    let copy = finding(&run, "copy-is-fastest");
    assert!(matches!(copy.verdict, Verdict::NotTestable(_)), "{copy:?}");
    let blocks = finding(&run, "larger-blocks-save-more");
    assert!(matches!(blocks.verdict, Verdict::NotTestable(_)), "{blocks:?}");
    assert_eq!(finding(&run, "threads-scale").verdict, Verdict::Holds);
    let report = Report::of(&run);
    let layer = &report.layers[0];
    assert!(layer.answer.subject.contains("mail"), "{}", layer.answer.subject);
    assert_eq!(layer.matrices[0].rows, ["zstd:1", "lz4:1", "snappy"]);
    assert_eq!(layer.matrices[0].columns, ["4 KiB"]);
}

#[test]
fn generated_blocks_do_not_stand_beside_published_percentiles_of_real_ones() {
    let report = Report::of(&Builder::new(3).robustness(&CODECS[1..]).build());
    let references = &report.layers[0].references;
    let percentiles = references
        .iter()
        .find(|section| section.name == "asic-ratio-percentiles");
    let rows = &percentiles.unwrap().table.rows;
    assert!(rows.iter().all(|row| row[2] == "–" && row[3] == "–"), "{rows:?}");
}

#[test]
fn reading_a_block_is_one_statistic_that_is_named_wherever_it_stands() {
    let named = |run: &RunView| {
        let report = Report::of(run);
        let mut rows = report.layers[0].answer.capabilities.iter();
        let row = rows.find(|row| row.label.starts_with("Read a block, "));
        let name = row.unwrap().label.split(", ").nth(1).unwrap().to_owned();
        (name, advice(run, "Block size").0)
    };
    let mut run = complete();
    let (name, brief) = named(&run);
    assert_eq!(name, "p99");
    assert!(
        brief.contains("; reading a block takes ") && brief.contains("(p99)"),
        "{brief}"
    );
    // One cell that lacks the percentile changes both.
    let latency = outcrop_schema::compression::LATENCY.decompress;
    let lacks = [latency.p99, latency.p95, latency.p90].map(|metric| metric.name);
    for trial in &mut run.trials {
        trial
            .values
            .retain(|value| !lacks.contains(&value.metric.as_str()));
    }
    let (name, brief) = named(&run);
    assert!(
        name != "p99" && brief.contains(&format!("({name})")),
        "{name}: {brief}"
    );
}

#[test]
fn the_intervals_that_a_figure_speaks_of_are_drawn() {
    let drawing = |repetitions: u32| {
        let run = Builder {
            spread: 0.2,
            ..Builder::new(repetitions)
        };
        let report = Report::of(&run.speeds(&CODECS, &[64], &[1]).build());
        let figures = report.figures().into_iter();
        let mut figures = figures.filter(|figure| figure.id == "ratio-against-compress-speed");
        let figure = figures.next().expect("it is drawn");
        let label = report.label_of(&figure.id);
        let svg = figure.to_file(FileFormat::Svg, 150.0, &label).unwrap();
        let svg = String::from_utf8(svg).unwrap();
        let paths = svg.split(" d=\"").skip(1);
        let pieces = paths.map(|rest| {
            let path = rest.split('"').next().unwrap();
            path.matches(['M', 'm']).count()
        });
        (svg.contains("thin lines: "), pieces.sum::<usize>())
    };
    let ((says_one, of_one), (says_three, of_three)) = (drawing(1), drawing(3));
    assert!(!says_one && says_three);
    assert!(of_three >= of_one + CODECS.len() - 2, "{of_one} {of_three}");
}
