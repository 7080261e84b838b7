//! Checks every byte that a query could use, and that the parts agree with each other.

use super::Column;
use super::segment::Segment;
use crate::codes::Scratch;
use crate::error::{ColumnError, Result, corrupt};
use crate::format::BLOCK_ROWS;
use crate::progress::Step;
use crate::storage::ReadAt;

/// What a verification found.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct VerifyReport {
    /// Rows of the segments checked.
    pub row_count: u64,
    /// Everything wrong: empty for a sound file.
    pub damage: Vec<ColumnError>,
}

impl Column {
    /// Reads and checks the whole file. Header, footer and section tables were checked when it was opened.
    ///
    /// # Errors
    /// None for damage, which is in the report; only what the source reports.
    pub fn verify(&self) -> Result<VerifyReport> {
        let mut report = VerifyReport::default();
        for segment in &self.segments {
            let source = &*self.source;
            report.row_count += segment.row_count();
            for checked in [
                segment.name(source).map(drop),
                segment.dictionary.verify(source),
                check_postings(segment, source),
            ] {
                note(checked, &mut report)?;
            }
            if let Some(codes) = &segment.codes {
                let mut counts = vec![0_u32; segment.entry.symbol_count() as usize];
                let mut scratch = Scratch::default();
                for block in 0..codes.entries().len() {
                    let checked = check_block(segment, source, block, &mut counts, &mut scratch);
                    note(checked, &mut report)?;
                    let done = segment.first_row + (block * BLOCK_ROWS + codes.rows_in(block)) as u64;
                    self.watch.report(Step::Rows, done, self.row_count());
                }
                if report.damage.is_empty() {
                    note(check_counts(segment, source, &counts), &mut report)?;
                }
            }
        }
        Ok(report)
    }
}

/// Keeps damage in the report; an error of the source ends the verification.
fn note(checked: Result<()>, report: &mut VerifyReport) -> Result<()> {
    match checked {
        Err(error @ (ColumnError::Io(_) | ColumnError::Limit { .. } | ColumnError::LongBlock { .. })) => {
            return Err(error);
        }
        Err(error) => report.damage.push(error),
        Ok(()) => {}
    }
    Ok(())
}

fn check_postings(segment: &Segment, source: &dyn ReadAt) -> Result<()> {
    segment
        .postings
        .as_ref()
        .map_or(Ok(()), |postings| postings.verify(source))
}

fn check_block(
    segment: &Segment,
    source: &dyn ReadAt,
    block: usize,
    counts: &mut [u32],
    scratch: &mut Scratch,
) -> Result<()> {
    let entry = segment.codes()?.entries()[block];
    let mut codes = Vec::new();
    segment.decode(source, block, &mut codes, scratch)?;
    let null = segment.null_code();
    let (mut least, mut greatest, mut null_count) = (u32::MAX, 0, 0);
    for &code in &codes {
        counts[code as usize] += 1;
        if Some(code) == null {
            null_count += 1;
        } else {
            least = least.min(code);
            greatest = greatest.max(code);
        }
    }
    if (least, greatest, null_count) == (entry.least, entry.greatest, entry.null_count) {
        return Ok(());
    }
    let detail = format!(
        "block {block} has codes {least}..={greatest} and {null_count} nulls, its table states {}..={} and {}",
        entry.least, entry.greatest, entry.null_count
    );
    Err(corrupt("codes table", 0, detail))
}

/// Every value occurs, and as often as its posting list says.
fn check_counts(segment: &Segment, source: &dyn ReadAt, counts: &[u32]) -> Result<()> {
    let mut listed = Vec::new();
    if let (Some(postings), Some(last)) = (&segment.postings, counts.len().checked_sub(1)) {
        postings.for_each_count(source, 0, last as u32, |count| listed.push(count))?;
    }
    for (code, &count) in counts.iter().enumerate() {
        let listed = listed.get(code).copied().unwrap_or(count);
        if count == 0 || listed != count {
            return Err(corrupt(
                "codes",
                0,
                format!("code {code} has {count} rows, its posting list {listed}"),
            ));
        }
    }
    Ok(())
}
