//! What plans may say about columns: names, defaults, spellings, and the checks between them.

use outcrop_column::{Index, Profile};
use outcrop_column_bench::{BenchSpec, Format, Operation, SearchMode};
use outcrop_measure::seed::Seed;
use outcrop_workload::column::{ColumnSpec, RowOrder};

use super::{ALL_ROWS, FILE, GENERATED};
use crate::layer::parsed;
use crate::parameter::{Parameter, Refusal, Settings, count, one_of, spelling};
use crate::plan::TrialOptions;

pub(super) static SUBJECT: &[Parameter] = &[
    Parameter {
        name: "kind",
        default: Some(GENERATED),
        canonical: |text| {
            one_of(text, "kind", &[(GENERATED, ()), (FILE, ())]).map(|(name, ())| name.to_owned())
        },
    },
    Parameter {
        name: "path",
        default: None,
        canonical: |path| Ok(path.to_owned()),
    },
];

pub(super) static WORKLOAD: &[Parameter] = &[
    Parameter {
        name: "column",
        default: None,
        canonical: |column| Ok(column.to_owned()),
    },
    Parameter {
        name: "rows",
        default: None,
        canonical: rows,
    },
    Parameter {
        name: "distinct",
        default: None,
        canonical: |text| count(text, MOST_DISTINCT),
    },
    Parameter {
        name: "skew",
        default: None,
        canonical: skew,
    },
    Parameter {
        name: "order",
        default: None,
        canonical: spelling::<RowOrder>,
    },
    Parameter {
        name: "operation",
        default: Some("encode"),
        canonical: spelling::<Operation>,
    },
    Parameter {
        name: "format",
        default: Some("ocol"),
        canonical: spelling::<Format>,
    },
    Parameter {
        name: "index",
        default: Some("none"),
        canonical: |text| one_of(text, "index", &INDEXES).map(|(name, _)| name.to_owned()),
    },
    Parameter {
        name: "profile",
        default: Some("balanced"),
        canonical: |text| one_of(text, "profile", &PROFILES).map(|(name, _)| name.to_owned()),
    },
    Parameter {
        name: "threads",
        default: Some("1"),
        canonical: |text| count(text, MOST_THREADS),
    },
    Parameter {
        name: "search_mode",
        default: Some("in-memory"),
        canonical: |text| text.parse::<SearchMode>().map(|mode| mode.name().to_owned()),
    },
];

/// Distinct words that a column may be drawn from: of 4 to 11 letters there are enough for these.
const MOST_DISTINCT: u64 = 100_000_000;
/// More threads than any machine has.
const MOST_THREADS: u64 = 4096;
/// Rows of a segment.
const MOST_ROWS: u64 = u32::MAX as u64 - 1;
/// Beyond it nearly all rows have one value.
const MOST_SKEW: f64 = 4.0;

const INDEXES: [(&str, Index); 3] = [
    ("none", Index::None),
    ("postings", Index::Postings),
    ("only", Index::Only),
];
const PROFILES: [(&str, Profile); 3] = [
    ("smallest", Profile::Smallest),
    ("balanced", Profile::Balanced),
    ("fastest", Profile::Fastest),
];

fn rows(text: &str) -> Result<String, String> {
    if text == ALL_ROWS {
        return Ok(text.to_owned());
    }
    count(text, MOST_ROWS).map_err(|error| format!("{error}, or \"{ALL_ROWS}\" for a whole file"))
}

fn skew(text: &str) -> Result<String, String> {
    match text.parse::<f64>() {
        Ok(skew) if (0.0..=MOST_SKEW).contains(&skew) => Ok(skew.to_string()),
        _ => Err(format!(
            "`{text}` is not a skew; expected a number from 0 (uniform) to {MOST_SKEW}, such as 1.0"
        )),
    }
}

/// Lets the engine judge the trial, as it will when it starts.
pub(super) fn check(factors: &Settings, trial: &TrialOptions) -> Result<(), Refusal> {
    let spec = bench_spec(factors, trial, Seed(0));
    spec.validate().map_err(|error| {
        let parameter = match (spec.format, spec.index) {
            (Format::Text(_), _) => "format",
            (Format::Ocol, Index::Only) => "index",
            (Format::Ocol, _) => "search_mode",
        };
        Refusal::of(parameter, error.to_string())
    })
}

/// Leaves out what has no effect on a cell, so that cells that differ in nothing are one.
pub(super) fn drop_meaningless(factors: &mut Settings) {
    let is_encode = factors["operation"] == Operation::Encode.name();
    if factors["format"] != Format::Ocol.to_string() {
        for name in ["index", "profile", "threads", "search_mode"] {
            factors.remove(name);
        }
    } else if is_encode {
        factors.remove("search_mode");
    } else {
        factors.remove("threads");
    }
}

/// The trial of a cell, from checked factors; what the cell does not have is at its default.
pub(super) fn bench_spec(factors: &Settings, trial: &TrialOptions, seed: Seed) -> BenchSpec {
    let text = |name: &str| factors.get(name).map(String::as_str);
    let default = BenchSpec::default();
    let named = |name: &str| text(name).unwrap_or_default();
    BenchSpec {
        operation: parsed(&factors["operation"]),
        format: parsed(&factors["format"]),
        index: one_of(named("index"), "index", &INDEXES).map_or(default.index, |(_, index)| index),
        profile: one_of(named("profile"), "profile", &PROFILES)
            .map_or(default.profile, |(_, profile)| profile),
        threads: text("threads").map_or(default.threads, parsed),
        mode: text("search_mode").map_or(default.mode, parsed),
        warm_up: trial.warm_up.0,
        duration: trial.duration.0,
        seed,
    }
}

/// The column of a cell whose subject is generated.
pub(super) fn column_spec(factors: &Settings, seed: Seed) -> ColumnSpec {
    ColumnSpec {
        row_count: parsed(&factors["rows"]),
        distinct: parsed(&factors["distinct"]),
        skew: parsed(&factors["skew"]),
        order: parsed(&factors["order"]),
        seed,
    }
}
