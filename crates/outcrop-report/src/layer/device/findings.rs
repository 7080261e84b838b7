//! Findings over device cells: the same checks for this run and for published figures.

mod arithmetic;
mod departures;
mod drives;
mod fall;
mod quality;
mod rounds;
mod shape;
mod storage;
mod studies;
mod time;

pub(super) use departures::Drive;
pub(super) use fall::BACK_WITHIN;
pub(super) use quality::{Checked, checked, unchecked};
pub(super) use rounds::claim as steady_rounds;
pub(super) use shape::{predicted_knee, weighted_mean_iops};
pub(super) use storage::{NOT_OF_DEVICE, is_of_memory, sooner_than_storage};
pub(super) use time::{Fall, WriteCourse, unsteady, write_courses};

use outcrop_schema::device::SERVICE_LATENCY;

use super::cell::DeviceCell;
use crate::cell::Cell;
use crate::finding::{Finding, Verdict};
use crate::layer::lateness::Generators;
use crate::layer::undecided::is_disturbed;

/// Every finding of a run, in reading order.
pub(super) fn all(cells: &[Cell<'_>], machine: Machine<'_>) -> Vec<Finding> {
    // The rate of an open loop is its schedule's.
    let closed: Vec<Cell<'_>> = cells
        .iter()
        .filter(|cell| cell.is_closed_loop())
        .cloned()
        .collect();
    let of_the_subject = OF_CLOSED_LOOPS.map(|make| of_undisturbed(&closed, make));
    let of_the_run = [
        arithmetic::bandwidth(cells).of_run("Bandwidth is not IOPS × access size"),
        arithmetic::littles_law(cells)
            .of_run("Requests in flight are not IOPS × mean latency (Little's law)"),
        quality::counters(cells)
            .of_run("The device also served other requests, or the kernel counted other bytes"),
        storage::latency_is_storage(cells).of_run("Reads did not reach storage"),
        quality::cpu(cells, machine)
            .of_run("The submitting threads had no CPU time left at the highest IOPS"),
        generators(cells).finding("generator-was-on-time"),
        quality::repeatability(cells).of_run("Repetitions of some cells differ widely"),
        quality::percentiles(cells).of_run("Some cells have too few samples for their p99.9"),
        time::steady_state(cells, machine.drive).of_run("Some write cells did not reach steady state"),
        time::level_shifts(cells).of_run("IOPS changed to another level within some trials"),
    ];
    let of_rounds = rounds::steady_state(cells, machine.drive)
        .map(|finding| finding.of_run("The rounds did not reach steady state"));
    of_the_subject
        .into_iter()
        .chain(of_the_run)
        .chain(of_rounds)
        .chain(drives::alike(cells))
        .collect()
}

/// What findings have to know of the machine.
#[derive(Clone, Copy, Default)]
pub(super) struct Machine<'a> {
    pub(super) drive: Option<Drive<'a>>,
    /// CPUs that its processes may run on.
    pub(super) cpus: Option<f64>,
    /// How many of them they may use at a time, where that is limited.
    pub(super) cpu_quota: Option<f64>,
}

/// The findings that compare the cells of closed loops.
const OF_CLOSED_LOOPS: [fn(&[Cell<'_>]) -> Finding; 8] = [
    shape::knee,
    shape::mix,
    studies::size,
    studies::latency_by_size,
    studies::writes_at_low_depth,
    studies::depth_by_size,
    studies::reads_beyond_a_depth,
    studies::content,
];

/// A finding without the cells that other programs disturbed; not testable where the others do not decide it, and those would.
fn of_undisturbed(cells: &[Cell<'_>], make: fn(&[Cell<'_>]) -> Finding) -> Finding {
    let is_disturbed = |cell: &&Cell<'_>| is_disturbed(cell);
    let disturbed = cells.iter().filter(is_disturbed).count();
    if disturbed == 0 {
        return make(cells);
    }
    let quiet: Vec<Cell<'_>> = cells.iter().filter(|cell| !is_disturbed(cell)).cloned().collect();
    let finding = make(&quiet);
    match finding.verdict {
        Verdict::NotTestable(_) => make(cells).unless_disturbed(cells),
        _ => finding.leaving_out(disturbed),
    }
}

/// The findings that published figures can be held to as well. What content changes is none of them: no publication of drives states it.
pub(super) fn of_published(cells: &[Cell<'_>]) -> Vec<Finding> {
    vec![
        arithmetic::bandwidth(cells),
        arithmetic::littles_law(cells),
        shape::knee(cells),
        shape::mix(cells),
        studies::size(cells),
        studies::latency_by_size(cells),
        studies::writes_at_low_depth(cells),
        studies::depth_by_size(cells),
        studies::reads_beyond_a_depth(cells),
    ]
}

/// The generators of the open loops that reached a device.
pub(super) fn generators<'c, 'a: 'c>(cells: impl IntoIterator<Item = &'c Cell<'a>>) -> Generators {
    let open = cells
        .into_iter()
        .filter(|cell| !cell.is_closed_loop() && cell.reaches_device());
    Generators::of(open, &SERVICE_LATENCY.both.p50, |cell| cell.words())
}
