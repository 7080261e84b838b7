//! Engines, the driver and its processes, on real files.

#![expect(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod blocks;
mod engines;
mod faults;
mod helped;
mod kills;
mod logs;
mod mixes;
mod open_loop;
mod phases;
mod power_cut;
mod servers;
mod settings;
mod shelf;
mod stage;
mod stuck;
mod trials;
mod versions;
