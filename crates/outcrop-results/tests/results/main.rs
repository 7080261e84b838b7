//! Integration tests of the results crate: one binary, one module per concern.

mod comparisons;
mod conditions;
mod disk_full;
mod exports;
mod journals;
mod kill;
mod parquet_files;
mod published;
mod run_folders;
mod samples;
mod views;
