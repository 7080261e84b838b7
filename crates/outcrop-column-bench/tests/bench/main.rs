//! The engine checked against what it measures: round trips, sizes that add up,
//! refusals, and files of every kind.

mod long_values;
mod operations;
mod tables;
mod whole;
