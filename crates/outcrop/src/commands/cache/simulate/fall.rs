//! The sentence on how the misses of a policy fall with more memory.

use std::collections::BTreeSet;

use outcrop_cache::store::PolicyKind;
use outcrop_cache_bench::{Beyond, CurveFall, CurvePoint, MemorySizes, Stretch, TraceFacts};
use outcrop_measure::units::{format_bytes, format_data};

use super::advice::percent;

/// How the misses of a policy fall: between which two limits most of all, or by how much in each stretch. A trace that repeats a loop falls
/// where the loop begins to fit.
pub(super) fn fall(points: &[CurvePoint], policy: PolicyKind, facts: &TraceFacts) -> Option<String> {
    let between = |from: &CurvePoint, to: &CurvePoint| {
        let [from, to] = [from, to].map(|end| format_bytes(end.memory_bytes));
        format!("from {from} to {to}")
    };
    let falls =
        |from: &CurvePoint, to: &CurvePoint| format!("from {} to {} of gets", percent(from), percent(to));
    let per_doubling = match CurveFall::has_short_step(points, policy, facts) {
        true => "for each doubling of the memory (a step shorter than half a doubling counts as half of one)",
        false => "for each doubling of the memory",
    };
    let most = |from: &CurvePoint, to: &CurvePoint| match CurveFall::falls_most(points, facts, from, to) {
        true => "the misses fall most".to_owned(),
        false => format!("the misses fall most {per_doubling}"),
    };
    Some(match CurveFall::of(points, policy, facts)? {
        CurveFall::Knee { from, to } => format!(
            "Knee with {policy}: {} {}, {}.",
            between(&from, &to),
            most(&from, &to),
            falls(&from, &to)
        ),
        CurveFall::Open { from, to, beyond } => {
            let place = match beyond {
                Beyond::Smaller => "first",
                Beyond::Larger => "last",
            };
            format!(
                "With {policy} {} in the {place} step, {}: {}. {}",
                most(&from, &to),
                between(&from, &to),
                falls(&from, &to),
                what_shows_it(points, policy, beyond)
            )
        }
        CurveFall::Stretches(stretches) => {
            let clauses: Vec<String> = stretches.iter().map(of_stretch).collect();
            format!(
                "No knee with {policy}: {per_doubling}, the misses {}.{}",
                clauses.join(", then "),
                all_fits(points, policy, facts)
            )
        }
    })
}

/// Why it is not known whether a step is a knee, and which limits would show it.
fn what_shows_it(points: &[CurvePoint], policy: PolicyKind, beyond: Beyond) -> String {
    let of_policy = points.iter().filter(|point| point.policy == policy);
    let limits: BTreeSet<u64> = of_policy.map(|point| point.memory_bytes).collect();
    let limits = MemorySizes(limits.into_iter().collect());
    let (than_simulated, with_more, wider) = match beyond {
        Beyond::Smaller => ("smaller", limits.from_half(), "a smaller first limit"),
        Beyond::Larger => ("larger", limits.to_double(), "a larger last limit"),
    };
    let shown = with_more.map_or_else(String::new, |limits| {
        format!("; --memory {limits}, or {wider}, may show it")
    });
    format!("Whether this is a knee is not known, because no {than_simulated} memory was simulated{shown}.")
}

/// `fall by 10.1 to 10.9 percentage points (512 KiB to 2 MiB)`: all falls of the stretch lie between the two, which are rounded. Where some rise,
/// the two are bounds.
fn of_stretch(stretch: &Stretch) -> String {
    // What is shown as 0.0 is neither a fall nor a rise.
    const LEAST_SHOWN: f64 = 0.000_5;
    let points = |share: f64| format!("{:.1}", share.abs() * 100.0);
    // Rounded up, but for the error of the arithmetic.
    let at_most = |share: f64| format!("at most {:.1}", (share.abs() * 1000.0 - 1e-6).ceil() / 10.0);
    let (least, most) = (points(stretch.least), points(stretch.most));
    let by = |low: &str, high: &str| match low == high {
        true => high.to_owned(),
        false => format!("{low} to {high}"),
    };
    let what = match (stretch.least <= -LEAST_SHOWN, stretch.most >= LEAST_SHOWN) {
        (false, false) => "change by less than 0.1".to_owned(),
        (false, true) => format!("fall by {}", by(&least, &most)),
        (true, false) => format!("rise by {}", by(&most, &least)),
        (true, true) => format!(
            "fall by {} and rise by {}",
            at_most(stretch.most),
            at_most(stretch.least)
        ),
    };
    let [from, to] = [stretch.from, stretch.to].map(|end| format_bytes(end.memory_bytes));
    format!("{what} percentage points ({from} to {to})")
}

