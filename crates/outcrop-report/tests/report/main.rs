//! The report on runs made for the purpose: complete, poor, broken and empty ones.

mod advice;
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
mod device_doubt;
mod device_limits;
mod device_rates;
mod filesystem;
mod fixture;
mod folder;
mod kv;
mod kv_fixture;
mod limits;
mod markup;
mod older_runs;
mod page;
mod placement;
mod screen;
mod six_layers;
