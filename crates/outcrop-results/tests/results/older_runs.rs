//! A run that was made before records had cells and typed columns, and notes had codes; kept as it was.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use outcrop_results::parquet::{compact, read_histograms, read_records};
use outcrop_results::{RunView, Undecided, Verdict, compare};

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/run-of-records-1")
}

#[test]
fn an_older_run_loads_with_all_its_cells_and_every_name_in_it_is_known() {
    let run = RunView::load(&kept()).unwrap();
    let cells = run.cells();
    let layers: BTreeSet<&str> = cells.iter().map(|cell| cell.layer).collect();
    // Those that there were.
    let all = BTreeSet::from(["device", "compression", "column", "cache"]);
    assert_eq!((run.trials.len(), layers), (75, all));
    for cell in &cells {
        let schema = cell.schema.unwrap();
        let read = schema.read(cell.factors);
        for (name, spelling) in cell.factors {
            let factor = schema.factor(name);
            let factor = factor.unwrap_or_else(|| panic!("{}: no factor {name}", schema.name));
            let setting = factor.read(spelling);
            assert_eq!(
                setting.map(|setting| setting.spelling().to_owned()).as_ref(),
                Ok(spelling)
            );
            assert_eq!(read.spelling(factor.about()), Some(spelling.as_str()));
        }
        for name in cell.metric_names() {
            let metric = cell.defined(name);
            let metric = metric.unwrap_or_else(|| panic!("{}: no metric {name}", schema.name));
            assert_eq!(metric.unit, cell.metric(name).unwrap().unit, "{name}");
        }
    }
}

#[test]
fn remarks_of_an_older_run_are_known_by_their_words() {
    let run = RunView::load(&kept()).unwrap();
    let notes = run.trials.iter().flat_map(|trial| &trial.notes);
    let mut codes = BTreeSet::new();
    for note in notes {
        assert_eq!(note.code, None);
        let mut kinds = run.vocabulary.layers().iter().flat_map(|layer| layer.remarks);
        codes.extend(kinds.find(|kind| kind.is_kind_of(note)).map(|kind| kind.code));
    }
    // What no report ever looked for ("time for 82 of 247 blocks only …") is text and nothing else.
    assert_eq!(
        codes,
        BTreeSet::from(["block-encodings", "contaminated", "cpu-is-shared", "served-by"])
    );
}

#[test]
fn records_of_the_first_schema_are_read_and_written_anew_as_the_second() {
    let run = RunView::load(&kept()).unwrap();
    let first = read_records(&kept().join("records.parquet")).unwrap();
    assert!(first.iter().all(|record| record.cell.is_empty()));
    let folder = tempfile::tempdir().unwrap();
    for name in ["environment.json", "plan.toml", "trials.ndjson"] {
        std::fs::copy(kept().join(name), folder.path().join(name)).unwrap();
    }
    compact(folder.path()).unwrap();
    let second = read_records(&folder.path().join("records.parquet")).unwrap();
    assert_eq!(first.len(), second.len());
    for (one, two) in first.iter().zip(&second) {
        assert!(!two.cell.is_empty());
        assert_eq!(
            (&one.metric, one.value, one.trial, &one.factors),
            (&two.metric, two.value, two.trial, &two.factors)
        );
    }
    let rows = |folder: &Path| read_histograms(&folder.join("histograms.parquet")).unwrap().len();
    assert_eq!(rows(&kept()), rows(folder.path()));
    assert_eq!(second.len(), run.records().count());
}

#[test]
fn an_older_run_is_compared_and_its_overhead_counts_once() {
    let run = RunView::load(&kept()).unwrap();
    let comparison = compare(&run, &run);
    let verdicts: BTreeSet<&str> = comparison
        .rows
        .iter()
        .map(|row| match row.verdict {
            Verdict::Same => "same",
            Verdict::Undecided(_) => "undecided",
            Verdict::NotComparable(_) => "not comparable",
            _ => "different",
        })
        .collect();
    assert_eq!(verdicts, BTreeSet::from(["not comparable", "same", "undecided"]));
    let once = outcrop_schema::device::OVERHEAD_PER_OPERATION;
    for row in comparison.rows.iter().filter(|row| row.metric == once.name) {
        assert_eq!(
            (row.baseline.as_ref().unwrap().n, &row.verdict),
            (1, &Verdict::Undecided(Undecided::OncePerRun))
        );
    }
    assert!(comparison.unmatched.is_empty());
}