/// From which limit on a policy misses no more than the first request of each key; empty where none is that large.
fn all_fits(points: &[CurvePoint], policy: PolicyKind, facts: &TraceFacts) -> String {
    let of_policy = || points.iter().filter(|point| point.policy == policy);
    let fits = of_policy().filter(|point| point.misses_first_gets_alone(facts.first_gets));
    let Some(least) = fits.map(|point| point.memory_bytes).min() else {
        return String::new();
    };
    let what = match facts.all_bytes <= least {
        true => "everything",
        false => "everything that is requested again",
    };
    // Whoever works a fall out from the table must know that its step is not counted whole.
    let is_cut = of_policy().any(|point| point.memory_bytes < facts.all_bytes) && facts.all_bytes < least;
    let cut = match is_cut {
        true => format!(
            "; the step to it counts up to {}, the size of all objects",
            format_data(facts.all_bytes as f64)
        ),
        false => String::new(),
    };
    format!(" In {} {what} fits{cut}.", format_bytes(least))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A limit and how many of so many gets miss there.
    fn point(memory_bytes: u64, misses: u64, gets: u64) -> CurvePoint {
        CurvePoint {
            policy: PolicyKind::S3Fifo,
            memory_bytes,
            gets,
            hits: gets - misses,
            asked_bytes: 0,
            hit_bytes: 0,
            items: 0,
            held_bytes: 0,
        }
    }

    /// A trace whose objects do not all fit in any of the limits.
    fn facts(first_gets: u64) -> TraceFacts {
        TraceFacts {
            gets: 1000,
            first_gets,
            all_bytes: 1 << 30,
            keys_without_size: 0,
        }
    }

    /// What is said of misses in thousandths of the gets, at 512 KiB and doublings of it.
    fn said(misses: &[u64], first_gets: u64) -> String {
        let points = misses.iter().enumerate();
        let points: Vec<CurvePoint> = points
            .map(|(doublings, misses)| point((512 << 10) << doublings, *misses, 1000))
            .collect();
        fall(&points, PolicyKind::S3Fifo, &facts(first_gets)).unwrap()
    }

    #[test]
    fn a_knee_of_steps_of_unequal_size_falls_most_for_each_doubling_and_is_not_said_to_fall_most() {
        // Falls of 2.1, 10.5 and then 24.2 points; for each doubling, 2.1, 17.9 and 7.1.
        let points = [(32, 418), (64, 397), (96, 292), (1024, 50)];
        let points = points.map(|(kib, misses)| point(kib << 10, misses, 1000));
        assert_eq!(
            fall(&points, PolicyKind::S3Fifo, &facts(0)).unwrap(),
            "Knee with s3-fifo: from 64 KiB to 96 KiB the misses fall most for each doubling of the memory, from 39.7 % to 29.2 % of gets."
        );
        assert_eq!(
            fall(&points[1..], PolicyKind::S3Fifo, &facts(0)).unwrap(),
            "With s3-fifo the misses fall most for each doubling of the memory in the first step, from 64 KiB to 96 KiB: from 39.7 % to 29.2 % \
             of gets. Whether this is a knee is not known, because no smaller memory was simulated; --memory 32KiB,64KiB,96KiB,1MiB, or a \
             smaller first limit, may show it."
        );
        assert!(said(&[900, 880, 500, 480], 0).contains("1 MiB to 2 MiB the misses fall most, from "));
    }

    #[test]
    fn a_step_with_nothing_simulated_beside_it_is_no_knee_and_the_memory_that_decides_it_is_named() {
        assert_eq!(
            said(&[192, 105, 60], 0),
            "With s3-fifo the misses fall most in the first step, from 512 KiB to 1 MiB: from 19.2 % to 10.5 % of gets. Whether this is a knee \
             is not known, because no smaller memory was simulated; --memory 256KiB..2MiB, or a smaller first limit, may show it."
        );
        assert!(said(&[279, 192, 105, 60], 0).starts_with("No knee with s3-fifo: "));
        assert_eq!(
            said(&[900, 880, 600], 0),
            "With s3-fifo the misses fall most in the last step, from 1 MiB to 2 MiB: from 88.0 % to 60.0 % of gets. Whether this is a knee is \
             not known, because no larger memory was simulated; --memory 512KiB..4MiB, or a larger last limit, may show it."
        );
        // No memory misses less.
        assert!(said(&[900, 880, 600], 600).starts_with("Knee with s3-fifo: from 1 MiB to 2 MiB "));
    }

    #[test]
    fn a_step_to_more_memory_than_everything_takes_counts_up_to_there_and_the_answer_says_so() {
        // A line in bytes: 100 thousandths for each 512 KiB, until everything fits in 3 MiB.
        let points: Vec<CurvePoint> = [(1, 500), (2, 300), (4, 100)]
            .map(|(mib, misses)| point(mib << 20, misses, 1000))
            .to_vec();
        let facts = TraceFacts {
            all_bytes: 3 << 20,
            ..facts(100)
        };
        assert_eq!(
            fall(&points, PolicyKind::S3Fifo, &facts).unwrap(),
            "No knee with s3-fifo: for each doubling of the memory, the misses fall by 20.0 percentage points (1 MiB to 2 MiB), then fall by 34.2 \
             percentage points (2 MiB to 4 MiB). In 4 MiB everything fits; the step to it counts up to 3.15 MB, the size of all objects."
        );
    }

    #[test]
    fn a_step_that_falls_most_for_each_doubling_but_by_less_than_another_is_not_said_to_fall_most() {
        let points =
            [(1, 1000), (2, 1000), (4, 700), (8, 450)].map(|(mib, misses)| point(mib << 20, misses, 1000));
        let facts = TraceFacts {
            all_bytes: 5 << 20,
            ..facts(450)
        };
        assert_eq!(
            fall(&points, PolicyKind::S3Fifo, &facts).unwrap(),
            "Knee with s3-fifo: from 4 MiB to 8 MiB the misses fall most for each doubling of the memory (a step shorter than half a doubling counts \
             as half of one), from 70.0 % to 45.0 % of gets."
        );
    }

    #[test]
    fn where_a_step_is_too_short_to_be_taken_for_a_doubling_the_answer_says_how_it_counts() {
        // Falls of 1, 10, 30 and 0.9 points; for each doubling 1, 19, 10 and, of half a doubling, 1.8.
        let points = [(32, 900), (64, 890), (92, 790), (720, 490), (750, 481)];
        let points = points.map(|(kib, misses)| point(kib << 10, misses, 1000));
        assert_eq!(
            fall(&points, PolicyKind::S3Fifo, &facts(0)).unwrap(),
            "Knee with s3-fifo: from 64 KiB to 92 KiB the misses fall most for each doubling of the memory (a step shorter than half a doubling \
             counts as half of one), from 89.0 % to 79.0 % of gets."
        );
    }

    #[test]
    fn what_is_never_requested_again_need_not_fit() {
        let said = said(&[560, 459, 350, 350], 350);
        assert!(
            said.ends_with(" In 2 MiB everything that is requested again fits."),
            "{said}"
        );
    }

    #[test]
    fn what_is_a_bound_is_rounded_up_and_what_is_known_is_not() {
        let said = |misses: [u64; 5]| {
            let points = misses.iter().enumerate();
            let points = points.map(|(doublings, misses)| point((1 << 20) << doublings, *misses, 10_000));
            fall(&points.collect::<Vec<_>>(), PolicyKind::S3Fifo, &facts(0)).unwrap()
        };
        let falls = said([9000, 8000, 7000, 6928, 6855]);
        assert!(
            falls.contains("then fall by 0.7 percentage points (4 MiB to 16 MiB)"),
            "{falls}"
        );
        let both = said([9000, 8000, 7000, 7072, 7000]);
        assert!(
            both.contains(
                "then fall by at most 0.8 and rise by at most 0.8 percentage points (4 MiB to 16 MiB)"
            ),
            "{both}"
        );
    }

    #[test]
    fn a_curve_that_bends_is_not_said_to_fall_by_one_figure_and_no_fall_is_left_out() {
        assert_eq!(
            said(&[560, 459, 350, 343, 343], 343),
            "No knee with s3-fifo: for each doubling of the memory, the misses fall by 10.1 to 10.9 percentage points (512 KiB to 2 MiB), \
             then fall by 0.0 to 0.7 percentage points (2 MiB to 8 MiB). In 4 MiB everything that is requested again fits."
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
                "then rise by 0.0 to 10.0 percentage points (2 MiB to 8 MiB).",
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
