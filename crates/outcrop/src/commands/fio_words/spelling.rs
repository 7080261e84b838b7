//! Values of factors as fio spells them, in our spelling.

use outcrop_schema::About;
use outcrop_schema::device::{ACCESS_PATTERN, ENGINE, JOBS, QUEUE_DEPTH, READ_WRITE_MIX, SYNC};

use crate::commands::factor_flags::Spell;

/// A value as fio spells it in our spelling; several where it is a range.
pub(crate) const SPELL: Spell = |factor: &About, value: &str| {
    let one = |text: &str| Ok(vec![text.to_owned()]);
    match factor.name {
        name if name == ACCESS_PATTERN.name => pattern(value),
        name if name == READ_WRITE_MIX.name => mix(value),
        name if name == ENGINE.name => match value {
            "posixaio" => Err(format!(
                "{value} is not available; io_uring and libaio are asynchronous too (--engine io_uring)"
            )),
            "sync" | "pvsync" | "pvsync2" => one("psync"),
            "null" => one("noop"),
            _ => one(value),
        },
        name if name == SYNC.name => match value {
            "0" => one("none"),
            "1" | "sync" => Err(format!(
                "--sync {value} is O_SYNC in fio; type --sync dsync for O_DSYNC, or --sync each:fsync for fsync after every write"
            )),
            _ => one(value),
        },
        name if name == QUEUE_DEPTH.name || name == JOBS.name => range(value),
        _ => one(value),
    }
};

fn pattern(value: &str) -> Result<Vec<String>, String> {
    let both = |pattern: &str, mix: &str| {
        Err(format!(
            "`{value}` is a fio word that combines two factors; use --access-pattern {pattern} --read-write-mix {mix}"
        ))
    };
    match value {
        "randread" => both("random", "100:0"),
        "randwrite" => both("random", "0:100"),
        "randrw" => both("random", "50:50"),
        "read" => both("sequential", "100:0"),
        "write" => both("sequential", "0:100"),
        "rw" | "readwrite" => both("sequential", "50:50"),
        "rand" => Ok(vec!["random".to_owned()]),
        "seq" => Ok(vec!["sequential".to_owned()]),
        _ => Ok(vec![match value.strip_prefix("zipf:") {
            Some(theta) => format!("zipfian:{theta}"),
            None => value.to_owned(),
        }]),
    }
}

/// A mix named by its share of reads, or by its only direction.
fn mix(value: &str) -> Result<Vec<String>, String> {
    let spelled = match (value, value.parse::<u8>()) {
        ("read" | "randread", _) => "100:0".to_owned(),
        ("write" | "randwrite", _) => "0:100".to_owned(),
        ("rw" | "readwrite" | "randrw", _) => "50:50".to_owned(),
        (_, Ok(reads @ 0..=100)) => format!("{reads}:{}", 100 - reads),
        _ => value.to_owned(),
    };
    Ok(vec![spelled])
}

/// `1..64`: doubled from the first to the last.
fn range(value: &str) -> Result<Vec<String>, String> {
    let Some((first, last)) = value.split_once("..") else {
        return Ok(vec![value.to_owned()]);
    };
    let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) else {
        return Ok(vec![value.to_owned()]);
    };
    if first == 0 || first > last {
        return Err(format!("`{value}` is not a range; expected for example 1..64"));
    }
    let doubled = std::iter::successors(Some(first), |value| value.checked_mul(2));
    let mut values: Vec<u32> = doubled.take_while(|value| *value < last).collect();
    values.push(last);
    Ok(values.iter().map(u32::to_string).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_fio_become_ours() {
        let cases: [(&About, &str, &str); 11] = [
            (&ACCESS_PATTERN, "zipf:1.2", "zipfian:1.2"),
            (&ACCESS_PATTERN, "seq", "sequential"),
            (&ACCESS_PATTERN, "strided:64KiB", "strided:64KiB"),
            (&READ_WRITE_MIX, "70", "70:30"),
            (&READ_WRITE_MIX, "write", "0:100"),
            (&READ_WRITE_MIX, "70:30", "70:30"),
            (&READ_WRITE_MIX, "101", "101"),
            (&ENGINE, "sync", "psync"),
            (&QUEUE_DEPTH, "1..64", "1 2 4 8 16 32 64"),
            (&QUEUE_DEPTH, "3..20", "3 6 12 20"),
            (&QUEUE_DEPTH, "8", "8"),
        ];
        for (factor, theirs, ours) in cases {
            let spelled = SPELL(factor, theirs).unwrap();
            assert_eq!(spelled.join(" "), ours, "{theirs}");
        }
        for refused in ["0..4", "9..4"] {
            assert!(SPELL(&QUEUE_DEPTH, refused).is_err(), "{refused}");
        }
    }
}
