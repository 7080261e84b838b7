//! The matrices: shaded tables, one metric at a time, chosen without a script.

use maud::{Markup, PreEscaped, html};

use crate::number::Number;
use crate::report::Report;
use crate::section::{Matrix, MatrixMetric, Missing};

use super::tables;

pub(super) fn body(layer: &str, matrices: &[Matrix], missing: &[Missing], report: &Report) -> Markup {
    let metrics: Vec<&str> = matrices
        .first()
        .map(|matrix| matrix.metrics.iter().map(|metric| metric.name.as_str()).collect())
        .unwrap_or_default();
    html! {
        @if !matrices.is_empty() {
            p { "Median of each cell; stronger shading is higher within one table. In parentheses: the interval of a cell where it is "
                "wide, more than ± " (Number::WIDE_PERCENT) " %. A dash: no such cell or figure in this run." }
            div.matrix-set {
                (switch(layer, &metrics))
                div.matrices {
                    @for matrix in matrices {
                        div {
                            h3 { (matrix.title) }
                            @for (index, metric) in matrix.metrics.iter().enumerate() {
                                (table(layer, matrix, metric, index))
                            }
                        }
                    }
                }
            }
        }
        @for entry in missing { (tables::missing(entry, report, layer)) }
    }
}

/// Radio buttons and the rules that show the chosen metric's tables.
fn switch(layer: &str, metrics: &[&str]) -> Markup {
    let rules: String = (0..metrics.len())
        .map(|index| {
            format!(
                ".matrix-set:has(#{layer}-metric-{index}:checked) .{layer}-metric-{index}{{display:table!important}}"
            )
        })
        .collect();
    html! {
        style { "@media screen{" (PreEscaped(rules)) "}" }
        fieldset {
            legend { "Show" }
            @for (index, name) in metrics.iter().enumerate() {
                label {
                    input type="radio" name={ (layer) "-metric" } id={ (layer) "-metric-" (index) } checked[index == 0];
                    " " (name)
                }
            }
        }
    }
}

fn table(layer: &str, matrix: &Matrix, metric: &MatrixMetric, index: usize) -> Markup {
    let scale = Shading::over(metric);
    html! {
        div.scroll {
            table class={ "matrix metric " (layer) "-metric-" (index) } {
                caption { (metric.name) " by " (matrix.row_factor) " (down) and " (matrix.column_factor) " (across)" }
                thead {
                    tr {
                        td {}
                        @for column in &matrix.columns { th scope="col" { (column) } }
                    }
                }
                tbody {
                    @for (row, cells) in matrix.rows.iter().zip(&metric.cells) {
                        tr {
                            th scope="row" { (row) }
                            @for cell in cells { (shaded(cell.as_ref(), &scale)) }
                        }
                    }
                }
            }
        }
    }
}

fn shaded(cell: Option<&Number>, scale: &Shading) -> Markup {
    let Some(number) = cell else {
        return html! { td.none { "–" } };
    };
    let style = format!("--s:{:.2}", scale.strength(number.value));
    // The table's caption says what is counted.
    let value = number.to_string();
    let value = value.trim_end_matches(" IOPS");
    html! {
        @match number.ends_in_parentheses().filter(|_| number.is_wide()) {
            // What the cell shows, its title need not repeat.
            Some(ends) => td style=(style) title=(number.confidence()) { (value) small { (ends) } },
            None => td style=(style) title=(number.certainty()) { (value) },
        }
    }
}

/// Logarithmic shading between the smallest and the largest value of one table.
struct Shading {
    low: f64,
    high: f64,
}

impl Shading {
    fn over(metric: &MatrixMetric) -> Self {
        let values = metric.cells.iter().flatten().flatten().map(|number| number.value);
        let (low, high) = values
            .filter(|value| *value > 0.0)
            .fold((f64::INFINITY, 0.0_f64), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        Self { low, high }
    }

    /// From 0 for the smallest to 1 for the largest value.
    fn strength(&self, value: f64) -> f64 {
        if value <= self.low || self.high <= self.low {
            return 0.0;
        }
        ((value / self.low).ln() / (self.high / self.low).ln()).clamp(0.0, 1.0)
    }
}
