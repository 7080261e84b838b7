//! The probe on real mounts, real devices and real directory trees.

#![expect(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod energy;
mod storage;
