//! Every command prints the one JSON shape: checked against the schema that is documented.

use serde_json::Value;

use crate::harness::{only_run, outcrop, workplace};

const SCHEMA: &str = include_str!("../../../../docs/format/outcrop-1.schema.json");

/// Says where a document leaves the schema. It knows the keywords that our schema has, and refuses every other one.
fn check(value: &Value, schema: &Value, root: &Value, at: &str) -> Result<(), String> {
    for (keyword, says) in schema.as_object().unwrap() {
        let is_kept = match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" => true,
            "$ref" => {
                let name = says.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                check(value, &root["$defs"][name], root, at)?;
                true
            }
            "const" => value == says,
            "enum" => says.as_array().unwrap().contains(value),
            "type" => match says {
                Value::Array(kinds) => kinds.iter().any(|kind| is_a(value, kind)),
                kind => is_a(value, kind),
            },
            "required" => {
                let names = says.as_array().unwrap().iter();
                names
                    .map(|name| name.as_str().unwrap())
                    .all(|name| value.get(name).is_some())
            }
            "properties" => {
                for (name, of) in says.as_object().unwrap() {
                    if let Some(inner) = value.get(name) {
                        check(inner, of, root, &format!("{at}/{name}"))?;
                    }
                }
                true
            }
            "additionalProperties" => {
                let others = value.as_object().unwrap().iter();
                let known = &schema["properties"];
                for (name, inner) in others.filter(|(name, _)| known.get(name.as_str()).is_none()) {
                    match says {
                        Value::Bool(false) => {
                            return Err(format!("{at} has {name}, which the schema does not know"));
                        }
                        of => check(inner, of, root, &format!("{at}/{name}"))?,
                    }
                }
                true
            }
            "items" => {
                for (index, inner) in value.as_array().unwrap().iter().enumerate() {
                    check(inner, says, root, &format!("{at}/{index}"))?;
                }
                true
            }
            "anyOf" => {
                let ways = says.as_array().unwrap().iter();
                ways.map(|way| check(value, way, root, at))
                    .any(|outcome| outcome.is_ok())
            }
            other => panic!("the test does not know the keyword {other}"),
        };
        if !is_kept {
            return Err(format!("{at}: {keyword} wants {says}, and it is {value}"));
        }
    }
    Ok(())
}

fn is_a(value: &Value, kind: &Value) -> bool {
    match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        "null" => value.is_null(),
        other => panic!("the test does not know the type {other}"),
    }
}

/// Every number of the document that JavaScript, and so jq, would read as another one.
fn too_large(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Number(number) if number.as_u64().is_some_and(|number| number > 1 << 53) => {
            found.push(number.to_string());
        }
        Value::Array(values) => values.iter().for_each(|value| too_large(value, found)),
        Value::Object(fields) => fields.values().for_each(|value| too_large(value, found)),
        _ => {}
    }
}

/// What a command prints as JSON, which must be of the shape.
pub(crate) fn json_of(dir: &std::path::Path, args: &[&str]) -> Value {
    let all = [args, &["--format", "json"]].concat();
    let seen = outcrop(dir, &all);
    assert_eq!(seen.code, Some(0), "{all:?}: {seen:?}");
    checked(&seen.stdout)
}

/// A printed document, which must be of the shape.
pub(crate) fn checked(stdout: &str) -> Value {
    let document: Value = serde_json::from_str(stdout).unwrap();
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    check(&document, &schema, &schema, "").unwrap_or_else(|error| panic!("{stdout}: {error}"));
    let mut found = Vec::new();
    too_large(&document, &mut found);
    assert!(
        found.is_empty(),
        "{stdout}: {found:?} are not what JavaScript reads"
    );
    document
}

