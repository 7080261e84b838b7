//! The report of a run that was made before notes had codes, over all layers that there were.

use std::path::{Path, PathBuf};

use outcrop_report::{Cell, Report, Verdict};
use outcrop_results::RunView;
use outcrop_schema::{cache, compression, device};

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/run-of-records-1")
}

#[test]
fn an_older_run_has_a_section_findings_and_figures_for_every_layer() {
    let run = RunView::load(&kept()).unwrap();
    let report = Report::of(&run);
    let layers: Vec<&str> = report.layers.iter().map(|layer| layer.layer.as_str()).collect();
    // Those that there were.
    assert_eq!(layers, ["device", "compression", "column", "cache"]);
    for layer in &report.layers {
        assert!(!layer.answer.capabilities.is_empty(), "{}", layer.layer);
        assert!(
            layer
                .figures
                .iter()
                .any(|slot| matches!(slot, outcrop_report::section::FigureSlot::Drawn(_))),
            "{}",
            layer.layer
        );
    }
    let findings = report.layers.iter().flat_map(|layer| &layer.findings);
    let tested = findings.filter(|finding| !matches!(finding.verdict, Verdict::NotTestable(_)));
    assert!(tested.count() > 10);
}

#[test]
fn every_row_of_the_first_screen_has_a_figure_and_what_is_not_decided_says_so() {
    let report = Report::of(&RunView::load(&kept()).unwrap());
    for width in [80, 120] {
        let screen = report.screen(width, false);
        let mut lines = screen.lines().skip_while(|line| !line.starts_with("layer "));
        let head = lines.next().expect("the table has a head");
        let places = ["measured", "what to do"].map(|name| head.find(name).expect("the column is there"));
        for layer in &report.layers {
            let mut rows = screen.lines();
            let row = rows.find(|line| line.starts_with(&layer.layer)).unwrap();
            let measured: String = row.chars().skip(places[0]).take(places[1] - places[0]).collect();
            assert!(!measured.trim().is_empty(), "{width}, {}: {screen}", layer.layer);
        }
    }
}

#[test]
fn a_run_of_renamed_plans_has_the_same_figures_findings_and_answer() {
    let run = RunView::load(&kept()).unwrap();
    let mut renamed = run.clone();
    for name in [
        "ssd-queue-depth",
        "codec-choice",
        "column-search",
        "cache-sensitivity",
    ] {
        assert!(run.plan.contains(name), "{name}");
        renamed.plan = renamed.plan.replace(name, &format!("my-{name}"));
    }
    for plan in renamed.trials.iter_mut().flat_map(|trial| &mut trial.plans) {
        *plan = format!("my-{plan}");
    }
    let layers = |run: &RunView| Report::of(run).to_json().unwrap()["layers"].take();
    assert!(layers(&run).is_array());
    assert_eq!(layers(&run), layers(&renamed));
    let drawn = |run: &RunView| -> Vec<String> {
        let report = Report::of(run);
        report.figures().iter().map(|figure| figure.id.clone()).collect()
    };
    assert_eq!(drawn(&run), drawn(&renamed));
    assert!(drawn(&run).len() > 10, "{:?}", drawn(&run));
}

#[test]
fn a_note_of_an_older_run_is_a_caution_by_its_words() {
    let run = RunView::load(&kept()).unwrap();
    let mut other = run.clone();
    let mut reworded = 0;
    for note in other.trials.iter_mut().flat_map(|trial| &mut trial.notes) {
        if cache::SHARED_CPU.is_kind_of(note) {
            note.text = "all is well".to_owned();
            reworded += 1;
        }
    }
    assert!(reworded > 0);
    let cautions = |run: &RunView| Report::of(run).layers[3].answer.cautions.len();
    assert_eq!(cautions(&run), cautions(&other) + 1);
}

/// The first cell of the device layer.
fn a_device_cell(ask: impl Fn(&Cell<'_>)) {
    let run = RunView::load(&kept()).expect("the kept run loads");
    let views = run.cells();
    let view = views.iter().find(|view| view.layer == "device");
    let view = view.expect("it has device cells");
    ask(&Cell::measured(&device::SCHEMA, view));
}

#[test]
#[should_panic(expected = "device has no metric hit_ratio")]
fn a_metric_of_another_layer_is_refused() {
    a_device_cell(|cell| assert!(cell.number(&cache::HIT_RATIO).is_none()));
}

#[test]
#[should_panic(expected = "device has no factor codec")]
fn a_factor_of_another_layer_is_refused() {
    a_device_cell(|cell| assert!(cell.get(&compression::CODEC).is_none()));
}

#[test]
#[should_panic(expected = "device has no remark served-by")]
fn a_remark_of_another_layer_is_refused() {
    a_device_cell(|cell| assert!(!cell.has(&cache::SERVED_BY)));
}
