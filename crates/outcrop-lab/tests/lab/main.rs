//! The lab from outside: plans that are refused, plans that ship, order, runs, interruptions.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod budgets;
mod caches;
mod column_baselines;
mod columns;
mod compression;
mod destroyed_devices;
mod disk_below;
mod filesystems;
mod interrupted_runs;
mod lost_devices;
mod orders;
mod other_data;
mod plan_errors;
mod plan_round_trips;
mod preconditioned;
mod promise;
mod replays;
mod runs;
mod scene;
mod several_drives;
mod shares;
mod shipped;
mod store_estimates;
mod too_short;
mod unused_settings;
mod whole_columns;
mod written;
