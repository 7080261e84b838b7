//! Rows of figures that the first screen has no room for.

use outcrop_report::Report;
use outcrop_report::answer::{Reading, ReadingOutcome};
use outcrop_schema::device::{ACCESS_PATTERN, IO_BLOCK_SIZE, READ_WRITE_MIX};

use crate::fixture::RunBuilder;

#[test]
fn rows_of_figures_that_have_no_room_are_counted_and_said_to_be_in_the_report() {
    let report = Report::of(&crate::kv_fixture::of_wide_speeds());
    let labels = report.layers[0].answer.capabilities.iter().map(|row| &row.label);
    let mut widths_with_rows_left = 0;
    for width in (60..=140).step_by(10) {
        let screen = report.screen(width, false);
        let is_missing = |label: &&String| !screen.lines().any(|line| line.starts_with(label.as_str()));
        let missing = labels.clone().filter(is_missing).count();
        let said = match missing {
            0 => String::new(),
            1 => "\nand 1 more row of figures in report.html\n".to_owned(),
            more => format!("\nand {more} more rows of figures in report.html\n"),
        };
        assert!(screen.contains(&said), "{width}: {missing} missing: {screen}");
        assert_eq!(
            missing > 0,
            screen.contains("of figures in report.html"),
            "{width}: {screen}"
        );
        widths_with_rows_left += usize::from(missing > 0);
    }
    assert!(
        widths_with_rows_left > 0,
        "the fixture has too few figures to test this"
    );
}

#[test]
fn every_tie_that_the_report_names_is_marked_beside_its_figure_on_the_screen() {
    let of_device = RunBuilder {
        spread: 0.3,
        device_bytes_ratio: Some(1.5),
        ..RunBuilder::new(3)
    };
    let of_device = of_device.cells(&[4096, 16384], &[8, 32], &[100, 0, 70]).build();
    let (mut without_settings, mut ties_seen, mut legends) = (0, 0, 0);
    for run in [of_device, crate::kv_fixture::of_wide_speeds()] {
        let report = Report::of(&run);
        let rows = &report.layers[0].answer.capabilities;
        for width in 60..=140 {
            let screen = report.screen(width, false);
            without_settings += usize::from(screen.contains("settings in report"));
            // Marks in several columns do not say that the columns tie.
            let table = screen.split("\n(tied): with others in its column\n");
            let has_legend = table.clone().count() == 2;
            assert_eq!(
                has_legend,
                table.collect::<String>().contains(" (tied)"),
                "{width}: {screen}"
            );
            legends += usize::from(has_legend);
            for row in rows {
                let tied = row.readings.iter().filter(|reading| is_tied(reading)).count();
                let mut lines = screen
                    .lines()
                    .skip_while(|line| !line.starts_with(row.label.as_str()));
                let Some(first) = lines.next() else { continue };
                let below = lines.take_while(|line| line.starts_with(' '));
                let said = [first].into_iter().chain(below).collect::<Vec<_>>().join(" ");
                let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
                let marks = said.matches("(tied)").count() + said.matches("ties with").count();
                assert_eq!(marks, tied, "{width}, {}: {screen}", row.label);
                ties_seen += tied;
            }
        }
    }
    assert!(without_settings > 0, "no screen left out its settings");
    assert!(ties_seen > 0, "no screen had a figure that ties");
    assert!(legends > 0, "no screen had a mark to explain");
}

fn is_tied(reading: &Reading) -> bool {
    match &reading.outcome {
        ReadingOutcome::Measured { conditions, .. } => conditions.contains("; ties with"),
        ReadingOutcome::Missing(_) => false,
    }
}

#[test]
fn lone_requests_of_two_accesses_are_told_apart_on_the_screen() {
    let mut run = RunBuilder::new(3).cells(&[4096], &[1], &[100, 0]).build();
    let screen = |run: &outcrop_results::RunView| Report::of(run).screen(100, false);
    assert!(!screen(&run).contains("sequential"));
    for trial in &mut run.trials {
        if trial.factors[READ_WRITE_MIX.name] == "0:100" {
            for (factor, value) in [(ACCESS_PATTERN.name, "sequential"), (IO_BLOCK_SIZE.name, "64KiB")] {
                trial.factors.insert(factor.to_owned(), value.to_owned());
            }
        }
    }
    let screen = screen(&run);
    let lines: Vec<&str> = screen.lines().collect();
    let latency = lines
        .iter()
        .position(|line| line.starts_with("QD 1 latency, p50"));
    let below = lines[latency.expect("there is such a row") + 1];
    assert!(
        below.contains("4 KiB random") && below.contains("64 KiB sequential"),
        "{screen}"
    );
}
