//! Writes `records.parquet` of a run again and exports its records as CSV to standard output:
//! `cargo run -p outcrop-results --example export_run -- RUN_FOLDER > records.csv`.

use std::error::Error;
use std::path::PathBuf;

use outcrop_results::{Record, RunView, export, parquet};

fn main() -> Result<(), Box<dyn Error>> {
    let dir: PathBuf = std::env::args_os().nth(1).ok_or("which run folder?")?.into();
    parquet::compact(&dir)?;
    let records: Vec<Record> = RunView::load(&dir)?.records().collect();
    export::write_csv(&records, std::io::stdout().lock())?;
    Ok(())
}
