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
                "No knee with {policy}: for each doubling of the memory, the misses fall by {}.{}",
                clauses.join(", then by "),
                all_fits(points, policy, first_gets)
            )
        }
    })
}

/// `10.1 to 10.9 percentage points (512 KiB to 2 MiB)`: all falls of the stretch lie between the two.
fn of_stretch(stretch: &Stretch) -> String {
    let points = |share: f64| format!("{:.1}", share * 100.0).replace('-', "−");
    let (least, most) = (points(stretch.least), points(stretch.most));
    let falls = match stretch.stands_still() {
        true if stretch.most < 0.000_5 => "less than 0.1 points".to_owned(),
        true => format!("at most {most} points"),
        false if least == most => format!("{most} percentage points"),
        false => format!("{least} to {most} percentage points"),
    };
    let [from, to] = [stretch.from, stretch.to].map(|end| format_bytes(end.memory_bytes));
    format!("{falls} ({from} to {to})")
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
             then by at most 0.7 points (2 MiB to 8 MiB). In 4 MiB everything fits."
        );
        assert_eq!(
            said(&[900, 819, 738, 656, 558, 444, 359], 0),
            "No knee with s3-fifo: for each doubling of the memory, the misses fall by 8.1 to 11.4 percentage points (512 KiB to 32 MiB)."
        );
        // What rises is no fall.
        assert!(said(&[900, 800, 700, 705], 0).ends_with("then by less than 0.1 points (2 MiB to 4 MiB)."));
        assert!(said(&[900, 760, 770, 630, 640, 500, 510], 0).contains("by −1.0 to 14.0 percentage points"));
    }
}
