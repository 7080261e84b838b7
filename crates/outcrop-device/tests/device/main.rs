//! The device layer against real files, loop devices and filesystems.
//!
//! Runs as root: it makes loop devices and mounts, and takes them away again.

#![expect(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod arrivals;
mod destroyed;
mod disk_below;
mod durability;
mod engines;
mod faults;
mod filling;
mod loops;
mod parts;
mod scratch_files;
mod stage;
mod targets;
mod together;
mod verify;
mod writers;
