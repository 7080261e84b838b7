//! The compression profiler from outside: sources, samples, blocks, jobs, stages.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod blocks;
mod jobs;
mod sampling;
mod sources;
