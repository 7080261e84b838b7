//! The table of a run's cells for people: aligned for a terminal, and as Markdown.
//!
//! A row per cell. What is the same in all cells stands above the table, once. A figure is its median and, in parentheses, the ends
//! of its interval; the line below says which interval that is.

mod factors;
mod few;
mod lacking;

use std::collections::BTreeSet;

use outcrop_measure::metric::Scope;
use outcrop_measure::units::format_with_range;
use outcrop_results::{CellGroup, CellRow, CellTable, Estimate, Figure};
use outcrop_schema::TableColumn;

use factors::{constants, head, shown, shown_otherwise};
use lacking::{Reason, in_cells, reasons};

use crate::layer::ReportedLayer;
use crate::layers::LAYERS;
use crate::number::counted;
use crate::wrap::wrapped;

/// Blanks between two columns.
const GAP: usize = 2;
/// The words above and below a table are never wrapped narrower than this, nor wider than people read.
const PROSE: std::ops::RangeInclusive<usize> = 60..=120;
/// Rows of a table of which some are left out: fewer would show no pattern.
const LEAST_ROWS: usize = 4;
/// Stands for a figure that a cell does not have.
const NONE: &str = "–";
/// How the line begins that explains intervals.
const IN_PARENTHESES: &str = "In parentheses";
/// A single trial of this length was made to see how figures change within it, and is not to be repeated for an interval.
pub(crate) const LONG_TRIAL_S: f64 = 10.0;

/// The table for a terminal of `width` columns; none for a file or a pipe, where nothing has to fit.
///
/// Where a table is too wide its least important columns are left out, and a line says which.
pub fn text(table: &CellTable, width: Option<usize>) -> String {
    excerpt(table, width, usize::MAX)
}

/// The same with about `most_rows` rows in all, for a screen that has more to show; a line says how many are left out.
pub fn excerpt(table: &CellTable, width: Option<usize>, most_rows: usize) -> String {
    let groups = table.groups();
    let rows: usize = groups.iter().map(|group| group.rows.len()).sum();
    let of_each = match rows > most_rows {
        true => (most_rows / groups.len().max(1)).max(LEAST_ROWS),
        false => usize::MAX,
    };
    let blocks = groups.into_iter().map(|group| {
        let mut grid = Grid::of(&group, LAYERS);
        grid.keep(of_each);
        grid.fit(width);
        grid.aligned(width)
    });
    let mut blocks: Vec<String> = blocks.collect();
    blocks.extend(without_trials(table));
    blocks.join("\n")
}

/// The table as Markdown, with every column.
pub fn markdown(table: &CellTable) -> String {
    let groups = table.groups();
    let mut blocks: Vec<String> = groups
        .iter()
        .map(|group| Grid::of(group, LAYERS).markdown())
        .collect();
    blocks.extend(without_trials(table));
    blocks.join("\n")
}

/// The tables of some cells, with every column.
pub(crate) fn grids(table: &CellTable, layer: &ReportedLayer) -> Vec<Grid> {
    let grid = |group: &CellGroup<'_>| Grid::of(group, &[layer]);
    table.groups().iter().map(grid).collect()
}

/// One table, as words.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    pub(crate) head: Vec<String>,
    pub(crate) columns: Vec<GridColumn>,
    pub(crate) notes: Vec<String>,
}

/// One column of it.
#[derive(Clone, Debug)]
pub(crate) struct GridColumn {
    pub(crate) heading: String,
    /// How soon it is left out; what tells cells apart stays.
    rank: Option<u8>,
    pub(crate) is_right: bool,
    pub(crate) cells: Vec<String>,
    /// What the cells are sorted by, where that is a number.
    pub(crate) places: Vec<Option<f64>>,
}

impl GridColumn {
    fn width(&self) -> usize {
        let cells = self.cells.iter().chain([&self.heading]);
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    }
}

