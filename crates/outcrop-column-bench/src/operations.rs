//! One trial: the file is made and checked, then the operation runs against the clock.

use std::sync::Arc;

use outcrop_column::storage::CountingReader;
use outcrop_column::{Column, EncodeOptions, EncodeReport, Encoder, Index, Kernels};
use outcrop_probe::Clock;

use crate::error::BenchError;
use crate::input::ColumnInput;
use crate::measure::{Site, repeat, stopped};
use crate::peak_memory::growth_during;
use crate::report::{BenchReport, ColdReads, EncodingShare, SizeReport};
use crate::source::{Counter, ScratchFile};
use crate::spec::{BenchSpec, Format};
use crate::targets::{Target, Targets};
use crate::text_codec;
use outcrop_workload::column::{Operation, SearchMode};

/// Queries that are counted on a file that was opened anew for each.
const COLD_QUERIES: usize = 64;

/// How often a file is opened against the clock.
const OPENINGS: usize = 9;

/// Runs one trial.
///
/// Before anything is measured, what is decoded is compared with what went in, and one
/// search with a pass over the text.
///
/// # Errors
/// [`BenchError::Spec`] for what cannot be measured, [`BenchError::Wrong`] for a wrong result,
/// [`BenchError::Interrupted`] when stopped, and what codec and storage report.
pub fn run(input: &ColumnInput, spec: &BenchSpec, site: &Site<'_>) -> Result<BenchReport, BenchError> {
    spec.validate()?;
    if spec.operation == Operation::Size {
        return Err(BenchError::Spec(
            "the size of a whole column is measured by whole_column, not by a loop over rows in memory"
                .to_owned(),
        ));
    }
    if let Format::Text(codec) = spec.format {
        return text_codec::run(input, codec, spec, site);
    }
    let limit = spec.kernels.map(Kernels::limit).transpose();
    let _limit = limit.map_err(|error| BenchError::Unavailable(error.to_string()))?;
    let report = match spec.operation {
        Operation::Encode => encode(input, spec, site),
        _ => read(input, spec, site),
    };
    Ok(BenchReport {
        kernels: Some(Kernels::in_use()),
        ..report?
    })
}

fn options(spec: &BenchSpec) -> EncodeOptions {
    EncodeOptions {
        index: spec.index,
        profile: spec.profile,
        threads: spec.threads,
    }
}

/// The rows in an encoder of the trial's.
fn encoder(input: &ColumnInput, spec: &BenchSpec) -> Result<Encoder, BenchError> {
    let mut encoder = input.encoder(options(spec))?;
    spec.left_out
        .iter()
        .for_each(|technique| encoder.leave_out(*technique));
    Ok(encoder)
}

/// The file in memory, and what it holds.
fn file_of(input: &ColumnInput, spec: &BenchSpec) -> Result<(Vec<u8>, SizeReport), BenchError> {
    let mut file = Vec::new();
    let report = encoder(input, spec)?.finish(&mut file)?;
    let size = size_of(input, &report);
    Ok((file, size))
}

fn size_of(input: &ColumnInput, report: &EncodeReport) -> SizeReport {
    SizeReport::of_file(report, input.text().len() as u64)
}

fn encode(input: &ColumnInput, spec: &BenchSpec, site: &Site<'_>) -> Result<BenchReport, BenchError> {
    let once = || -> Result<EncodeReport, BenchError> {
        let mut counter = Counter::default();
        let report = encoder(input, spec)?.finish(&mut counter)?;
        if counter.bytes == report.file_bytes {
            return Ok(report);
        }
        Err(BenchError::Wrong {
            operation: "encode",
            detail: format!("{} bytes written, {} reported", counter.bytes, report.file_bytes),
        })
    };
    stopped(site)?;
    let (peak, report) = growth_during(once);
    let mut size = size_of(input, &report?);
    stopped(site)?;
    let file = Arc::new(file_of(input, spec)?.0);
    let open_ns = time_to_open(&file, site.clock)?;
    if let Some(parts) = &mut size.parts
        && parts.packed.is_none()
    {
        parts.encodings = encodings(file)?;
    }
    let measured = repeat(spec, site, |_| Ok(once()?.row_count))?;
    Ok(BenchReport {
        encode_peak_memory_bytes: Some(peak),
        open_ns: Some(open_ns),
        ..measured.report(size)
    })
}

/// Median time of opening the file, some times over.
fn time_to_open(file: &Arc<Vec<u8>>, clock: &Clock) -> Result<u64, BenchError> {
    let mut times = Vec::with_capacity(OPENINGS);
    for _ in 0..OPENINGS {
        let start = clock.ticks();
        let column = Column::open_in(Arc::clone(file))?;
        times.push(clock.nanos(clock.ticks() - start));
        drop(column);
    }
    times.sort_unstable();
    Ok(times[OPENINGS / 2])
}

