//! The data of a figure as CSV: a row for each value, in the units of the specification.

use super::significant::rounded;
use super::{BarChart, Chart, Figure, LineChart, ScatterChart, SeriesKind, Support};
use crate::chart::Axis;

impl Figure {
    /// Every value of the figure, those without room in the drawing too, with its interval, the confidence of that, the number of samples and where it comes from.
    ///
    /// # Errors
    /// A writer that fails, which memory does not.
    pub fn to_csv(&self) -> Result<String, csv::Error> {
        let rows = match self.complete.as_deref().unwrap_or(&self.chart) {
            Chart::Lines(chart) => of_lines(chart),
            Chart::Points(chart) => of_points(chart),
            Chart::Bars(chart) => of_bars(chart),
        };
        let mut writer = csv::Writer::from_writer(Vec::new());
        for row in rows {
            writer.write_record(row)?;
        }
        let bytes = writer.into_inner().map_err(csv::IntoInnerError::into_error)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// What follows the value in each row.
const SUPPORT: [&str; 4] = ["low", "high", "confidence", "n"];

fn of_lines(chart: &LineChart) -> Vec<Vec<String>> {
    let series = chart.series.iter();
    let rows = series.flat_map(|series| {
        let points = series.points.iter();
        points.map(|point| {
            let values = [point.x, point.y];
            row(
                &series.name,
                series.kind,
                values,
                (point.interval, point.support),
                &point.cell,
            )
        })
    });
    with_head([&chart.x, &chart.y], rows)
}

/// The interval is that of the horizontal axis; that of the other follows at the end, where there is any.
fn of_points(chart: &ScatterChart) -> Vec<Vec<String>> {
    let groups = chart.groups.iter();
    let has_both = chart.has_y_intervals();
    let rows = groups.flat_map(|group| {
        let points = group.points.iter();
        points.map(|point| {
            let values = [point.y, point.x];
            let mut row = row(
                &group.name,
                group.kind,
                values,
                (point.x_interval, point.support),
                &point.cell,
            );
            if has_both {
                let ends = point.y_interval.map(|(low, high)| [number(low), number(high)]);
                row.extend(ends.unwrap_or_default());
                row.push(point.y_confidence.map(number).unwrap_or_default());
            }
            row
        })
    });
    let mut rows = with_head([&chart.y, &chart.x], rows);
    if let Some(head) = rows.first_mut().filter(|_| has_both) {
        let named = |what: &&str| format!("{what} of {}", chart.y.label);
        head.extend(SUPPORT[..3].iter().map(named));
    }
    rows
}

/// The row of a point: the second of its values has the interval.
fn row(
    series: &str,
    kind: SeriesKind,
    values: [f64; 2],
    (interval, samples): (Option<(f64, f64)>, Support),
    cell: &str,
) -> Vec<String> {
    let mut row = vec![series.to_owned(), provenance(kind, samples)];
    row.extend(values.map(number));
    row.extend(support(interval, samples));
    row.push(cell.to_owned());
    row
}

fn with_head(axes: [&Axis; 2], rows: impl Iterator<Item = Vec<String>>) -> Vec<Vec<String>> {
    let head = head(&["series", "provenance"], &axes, &["cell"]);
    std::iter::once(head).chain(rows).collect()
}

fn of_bars(chart: &BarChart) -> Vec<Vec<String>> {
    let mut rows = vec![head(
        &["panel", "group", "series", "provenance"],
        &[&chart.value],
        &[],
    )];
    for facet in &chart.facets {
        for group in &facet.groups {
            for bar in &group.bars {
                rows.extend(bar.segments.iter().map(|segment| {
                    let part = chart.parts.get(segment.part);
                    let part = part.map(|part| part.name.clone()).unwrap_or_default();
                    let kind = provenance(bar.kind_of(segment), segment.support);
                    let mut row = vec![
                        facet.title.clone(),
                        group.label.clone(),
                        part,
                        kind,
                        number(segment.value),
                    ];
                    row.extend(support(segment.interval, segment.support));
                    row
                }));
            }
        }
    }
    rows
}

fn head(before: &[&str], axes: &[&Axis], after: &[&str]) -> Vec<String> {
    let named = |axis: &&Axis| match axis.unit {
        "" => axis.label.clone(),
        unit => format!("{} ({unit})", axis.label),
    };
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let axes = axes.iter().map(named).collect();
    [words(before), axes, words(&SUPPORT), words(after)].concat()
}

fn support(interval: Option<(f64, f64)>, support: Support) -> [String; 4] {
    let ends = interval.map(|(low, high)| [number(low), number(high)]);
    let [low, high] = ends.unwrap_or_default();
    let confidence = support.confidence.map(number).unwrap_or_default();
    [
        low,
        high,
        confidence,
        support.n.map(|n| n.to_string()).unwrap_or_default(),
    ]
}

fn number(value: f64) -> String {
    rounded(value).to_string()
}

/// That of the value itself; where it has none, that of its series.
fn provenance(kind: SeriesKind, support: Support) -> String {
    let provenance = support.provenance.unwrap_or(kind.provenance());
    provenance.name().to_owned()
}
