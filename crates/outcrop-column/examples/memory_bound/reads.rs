//! Equality scans and Arrow arrays, and the accesses that they cannot do without.

use outcrop_column::arrow::DictionaryOrder;
use outcrop_column::{Column, Result};

use super::{STEP, Scene, compare, seconds, sum};

/// Words searched for in a round.
const SEARCHES: usize = 5;

pub(super) fn scan_bound(scene: &Scene<'_>, column: &Column, rounds: usize) -> Result<()> {
    let mut words = Vec::new();
    let step = scene.value_count / SEARCHES + 1;
    let mut position = 0;
    column.for_each_value(|_, _, value| {
        if position % step == step / 2 {
            words.push((position as u32, value.to_vec()));
        }
        position += 1;
        Ok(())
    })?;
    let bits = usize::BITS - scene.value_count.saturating_sub(1).leading_zeros();
    let (high, low) = (bits.saturating_sub(8), bits.saturating_sub(16));
    let plane = |shift: u32| {
        scene
            .codes
            .iter()
            .map(|code| (code >> shift) as u8)
            .collect::<Vec<u8>>()
    };
    let (first, second) = (plane(high), plane(low));
    let milliseconds = |seconds: f64| seconds * 1e3 / words.len().max(1) as f64;
    let searches = || {
        seconds(|| {
            words
                .iter()
                .try_for_each(|(_, word)| column.find(word)?.rows_by_scan().map(drop))
        })
    };
    compare(
        "equality scan; first plane alone",
        "ms",
        rounds,
        milliseconds,
        searches,
        || {
            seconds(|| {
                for (code, _) in &words {
                    std::hint::black_box(memchr::memchr_iter((code >> high) as u8, &first).count());
                }
                Ok(())
            })
        },
    )?;
    compare(
        "equality scan; both planes",
        "ms",
        rounds,
        milliseconds,
        searches,
        || {
            seconds(|| {
                for (code, _) in &words {
                    let candidates = memchr::memchr_iter((code >> high) as u8, &first);
                    let is_found = |row: &usize| second[*row] == (code >> low) as u8;
                    std::hint::black_box(candidates.filter(is_found).count());
                }
                Ok(())
            })
        },
    )
}

pub(super) fn arrow_bound(scene: &Scene<'_>, column: &Column, rounds: usize) -> Result<()> {
    let rows = scene.codes.len() as f64;
    let file_step = (scene.file.len() * STEP / scene.codes.len().max(1)).max(1);
    let mut keys = vec![0_i32; STEP];
    compare(
        "Arrow arrays, dictionary as stored, made before",
        "ns a row",
        rounds,
        |seconds| seconds * 1e9 / rows,
        || {
            let arrays = column.scan_in(DictionaryOrder::Stored)?;
            seconds(|| {
                for array in arrays {
                    std::hint::black_box(array?);
                }
                Ok(())
            })
        },
        || {
            seconds(|| {
                for part in scene.file.chunks(file_step) {
                    keys.fill(sum(part) as i32);
                    std::hint::black_box(&keys);
                }
                Ok(())
            })
        },
    )
}
