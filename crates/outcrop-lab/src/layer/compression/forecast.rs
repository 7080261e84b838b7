//! What a trial will take: arithmetic with the speeds of a slow machine.

use std::time::Duration;

use outcrop_compress::slow_compress_mb_per_second;
use outcrop_schema::compression::{CODEC, MEASUREMENT, Measurement, SAMPLE_SIZE};

use super::parameters::codec_of;
use crate::cell::Cell;
use crate::estimate::Forecast;

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
    let speed = slow_compress_mb_per_second(&codec_of(cell.factors.value(&CODEC)));
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
