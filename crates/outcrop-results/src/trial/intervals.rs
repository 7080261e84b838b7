//! Longer intervals: each two neighbours become one, and every latency that was recorded stays.

use std::collections::BTreeMap;

use outcrop_measure::MeasureError;
use outcrop_measure::histogram::LatencyHistogram;

use super::{HistogramEntry, HistogramKind, TrialEntry};

/// The time that the intervals of an operation divide. One in which nothing was recorded has no entry, and an operation may have none at the end.
#[derive(Clone, Copy)]
struct Course {
    /// Length of an interval; the last may be shorter.
    length_s: f64,
    /// End of the last interval of any operation with intervals of this length: those of the load may be longer than those of the run.
    end_s: f64,
}

impl TrialEntry {
    /// Makes its intervals twice as long; false where it has no two.
    ///
    /// # Errors
    /// When a histogram is damaged; the trial is then of no use.
    pub(crate) fn double_intervals(&mut self) -> Result<bool, MeasureError> {
        if self.histograms.iter().all(|entry| entry.interval_index == 0) {
            return Ok(false);
        }
        let mut entries = std::mem::take(&mut self.histograms);
        let courses = courses(&entries);
        entries.sort_by(|one, other| {
            (place(one), one.interval_index).cmp(&(place(other), other.interval_index))
        });
        self.histograms = entries
            .chunk_by(|one, other| place(one) == place(other))
            .map(|together| courses[&together[0].operation].joined(together))
            .collect::<Result<_, _>>()?;
        Ok(true)
    }
}

fn courses(entries: &[HistogramEntry]) -> BTreeMap<String, Course> {
    let mut lengths_s: BTreeMap<&str, f64> = BTreeMap::new();
    for entry in entries {
        // Exact for all but the first, which may be the last one, too, and shorter.
        let length_s = match entry.interval_index {
            0 => entry.duration_s,
            index => entry.start_s / f64::from(index),
        };
        let longest_s = lengths_s.entry(&entry.operation).or_default();
        *longest_s = longest_s.max(length_s);
    }
    let in_us = |length_s: f64| (length_s * 1e6).round() as u64;
    let mut ends_s: BTreeMap<u64, f64> = BTreeMap::new();
    for entry in entries {
        let end_s = ends_s.entry(in_us(lengths_s[&*entry.operation])).or_default();
        *end_s = end_s.max(entry.start_s + entry.duration_s);
    }
    let course = |(operation, length_s): (&str, f64)| {
        let end_s = ends_s[&in_us(length_s)];
        (operation.to_owned(), Course { length_s, end_s })
    };
    lengths_s.into_iter().map(course).collect()
}

/// The longer interval that an entry becomes part of.
fn place(entry: &HistogramEntry) -> (u32, &str, HistogramKind) {
    (entry.interval_index / 2, &entry.operation, entry.kind)
}

impl Course {
    fn joined(self, together: &[HistogramEntry]) -> Result<HistogramEntry, MeasureError> {
        let first = &together[0];
        let mut merged = LatencyHistogram::new();
        for entry in together {
            merged.merge(&entry.histogram()?);
        }
        let length_s = 2.0 * self.length_s;
        let start_s = f64::from(first.interval_index / 2) * length_s;
        let end_s = (start_s + length_s).min(self.end_s);
        Ok(HistogramEntry::new(
            &first.operation,
            first.kind,
            first.interval_index / 2,
            start_s,
            end_s - start_s,
            &merged,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial() -> TrialEntry {
        serde_json::from_str(
            r#"{"trial":0,"cell":"c","layer":"kv","subject":"s","plans":[],"repetition":0,"seed":1,"factors":{},
                "started_at":"2026-11-27T07:00:00Z","duration_s":3.25,"outcome":"completed","values":[]}"#,
        )
        .unwrap()
    }

    #[test]
    fn an_operation_without_entries_at_the_end_or_but_there_has_the_intervals_of_the_others() {
        let mut trial = trial();
        let mut histogram = LatencyHistogram::new();
        histogram.record_many(1000, 1);
        for (operation, indices) in [
            ("read", &[0, 1, 2, 3, 4, 5, 6, 7][..]),
            ("insert", &[0, 2]),
            ("scan", &[7]),
        ] {
            for &index in indices {
                let duration_s = if index == 7 { 0.25 } else { 0.5 };
                let start_s = 0.5 * f64::from(index);
                let kind = HistogramKind::Latency;
                let entry = HistogramEntry::new(operation, kind, index, start_s, duration_s, &histogram);
                trial.histograms.push(entry);
            }
        }
        let times = |trial: &TrialEntry, operation: &str| -> Vec<(f64, f64)> {
            let of_it = trial
                .histograms
                .iter()
                .filter(|entry| entry.operation == operation);
            of_it.map(|entry| (entry.start_s, entry.duration_s)).collect()
        };
        assert_eq!(trial.double_intervals(), Ok(true));
        assert_eq!(times(&trial, "insert"), [(0.0, 1.0), (1.0, 1.0)]);
        assert_eq!(times(&trial, "scan"), [(3.0, 0.75)]);
        assert_eq!(trial.double_intervals(), Ok(true));
        assert_eq!(times(&trial, "read"), [(0.0, 2.0), (2.0, 1.75)]);
        assert_eq!(times(&trial, "insert"), [(0.0, 2.0)]);
        assert_eq!(times(&trial, "scan"), [(2.0, 1.75)]);
    }

    #[test]
    fn gaps_and_a_short_last_interval_keep_their_time_when_intervals_become_longer() {
        let mut trial = trial();
        // Nothing was recorded from 1 s to 1.5 s, and from 2 s to 2.5 s.
        for (index, duration_s) in [(0, 0.5), (1, 0.5), (3, 0.5), (5, 0.5), (6, 0.25)] {
            let mut histogram = LatencyHistogram::new();
            histogram.record_many(1000 + 17 * u64::from(index), 1 + u64::from(index));
            for (operation, kind) in [
                ("read", HistogramKind::Service),
                ("read", HistogramKind::Latency),
                ("insert", HistogramKind::Latency),
            ] {
                let start_s = 0.5 * f64::from(index);
                let entry = HistogramEntry::new(operation, kind, index, start_s, duration_s, &histogram);
                trial.histograms.push(entry);
            }
        }
        assert_eq!(trial.double_intervals(), Ok(true));
        let of = |operation: &str, kind| -> Vec<_> {
            let wanted = |entry: &&HistogramEntry| entry.operation == operation && entry.kind == kind;
            let shape = |entry: &HistogramEntry| {
                (
                    entry.interval_index,
                    entry.start_s,
                    entry.duration_s,
                    entry.count,
                    entry.min_ns,
                    entry.max_ns,
                )
            };
            trial.histograms.iter().filter(wanted).map(shape).collect()
        };
        let expected = [
            (0, 0.0, 1.0, 3, 1000, 1017),
            (1, 1.0, 1.0, 4, 1051, 1051),
            (2, 2.0, 1.0, 6, 1085, 1085),
            (3, 3.0, 0.25, 7, 1102, 1102),
        ];
        assert_eq!(of("read", HistogramKind::Latency), expected);
        assert_eq!(of("read", HistogramKind::Service), expected);
        assert_eq!(of("insert", HistogramKind::Latency), expected);
        assert_eq!(trial.double_intervals(), Ok(true));
        assert_eq!(trial.double_intervals(), Ok(true));
        assert_eq!(trial.histograms.len(), 3);
        assert_eq!(trial.double_intervals(), Ok(false), "one is left of each");
    }
}