impl Grid {
    fn of(group: &CellGroup<'_>, layers: &[&ReportedLayer]) -> Self {
        let rows = &group.rows;
        let layer = layers.iter().find(|layer| layer.schema.name == group.layer.name);
        let layer = layer.copied();
        let (constants, apart) = constants(group, layer);
        let mut columns = Vec::new();
        if group.subject.is_none() {
            columns.push(words("subject", rows, |row| row.subject.clone()));
        }
        // Whoever wrote a job file looks for the names of its jobs.
        if group.is_told_by_plan() {
            columns.push(words("plan", rows, |row| row.plans.join(", ")));
        }
        for factor in apart.iter().chain(&group.factors) {
            let place = |row: &&CellRow| {
                let own = shown_otherwise(layer, *factor, row).and_then(|text| text.parse().ok());
                own.or_else(|| row.setting(*factor)?.place())
            };
            let is_right = rows
                .iter()
                .any(|row| row.setting(*factor).is_some_and(|value| value.place().is_some()));
            columns.push(GridColumn {
                is_right: is_right && factor.column() != outcrop_schema::Column::Text,
                places: rows.iter().map(place).collect(),
                ..words(&factor.words(), rows, |row| shown(layer, *factor, row))
            });
        }
        let mut notes = certainty(group);
        let trials: BTreeSet<usize> = rows.iter().map(|row| row.trials).collect();
        if trials.len() > 1 {
            columns.push(words("trials", rows, |row| row.trials.to_string()));
        }
        // A reason is said once for all the figures that it keeps from the same number of cells.
        let mut unavailable: Vec<(Reason, Vec<&str>)> = Vec::new();
        let mut is_unavailable = |why, heading| match unavailable.iter_mut().find(|(known, _)| *known == why)
        {
            Some((_, headings)) => headings.push(heading),
            None => unavailable.push((why, vec![heading])),
        };
        for column in &group.columns {
            let name = column.metric.name;
            let figures = || rows.iter().filter_map(|row| row.figures.get(name));
            let placed = rows.iter().filter_map(|row| Some((*row, row.figures.get(name)?)));
            for (reason, cells, first) in reasons(placed) {
                let is_all = cells == figures().count();
                let place = (!is_all).then(|| in_cells(group, cells, first));
                is_unavailable((reason, place), column.heading);
            }
            let is_known = figures().any(|figure| figure.estimate().is_some());
            if is_known || figures().next().is_none() {
                let places = rows
                    .iter()
                    .map(|row| Some(row.figures.get(name)?.estimate()?.value));
                columns.push(GridColumn {
                    rank: Some(column.rank),
                    places: places.collect(),
                    ..words(column.heading, rows, |row| spelled(column, row))
                });
                notes.extend(without_interval(column, rows));
            }
        }
        notes.extend(unavailable.into_iter().map(|((reason, cells), headings)| {
            let verb = if headings.len() == 1 { "is" } else { "are" };
            let cells = cells.unwrap_or_default();
            format!("{} {verb} unavailable{cells}: {reason}.", headings.join(" and "))
        }));
        Self {
            head: head(group, &constants),
            columns,
            notes,
        }
    }

    fn width(&self) -> usize {
        let widths: usize = self.columns.iter().map(GridColumn::width).sum();
        widths + GAP * self.columns.len().saturating_sub(1)
    }

    /// Leaves out the least important figures until the table fits; one figure stays.
    fn fit(&mut self, width: Option<usize>) {
        let Some(width) = width else { return };
        let mut left_out = Vec::new();
        while self.width() > width && self.columns.iter().filter(|column| column.rank.is_some()).count() > 1 {
            let ranks = self.columns.iter().enumerate();
            let last = ranks
                .filter_map(|(index, column)| Some((column.rank?, index)))
                .max();
            let Some((_, index)) = last else { break };
            left_out.push(self.columns.remove(index).heading);
        }
        if self.width() > width {
            left_out.push("intervals".to_owned());
            let figures = self.columns.iter_mut().filter(|column| column.rank.is_some());
            for cell in figures.flat_map(|column| &mut column.cells) {
                *cell = cell.split(" (").next().unwrap_or_default().to_owned();
            }
            self.notes.retain(|note| !note.starts_with(IN_PARENTHESES));
        }
        if !left_out.is_empty() {
            self.notes.push(format!(
                "Left out, because the terminal has {width} columns: {}. A wider terminal, --format csv and cells.csv show them.",
                left_out.join(", ")
            ));
        }
    }

