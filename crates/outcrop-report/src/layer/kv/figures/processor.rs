//! What an operation takes of the CPUs, and operations per joule, by codec and number of processes.

use outcrop_measure::metric::{Metric, Unit};
use outcrop_schema::kv::{BACKGROUND_CPU, CALLER_CPU, CPU, ENERGY, KERNEL_CPU, OF_ENGINES};

use super::super::cell::{family, with, words};
use super::super::naming::Naming;
use super::caption_of;
use super::of_loads::{MOST_GROUPS, of_loads, sentences};
use super::workers::curves;
use crate::cell::Cell;
use crate::chart::SeriesKind::Measured;
use crate::chart::{Axis, Bar, BarChart, BarGroup, Facet, Part, Point, Quantity, Scale, Segment, axis};
use crate::layer::not_drawn::cells_not_drawn;
use crate::number::Number;
use crate::section::FigureSlot;

const PLAN: &str = "kv-energy";

/// CPU time per operation: that of the driver's threads with their calls into the engine, and that of the engine's own threads apart; of both,
/// the part in the kernel.
pub(super) fn cpu(cells: &[Cell<'_>]) -> Vec<FigureSlot> {
    let bars = |cell: &Cell<'_>| -> Vec<Bar> {
        let note = |metric: &Metric| Some(Point::of(0.0, cell.number(metric)?, &words(cell)).note);
        let whole = || {
            let (callers, own) = (cell.number(&CALLER_CPU)?, cell.number(&BACKGROUND_CPU)?);
            Some(Bar {
                kind: Measured,
                segments: vec![Segment::of(0, callers), Segment::of(1, own)],
                note: note(&CPU)?,
            })
        };
        let kernel = || Some(Bar::of(Measured, 2, cell.number(&KERNEL_CPU)?, &words(cell)));
        whole().into_iter().chain(kernel()).collect()
    };
    let look = Look {
        id: "kv-cpu",
        title: "CPU time per operation",
        value: axis("CPU time of an operation", Quantity::Latency, Scale::Linear),
        parts: &[
            "callers, their calls into the engine included",
            "the engine's own threads",
            "in the kernel, of both",
        ],
        caption: "Stacked: callers and the engine's own threads; lines: interval of each part.",
    };
    look.slots(cells, &CPU, &bars)
}

/// Operations per joule; where nothing counts energy, the reason stands in their place.
pub(super) fn operations_per_joule(cells: &[Cell<'_>]) -> Vec<FigureSlot> {
    const TITLE: &str = "Operations per joule";
    if cells.iter().all(|cell| cell.value(&ENERGY).is_none()) {
        let why = cells.iter().find_map(|cell| cell.unavailable(&ENERGY));
        // What the machine cannot count, no plan gives on it.
        let plan = if why.is_some() { "" } else { PLAN };
        let why = why.unwrap_or("no cell has the energy of its operations");
        let reason = format!(
            "{why}; CPU time per operation is shown instead. Machines with energy counters show energy."
        );
        return vec![FigureSlot::missing(TITLE, &reason, plan)];
    }
    let bars = |cell: &Cell<'_>| -> Vec<Bar> {
        let energy = cell.number(&ENERGY);
        let inverse = energy.map(|energy| {
            Number::computed("operations per joule", Unit::Count, &[energy], |joules| {
                1.0 / joules[0]
            })
        });
        inverse
            .map(|number| Bar::of(Measured, 0, &number, &words(cell)))
            .into_iter()
            .collect()
    };
    let look = Look {
        id: "kv-operations-per-joule",
        title: TITLE,
        value: axis(
            "Operations per joule of the CPU packages",
            Quantity::Count,
            Scale::Linear,
        ),
        parts: &["operations per joule"],
        caption: "Bars: median; lines: interval.",
    };
    look.slots(cells, &ENERGY, &bars)
}

/// How a figure of bars by codec looks.
struct Look {
    id: &'static str,
    title: &'static str,
    value: Axis,
    parts: &'static [&'static str],
    caption: &'static str,
}

impl Look {
    /// A figure for each load that was measured with several numbers of processes or threads, which stand side by side; without such a load,
    /// one of the largest set of cells that differ in their engines alone.
    fn slots(
        &self,
        cells: &[Cell<'_>],
        metric: &Metric,
        bars: &dyn Fn(&Cell<'_>) -> Vec<Bar>,
    ) -> Vec<FigureSlot> {
        let all = curves(cells, metric);
        if all.is_empty() {
            let family = family(cells, OF_ENGINES, metric);
            let drawn = &family[..family.len().min(MOST_GROUPS)];
            let naming = Naming::among(drawn);
            let facet = facet(String::new(), drawn, naming, bars);
            let title = format!("{} by codec", self.title);
            let left_out = cells_not_drawn(with(cells, metric), drawn);
            let caption = caption_of(
                drawn,
                OF_ENGINES,
                [self.caption.to_owned(), naming.note(), left_out],
            );
            return vec![self.slot(vec![facet], (&title, self.id), caption)];
        }
        of_loads(with(cells, metric), &all, |curves, without_a_figure| {
            let mut by_count = curves.by_count();
            by_count
                .iter_mut()
                .for_each(|(_, cells)| cells.truncate(MOST_GROUPS));
            let drawn: Vec<&Cell<'_>> = by_count.iter().flat_map(|(_, cells)| cells).copied().collect();
            let left_out = cells_not_drawn(curves.cells.iter().copied(), &drawn);
            let facets = by_count
                .into_iter()
                .map(|(title, cells)| facet(title, &cells, curves.naming, bars));
            let (title, id) = curves.names(self.title, self.id, all.len() == 1);
            let held = format!("{}.", curves.held());
            let caption = sentences([
                held,
                self.caption.to_owned(),
                curves.naming.note(),
                left_out,
                without_a_figure,
            ]);
            self.slot(facets.collect(), (&title, &id), caption)
        })
    }

    fn slot(&self, facets: Vec<Facet>, (title, id): (&str, &str), caption: String) -> FigureSlot {
        let chart = BarChart {
            value: self.value.clone(),
            parts: Part::all(self.parts.iter().copied()),
            facets,
        };
        chart.slot(id, title, caption, PLAN)
    }
}

fn facet(title: String, cells: &[&Cell<'_>], naming: Naming, bars: &dyn Fn(&Cell<'_>) -> Vec<Bar>) -> Facet {
    let group = |cell: &&Cell<'_>| BarGroup {
        label: naming.settings(cell),
        bars: bars(cell),
    };
    Facet {
        title,
        groups: cells.iter().map(group).collect(),
    }
}
