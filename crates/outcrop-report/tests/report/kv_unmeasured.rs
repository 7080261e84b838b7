//! Cells that an engine or a machine does not have.

use outcrop_report::Report;
use outcrop_results::Value;

use crate::kv_fixture::codecs;

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
