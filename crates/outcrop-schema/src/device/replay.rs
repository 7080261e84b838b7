//! Reading back what a trial wrote.

use outcrop_workload::Replay;

use crate::factor::{Factor, Label};
use crate::parse::spelled;

/// Which blocks are read.
pub static REPLAY: Factor<Replay> =
    Factor::new("replay", "Which blocks reads visit: none (any), written (those that the trial wrote)", spelled)
        .default("none")
        .accepts(
            "`\"none\"`, `\"written\"` (a trial first writes blocks for as long as it reads, with `content`, then reads the same blocks in \
             the same order; the mix 100:0 only)",
        )
        .label(Label::Unusual("replay {}"))
        .assumed("none");