#[test]
fn a_measurement_its_report_its_records_and_its_comparison_have_one_shape() {
    let dir = workplace();
    let device = [
        "device",
        "--engine",
        "noop",
        "--size",
        "8MiB",
        "--queue-depth",
        "1,8",
        "--repetitions",
        "2",
        "--warm-up",
        "5ms",
        "--duration",
        "20ms",
    ];
    let device = json_of(dir.path(), &device);
    assert_eq!(device["command"], "device");
    assert_eq!(device["cells"].as_array().unwrap().len(), 2);
    assert!(device["environment"].is_object());
    assert!(!device["findings"].as_array().unwrap().is_empty());
    let run = only_run(dir.path());
    let run = run.to_str().unwrap();
    let report = json_of(dir.path(), &["report", run]);
    assert_eq!(
        report["cells"], device["cells"],
        "a report has the cells of its run"
    );
    json_of(dir.path(), &["results", "export", run]);
}

#[test]
fn a_cell_whose_trials_all_failed_has_the_shape_too() {
    let dir = workplace();
    let limited = "kv --memory-limit none,16MiB --records 60000 --repetitions 1 --warm-up 5ms --duration 20ms --settling none";
    let seen = json_of(dir.path(), &limited.split(' ').collect::<Vec<_>>());
    let failures = seen["cells"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|cell| cell.get("failure"));
    let failures: Vec<&Value> = failures.collect();
    assert!(
        failures.len() == 1 && failures[0].as_str().unwrap().contains("memory limit of 16 MiB"),
        "{failures:?}"
    );
}

#[test]
fn lists_have_the_shape_too() {
    let dir = workplace();
    for args in [["plans"].as_slice(), &["references"], &["codec", "list"]] {
        let rows = &json_of(dir.path(), args)["rows"];
        assert!(rows.as_array().unwrap().len() > 3, "{args:?}: {rows}");
    }
    assert_eq!(json_of(dir.path(), &["codec", "list"])["command"], "codec list");
}

#[test]
fn a_dry_run_has_the_shape_too() {
    let dir = workplace();
    let forecast = json_of(dir.path(), &["device", "--dry-run", "--queue-depth", "1,8"]);
    assert_eq!(forecast["rows"].as_array().unwrap().len(), 2, "a row per cell");
}

/// A measurement that takes a moment.
const SHORT: [&str; 8] = [
    "--size",
    "1MiB",
    "--repetitions",
    "5",
    "--warm-up",
    "2ms",
    "--duration",
    "10ms",
];

fn rows(document: &Value) -> &[Value] {
    document["rows"].as_array().unwrap()
}

#[test]
fn a_profile_forecasts_every_layer_in_the_shape() {
    let dir = workplace();
    let forecast = json_of(dir.path(), &["profile", "--quick", "--dry-run"]);
    let layers: std::collections::BTreeSet<&str> = rows(&forecast)
        .iter()
        .map(|row| row["layer"].as_str().unwrap())
        .collect();
    assert!(layers.len() >= 4, "{layers:?}");
    assert!(forecast["details"]["seed"].is_string());
}

