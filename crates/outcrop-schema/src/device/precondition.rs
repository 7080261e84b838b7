//! Writing a subject in full before it is measured, so that a drive has no free space left to answer from.

use outcrop_measure::units::ByteSize;

use crate::factor::{Factor, Role};
use crate::parse::small_count;

/// More passes than the SNIA PTS asks for bring nothing.
const MOST_PASSES: u32 = 16;

/// How often all of the subject is written before the first trial.
pub static PRECONDITION: Factor<u32> = Factor::new(
    "precondition",
    "Passes of sequential writes over the whole subject before the first trial",
    small_count::<MOST_PASSES>,
)
.decided("none")
.accepts("scratch files, destroyed devices: how often the whole subject is written in 128 KiB requests before the first trial, 1 to 16 (SNIA PTS: 2)")
.role(Role::Data);

/// Access size of the random writes by which the SNIA PTS judges steady state.
pub const TRACKED_SIZE: ByteSize = ByteSize::kib(4);

/// How the state of a preconditioned subject begins: `preconditioned 2×`.
pub const PRECONDITIONED: &str = "preconditioned";
