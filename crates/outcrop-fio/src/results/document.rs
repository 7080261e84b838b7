//! The JSON that fio writes, of versions 2 and 3, as far as it is read: what else is in it is passed over.
//!
//! Version 2 counts latencies in microseconds (`clat`), version 3 in nanoseconds (`clat_ns`). Before the JSON there may be
//! warnings, and with `--status-interval` several reports stand in one file.

use std::collections::BTreeMap;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// One report.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Document {
    #[serde(rename = "fio version", default)]
    pub(super) version: Option<String>,
    /// Seconds since 1970, when the report was written.
    #[serde(default)]
    pub(super) timestamp: Option<f64>,
    #[serde(rename = "global options", default, deserialize_with = "texts")]
    pub(super) global_options: Option<BTreeMap<String, String>>,
    #[serde(default, deserialize_with = "jobs")]
    pub(super) jobs: Option<Vec<Job>>,
    /// There where fio ran with `--client`.
    #[serde(default)]
    pub(super) client_stats: Option<serde::de::IgnoredAny>,
}

/// Jobs of one report; fio itself starts 4,096 at most.
const MOST_JOBS: usize = 10_000;

/// Reads a list of at most [`MOST_JOBS`] jobs: an empty job takes two bytes in the file and a thousand times as many in memory.
fn jobs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<Job>>, D::Error> {
    struct Jobs;
    impl<'de> Visitor<'de> for Jobs {
        type Value = Option<Vec<Job>>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a list of jobs")
        }

        fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut jobs = Vec::new();
            while let Some(job) = list.next_element()? {
                if jobs.len() == MOST_JOBS {
                    let why = format!("it has more than {MOST_JOBS} jobs");
                    return Err(serde::de::Error::custom(why));
                }
                jobs.push(job);
            }
            Ok(Some(jobs))
        }
    }
    deserializer.deserialize_any(Jobs)
}

/// One job, or a group of jobs that fio reports as one.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Job {
    #[serde(rename = "jobname", default)]
    pub(super) name: String,
    #[serde(rename = "groupid", default)]
    pub(super) group: i64,
    #[serde(default)]
    pub(super) error: i64,
    #[serde(default)]
    pub(super) total_err: Option<f64>,
    /// Milliseconds since 1970; since version 3.34.
    #[serde(default)]
    pub(super) job_start: Option<f64>,
    /// Seconds.
    #[serde(default)]
    pub(super) elapsed: Option<f64>,
    #[serde(rename = "job options", default, deserialize_with = "texts")]
    pub(super) options: Option<BTreeMap<String, String>>,
    #[serde(default)]
    pub(super) read: Option<Direction>,
    #[serde(default)]
    pub(super) write: Option<Direction>,
    #[serde(default)]
    pub(super) trim: Option<Direction>,
    /// The syncs that followed writes.
    #[serde(default)]
    pub(super) sync: Option<Syncs>,
    /// In place of the three with `unified_rw_reporting`.
    #[serde(default)]
    pub(super) mixed: Option<Direction>,
    /// Milliseconds, of all threads together.
    #[serde(default)]
    pub(super) job_runtime: Option<f64>,
    #[serde(default)]
    pub(super) usr_cpu: Option<f64>,
    #[serde(default)]
    pub(super) sys_cpu: Option<f64>,
}

/// Reads, or writes.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Direction {
    /// KiB per second.
    #[serde(default)]
    pub(super) bw: f64,
    #[serde(default)]
    pub(super) bw_bytes: Option<f64>,
    /// Bytes; KiB in version 2, which has no `bw_bytes`.
    #[serde(default)]
    pub(super) io_bytes: f64,
    #[serde(default)]
    pub(super) iops: f64,
    /// Milliseconds.
    #[serde(default)]
    pub(super) runtime: f64,
    #[serde(default)]
    pub(super) total_ios: f64,
    #[serde(default)]
    pub(super) clat_ns: Option<Latency>,
    #[serde(default)]
    pub(super) lat_ns: Option<Latency>,
    #[serde(default)]
    pub(super) clat: Option<Latency>,
    #[serde(default)]
    pub(super) lat: Option<Latency>,
    /// The latency of writes with the syncs that follow them: in results of Outcrop only.
    #[serde(default)]
    pub(super) lat_with_sync_ns: Option<Latency>,
}

