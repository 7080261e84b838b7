//! The report on runs made for the purpose: complete, poor, broken and empty ones.

mod cache;
mod cache_fixture;
mod cell_table;
mod column;
mod column_fixture;
mod comparison;
mod compression;
mod compression_fixture;
mod compression_samples;
mod device;
mod device_limits;
mod fixture;
mod folder;
mod markup;
mod older_runs;
mod page;
mod screen;
