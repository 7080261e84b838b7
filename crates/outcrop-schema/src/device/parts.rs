//! The two parts of the time of a request: its submission, and what follows until its completion is seen.

use outcrop_workload::LatencyParts;

use super::ByDirection;
use crate::factor::{Factor, Label, Role};
use crate::metrics::{Latencies, latencies};
use crate::parse::spelled;

/// Whether they are timed apart.
pub static LATENCY_PARTS: Factor<LatencyParts> = Factor::new(
    "latency_parts",
    "Whether submission and completion are timed apart: together, apart",
    spelled,
)
.default("together")
.accepts(
    "`\"together\"`, `\"apart\"` (`submission_latency` and `completion_latency` as well, for another system call and another reading of the \
     clock with each hand-over; not with psync)",
)
.label(Label::Unusual("submission timed {}"))
.role(Role::Condition)
.assumed("together");

/// Time from when a request is ready until the system call that hands it over returns.
pub const SUBMISSION_LATENCY: ByDirection<Latencies> = ByDirection {
    both: latencies!(
        "submission_latency",
        "the time that it takes to hand an operation over"
    ),
    read: latencies!(
        "read_submission_latency",
        "the time that it takes to hand a read over"
    ),
    write: latencies!(
        "write_submission_latency",
        "the time that it takes to hand a write over"
    ),
};
/// Time from there until the completion is seen.
pub const COMPLETION_LATENCY: ByDirection<Latencies> = ByDirection {
    both: latencies!(
        "completion_latency",
        "the time from when an operation was handed over"
    ),
    read: latencies!(
        "read_completion_latency",
        "the time from when a read was handed over"
    ),
    write: latencies!(
        "write_completion_latency",
        "the time from when a write was handed over"
    ),
};
