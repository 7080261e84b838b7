//! The command line as its users meet it: the real binary, real files, real signals.

#![allow(
    clippy::unwrap_used,
    reason = "a test stops at the first thing that is not as it should be"
)]

mod bad_input;
mod cache;
mod cache_faults;
mod cache_load;
mod cache_simulate;
mod cache_traces;
mod codec;
mod column;
mod column_compare;
mod column_damaged;
mod column_faults;
mod column_find;
mod column_hostile;
mod column_input;
mod column_kept;
mod column_memory;
mod column_names;
mod column_nulls;
mod compare;
mod crafted_column;
mod device;
mod device_verify;
mod endless;
mod faults;
mod figure;
mod filesystem;
mod filesystem_grounds;
mod fio;
mod gates;
mod harness;
mod hints;
mod json_shape;
mod killed;
mod kv;
mod kv_codecs;
mod kv_grounds;
mod kv_kills;
mod kv_records;
mod kv_servers;
mod kv_settings;
mod limits;
mod messages;
mod moving_data;
mod one_path;
mod outputs;
mod placement;
mod predict;
mod predict_loads;
mod printed_commands;
mod run_memory;
mod runs;
mod short_of_room;
mod steering;
mod surface;
mod table_flags;
mod toy_layer;
mod unused_flags;
mod unused_options;
mod without_effect;
