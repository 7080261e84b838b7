//! The length of a line of the journal: a run may be somebody else's, and what reads it takes no more memory for a line than the longest
//! of ours has. So none is written longer: a trial of very many intervals gets longer ones.

use std::io::{self, BufRead, Read as _};

use outcrop_measure::units::format_bytes;
use outcrop_schema::remark::LONGER_INTERVALS;

use super::checksum;
use crate::trial::TrialEntry;

/// The longest line, with its newline. A trial of a device, which has at most 600 intervals, takes some MiB.
pub(super) const MOST_BYTES: usize = 64 << 20;

/// Reads a line with its newline, if it has one; of a line that is too long, one byte more than the longest has.
pub(super) fn read(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<()> {
    line.clear();
    reader
        .by_ref()
        .take(MOST_BYTES as u64 + 1)
        .read_until(b'\n', line)?;
    Ok(())
}

/// What is wrong with a line that [`read`] gave; none where its length is possible.
pub(super) fn check(line: &[u8]) -> Result<(), String> {
    match line.len() > MOST_BYTES {
        true => Err(format!(
            "it has more than {}, and no trial's line has",
            format_bytes(MOST_BYTES as u64)
        )),
        false => Ok(()),
    }
}

/// Appends the line of a trial, which takes at most `most_bytes`.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] where it cannot be made to fit: its figures and remarks alone take more.
pub(super) fn write(lines: &mut Vec<u8>, entry: &TrialEntry, most_bytes: usize) -> io::Result<()> {
    let start = lines.len();
    write_sealed(lines, entry)?;
    if lines.len() - start <= most_bytes {
        return Ok(());
    }
    let (mut longer, mut times) = (entry.clone(), 1_u64);
    while lines.len() - start > most_bytes {
        lines.truncate(start);
        let most = format_bytes(most_bytes as u64);
        if !longer.double_intervals().map_err(io::Error::other)? {
            let text = format!("its line would have more than {most}, and none may");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        times *= 2;
        longer.notes.truncate(entry.notes.len());
        longer.notes.push(LONGER_INTERVALS.remark(format!(
            "intervals are {times} times as long as asked for, since the trial's line of the journal may have {most} at most"
        )));
        write_sealed(lines, &longer)?;
    }
    Ok(())
}

fn write_sealed(lines: &mut Vec<u8>, entry: &TrialEntry) -> io::Result<()> {
    let start = lines.len();
    serde_json::to_writer(&mut *lines, entry)?;
    checksum::seal(lines, start);
    Ok(())
}

#[cfg(test)]
mod tests {
    use outcrop_measure::histogram::LatencyHistogram;

    use super::*;
    use crate::trial::{HistogramEntry, HistogramKind};

    /// A trial of so many intervals of a second, with ten latencies in each.
    fn of_intervals(count: u32) -> TrialEntry {
        let mut entry: TrialEntry = serde_json::from_str(
            r#"{"trial":0,"cell":"c","layer":"kv","subject":"s","plans":[],"repetition":0,"seed":1,"factors":{},
                "started_at":"2026-11-27T07:00:00Z","duration_s":1000,"outcome":"completed","values":[],"notes":["first"]}"#,
        )
        .unwrap();
        for index in 0..count {
            let mut histogram = LatencyHistogram::new();
            (0..10).for_each(|i| histogram.record(1000 * u64::from(index) + i));
            entry.histograms.push(HistogramEntry::new(
                "read",
                HistogramKind::Latency,
                index,
                f64::from(index),
                1.0,
                &histogram,
            ));
        }
        entry
    }

    #[test]
    fn a_trial_whose_line_is_too_long_gets_longer_intervals_that_lose_nothing_and_says_so() {
        let entry = of_intervals(100);
        let mut whole = Vec::new();
        write(&mut whole, &entry, MOST_BYTES).unwrap();
        assert_eq!(serde_json::from_slice::<TrialEntry>(&whole).unwrap(), entry);
        let most_bytes = whole.len() / 3;
        let mut lines = b"a line before\n".to_vec();
        write(&mut lines, &entry, most_bytes).unwrap();
        let line = lines.strip_prefix(b"a line before\n").unwrap();
        assert!(line.len() <= most_bytes && line.ends_with(b"\n"));
        checksum::check(line, true).unwrap();
        let written: TrialEntry = serde_json::from_slice(line).unwrap();
        assert_eq!(written.check(), Ok(()));
        assert_eq!(written.notes.len(), 2, "{:?}", written.notes);
        assert!(LONGER_INTERVALS.is_kind_of(&written.notes[1]));
        assert!(written.notes[1].text.starts_with("intervals are 4 times as long"));
        assert_eq!(written.histograms.len(), 25);
        let sums = |entry: &TrialEntry| {
            let of = |field: fn(&HistogramEntry) -> u64| entry.histograms.iter().map(field).sum::<u64>();
            (of(|entry| entry.count), of(|entry| entry.sum_ns))
        };
        assert_eq!(sums(&written), sums(&entry));
    }

    #[test]
    fn a_trial_that_cannot_be_made_to_fit_is_refused_with_the_maximum() {
        let error = write(&mut Vec::new(), &of_intervals(4), 256).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        assert!(error.to_string().contains("more than 256 B"), "{error}");
    }

    #[test]
    fn no_more_of_a_line_is_read_than_the_longest_has() {
        let mut line = Vec::new();
        let mut endless = io::BufReader::new(io::repeat(0));
        read(&mut endless, &mut line).unwrap();
        assert_eq!(line.len(), MOST_BYTES + 1);
        assert!(check(&line).unwrap_err().contains("more than 64 MiB"));
        let mut whole = io::repeat(b'x')
            .take(MOST_BYTES as u64 - 1)
            .chain(&b"\nnext\n"[..]);
        read(&mut io::BufReader::new(&mut whole), &mut line).unwrap();
        assert_eq!((line.len(), check(&line)), (MOST_BYTES, Ok(())));
    }
}