    fn aligned(&self, width: Option<usize>) -> String {
        let prose = width.unwrap_or(*PROSE.end()).clamp(*PROSE.start(), *PROSE.end());
        let mut lines: Vec<String> = Vec::new();
        for text in &self.head {
            lines.extend(wrapped(text, prose, 2));
        }
        let row_count = self.columns.first().map_or(0, |column| column.cells.len());
        let line = |of: &dyn Fn(&GridColumn) -> String| {
            let cells = self.columns.iter().map(|column| {
                let (cell, width) = (of(column), column.width());
                let blanks = " ".repeat(width - cell.chars().count());
                if column.is_right {
                    blanks + &cell
                } else {
                    cell + &blanks
                }
            });
            let cells: Vec<String> = cells.collect();
            cells.join(&" ".repeat(GAP)).trim_end().to_owned()
        };
        // A plan of one cell has nothing to tell apart, and a dry run of it no figure.
        if !self.columns.is_empty() {
            lines.push(line(&|column| column.heading.clone()));
        }
        lines.extend((0..row_count).map(|row| line(&|column| column.cells[row].clone())));
        for note in &self.notes {
            lines.extend(wrapped(note, prose, 2));
        }
        lines.push(String::new());
        lines.join("\n")
    }

    fn markdown(&self) -> String {
        let escaped = |text: &str| text.replace('|', "\\|");
        let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
        let mut lines = vec![self.head.join("  \n"), String::new()];
        lines.push(line(
            self.columns
                .iter()
                .map(|column| escaped(&column.heading))
                .collect(),
        ));
        let rule = self
            .columns
            .iter()
            .map(|column| if column.is_right { "---:" } else { "---" });
        lines.push(line(rule.map(str::to_owned).collect()));
        let row_count = self.columns.first().map_or(0, |column| column.cells.len());
        for row in 0..row_count {
            lines.push(line(
                self.columns
                    .iter()
                    .map(|column| escaped(&column.cells[row]))
                    .collect(),
            ));
        }
        lines.push(String::new());
        lines.push(self.notes.join(" "));
        lines.push(String::new());
        lines.join("\n")
    }
}

/// A column of words.
fn words(heading: &str, rows: &[&CellRow], cell: impl Fn(&CellRow) -> String) -> GridColumn {
    GridColumn {
        heading: heading.to_owned(),
        rank: None,
        is_right: false,
        cells: rows.iter().map(|row| cell(row)).collect(),
        places: vec![None; rows.len()],
    }
}

/// A figure as the table has it: `97.9 k (97.6–110)`.
fn spelled(column: &TableColumn, row: &CellRow) -> String {
    let Some(Figure::Known(estimate)) = row.figures.get(column.metric.name) else {
        return NONE.to_owned();
    };
    let value = format_value(column, estimate.value);
    match estimate.interval {
        None => value,
        Some(interval) => format_with_range(
            &value,
            &format_value(column, interval.low),
            &format_value(column, interval.high),
        ),
    }
}

/// A value without what the heading says.
fn format_value(column: &TableColumn, value: f64) -> String {
    if column.is_share {
        return format!("{:.1} %", value * 100.0);
    }
    let text = column.metric.format(value);
    match text.strip_suffix(" IOPS") {
        Some(bare) => bare.trim_end().to_owned(),
        None => text,
    }
}

