//! The figures' specifications, as the page's script reads them: in columns, and without what most values of a chart share.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::WhichFigures;
use crate::chart::{FRAME, Figure, MARKERS, SERIES};
use crate::report::Report;

/// What the script needs.
#[derive(Serialize)]
struct Data<'r> {
    inks: Inks,
    /// Corners of the marker of each hue, in units of its size; none for a disc.
    markers: [&'static [(f64, f64)]; 8],
    /// Words that figures share: subjects, origins and the names of cells.
    words: Vec<String>,
    figures: Vec<FigureData<'r>>,
}

#[derive(Serialize)]
struct Inks {
    text: &'static str,
    axis: &'static str,
    grid: &'static str,
    page: &'static str,
    series: Vec<&'static str>,
}

#[derive(Serialize)]
struct FigureData<'r> {
    id: &'r str,
    title: &'r str,
    /// Places among the words.
    subject: usize,
    origin: usize,
    chart: Value,
}

/// The data as JSON that is safe inside a script element: no `<`, and so no end of it.
pub(super) fn json(report: &Report, which: WhichFigures) -> String {
    let mut words = Words::default();
    let figures = report.figures();
    let figures = figures.iter().filter(|figure| which.has(figure));
    let figures = figures.map(|figure| of_figure(figure, report, &mut words));
    let figures = figures.collect();
    let [text, axis, grid, page] = FRAME.map(|ink| ink.light);
    let data = Data {
        inks: Inks {
            text,
            axis,
            grid,
            page,
            series: SERIES.iter().map(|ink| ink.light).collect(),
        },
        markers: MARKERS,
        words: words.all,
        figures,
    };
    // A specification has strings and finite numbers, which always can be written.
    let json = serde_json::to_string(&data).unwrap_or_else(|_| "{}".to_owned());
    json.replace('<', "\\u003c")
}

fn of_figure<'r>(figure: &'r Figure, report: &Report, words: &mut Words) -> FigureData<'r> {
    let label = report.label_of(&figure.id);
    let mut chart = serde_json::to_value(&figure.chart).unwrap_or_default();
    pack(&mut chart, words);
    FigureData {
        id: &figure.id,
        title: &figure.title,
        origin: words.place(&figure.rests_on(&label)),
        subject: words.place(&label.subject),
        chart,
    }
}

/// Words by their place, each once.
#[derive(Default)]
struct Words {
    all: Vec<String>,
    places: BTreeMap<String, usize>,
}

impl Words {
    fn place(&mut self, words: &str) -> usize {
        let all = &mut self.all;
        *self.places.entry(words.to_owned()).or_insert_with(|| {
            all.push(words.to_owned());
            all.len() - 1
        })
    }
}

/// What values of one chart mostly share.
const SHARED: [&str; 3] = ["n", "confidence", "provenance"];
/// Where a chart keeps its values.
const POINTS: &str = "points";
const SEGMENTS: &str = "segments";

/// Says once for the chart what most of its values share; points become columns.
fn pack(chart: &mut Value, words: &mut Words) {
    let mut values = Vec::new();
    visit(chart, &mut |value: &mut Map<String, Value>| {
        values.push(SHARED.map(|key| value.get(key).cloned()));
    });
    let shared = SHARED.iter().enumerate().filter_map(|(index, key)| {
        let mut counts: BTreeMap<String, (usize, Value)> = BTreeMap::new();
        for value in values.iter().filter_map(|value| value[index].clone()) {
            counts.entry(value.to_string()).or_insert((0, value)).0 += 1;
        }
        let most = counts.into_values().max_by_key(|(count, _)| *count);
        most.map(|(_, value)| (*key, value))
    });
    let shared: Vec<(&str, Value)> = shared.collect();
    visit(chart, &mut |value: &mut Map<String, Value>| {
        for (key, common) in &shared {
            match value.get(*key) {
                Some(own) if own == common => drop(value.remove(*key)),
                Some(_) => {}
                // None of them is ever 0: it stands for none.
                None => drop(value.insert((*key).to_owned(), 0.into())),
            }
        }
    });
    columns(chart, words);
    if let Value::Object(chart) = chart {
        chart.extend(shared.into_iter().map(|(key, value)| (key.to_owned(), value)));
    }
}

/// Goes through every point and every segment of a bar.
fn visit(value: &mut Value, action: &mut impl FnMut(&mut Map<String, Value>)) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map.iter_mut() {
                match inner {
                    Value::Array(values) if key == POINTS || key == SEGMENTS => {
                        values
                            .iter_mut()
                            .filter_map(Value::as_object_mut)
                            .for_each(&mut *action);
                    }
                    _ => visit(inner, action),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|inner| visit(inner, action)),
        _ => {}
    }
}

/// Points as an array for each of their keys, with `null` where a point does not have it; cells as places among the words.
fn columns(value: &mut Value, words: &mut Words) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map.iter_mut() {
                if let (true, Value::Array(points)) = (key == POINTS, &*inner) {
                    *inner = table(points, words);
                } else {
                    columns(inner, words);
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|inner| columns(inner, words)),
        _ => {}
    }
}

fn table(points: &[Value], words: &mut Words) -> Value {
    let mut columns: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for (row, point) in points.iter().filter_map(Value::as_object).enumerate() {
        for (key, value) in point {
            let column = columns.entry(key).or_default();
            column.resize(row, Value::Null);
            column.push(match value {
                Value::String(cell) if key == "cell" => words.place(cell).into(),
                // Read as true and false, and shorter.
                Value::Bool(flag) => u8::from(*flag).into(),
                other => other.clone(),
            });
        }
    }
    // What stands at the end of a column for nothing is left out, and a column of nothing as well.
    let full = columns
        .into_iter()
        .filter(|(_, column)| column.iter().any(|value| !value.is_null()));
    full.map(|(key, column)| (key.to_owned(), Value::Array(column)))
        .collect::<Map<_, _>>()
        .into()
}
