//! The sentence on how the misses of a policy fall with more memory.

use outcrop_cache::store::PolicyKind;
use outcrop_cache_bench::{CurveFall, CurvePoint, Stretch};
use outcrop_measure::units::format_bytes;

/// How the misses of a policy fall: between which two limits most of all, or by how much in each stretch. A trace that repeats a loop falls
/// where the loop begins to fit.
pub(super) fn fall(points: &[CurvePoint], policy: PolicyKind, first_gets: u64) -> Option<String> {
    let percent = |point: CurvePoint| point.miss_ratio().unwrap_or_default() * 100.0;
    Some(match CurveFall::of(points, policy)? {
        CurveFall::Knee { from, to } => format!(
            "Knee with {policy}: from {} to {} the misses fall most, from {:.1} % to {:.1} % of gets.",
            format_bytes(from.memory_bytes),
            format_bytes(to.memory_bytes),
            percent(from),
            percent(to)
        ),
        CurveFall::Stretches(stretches) => {
            let clauses: Vec<String> = stretches.iter().map(of_stretch).collect();
            format!(
                "No knee with {policy}: for each doubling of the memory, the misses {}.{}",
                clauses.join(", then "),
                all_fits(points, policy, first_gets)
            )
        }
    })
}

/// `fall by 10.1 to 10.9 percentage points (512 KiB to 2 MiB)`: all falls of the stretch lie between the two.
fn of_stretch(stretch: &Stretch) -> String {
    // What is shown as 0.0 is neither a fall nor a rise.
    const LEAST_SHOWN: f64 = 0.000_5;
    let points = |share: f64| format!("{:.1}", share.abs() * 100.0);
    let (least, most) = (points(stretch.least), points(stretch.most));
    let by = |low: &str, high: &str| match low {
        _ if low == high => high.to_owned(),
        "0.0" => format!("at most {high}"),
        _ => format!("{low} to {high}"),
    };
    let what = match (stretch.least <= -LEAST_SHOWN, stretch.most >= LEAST_SHOWN) {
        (false, false) => "change by less than 0.1".to_owned(),
        (false, true) if stretch.stands_still() => format!("fall by at most {most}"),
        (false, true) => format!("fall by {}", by(&least, &most)),
        (true, false) => format!("rise by {}", by(&most, &least)),
        (true, true) => format!("fall by at most {most} and rise by at most {least}"),
    };
    let [from, to] = [stretch.from, stretch.to].map(|end| format_bytes(end.memory_bytes));
    format!("{what} percentage points ({from} to {to})")
}

/// From which limit on a policy misses no more than the first request of each key; empty where none is that large.
fn all_fits(points: &[CurvePoint], policy: PolicyKind, first_gets: u64) -> String {
    let of_policy = points.iter().filter(|point| point.policy == policy);
    let fits = of_policy.filter(|point| point.gets - point.hits <= first_gets);
    let least = fits.map(|point| point.memory_bytes).min();
    least.map_or_else(String::new, |bytes| {
        format!(" In {} everything fits.", format_bytes(bytes))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of misses in thousandths of the gets, at 512 KiB and doublings of it.
    fn said(misses: &[u64], first_gets: u64) -> String {
        let point = |(doublings, misses): (usize, &u64)| CurvePoint {
            policy: PolicyKind::S3Fifo,
            memory_bytes: (512 << 10) << doublings,
            gets: 1000,
            hits: 1000 - misses,
            asked_bytes: 0,
            hit_bytes: 0,
            items: 0,
            held_bytes: 0,
        };
        let points: Vec<CurvePoint> = misses.iter().enumerate().map(point).collect();
        fall(&points, PolicyKind::S3Fifo, first_gets).unwrap()
    }

    #[test]
    fn a_curve_that_bends_is_not_said_to_fall_by_one_figure_and_no_fall_is_left_out() {
        assert_eq!(
            said(&[560, 459, 350, 343, 343], 343),
            "No knee with s3-fifo: for each doubling of the memory, the misses fall by 10.1 to 10.9 percentage points (512 KiB to 2 MiB), \
             then fall by at most 0.7 percentage points (2 MiB to 8 MiB). In 4 MiB everything fits."
        );
        assert_eq!(
            said(&[900, 819, 738, 656, 558, 444, 359], 0),
            "No knee with s3-fifo: for each doubling of the memory, the misses fall by 8.1 to 11.4 percentage points (512 KiB to 32 MiB)."
        );
        let still = said(&[900, 800, 700, 700, 700], 0);
        assert!(
            still.ends_with(", then change by less than 0.1 percentage points (2 MiB to 8 MiB)."),
            "{still}"
        );
    }

    #[test]
    fn misses_that_rise_with_more_memory_are_said_to_rise() {
        for (misses, end) in [
            (
                &[900, 800, 700, 900][..],
                "then rise by 20.0 percentage points (2 MiB to 4 MiB).",
            ),
            (
                &[900, 800, 700, 705],
                "then rise by 0.5 percentage points (2 MiB to 4 MiB).",
            ),
            (
                &[900, 800, 700, 900, 950],
                "then rise by 5.0 to 20.0 percentage points (2 MiB to 8 MiB).",
            ),
            (
                &[900, 800, 700, 800, 800],
                "then rise by at most 10.0 percentage points (2 MiB to 8 MiB).",
            ),
            (
                &[900, 760, 770, 630, 640, 500, 510],
                "the misses fall by at most 14.0 and rise by at most 1.0 percentage points (512 KiB to 32 MiB).",
            ),
        ] {
            let said = said(misses, 0);
            assert!(said.ends_with(end), "{said}");
        }
    }
}
