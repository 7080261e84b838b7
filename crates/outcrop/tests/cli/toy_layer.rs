//! A toy layer goes from plan to progress, journal, record, report and comparison without a change outside its own modules: what
//! ARCHITECTURE.md says that a new layer touches is all that it touches.

mod lab;
mod report;
mod schema;

use std::sync::atomic::AtomicBool;

use outcrop_lab::{Event, Layers, PlanOptions, PlanSet, PlanSource, execute, new_run};
use outcrop_report::Report;
use outcrop_results::{RunView, Verdict, compare, parquet};
use outcrop_schema::{Vocabulary, tables};

/// One line in each crate's registry.
static VOCABULARY: Vocabulary = Vocabulary::of(&[&schema::SCHEMA]);
static LAYERS: Layers = Layers::of(&[&lab::Coin], VOCABULARY);

const PLAN: &str = "name = \"coin-toss\"\nquestion = \"Is the coin fair?\"\nlayer = \"coin\"\n\
                    [factors]\ntosses = [10, \"1000\"]\nbias = [\"fair\", \"loaded\"]\n\
                    [trial]\nrepetitions = 5\nduration = \"10ms\"\n";

fn plan(text: &str) -> Result<PlanSet, String> {
    let source = PlanSource {
        name: "coin.toml".to_owned(),
        text: text.to_owned(),
    };
    let options = PlanOptions {
        layers: LAYERS,
        ..PlanOptions::default()
    };
    PlanSet::from_sources(&[source], &options).map_err(|error| error.to_string())
}

/// Runs the plan; what the progress line would say goes into the list.
fn run(folder: &std::path::Path) -> (RunView, Vec<String>) {
    let set = plan(PLAN).unwrap();
    let mut run = new_run(folder, "coin", &set).unwrap();
    let mut said = Vec::new();
    let mut observer = |event: Event<'_>| {
        if let Event::TrialFinished { cell, entry, .. } = event {
            said.push(format!("{}: {}", cell.label(), cell.reached(entry).unwrap()));
        }
    };
    execute(&set, &mut run, &mut observer, &AtomicBool::new(false)).unwrap();
    let view = RunView {
        vocabulary: VOCABULARY,
        ..RunView::load(run.dir()).unwrap()
    };
    (view, said)
}

#[test]
fn a_toy_layer_plugs_in() {
    // Plan checks, by the schema: names, spellings, and what goes with what.
    let refused = plan(&PLAN.replace("tosses", "tossse")).unwrap_err();
    assert!(refused.contains("did you mean `tosses`?"), "{refused}");
    let refused = plan(&PLAN.replace("\"loaded\"", "\"laoded\"")).unwrap_err();
    assert!(refused.contains("did you mean `loaded`?"), "{refused}");
    let refused = plan(&PLAN.replace("10,", "-7,")).unwrap_err();
    assert!(refused.starts_with("coin.toml:5:11: "), "{refused}");

    // Its page of the reference documentation is written as it stands.
    let page = tables::plan_keys(&schema::SCHEMA) + &tables::metrics(&schema::SCHEMA);
    assert!(
        page.contains("`tosses`") && page.contains("`toss_rate`"),
        "{page}"
    );

    // Plan → trial → progress → journal.
    let folder = tempfile::tempdir().unwrap();
    let (view, said) = run(folder.path());
    assert_eq!((said.len(), view.cells().len()), (20, 4));
    assert!(said.contains(&"1000 tosses loaded: 0.900".to_owned()), "{said:?}");
    let remarked = view
        .cells()
        .iter()
        .filter(|cell| cell.has_remark(&schema::IS_LOADED))
        .count();
    assert_eq!(remarked, 2);

    // Journal → records, with the cell and typed columns.
    let path = view.dir.join("records.parquet");
    let records = parquet::read_records(&path).unwrap();
    assert_eq!(records.len(), 20 * 3);
    assert!(records.iter().all(|record| record.cell.len() == 16));
    let columns = columns_of(&path);
    assert!(
        columns.contains(&("tosses".to_owned(), "INT64".to_owned())),
        "{columns:?}"
    );
    assert!(
        columns.contains(&("bias".to_owned(), "BYTE_ARRAY".to_owned())),
        "{columns:?}"
    );

    // Records → report.
    let report = Report::of_layers(&view, &[&report::LAYER]);
    let screen = report.screen(80, false);
    assert!(
        screen.contains("Most heads") && screen.contains("10 tosses"),
        "{screen}"
    );
    assert!(
        report
            .to_html()
            .contains("A fair coin shows heads half of the time")
    );

    // Records → comparison: the schema says which way is better, and what is one value however often it is repeated.
    let mut better = view.clone();
    let values = better.trials.iter_mut().flat_map(|trial| &mut trial.values);
    for value in values.filter(|value| value.metric == schema::HEADS.name) {
        value.value = value.value.map(|heads| heads * 1.5);
    }
    let comparison = compare(&view, &better);
    let verdicts = |name: &str| -> Vec<&Verdict> {
        let rows = comparison.rows.iter().filter(|row| row.metric == name);
        rows.map(|row| &row.verdict).collect()
    };
    assert_eq!(verdicts(schema::HEADS.name), [&Verdict::Better; 4]);
    assert!(
        verdicts(schema::SIDES.name)
            .iter()
            .all(|verdict| matches!(verdict, Verdict::Undecided(_)))
    );
}

/// Names and types of a Parquet file's columns.
fn columns_of(path: &std::path::Path) -> Vec<(String, String)> {
    use ::parquet::file::reader::{FileReader as _, SerializedFileReader};
    let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let column = |column: &::parquet::schema::types::ColumnDescPtr| {
        (column.name().to_owned(), column.physical_type().to_string())
    };
    schema.columns().iter().map(column).collect()
}
