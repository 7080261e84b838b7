//! Longer intervals: each two neighbours become one, and every latency that was recorded stays.

use std::collections::BTreeMap;

use outcrop_measure::MeasureError;
use outcrop_measure::histogram::LatencyHistogram;

use super::{HistogramEntry, HistogramKind, TrialEntry};

/// The intervals of one operation, as far as they have entries: one in which nothing was recorded has none.
#[derive(Clone, Copy, Default)]
struct Course {
    /// Length of an interval; the last may be shorter.
    length_s: f64,
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
        let mut courses: BTreeMap<String, Course> = BTreeMap::new();
        for entry in &entries {
            let course = courses.entry(entry.operation.clone()).or_default();
            course.length_s = course.length_s.max(entry.duration_s);
            course.end_s = course.end_s.max(entry.start_s + entry.duration_s);
        }
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
        let start_s = match first.interval_index % 2 {
            0 => first.start_s,
            _ => (first.start_s - self.length_s).max(0.0),
        };
        let end_s = (start_s + 2.0 * self.length_s).min(self.end_s);
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

    #[test]
    fn gaps_and_a_short_last_interval_keep_their_time_when_intervals_become_longer() {
        let mut trial: TrialEntry = serde_json::from_str(
            r#"{"trial":0,"cell":"c","layer":"kv","subject":"s","plans":[],"repetition":0,"seed":1,"factors":{},
                "started_at":"2026-11-27T07:00:00Z","duration_s":3.25,"outcome":"completed","values":[]}"#,
        )
        .unwrap();
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