#[test]
fn codecs_and_their_table_are_the_same_cells() {
    let dir = workplace();
    let args = [
        "codec",
        "--codec",
        "lz4,zlib:1",
        "--block-size",
        "64k",
        "--sample-size",
        "1MiB",
        "--repetitions",
        "2",
        "--duration",
        "10ms",
        "--warm-up",
        "2ms",
    ];
    let measured = json_of(dir.path(), &args);
    let cells = measured["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 2);
    for cell in cells {
        assert_eq!(cell["metrics"]["compression_ratio"]["unit"], "ratio", "{cell}");
        assert_eq!(cell["factors"]["compression_block_size_bytes"], 65_536);
    }
    let run = only_run(dir.path());
    let table = json_of(dir.path(), &["codec", "table", run.to_str().unwrap()]);
    assert_eq!(table["cells"], measured["cells"]);
    assert_eq!(table["command"], "codec table");
}

#[test]
fn the_environment_is_where_every_measurement_has_it() {
    let dir = workplace();
    let environment = json_of(dir.path(), &["env"]);
    assert!(environment["environment"]["cpu"].is_object(), "{environment}");
}

#[test]
fn comparisons_have_a_row_for_each_metric_of_a_cell() {
    let dir = workplace();
    let device = [&["device", "--engine", "noop", "--seed", "7"], &SHORT[..]].concat();
    for out in ["one", "two"] {
        json_of(dir.path(), &[&device[..], &["--out", out]].concat());
    }
    let run = |out: &str| {
        let folder = std::fs::read_dir(dir.path().join(out)).unwrap().next();
        folder.unwrap().unwrap().path().to_str().unwrap().to_owned()
    };
    let compared = json_of(dir.path(), &["compare", &run("one"), &run("two")]);
    let row = rows(&compared)
        .iter()
        .find(|row| row["metric"] == "iops")
        .unwrap();
    // On a machine that is too busy the repetitions support no interval, and the verdict says so.
    let is_known = row["interval"].is_object() || row["verdict"]["undecided"].is_object();
    assert!(row["ratio"].is_number() && is_known, "{row}");
    assert_eq!(row["baseline"]["unit"], "1/s");

    std::fs::write(
        dir.path().join("mine.toml"),
        "name = \"mine\"\nquestion = \"Which depth?\"\nlayer = \"device\"\n[workload]\nengine = \"noop\"\n",
    )
    .unwrap();
    let both = [
        "ab",
        "mine.toml",
        "--a",
        "queue_depth=1",
        "--b",
        "queue_depth=8",
        "--size",
        "1MiB",
        "--repetitions",
        "6",
        "--warm-up",
        "2ms",
        "--duration",
        "10ms",
    ];
    let both = json_of(dir.path(), &both);
    assert_eq!(both["command"], "ab");
    // Each variant is examined as a side of its own.
    assert!(both["details"]["failed_checks"].is_array(), "{both}");
    assert!(both["details"]["warnings"].is_array(), "{both}");
    assert!(rows(&both).iter().any(|row| row["metric"] == "iops"), "{both}");
    assert!(both["environment"].is_object());
    assert!(both["details"].get("conditions").is_none(), "{both}");

    let runs = json_of(dir.path(), &["runs", "--in", "one"]);
    assert_eq!(rows(&runs).len(), 1);
}

#[test]
fn columns_are_cells_with_units_and_answers_are_rows() {
    let dir = workplace();
    let words: String = (0..2000).map(|row| format!("word-{}\n", row % 97)).collect();
    std::fs::write(dir.path().join("words.txt"), words).unwrap();
    let encode = [
        "column",
        "encode",
        "words.txt",
        "--index",
        "postings",
        "-o",
        "words.ocol",
    ];
    let encoded = json_of(dir.path(), &encode);
    assert_eq!(encoded["command"], "column encode");
    assert_units(&encoded);
    for query in [
        &["word-7"][..],
        &["--prefix", "word-1", "--values"],
        &["word-7", "--count"],
    ] {
        let found = json_of(dir.path(), &[&["column", "find", "words.ocol"], query].concat());
        assert!(!rows(&found).is_empty(), "{query:?}: {found}");
    }
    let got = json_of(dir.path(), &["column", "get", "words.ocol", "0", "97"]);
    assert_eq!(rows(&got).len(), 2);
    assert_units(&json_of(dir.path(), &["column", "info", "words.ocol"]));
}

/// Every number of a row says its unit: in its key, or in a field beside it.
fn assert_units(document: &Value) {
    assert!(!rows(document).is_empty(), "{document}");
    const UNITS: [&str; 8] = ["_B", "_bytes", "_s", "_ns", "_ratio", "_count", "_B/s", "_1/s"];
    for row in rows(document) {
        for (key, value) in row.as_object().unwrap() {
            let has_unit = UNITS.iter().any(|unit| key.ends_with(unit)) || row["unit"].is_string();
            assert!(!value.is_number() || has_unit, "{key} of {row} has no unit");
        }
    }
}

#[test]
fn a_simulated_curve_is_a_row_for_each_limit_and_policy() {
    let dir = workplace();
    let trace: String = (0..3000)
        .map(|request| format!("key-{}\n", request * request % 211))
        .collect();
    std::fs::write(dir.path().join("trace.csv"), trace).unwrap();
    let simulate = [
        "cache",
        "simulate",
        "trace.csv",
        "--value-size",
        "100B",
        "--memory",
        "4KiB..16KiB",
        "--policy",
        "lru,sieve",
    ];
    let curve = json_of(dir.path(), &simulate);
    assert_eq!(rows(&curve).len(), 6, "{curve}");
}
