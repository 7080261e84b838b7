//! The sentence on how the misses of a policy fall with more memory.

use outcrop_cache::store::PolicyKind;
use outcrop_cache_bench::{CurveFall, CurvePoint};
use outcrop_measure::units::format_bytes;

/// Steps fall evenly while the largest fall is at most this many times the smallest.
const EVENLY: f64 = 1.5;

/// How the misses of a policy fall: between which two limits most of all, or evenly. A trace that repeats a loop falls where the loop begins to
/// fit.
pub(super) fn fall(points: &[CurvePoint], policy: PolicyKind, first_gets: u64) -> Option<String> {
    let percent = |point: CurvePoint| point.miss_ratio().unwrap_or_default() * 100.0;
    let last_step = |end: Option<CurvePoint>| {
        let Some(end) = end else {
            return String::new();
        };
        let size = format_bytes(end.memory_bytes);
        let all_fits = match end.gets - end.hits <= first_gets {
            true => ", where everything fits",
            false => "",
        };
        format!(", and by less in the last step, to {size}{all_fits}")
    };
    let begin = |from: Option<CurvePoint>| {
        let still = |from: CurvePoint| {
            let size = format_bytes(from.memory_bytes);
            format!(
                "up to {size} the misses hardly fall ({:.1} % of gets); from there on ",
                percent(from)
            )
        };
        from.map(still).unwrap_or_default()
    };
    Some(match CurveFall::of(points, policy)? {
        CurveFall::Knee { from, to } => format!(
            "Knee with {policy}: from {} to {} the misses fall most, from {:.1} % to {:.1} % of gets.",
            format_bytes(from.memory_bytes),
            format_bytes(to.memory_bytes),
            percent(from),
            percent(to)
        ),
        CurveFall::Even {
            from,
            least,
            usual,
            most,
            last_to,
        } if most <= EVENLY * least => format!(
            "No knee with {policy}: {}the misses fall evenly, by about {:.0} percentage points for each doubling of the memory{}.",
            begin(from),
            usual * 100.0,
            last_step(last_to)
        ),
        CurveFall::Even {
            from,
            least,
            most,
            last_to,
            ..
        } => format!(
            "No knee with {policy}: no step stands out; {}for each doubling of the memory the misses fall by {:.0} to {:.0} percentage points{}.",
            begin(from),
            least * 100.0,
            most * 100.0,
            last_step(last_to)
        ),
    })
}
