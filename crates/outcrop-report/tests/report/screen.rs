//! The summary on one screen.

use outcrop_report::Report;
use outcrop_results::Outcome;

use crate::fixture::{RunBuilder, complete};

#[test]
fn the_screen_of_a_complete_run() {
    insta::assert_snapshot!("complete", Report::of(&complete()).screen(80, false));
}

#[test]
fn the_screen_of_a_run_without_a_finished_trial() {
    let run = RunBuilder::new(1)
        .lost(Outcome::Failed {
            message: "cannot open the file: O_DIRECT is not supported here".into(),
        })
        .build();
    insta::assert_snapshot!("empty", Report::of(&run).screen(80, false));
}

#[test]
fn it_fits_its_width_and_its_lines() {
    let shaky = RunBuilder {
        spread: 0.3,
        device_bytes_ratio: Some(1.5),
        ..RunBuilder::new(3)
    };
    let runs = [
        complete(),
        shaky.cells(&[4096, 16384], &[1, 8, 32], &[100, 0, 70]).build(),
        RunBuilder::new(1).build(),
    ];
    for run in &runs {
        for width in [60, 80, 120, 200] {
            let screen = Report::of(run).screen(width, false);
            assert!(screen.lines().count() <= 22, "{screen}");
            for line in screen.lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
    }
}

#[test]
fn of_four_layers_no_table_is_shown_without_a_value() {
    let mut run = complete();
    for other in [
        crate::compression_fixture::complete(),
        crate::column::table(),
        crate::cache_fixture::peers().run,
    ] {
        run.trials.extend(other.trials);
    }
    let report = Report::of(&run);
    assert_eq!(report.layers.len(), 4);
    let screen = report.screen(80, false);
    assert!(screen.lines().count() <= 22, "{screen}");
    for layer in &report.layers {
        let capabilities = &layer.answer.capabilities;
        let columns: Vec<&str> = capabilities[0]
            .readings
            .iter()
            .flat_map(|reading| reading.column.split_whitespace())
            .collect();
        let mut lines = screen.lines();
        if lines.any(|line| line.split_whitespace().eq(columns.iter().copied())) {
            let below = lines.next().unwrap_or("");
            assert!(below.starts_with(&capabilities[0].label), "{screen}");
        }
        let brief: String = layer.answer.advice[0].brief.chars().take(10).collect();
        assert!(screen.contains(&brief), "{screen}");
    }
    for wish in ["Smallest", "Balanced", "Fastest"] {
        assert!(screen.contains(wish), "{wish}: {screen}");
    }
}

#[test]
fn colour_codes_appear_only_when_asked_for() {
    let report = Report::of(&complete());
    assert!(!report.screen(80, false).contains('\u{1b}'));
    let coloured = report.screen(80, true);
    assert!(coloured.contains("\u{1b}[1m"));
    let stripped = coloured
        .replace("\u{1b}[1m", "")
        .replace("\u{1b}[33m", "")
        .replace("\u{1b}[0m", "");
    assert_eq!(stripped, report.screen(80, false));
}