/// What the parentheses are.
fn certainty(group: &CellGroup<'_>) -> Vec<String> {
    let estimates = |is_sampled: bool| {
        // What belongs to the data is not repeated: its interval can only come from a sample of them.
        let bounded = move |column: &&TableColumn| (column.metric.scope == Scope::DataSet) == is_sampled;
        let columns = group.columns.iter().filter(bounded);
        let figures =
            columns.flat_map(|column| group.rows.iter().map(|row| row.figures.get(column.metric.name)));
        figures
            .flatten()
            .filter_map(Figure::estimate)
            .filter(|estimate| estimate.interval.is_some())
    };
    let percents = |estimates: &[&Estimate]| {
        let percents: BTreeSet<u32> = estimates
            .iter()
            .filter_map(|estimate| Some((estimate.interval?.confidence * 100.0).round() as u32))
            .collect();
        match (percents.first(), percents.last()) {
            (Some(least), Some(most)) if least == most => format!("{most} %"),
            (Some(least), Some(most)) => format!("{least} to {most} %"),
            _ => String::new(),
        }
    };
    // Where no trial gave a figure, the reasons are said, and how many trials there were is none of them.
    let has_figures = |row: &&CellRow| {
        let figures = group
            .columns
            .iter()
            .map(|column| row.figures.get(column.metric.name));
        figures.flatten().any(|figure| figure.estimate().is_some())
    };
    let mut notes = Vec::new();
    let repeated: Vec<&Estimate> = estimates(false).collect();
    if !repeated.is_empty() {
        let note = format!(
            "{IN_PARENTHESES}: the {} interval of the median over the trials, in the same unit. It does not include drift between runs.",
            percents(&repeated)
        );
        notes.push(note);
    } else if group.rows.iter().any(has_figures) && estimates(true).next().is_none() {
        let is_repeated = |column: &TableColumn| column.metric.scope != Scope::DataSet;
        let note = if group.columns.iter().any(is_repeated) {
            of_one_trial(&group.rows)
        } else {
            "Every trial gives the same values for the same data, so they have no interval."
        };
        notes.push(note.to_owned());
    }
    let sampled: Vec<&Estimate> = estimates(true).collect();
    if !sampled.is_empty() {
        let note = format!(
            "The interval of a ratio is for all the data, estimated from the sample ({}).",
            percents(&sampled)
        );
        notes.push(note);
    }
    notes
}

/// What gives an interval where every cell has one trial. A trial that is long by design is not to be repeated for that: what it has to
/// say is how it changes with time.
fn of_one_trial(rows: &[&CellRow]) -> &'static str {
    let is_long = rows.iter().any(|row| row.longest_trial_s >= LONG_TRIAL_S);
    match rows.iter().any(|row| row.is_of_unfinished_run) {
        true => "One trial has no interval; the run is not finished, and lacks the other trials.",
        false if is_long => "One trial has no interval.",
        false => "One trial has no interval; five repetitions give one.",
    }
}

/// Why a figure of a sample has no interval.
fn without_interval(column: &TableColumn, rows: &[&CellRow]) -> Option<String> {
    let figures = rows.iter().filter_map(|row| row.figures.get(column.metric.name));
    let known: Vec<&Estimate> = figures.filter_map(Figure::estimate).collect();
    let without = known.iter().filter(|estimate| estimate.no_interval.is_some());
    let cells = match without.count() {
        count if count == known.len() => String::new(),
        count => format!(" in {}", counted(count, "cell")),
    };
    let reason = known
        .iter()
        .find_map(|estimate| estimate.no_interval.as_deref())?;
    Some(format!(
        "{} has no interval{cells}: {}.",
        column.heading,
        reason.trim_end_matches('.')
    ))
}

/// Cells that no table has.
fn without_trials(table: &CellTable) -> Option<String> {
    let empty = table.rows.iter().filter(|row| !row.has_completed_trial()).count();
    let verb = if empty == 1 { "has" } else { "have" };
    (empty > 0).then(|| {
        format!(
            "{} of this table {verb} no completed trial.\n",
            counted(empty, "cell")
        )
    })
}