/// Calls of fsync and fdatasync.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Syncs {
    #[serde(default)]
    pub(super) total_ios: Option<f64>,
    #[serde(default)]
    pub(super) lat_ns: Option<Latency>,
}

/// The statistics of a latency.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Latency {
    #[serde(default)]
    pub(super) max: f64,
    #[serde(default)]
    pub(super) mean: f64,
    #[serde(rename = "N", default)]
    pub(super) count: Option<f64>,
    /// By their names (`99.900000`).
    #[serde(default)]
    pub(super) percentile: Option<BTreeMap<String, f64>>,
}

/// Options, whose values some versions write as numbers.
fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<BTreeMap<String, String>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Word(String),
        Number(serde_json::Number),
        Flag(bool),
        Nothing(()),
    }
    let map = Option::<BTreeMap<String, Written>>::deserialize(deserializer)?;
    let text = |value| match value {
        Written::Word(text) => text,
        Written::Number(number) => number.to_string(),
        Written::Flag(flag) => u8::from(flag).to_string(),
        Written::Nothing(()) => String::new(),
    };
    Ok(map.map(|map| map.into_iter().map(|(name, value)| (name, text(value))).collect()))
}

/// The last report in the bytes of a file, and how many there are.
///
/// # Errors
/// A clause that says what the file is instead.
pub(super) fn read(bytes: &[u8]) -> Result<(Document, usize), String> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err("it is empty".to_owned());
    }
    let Some(start) = start_of_json(bytes) else {
        return Err("it contains no JSON; fio writes it with --output-format=json".to_owned());
    };
    let lines_before = bytes[..start].iter().filter(|byte| **byte == b'\n').count();
    let mut reports = serde_json::Deserializer::from_slice(&bytes[start..]).into_iter::<Document>();
    let mut last = None;
    let mut count = 0;
    loop {
        let at = start + reports.byte_offset();
        match reports.next() {
            None => break,
            Some(Ok(report)) => {
                last = Some(report);
                count += 1;
            }
            // What follows a report and is none is what fio printed after it.
            Some(Err(_)) if last.is_some() && start_of_json(&bytes[at..]).is_none() => break,
            Some(Err(error)) => return Err(damage(&error, lines_before)),
        }
    }
    last.map(|last| (last, count))
        .ok_or_else(|| "it contains no JSON; fio writes it with --output-format=json".to_owned())
}

/// Where the first line begins that opens an object; before it are warnings.
fn start_of_json(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let indent = line.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if line.get(indent) == Some(&b'{') {
            return Some(at + indent);
        }
        at += line.len();
    }
    None
}

fn damage(error: &serde_json::Error, lines_before: usize) -> String {
    let line = error.line() + lines_before;
    if error.is_eof() {
        return format!(
            "it ends in line {line}, in the middle of a report; was fio stopped, or the disk full?"
        );
    }
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or_default().to_owned();
    match error.classify() {
        serde_json::error::Category::Data => format!("it is not a result of fio: line {line}: {what}"),
        _ => format!("it is damaged: line {line}: {what}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_before_and_words_after_a_report_are_passed_over() {
        let text = "fio: this platform does not support io_uring\n{\"jobs\": []}\nfio: terminating\n";
        assert_eq!(read(text.as_bytes()).map(|(_, count)| count), Ok(1));
        let several = "{\"fio version\": \"a\"}\n{\"fio version\": \"b\"}";
        let (last, count) = read(several.as_bytes()).unwrap();
        assert_eq!((last.version.as_deref(), count), (Some("b"), 2));
    }

    #[test]
    fn what_is_no_report_is_named_with_its_line() {
        for (text, says) in [
            ("", "is empty"),
            (" \n", "is empty"),
            ("fio: failed\n", "no JSON"),
            ("note\n{\"jobs\": [", "ends in line 2"),
            ("{\"jobs\": [}", "damaged: line 1"),
            ("{\"jobs\": 5}", "not a result of fio: line 1"),
            ("{\"jobs\": []}\n{\"jobs\"", "ends in line 2"),
        ] {
            let said = read(text.as_bytes()).map(|_| ()).unwrap_err();
            assert!(said.contains(says), "{text:?}: {said}");
        }
    }
}
