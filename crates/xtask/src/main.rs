//! `cargo xtask`: everything that CI runs, as one program.
//!
//! - `check` runs every step that CI runs and says what it skipped and why;
//! - `tidy` holds the sources to rules that neither rustc nor clippy knows;
//! - `portable` builds one binary for every Linux with glibc 2.28 or newer, and checks that it is one;
//! - `wheel` builds the optimised wheel of the Python package, and checks its size and that it works alone;
//! - `bench-record` runs one benchmark and appends its result, with the machine, to `benchmarks/record/`.
//!
//! It depends on no other crate of the workspace, so that it still runs when one of them does not build.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool talks through its streams"
)]

mod bench_record;
mod check;
mod clock;
mod command;
mod libtest;
mod portable;
mod python;
mod tidy;
mod wheel;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::workspace::Workspace;

/// The tasks of this repository.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run everything that CI runs.
    Check {
        /// Run only these steps (repeatable); the others are listed as skipped.
        #[arg(long, value_name = "STEP")]
        only: Vec<String>,
    },
    /// Check ranks, module headers, file sizes, the unsafe list, licences, plans and links.
    Tidy,
    /// Build `target/portable/outcrop`, which runs on every Linux with glibc 2.28 or newer, and check it.
    Portable {
        /// Build sooner, without optimisation: for checking that a portable binary can be built.
        #[arg(long)]
        for_check: bool,
    },
    /// Build the wheel of the Python package in `target/wheels`, optimised, and check its size and that it works alone.
    Wheel,
    /// Run `benchmarks/NAME/run` and append what it prints to `benchmarks/record/NAME.md`.
    BenchRecord {
        /// Folder name under `benchmarks/`.
        name: String,
        /// Arguments of the benchmark itself, behind `--`.
        #[arg(last = true)]
        arguments: Vec<String>,
    },
}

fn main() -> ExitCode {
    let result = Workspace::load().and_then(|workspace| match Cli::parse().task {
        Task::Check { only } => check::run(&workspace, &only),
        Task::Tidy => tidy::run(&workspace),
        Task::Portable { for_check: false } => portable::run(&workspace, portable::Speed::OfBinary),
        Task::Portable { for_check: true } => portable::run(&workspace, portable::Speed::OfBuild),
        Task::Wheel => wheel::run(&workspace),
        Task::BenchRecord { name, arguments } => bench_record::run(&workspace, &name, &arguments),
    });
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
