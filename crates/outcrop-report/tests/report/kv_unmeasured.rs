//! Cells that an engine or a machine does not have, and figures that are not what their name says.

use outcrop_report::Report;
use outcrop_results::{RunView, Value};
use outcrop_schema::kv::COMPRESSED_BELOW;

use crate::kv_fixture::{codecs, of};
use crate::placement::stored;

/// Four cells of three trials, one of which has only reasons.
#[test]
fn cells_that_could_not_be_measured_count_nowhere_and_are_named() {
    let mut run = codecs();
    let cell = run.trials[0].cell.clone();
    for trial in run.trials.iter_mut().filter(|trial| trial.cell == cell) {
        trial.histograms.clear();
        for value in &mut trial.values {
            let metric = outcrop_schema::kv::SCHEMA.metric(&value.metric).unwrap();
            *value = Value::unavailable(metric, "fjall has no zstd");
        }
    }
    let table = outcrop_report::cell_table::text(&outcrop_results::CellTable::of(&run), None);
    let heading = table.lines().find(|line| line.contains("trials")).unwrap();
    assert!(!heading.contains("3 trials each"), "{table}");
    let report = Report::of(&run);
    let trials = &report.trials;
    assert_eq!(
        (trials.completed, trials.cells, trials.unmeasured_cells),
        (9, 3, 1)
    );
    let screen = report.screen(200, false);
    assert!(
        screen.contains("9 trials in 3 cells · 1 cell not measured"),
        "{screen}"
    );
    let finding = |id: &str| {
        let mut findings = report.layers.iter().flat_map(|layer| &layer.findings);
        findings.find(|finding| finding.id == id).unwrap()
    };
    assert!(finding("kv-settled").tested.contains(" in 3 cells "));
    assert!(
        finding("kv-values-verified")
            .numbers
            .iter()
            .all(|number| number.n == 3)
    );
}

/// Files show the size before the filesystem's compression: 2.09 was reported where the device held 0.47.
#[test]
fn space_on_a_filesystem_that_compresses_is_warned_of_whether_or_not_codecs_are_compared() {
    let as_is = |codec| stored(codec, "as-is", 100e3, 110e6);
    for cells in [vec![as_is("none")], vec![as_is("none"), as_is("lz4")]] {
        let warning = |run: &RunView| {
            let screen = Report::of(run).screen(100, false);
            let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
            // Where codecs are compared, the answer on that says it.
            let is_told_first = words.contains("Where to compress cannot be decided here");
            is_told_first || words.contains("Space is not what the databases take on the device")
        };
        let mut run = of(&cells);
        assert!(!warning(&run));
        for trial in &mut run.trials {
            trial.notes.push(COMPRESSED_BELOW.remark("btrfs compress=zstd:3"));
        }
        assert!(warning(&run), "{} cells", cells.len());
    }
    // ZFS shows what files take.
    let mut on_zfs = of(&[as_is("none")]);
    for trial in &mut on_zfs.trials {
        trial.notes.push(COMPRESSED_BELOW.remark("zfs compression=lz4"));
    }
    let screen = Report::of(&on_zfs).screen(100, false);
    assert!(!screen.contains("Space is not what"), "{screen}");
}

/// Both together took less than neither, and the blocks alone made the database larger.
#[test]
fn blocks_are_not_advised_for_what_the_filesystem_below_them_saves() {
    let run = of(&[
        stored("none", "ext4", 100e3, 110e6),
        stored("none", "btrfs zstd:1", 100e3, 39e6),
        stored("zstd:1", "btrfs zstd:1", 100e3, 41e6),
    ]);
    let screen = Report::of(&run).screen(100, false);
    assert!(!screen.contains("Compress blocks"), "{screen}");
    assert!(screen.contains("Compress in the filesystem"), "{screen}");
}
