//! The model against what must hold, a simulation, and published systems.
#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a test that fails shall say where"
)]

mod bounds;
mod conditions;
mod files;
mod network;
mod papers;
mod published;
mod simulation;
mod validation;