/// Which encodings the blocks chose.
fn encodings(file: Arc<Vec<u8>>) -> Result<Vec<EncodingShare>, BenchError> {
    let report = Column::open_in(file)?.report()?;
    let mut shares: Vec<EncodingShare> = Vec::new();
    for (name, encoding) in report.segments.iter().flat_map(|segment| &segment.encodings) {
        shares.push(EncodingShare {
            name,
            block_count: encoding.block_count,
        });
    }
    shares.sort_by_key(|share| std::cmp::Reverse(share.block_count));
    Ok(shares)
}

fn read(input: &ColumnInput, spec: &BenchSpec, site: &Site<'_>) -> Result<BenchReport, BenchError> {
    stopped(site)?;
    let (file, size) = file_of(input, spec)?;
    stopped(site)?;
    let (column, on_disk) = if spec.mode == SearchMode::OnDisk {
        let on_disk = Arc::new(ScratchFile::create(site.directory, &file)?);
        drop(file);
        (Column::open_in(Arc::clone(&on_disk))?, Some(on_disk))
    } else {
        let mut column = Column::open_in(file)?;
        if spec.mode == SearchMode::InMemory {
            column.preload()?;
        }
        (column, None)
    };
    if spec.index != Index::Only {
        stopped(site)?;
        check_content(input, &column)?;
    }
    let mut cold_reads = None;
    let measured = match spec.operation {
        Operation::Decode => repeat(spec, site, |_| {
            column.decode_text(&mut Counter::default())?;
            Ok(size.row_count)
        })?,
        Operation::Scan => repeat(spec, site, |_| {
            let mut rows = 0;
            column.for_each_batch(|batch| {
                rows += batch.codes.len() as u64;
                Ok(())
            })?;
            Ok(rows)
        })?,
        operation => {
            let targets = Targets::draw(&column, operation, spec.seed)?;
            check_rows(input, targets.at(0), &query(&column, spec.mode, targets.at(0))?)?;
            if let Some(on_disk) = &on_disk {
                cold_reads = Some(count_cold_reads(on_disk, &targets)?);
            }
            repeat(spec, site, |number| {
                Ok(query(&column, spec.mode, targets.at(number))?.len() as u64)
            })?
        }
    };
    Ok(BenchReport {
        cold_reads,
        ..measured.report(size)
    })
}

/// The rows of a target; of a row's value, a stand-in of the same length.
fn query(column: &Column, mode: SearchMode, target: &Target) -> Result<Vec<u64>, BenchError> {
    let selection = match target {
        Target::Value(value) => column.find(value)?,
        Target::Prefix(prefix) => column.find_prefix(prefix)?,
        Target::Range(first, last) => column.find_range(&**first..=&**last)?,
        Target::Row(row) => {
            std::hint::black_box(column.get(*row)?);
            return Ok(vec![*row]);
        }
    };
    Ok(if mode == SearchMode::Scan {
        selection.rows_by_scan()?
    } else {
        selection.rows()?
    })
}

/// Everything decoded is everything that went in.
fn check_content(input: &ColumnInput, column: &Column) -> Result<(), BenchError> {
    let mut text = Vec::with_capacity(input.text().len());
    column.decode_text(&mut text)?;
    if text == input.text() {
        return Ok(());
    }
    Err(BenchError::Wrong {
        operation: "decode",
        detail: format!(
            "{} bytes of text that differ from the {} that were encoded",
            text.len(),
            input.text().len()
        ),
    })
}

/// A search found the rows that a pass over the text finds.
pub(crate) fn check_rows(input: &ColumnInput, target: &Target, found: &[u64]) -> Result<(), BenchError> {
    let expected: Vec<u64> = (0..)
        .zip(input.rows())
        .filter(|&(row, value)| target.selects(row, value))
        .map(|(row, _)| row)
        .collect();
    if found == expected {
        return Ok(());
    }
    Err(BenchError::Wrong {
        operation: "search",
        detail: format!("{} rows found, {} expected", found.len(), expected.len()),
    })
}

/// Opens the file anew for each query, so that nothing is known from the one before, and counts its reads.
fn count_cold_reads(file: &Arc<ScratchFile>, targets: &Targets) -> Result<ColdReads, BenchError> {
    let mut total = ColdReads::default();
    for number in 0..COLD_QUERIES as u64 {
        let counting = Arc::new(CountingReader::new(Arc::clone(file)));
        let column = Column::open_in(Arc::clone(&counting))?;
        counting.take_counts();
        query(&column, SearchMode::OnDisk, targets.at(number))?;
        let counts = counting.take_counts();
        total.queries += 1;
        total.reads += counts.read_count;
        total.bytes += counts.read_bytes;
        total.most_reads = total.most_reads.max(counts.read_count);
    }
    Ok(total)
}
