//! The generators against the distributions that they claim, and their spellings there and back.

#![expect(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod arrival;
mod blocks;
mod content;
mod golden;
mod keyed;
mod mix;
mod records;
mod spelling;
mod statistics;
mod store;
mod ycsb;
