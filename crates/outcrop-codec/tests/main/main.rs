//! Every codec against itself, against hostile bytes, and dpzip against two Zstandard decoders.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on fails, helper functions included"
)]

mod blocks;
mod decoders;
mod differential;
mod dpzip;
mod fuzz_seeds;
mod hostile;
mod real;
mod round_trip;
mod spelling;
mod stages;
mod system;
