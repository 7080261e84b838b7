//! Tests of the column codec through its public interface, one binary.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests: an unwrap that fails is a test that fails"
)]

#[cfg(feature = "parquet")]
mod arrow;
mod csv_quotes;
mod damage;
#[cfg(feature = "parquet")]
mod damaged_input;
mod fixtures;
mod kernels;
mod names;
mod oracle;
mod packed;
#[cfg(feature = "parquet")]
mod parquet_hostile;
#[cfg(feature = "parquet")]
mod parquet_pages;
#[cfg(feature = "parquet")]
mod parquet_sizes;
mod reads;
mod real;
mod size;
mod techniques;
#[cfg(feature = "parquet")]
mod text_forms;
mod tokens;
mod untrusted;
mod without_index;
mod writes;
