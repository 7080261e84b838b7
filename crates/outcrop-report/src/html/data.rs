//! The figures' specifications, as the page's script reads them.

use serde::Serialize;

use crate::chart::{Chart, FRAME, MARKERS, SERIES};
use crate::report::Report;

/// What the script needs.
#[derive(Serialize)]
struct Data<'r> {
    inks: Inks,
    /// Corners of the marker of each hue, in units of its size; none for a disc.
    markers: [&'static [(f64, f64)]; 8],
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
    subject: String,
    origin: String,
    chart: &'r Chart,
}

/// The data as JSON that is safe inside a script element: no `<`, and so no end of it.
pub(super) fn json(report: &Report) -> String {
    let figure = |figure: &&'_ crate::chart::Figure| {
        let label = report.label_of(&figure.id);
        let origin = figure.rests_on(&label);
        (label.subject, origin)
    };
    let figures = report.figures();
    let figures = figures.iter().map(|one| {
        let (subject, origin) = figure(one);
        FigureData {
            id: &one.id,
            title: &one.title,
            subject,
            origin,
            chart: &one.chart,
        }
    });
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
        figures: figures.collect(),
    };
    // A specification has strings and finite numbers, which always can be written.
    let json = serde_json::to_string(&data).unwrap_or_else(|_| "{}".to_owned());
    json.replace('<', "\\u003c")
}
