//! Before measuring: the cache is filled, and the load runs until the hit ratio stands still.

use std::sync::atomic::Ordering;
use std::time::Duration;

use outcrop_cache_client::Protocol;

use super::book::Book;
use super::feed::{Feed, Source};
use super::worker::Phase;
use super::{Crew, LoadProgress, crew_phase, drawn};
use crate::error::CacheLoadError;
use crate::report::{Tally, WarmUpReport};
use crate::spec::{LoadSpec, RequestSource, WarmUp};

/// A window of the settling load.
const WINDOW: Duration = Duration::from_millis(200);
/// This many hit ratios in a row …
const STEADY_WINDOWS: usize = 4;
/// … may lie at most this far apart for the cache to count as warm.
const STEADY_RANGE: f64 = 0.01;
/// Sets in flight on each connection while a cache is filled, at least.
const FILLING_PIPELINE: u32 = 32;
/// After this many windows the load is measured anyway, and the report says so.
const MOST_WINDOWS: usize = 50;

pub(super) fn warm_up(
    crew: &mut Crew<'_>,
    progress: &mut dyn FnMut(LoadProgress),
) -> Result<WarmUpReport, CacheLoadError> {
    let spec = crew.shared.spec;
    let clock = crew.shared.clock;
    let start_ticks = clock.ticks();
    let mut report = WarmUpReport::default();
    match (&spec.source, spec.warm_up) {
        (_, WarmUp::None) | (RequestSource::Trace { .. }, _) => {}
        (RequestSource::Generated { key_count, .. }, WarmUp::Auto) => {
            fill(crew, *key_count, true, &mut report, progress)?;
            settle(crew, &mut report, progress)?;
        }
        (RequestSource::Generated { key_count, .. }, WarmUp::Fill(span)) => {
            fill(crew, *key_count, true, &mut report, progress)?;
            if !span.0.is_zero() {
                progress(LoadProgress::Settling { hit_ratio: None });
                report.count(&window(crew, span.duration(), 0, false)?);
            }
        }
        (_, WarmUp::Sets(count)) => fill(crew, count, false, &mut report, progress)?,
        (_, WarmUp::For(span)) => {
            progress(LoadProgress::Settling { hit_ratio: None });
            let tally = window(crew, span.duration(), 0, spec.is_open_loop())?;
            report.count(&tally);
        }
    }
    report.duration = Duration::from_nanos(clock.nanos(clock.ticks().saturating_sub(start_ticks)));
    Ok(report)
}

/// Sets every key once, or `total` drawn keys.
fn fill(
    crew: &mut Crew<'_>,
    total: u64,
    is_every_key: bool,
    report: &mut WarmUpReport,
    progress: &mut dyn FnMut(LoadProgress),
) -> Result<(), CacheLoadError> {
    let spec = crew.shared.spec;
    let step = u64::from(spec.threads);
    let start_ticks = crew.shared.clock.ticks();
    crew.shared.answered.store(0, Ordering::Relaxed);
    let phase_of = |index: u32| {
        let share = u64::from(index);
        Ok(move |book: &Book| {
            let source = if is_every_key {
                Source::EveryKey {
                    left: total.saturating_sub(share),
                    step,
                }
            } else {
                let seed = spec.seed.derive("sets of the warm-up").derive_index(share);
                Source::Sets {
                    left: total / step + u64::from(share < total % step),
                    requests: drawn(&spec.source, book, seed),
                }
            };
            Phase {
                feed: Feed::closed(source),
                pipeline: filling_pipeline(spec),
                start_ticks,
                end_ticks: None,
            }
        })
    };
    progress(LoadProgress::Filling { done: 0, total });
    let reports = crew.run(phase_of, &mut |done| {
        progress(LoadProgress::Filling { done, total });
    })?;
    let mut tally = Tally::default();
    for report in reports {
        tally.merge(report.tally);
    }
    report.sets = tally.operations() + tally.refused;
    report.refused = tally.refused;
    report.first_refusal = tally.first_refusal;
    Ok(())
}

/// Sets in flight on each connection while a cache is filled, whatever is measured later: a fill is not timed. Of HTTP
/// servers not all take a pipeline.
const fn filling_pipeline(spec: &LoadSpec) -> u32 {
    match spec.target.protocol {
        Protocol::Http => spec.pipeline,
        Protocol::Memcached | Protocol::Redis if spec.pipeline > FILLING_PIPELINE => spec.pipeline,
        Protocol::Memcached | Protocol::Redis => FILLING_PIPELINE,
    }
}

/// Runs the load until the hit ratio stands still.
fn settle(
    crew: &mut Crew<'_>,
    report: &mut WarmUpReport,
    progress: &mut dyn FnMut(LoadProgress),
) -> Result<(), CacheLoadError> {
    let mut ratios = Vec::new();
    for number in 0..MOST_WINDOWS {
        progress(LoadProgress::Settling {
            hit_ratio: ratios.last().copied().flatten(),
        });
        // In a closed loop whatever is measured later: at a low rate warming up would take as much longer.
        let tally = window(crew, WINDOW, number as u64, false)?;
        report.count(&tally);
        ratios.push(tally.hit_ratio());
        if crew.shared.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        if is_steady(&ratios) {
            report.is_steady = Some(true);
            return Ok(());
        }
    }
    report.is_steady = Some(false);
    Ok(())
}

/// Windows without a get have no ratio, and nothing that could change.
fn is_steady(ratios: &[Option<f64>]) -> bool {
    let Some((_, last)) = ratios.split_last_chunk::<STEADY_WINDOWS>() else {
        return false;
    };
    if last.iter().all(Option::is_none) {
        return true;
    }
    let known: Vec<f64> = last.iter().copied().flatten().collect();
    let highest = known.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let lowest = known.iter().copied().fold(f64::INFINITY, f64::min);
    known.len() == STEADY_WINDOWS && highest - lowest <= STEADY_RANGE
}

/// The load for a while, with draws of its own.
fn window(
    crew: &mut Crew<'_>,
    length: Duration,
    number: u64,
    is_open_loop: bool,
) -> Result<Tally, CacheLoadError> {
    let spec = crew.shared.spec;
    let clock = crew.shared.clock;
    let start_ticks = clock.ticks();
    let end_ticks = start_ticks + clock.ticks_in(length);
    let seed = spec.seed.derive("requests of the warm-up").derive_index(number);
    let reports = crew.run(
        |index| {
            Ok(crew_phase(
                spec,
                index,
                seed,
                start_ticks,
                Some(end_ticks),
                is_open_loop,
            ))
        },
        &mut |_| {},
    )?;
    let mut tally = Tally::default();
    for report in reports {
        tally.merge(report.tally);
    }
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steady_is_what_has_stood_still_for_some_windows() {
        assert!(!is_steady(&[Some(0.8); 3]));
        assert!(is_steady(&[0.1, 0.8, 0.805, 0.8, 0.809].map(Some)));
        assert!(!is_steady(&[0.8, 0.8, 0.8, 0.82].map(Some)));
        assert!(is_steady(&[None; 4]), "without gets nothing can change");
        assert!(!is_steady(&[Some(0.8), None, Some(0.8), Some(0.8)]));
    }
}
