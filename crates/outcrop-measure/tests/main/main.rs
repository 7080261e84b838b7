//! Tests of the public surface: each computation against a naive one, each text form against its inverse.

mod change_point;
mod exchange;
mod histogram;
mod interval;
mod knee;
mod printing;
mod quantities;
mod race;
mod ratio;
mod seed;
mod simulated_races;
mod steady_state;
