//! The column layer from plan to journal: what cells it makes, what trials say, and what it refuses.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use outcrop_lab::{
    Effort, Event, LabError, PlanOptions, PlanSet, execute, profile_plans, resume, shipped_plans,
};
use outcrop_results::TrialEntry;
use outcrop_schema::column;

use super::scene::{
    assert_complete, assert_empty, directory, factor, plan_set, run_to_the_end, start, try_plan_set,
};

pub(crate) const PLAN: &str = r#"
name = "columns"
question = "Does the column layer work?"
layer = "column"

[workload]
rows = 20000
distinct = 300

[factors]
operation = ["encode", "decode", "scan", "equality", "prefix", "range", "get"]
index = ["none", "postings"]
search_mode = ["in-memory", "on-disk"]
threads = [1, 2]

[trial]
repetitions = 2
warm_up = "0ms"
duration = "10ms"
"#;

pub(crate) fn value(entry: &TrialEntry, metric: &str) -> f64 {
    let found = entry.values.iter().find(|value| value.metric == metric);
    let value = found.unwrap_or_else(|| panic!("no {metric} in {:?}", entry.factors));
    value
        .value
        .unwrap_or_else(|| panic!("{metric}: {:?}", value.source))
}

pub(crate) fn message_of(text: &str, directory: &Path) -> String {
    match try_plan_set(text, directory) {
        Err(error @ LabError::BadPlan { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_has_no_effect_makes_no_cells_of_its_own() {
    let here = directory();
    let set = plan_set(PLAN, here.path());
    let of = |operation: &str| {
        let cells = set.cells().iter();
        cells
            .filter(|cell| factor(cell, "operation") == operation)
            .count()
    };
    // Encoding: index × threads. Everything else: index × search mode.
    assert_eq!([of("encode"), of("decode"), of("equality")], [4, 4, 4]);
    assert_eq!(set.cells().len(), 28);
}

#[test]
fn a_run_yields_complete_trials_that_agree_with_themselves_and_leaves_nothing() {
    let (runs, data) = (directory(), directory());
    let set = plan_set(PLAN, data.path());
    let mut folder = start(&set, runs.path());
    run_to_the_end(&set, &mut folder).unwrap();
    assert_empty(data.path());
    let mut sizes: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    for entry in assert_complete(&set, &folder) {
        let file = value(&entry, "file_bytes");
        sizes
            .entry(entry.factors["index"].clone())
            .or_default()
            .insert(file as u64);
        match entry.factors["operation"].as_str() {
            "encode" => check_encode(&entry, file),
            "decode" => assert!(value(&entry, "decode_speed") > 0.0),
            "scan" => assert!(value(&entry, "row_rate") > 0.0),
            _ => check_query(&entry),
        }
    }
    // The same column gives the same file in every trial, whatever the threads.
    assert!(sizes.values().all(|sizes| sizes.len() == 1), "{sizes:?}");
    assert!(sizes["none"] < sizes["postings"], "{sizes:?}");
}

fn check_encode(entry: &TrialEntry, file: f64) {
    let [rows, text, distinct] = ["rows", "text_bytes", "distinct_values"].map(|metric| value(entry, metric));
    assert_eq!((rows, distinct), (20_000.0, 300.0));
    assert!((value(entry, "bytes_per_row") * rows - file).abs() < 1e-6);
    assert!((value(entry, "compression_ratio") * file - text).abs() < 1e-6);
    assert!(value(entry, "size_over_floor") >= 1.0);
    assert!(value(entry, "encode_speed") > 0.0);
    assert!(
        entry.notes.iter().any(|note| column::ENCODINGS.is_kind_of(note)),
        "{:?}",
        entry.notes
    );
}

fn check_query(entry: &TrialEntry) {
    let [histogram] = entry.histograms.as_slice() else {
        panic!("{} histograms", entry.histograms.len());
    };
    assert_eq!(histogram.operation, entry.factors["operation"]);
    let rate = value(entry, "operation_rate");
    assert!((histogram.count as f64 / entry.duration_s / rate - 1.0).abs() < 1e-9);
    assert!(value(entry, "latency_mean") <= value(entry, "latency_max"));
    let has_hits = entry
        .values
        .iter()
        .any(|value| value.metric == "hits_per_operation");
    assert_eq!(has_hits, entry.factors["operation"] != "get");
    if entry.factors["search_mode"] == "on-disk" && entry.factors["index"] == "postings" {
        assert!(value(entry, "cold_reads") >= 1.0);
    }
    if entry.factors["operation"] == "equality" {
        // 20,000 rows of 300 words, each drawn as often.
        assert!((40.0..100.0).contains(&value(entry, "hits_per_operation")));
    }
}

#[test]
fn a_column_of_a_file_is_found_by_name_or_number_and_measured() {
    let (runs, data) = (directory(), directory());
    let path = data.path().join("rocks.csv");
    let rows: String = (0..5000).map(|row| format!("{row}|rock{}\n", row % 7)).collect();
    std::fs::write(&path, format!("id|rock\n{rows}")).unwrap();
    let text = format!(
        "name = \"file\"\nquestion = \"?\"\nlayer = \"column\"\n[subject]\nkind = \"file\"\npath = {path:?}\n\
         [factors]\ncolumn = [\"rock\", \"1\"]\nformat = [\"ocol\", \"zstd:3\"]\n[trial]\nrepetitions = 1\nwarm_up = \"0ms\"\nduration = \"10ms\"\n"
    );
    let set = plan_set(&text, data.path());
    assert_eq!(
        set.cells().len(),
        2,
        "a number and a name of the same column are the same cell"
    );
    let mut folder = start(&set, runs.path());
    run_to_the_end(&set, &mut folder).unwrap();
    for entry in assert_complete(&set, &folder) {
        assert_eq!(
            (entry.subject.as_str(), value(&entry, "rows")),
            ("file rocks.csv", 5000.0)
        );
    }
    assert!(path.is_file(), "a file of the user's stays");
    let missing = message_of(&text.replace("\"1\"", "\"rokc\""), data.path());
    assert!(
        missing.contains("no column \"rokc\"; did you mean `rock`?"),
        "{missing}"
    );
}

#[test]
fn what_does_not_go_together_is_refused_with_what_to_change() {
    let here = directory();
    let picture = here.path().join("a.jpg");
    std::fs::write(&picture, b"\xff\xd8\xff\0").unwrap();
    let picture = format!("kind = \"file\"\npath = {picture:?}");
    let plan = |subject: &str, workload: &str| {
        format!(
            "name = \"bad\"\nquestion = \"?\"\nlayer = \"column\"\n[subject]\n{subject}\n[workload]\n{workload}\n"
        )
    };
    for (subject, workload, expected) in [
        ("kind = \"file\"", "", "needs `path`"),
        ("path = \"a.csv\"", "", "has no path"),
        ("kind = \"file\"\npath = \"/nowhere/a.csv\"", "", "/nowhere/a.csv"),
        (
            &picture,
            "",
            "binary data in a file whose name does not end in .csv",
        ),
        ("", "rows = \"all\"", "needs a number of rows"),
        ("", "rows = 0", "expected a whole number from 1"),
        ("", "skew = 9", "expected a number from 0 (uniform) to 4"),
        ("", "order = \"up\"", "random"),
        ("", "index = \"posting\"", "did you mean `postings`?"),
        ("", "column = \"a\"", "has no name"),
        ("", "index = \"only\"\noperation = \"get\"", "has no codes"),
        (
            "",
            "operation = \"decode\"\nsearch_mode = \"scan\"",
            "finds rows by value",
        ),
        (
            "",
            "operation = \"scan\"\nformat = \"zstd:3\"",
            "no dictionary codes to scan",
        ),
        ("", "format = \"zstd:99\"", "zstd"),
    ] {
        let message = message_of(&plan(subject, workload), here.path());
        assert!(message.contains(expected), "{message}\nshould say: {expected}");
    }
}

#[test]
fn the_shipped_column_plans_fit_their_time_and_cover_what_was_asked() {
    let set = |effort: Effort| {
        let options = PlanOptions {
            effort: Some(effort),
            ..PlanOptions::default()
        };
        PlanSet::from_sources(
            &profile_plans(&["column"], None, Path::new(".")).unwrap().plans,
            &options,
        )
        .unwrap()
    };
    let [quick, default] = [Effort::Quick, Effort::Default].map(|effort| set(effort).estimate().total());
    assert!(quick.as_secs() <= 12, "{quick:?}");
    assert!(default.as_secs() <= 100, "{default:?}");
    let full = set(Effort::Full);
    println!(
        "quick {quick:?}, default {default:?}, full {:?}",
        full.estimate().total()
    );
    let values =
        |name: &str| -> BTreeSet<&str> { full.cells().iter().map(|cell| factor(cell, name)).collect() };
    assert!(
        ["2", "10000000"]
            .iter()
            .all(|distinct| values("distinct").contains(distinct))
    );
    assert!(["0", "1.2"].iter().all(|skew| values("skew").contains(skew)));
    assert_eq!(values("order").len(), 3);
    // Text has no index.
    assert_eq!(
        values("index")
            .into_iter()
            .filter(|index| !index.is_empty())
            .count(),
        3
    );
    assert!(
        values("format").contains("none"),
        "a plain scan of the text is the baseline"
    );
}

/// Shipped plans on data of the user.
fn set(plans: &[&str], data: &Path) -> Result<PlanSet, LabError> {
    let sources: Vec<_> = shipped_plans()
        .iter()
        .filter(|plan| plans.contains(&plan.name))
        .map(outcrop_lab::ShippedPlan::source)
        .collect();
    let options = PlanOptions {
        effort: Some(Effort::Quick),
        data: Some(data.to_owned()),
        ..PlanOptions::default()
    };
    PlanSet::from_sources(&sources, &options)
}

#[test]
fn fields_between_bars_are_columns_and_what_is_read_as_lines_is_said_to_be() {
    let here = directory();
    let bars = here.path().join("plays.psv");
    std::fs::write(&bars, "1|slate|grey\n2|chalk|white\n").unwrap();
    let read = set(&["column-choice"], &bars).unwrap();
    assert!(
        read.data_notes()[0].contains("assumes delimiter '|', no header, 3 columns"),
        "{:?}",
        read.data_notes()
    );
    let unnamed = here.path().join("plays.dat");
    std::fs::copy(&bars, &unnamed).unwrap();
    let read = set(&["column-choice"], &unnamed).unwrap();
    assert!(
        read.data_notes()[0].contains("assumes lines of text, each one value"),
        "{:?}",
        read.data_notes()
    );
}

#[test]
fn data_of_the_user_put_their_string_columns_in_the_place_of_made_ones() {
    let here = directory();
    let path = here.path().join("rocks.csv");
    let rows = (0..400).map(|row| format!("{row},{},note {}\n", ["slate", "chalk"][row % 2], row % 7));
    std::fs::write(&path, format!("id,rock,note\n{}", rows.collect::<String>())).unwrap();
    let taken = set(&["column-choice", "column-index"], &path).unwrap();
    assert!(taken.data_refusals().is_empty());
    let columns: BTreeSet<&str> = taken.cells().iter().map(|cell| factor(cell, "column")).collect();
    assert_eq!(columns, BTreeSet::from(["note", "rock"]));
    let is_of_the_file = |cell: &outcrop_lab::Cell| {
        *cell.subject.settings.value(&column::KIND) == column::Kind::File
            && !cell.factors.has(&column::DISTINCT)
    };
    assert!(taken.cells().iter().all(is_of_the_file));
    // The size of the whole column once; two encodes and four searches of its first rows.
    assert_eq!(taken.cells().len(), 2 * (1 + 2 + 4));

    let numbers = here.path().join("numbers.csv");
    std::fs::write(&numbers, format!("a,b\n{}", "1,2\n".repeat(100_000))).unwrap();
    let refused = set(&["column-choice"], &numbers).unwrap_err().to_string();
    assert!(
        refused.contains("--data") && refused.contains("finds no column"),
        "{refused}"
    );
    assert!(
        refused.contains(
            "a (numbers), b (numbers) (`outcrop column encode FILE --all-columns -o DIRECTORY/` compares them)"
        ),
        "{refused}"
    );
    let beside = set(&["column-choice", "codec-choice"], &numbers).unwrap();
    assert!(beside.data_refusals()[0].contains("the column layer finds no column"));
    // A file without the name of a table is read as lines, as the command does; binary data are refused by both.
    let binary = here.path().join("core.dump");
    std::fs::write(&binary, b"\x7fELF\0\0").unwrap();
    let refused = set(&["column-choice"], &binary).unwrap_err().to_string();
    assert!(refused.contains("binary data"), "{refused}");
    let [note] = taken.data_notes() else {
        panic!("{:?}", taken.data_notes());
    };
    assert!(
        note.contains("assumes delimiter ',', a header, 3 columns"),
        "{note}"
    );
    assert!(
        note.contains(
            "leaves out columns that do not hold text: id (numbers) (`outcrop column encode FILE --all-columns -o DIRECTORY/` compares them)"
        ),
        "{note}"
    );
    let nobody = set(&["ssd-max"], &path).unwrap_err().to_string();
    assert!(
        nobody.contains("none of these plans uses your own data"),
        "{nobody}"
    );
}

#[test]
fn a_folder_of_tables_gives_the_string_columns_of_each() {
    let (here, runs) = (directory(), directory());
    let write = |name: &str, text: String| std::fs::write(here.path().join(name), text).unwrap();
    let rows: String = (0..300).map(|row| format!("{row},rock{}\n", row % 7)).collect();
    write("a.csv", format!("id,rock\n{rows}"));
    write(
        "b.tsv",
        "era\tage\nDevonian\t400\nJurassic\t180\nDevonian\t380\n".to_owned(),
    );
    write("broken.parquet", "no Parquet".to_owned());
    write("picture.jpg", "no table".to_owned());
    let options = PlanOptions {
        effort: Some(Effort::Quick),
        data: Some(here.path().to_owned()),
        ..PlanOptions::default()
    };
    let sources = profile_plans(&["column"], Some(here.path()), here.path())
        .unwrap()
        .plans;
    let set = PlanSet::from_sources(&sources, &options).unwrap();
    let columns: BTreeSet<&str> = set.cells().iter().map(|cell| factor(cell, "column")).collect();
    assert_eq!(columns, BTreeSet::from(["a.csv/rock", "b.tsv/era"]));
    let [note] = set.data_notes() else {
        panic!("{:?}", set.data_notes());
    };
    assert!(
        note.starts_with("the column layer leaves out columns that do not hold text: a.csv/id (numbers)")
            && note.contains("broken.parquet"),
        "{note}"
    );
    let mut folder = start(&set, runs.path());
    run_to_the_end(&set, &mut folder).unwrap();
    for entry in assert_complete(&set, &folder) {
        assert!(entry.subject.starts_with("folder "), "{}", entry.subject);
        if ["encode", "size"].contains(&entry.factors["operation"].as_str()) {
            let rows = BTreeMap::from([("a.csv/rock", 300.0), ("b.tsv/era", 3.0)]);
            let rows = rows[entry.factors["column"].as_str()];
            assert_eq!((value(&entry, "rows"), value(&entry, "table_rows")), (rows, rows));
        }
    }
}

#[test]
fn the_profile_takes_the_plans_for_a_table_when_it_is_given_one() {
    let here = directory();
    let path = here.path().join("rocks.csv");
    std::fs::write(&path, "rock,mass\nslate,1\nchalk,2\nslate,3\n").unwrap();
    let names_of = |layer: &str, data: Option<&Path>| -> Vec<String> {
        let sources = profile_plans(&[layer], data, Path::new(".")).unwrap().plans;
        sources.into_iter().map(|source| source.name).collect()
    };
    let names = |data| names_of("column", data);
    let for_data = ["plans/column-choice.toml", "plans/column-index.toml"];
    assert_eq!(names(Some(&path)), for_data);
    assert_eq!(names(Some(here.path())), for_data, "a folder with a table in it");
    let empty = directory();
    assert_eq!(names(Some(empty.path())), names(None));
    assert_eq!(names(None).len(), 3);
    for layer in ["device", "compression", "cache"] {
        assert_eq!(
            names_of(layer, Some(&path)),
            names_of(layer, None),
            "{layer}: no plan is lost when data are given"
        );
    }
}

#[test]
fn what_no_further_trial_can_survive_ends_the_run_and_a_resume_measures_the_rest() {
    let (runs, data) = (directory(), directory());
    let plan = PLAN
        .replace("\"encode\", \"decode\", \"scan\", ", "")
        .replace("\"in-memory\", ", "")
        .replace("threads = [1, 2]\n", "");
    let set = plan_set(&plan, data.path());
    let mut folder = start(&set, runs.path());
    let dir = folder.dir().to_owned();
    let mut started = 0;
    let mut observer = |event: Event<'_>| {
        if let Event::TrialStarted { .. } = event {
            started += 1;
            // As when the disk with the scratch files is unplugged.
            if started == 3 {
                std::fs::remove_dir(data.path()).unwrap();
            }
        }
    };
    let error = execute(&set, &mut folder, &mut observer, &AtomicBool::new(false)).unwrap_err();
    let LabError::Fatal { finished, run, .. } = &error else {
        panic!("{error:?}");
    };
    assert_eq!((*finished, run, started), (2, &dir, 3));
    let advice = format!("outcrop run --resume {}", dir.display());
    assert!(error.to_string().contains(&advice), "{error}");
    drop(folder);

    std::fs::create_dir(data.path()).unwrap();
    let mut resumed = resume(&dir).unwrap();
    run_to_the_end(&resumed.set, &mut resumed.folder).unwrap();
    assert_complete(&set, &resumed.folder);
}
