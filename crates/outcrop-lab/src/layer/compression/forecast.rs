//! What a trial will take: arithmetic with the speeds of a slow machine.

use std::time::Duration;

use outcrop_codec::Setting;
use outcrop_schema::compression::{CODEC, CodecName, MEASUREMENT, Measurement, SAMPLE_SIZE};

use super::parameters::codec_of;
use crate::cell::Cell;
use crate::estimate::Forecast;

/// Compressing, in MB/s, up to a level; the last entry holds beyond.
type Speeds = &'static [(i32, f64)];

const ZSTD: Speeds = &[
    (2, 200.0),
    (4, 100.0),
    (7, 50.0),
    (10, 20.0),
    (13, 8.0),
    (16, 4.0),
    (19, 1.5),
    (22, 1.0),
];
const DEFLATE: Speeds = &[(1, 50.0), (5, 25.0), (8, 10.0), (12, 4.0)];
const BROTLI: Speeds = &[(1, 100.0), (4, 25.0), (6, 12.0), (9, 5.0), (11, 0.3)];
const LZ4_HIGH: Speeds = &[(4, 40.0), (9, 15.0), (12, 5.0)];
const FAST: Speeds = &[(0, 150.0)];
/// Decompressing, any codec.
const DECOMPRESS_MB_PER_SECOND: f64 = 150.0;
/// Buffers of a trial are touched once.
const TOUCH_MB_PER_SECOND: f64 = 1000.0;
/// Between trials: threads, the journal's fsync.
const OVERHEAD: Duration = Duration::from_millis(10);
/// A phase takes whole passes: on average this much more than its part.
const WHOLE_PASSES: f64 = 1.2;

pub(super) fn trial(cell: &Cell) -> Forecast {
    let megabytes = cell.subject.settings.value(&SAMPLE_SIZE).0 as f64 / 1e6;
    let name = cell.factors.value(&CODEC);
    let speed = compress_speed(name);
    let duration = cell.trial.duration.0.as_secs_f64();
    let pass = megabytes / speed;
    // Every block once, in the first repetition only.
    let verification = (pass + megabytes / DECOMPRESS_MB_PER_SECOND) / f64::from(cell.trial.repetitions);
    let measured = match cell.factors.value(&MEASUREMENT) {
        Measurement::Stages => duration,
        Measurement::Speed => {
            let first_pass = pass.min(duration * 0.2).max(cell.trial.warm_up.0.as_secs_f64());
            duration * WHOLE_PASSES + 2.0 * first_pass + 2.0 * megabytes / TOUCH_MB_PER_SECOND
        }
    };
    Forecast {
        time: Duration::from_secs_f64(measured + verification) + OVERHEAD,
        ..Forecast::default()
    }
}

fn compress_speed(name: &CodecName) -> f64 {
    let speeds = match name.of_any_library() {
        "zstd" => ZSTD,
        "brotli" => BROTLI,
        "lz4hc" => LZ4_HIGH,
        name if name.starts_with("deflate") => DEFLATE,
        _ => FAST,
    };
    let level = match codec_of(name).setting() {
        Setting::Level(level) => level,
        _ => 0,
    };
    let found = speeds.iter().find(|(up_to, _)| level <= *up_to).or(speeds.last());
    found.map_or(1.0, |(_, megabytes_per_second)| *megabytes_per_second)
}
