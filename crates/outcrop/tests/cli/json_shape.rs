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
