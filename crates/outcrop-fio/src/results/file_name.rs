//! What the name of a result says where fio did not write down a job's options: `outfile_blk4k_qlen32_rw70_30.json`.

use outcrop_measure::ByteSize;
use outcrop_schema::FactorRef;
use outcrop_schema::device::{ACCESS_PATTERN, IO_BLOCK_SIZE, JOBS, QUEUE_DEPTH, READ_WRITE_MIX};

use crate::quantity::bytes;

/// Words before a number, and the factor that the number is of.
const WORDS: &[(&str, Meaning)] = &[
    ("blocksize", Meaning::Size),
    ("block", Meaning::Size),
    ("blk", Meaning::Size),
    ("bs", Meaning::Size),
    ("iodepth", Meaning::Depth),
    ("qdepth", Meaning::Depth),
    ("qlen", Meaning::Depth),
    ("depth", Meaning::Depth),
    ("qd", Meaning::Depth),
    ("numjobs", Meaning::Jobs),
    ("jobs", Meaning::Jobs),
    ("nj", Meaning::Jobs),
    ("rwmixread", Meaning::Reads),
    ("read", Meaning::Reads),
    ("rw", Meaning::Reads),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Size,
    Depth,
    Jobs,
    /// Per cent of reads; that of writes may follow.
    Reads,
}

/// The factors that a file's name states, without its folder and its ending.
pub(super) fn factors(name: &str) -> Vec<(FactorRef, String)> {
    let name = name.to_ascii_lowercase();
    let tokens: Vec<&str> = name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|token| !token.is_empty())
        .collect();
    let mut found: Vec<(FactorRef, String)> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        for (factor, value) in stated(token, tokens.get(index + 1).copied()) {
            if !found.iter().any(|(known, _)| known.name == factor.name) {
                found.push((factor, value));
            }
        }
    }
    found
}

fn stated(token: &str, next: Option<&str>) -> Vec<(FactorRef, String)> {
    let of_kind = |pattern: &str, mix: Option<&str>| {
        let mut said: Vec<(FactorRef, String)> = vec![(&ACCESS_PATTERN, pattern.to_owned())];
        said.extend(mix.map(|mix| (&READ_WRITE_MIX as FactorRef, mix.to_owned())));
        said
    };
    match token {
        "randread" => return of_kind("random", Some("100:0")),
        "randwrite" => return of_kind("random", Some("0:100")),
        "randrw" | "rand" | "random" => return of_kind("random", None),
        "seqread" => return of_kind("sequential", Some("100:0")),
        "seqwrite" => return of_kind("sequential", Some("0:100")),
        "seq" | "sequential" => return of_kind("sequential", None),
        _ => {}
    }
    let worded = WORDS
        .iter()
        .find_map(|(word, meaning)| Some((*meaning, token.strip_prefix(word)?)));
    let Some((meaning, number)) = worded else {
        return Vec::new();
    };
    // `bs_4k`: the number is a token of its own; then a word such as `rw` needs both shares behind it.
    let number = if number.is_empty() {
        next.unwrap_or_default()
    } else {
        number
    };
    let count = || number.parse::<u32>().ok().filter(|count| *count > 0);
    let said: Option<(FactorRef, String)> = match meaning {
        Meaning::Size => bytes(number, false)
            .ok()
            .filter(|size| *size >= 512)
            .map(|size| (&IO_BLOCK_SIZE as FactorRef, ByteSize(size).to_string())),
        Meaning::Depth => count().map(|depth| (&QUEUE_DEPTH as FactorRef, depth.to_string())),
        Meaning::Jobs => count().map(|jobs| (&JOBS as FactorRef, jobs.to_string())),
        Meaning::Reads => mix(number, next).map(|mix| (&READ_WRITE_MIX as FactorRef, mix)),
    };
    said.into_iter().collect()
}

/// `rw70_30`, `rw70`: shares that do not add up to 100 are something else.
fn mix(reads: &str, next: Option<&str>) -> Option<String> {
    let reads: u8 = reads.parse().ok().filter(|reads| *reads <= 100)?;
    let writes = 100 - reads;
    match next.and_then(|text| text.parse::<u8>().ok()) {
        Some(stated) if stated != writes => None,
        _ => Some(format!("{reads}:{writes}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(name: &str) -> String {
        let words = factors(name).into_iter();
        let words: Vec<String> = words
            .map(|(factor, value)| format!("{}={value}", factor.name))
            .collect();
        words.join(" ")
    }

    #[test]
    fn names_of_results_state_size_depth_and_mix() {
        for (name, expected) in [
            (
                "outfile_blk4k_qlen32_rw70_30",
                "io_block_size=4KiB queue_depth=32 read_write_mix=70:30",
            ),
            (
                "outfile_blk128k_qlen1024_rw0_100",
                "io_block_size=128KiB queue_depth=1024 read_write_mix=0:100",
            ),
            (
                "randread-bs64k-qd8-jobs2",
                "access_pattern=random read_write_mix=100:0 io_block_size=64KiB queue_depth=8 jobs=2",
            ),
            (
                "seq_bs_1m_iodepth_16",
                "access_pattern=sequential io_block_size=1MiB queue_depth=16",
            ),
            ("result", ""),
            ("fio-3.33-run-7", ""),
            ("readme_rw7_9", ""),
        ] {
            assert_eq!(said(name), expected, "{name}");
        }
    }
}
