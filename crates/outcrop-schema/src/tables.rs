//! The vocabulary as Markdown tables, for `plans/` and `docs/`.

use outcrop_measure::metric::{Better, Metric, Scope};

use crate::factor::FactorRef;
use crate::layer::LayerSchema;
use crate::remark::OF_EVERY_LAYER;

/// What plans may say about a layer: key, default and what is accepted.
pub fn plan_keys(layer: &LayerSchema) -> String {
    let subject = layer
        .subject
        .iter()
        .map(|factor| (format!("subject.{}", factor.name), *factor));
    let workload = layer
        .workload
        .iter()
        .map(|factor| (factor.name.to_owned(), *factor));
    let row = |(key, factor): (String, FactorRef)| {
        format!("| `{key}` | {} | {} |\n", default_of(factor), factor.accepted)
    };
    let rows: String = subject.chain(workload).map(row).collect();
    format!("| key | default | accepted |\n|---|---|---|\n{rows}")
}

/// As TOML has it: whole numbers bare, everything else in quotes.
fn default_of(factor: FactorRef) -> String {
    match factor.default {
        Some(number) if number.bytes().all(|byte| byte.is_ascii_digit()) => format!("`{number}`"),
        Some(text) => format!("`\"{text}\"`"),
        None if factor.decided.is_empty() => "–".to_owned(),
        None => factor.decided.to_owned(),
    }
}

/// The factors of a layer: name, column in Parquet files, role, meaning.
pub fn factors(layer: &LayerSchema) -> String {
    let row = |factor: &FactorRef| {
        let column = factor.column_name(factor.column());
        format!(
            "| `{}` | `{column}` | {} | {} |\n",
            factor.name,
            factor.role.name(),
            factor.help
        )
    };
    let rows: String = layer.workload.iter().chain(layer.published).map(row).collect();
    format!("| factor | column | role | meaning |\n|---|---|---|---|\n{rows}")
}

/// The metrics of a layer: name, heading in tables of cells, unit, which way is better, how many values there are, meaning.
pub fn metrics(layer: &LayerSchema) -> String {
    let row = |metric: Metric| {
        let better = match metric.better {
            Some(Better::Higher) => "higher",
            Some(Better::Lower) => "lower",
            None => "–",
        };
        let scope = match metric.scope {
            Scope::Trial => "trial",
            Scope::Run => "run",
            Scope::DataSet => "data set",
        };
        let column = layer
            .table
            .iter()
            .find(|column| column.metric.name == metric.name && !column.is_exported_only);
        let heading = column.map_or("–", |column| column.heading);
        format!(
            "| `{}` | {heading} | {} | {better} | {scope} | {} |\n",
            metric.name,
            metric.unit.symbol(),
            metric.meaning
        )
    };
    let rows: String = layer.all_metrics().map(row).collect();
    format!("| metric | in tables | unit | better | one per | meaning |\n|---|---|---|---|---|---|\n{rows}")
}

/// The remarks that trials of a layer may make: code and occasion.
pub fn remarks(layer: &LayerSchema) -> String {
    let rows: String = layer
        .remarks
        .iter()
        .chain(OF_EVERY_LAYER)
        .map(|kind| format!("| `{}` | {} |\n", kind.code, kind.meaning))
        .collect();
    format!("| remark | made when |\n|---|---|\n{rows}")
}
