//! Integration tests of the results crate: one binary, one module per concern.

#![expect(clippy::unwrap_used, reason = "in a test, a panic is the report")]
#![expect(clippy::print_stderr, reason = "a skipped test says why")]

mod cells;
mod comparisons;
mod conditions;
mod conditions_lacking;
mod conditions_longer;
mod differences;
mod disk_full;
mod drifts;
mod exports;
mod hostile;
mod imported;
mod journals;
mod judging;
mod kill;
mod loads;
mod older_runs;
mod parquet_files;
mod published;
mod published_workloads;
mod run_folders;
mod run_lists;
mod samples;
mod sampling;
mod scopes;
mod unlike_runs;
mod views;
