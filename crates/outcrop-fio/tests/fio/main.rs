//! Files of fio in and out: the real fio where it matters, and files that no fio would write.

#![expect(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod damage;
mod groups;
mod hostile;
mod import;
mod job_files;
mod order;
mod real_fio;
mod round_trip;
mod samples;
mod spans;
mod syncs;
mod together;
mod usual;
mod windows;
