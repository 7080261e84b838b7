//! What more memory does: how the misses of a policy fall with it, and what it adds to the memory that is advised.

use std::collections::BTreeSet;

use outcrop_cache::store::PolicyKind;
use outcrop_cache_bench::{Beyond, CurveAdvice, CurveFall, CurvePoint, FallShape, MemorySizes, TraceFacts};
use outcrop_measure::units::format_bytes;

use super::advice::{difference, named, percent, spelled};

/// Where the misses of a policy fall with more memory, and whether that is a knee. A trace that repeats a loop has one where the loop begins to fit.
pub(super) fn fall(points: &[CurvePoint], policy: PolicyKind, facts: &TraceFacts) -> Option<String> {
    let fall = CurveFall::of(points, policy, facts)?;
    let what = range(&fall);
    Some(match fall.shape {
        FallShape::Knee => format!("Knee with {policy}: {what}."),
        FallShape::Open(beyond) => {
            format!("With {policy}, {what}. {}", what_shows_it(points, policy, beyond))
        }
        FallShape::Coarse => {
            let between = limits_of(points, policy).between(fall.from.memory_bytes, fall.to.memory_bytes);
            let shown = between.map_or_else(String::new, |limits| format!("; --memory {limits} may show it"));
            format!(
                "With {policy}, {what}. Whether there is a knee is not known, because too few limits were simulated{shown}."
            )
        }
        FallShape::Wide(beyond) => {
            let limits = limits_of(points, policy).0;
            let ends = [limits.first(), limits.last()].map(|end| format_bytes(*end.unwrap_or(&0)));
            let [least, most] = &ends;
            let beyond = match beyond {
                None => String::new(),
                Some(Beyond::Smaller) => {
                    format!(" Less than {least} was not simulated and may have one (--memory).")
                }
                Some(Beyond::Larger) => {
                    format!(" More than {most} was not simulated and may have one (--memory).")
                }
            };
            format!(
                "No single knee with {policy} from {least} to {most}: three quarters of the fall take more than a doubling of the memory; \
                 {what}.{beyond}"
            )
        }
    })
}

/// `from 64 KiB to 128 KiB the misses fall from 52.0 % to 12.0 % of gets, which is 40.0 of the 46.5 percentage points by which they fall from 32 KiB
/// to 1 MiB`.
fn range(fall: &CurveFall) -> String {
    let between = |from: &CurvePoint, to: &CurvePoint| {
        let [from, to] = [from, to].map(|end| format_bytes(end.memory_bytes));
        format!("from {from} to {to}")
    };
    let points = |from: &CurvePoint, to: &CurvePoint| {
        let points = spelled((to.hits - from.hits) as f64 / from.gets as f64);
        points.trim_end_matches(" %").to_owned()
    };
    let (part, whole) = (points(&fall.from, &fall.to), points(&fall.first, &fall.last));
    let is_all = fall.to.hits - fall.from.hits == fall.last.hits - fall.first.hits;
    let share = if is_all { "all" } else { &part };
    format!(
        "{} the misses fall from {} to {} of gets, which is {share} of the {whole} percentage points by which they fall {}",
        between(&fall.from, &fall.to),
        percent(&fall.from),
        percent(&fall.to),
        between(&fall.first, &fall.last)
    )
}

fn limits_of(points: &[CurvePoint], policy: PolicyKind) -> MemorySizes {
    let of_policy = points.iter().filter(|point| point.policy == policy);
    let limits: BTreeSet<u64> = of_policy.map(|point| point.memory_bytes).collect();
    MemorySizes(limits.into_iter().collect())
}

/// Why it is not known whether a range is a knee, and which limits may show it.
fn what_shows_it(points: &[CurvePoint], policy: PolicyKind, beyond: Beyond) -> String {
    let limits = limits_of(points, policy);
    let (than_simulated, with_more, wider) = match beyond {
        Beyond::Smaller => ("smaller", limits.from_half(), "a smaller first limit"),
        Beyond::Larger => ("larger", limits.to_double(), "a larger last limit"),
    };
    let shown = with_more.map_or_else(String::new, |limits| {
        format!("; --memory {limits}, or {wider}, may show it")
    });
    format!(
        "Whether this is a knee is not known, because too little {than_simulated} memory was simulated{shown}."
    )
}

/// What less memory than the smallest that was simulated may do.
pub(super) const fn of_less(advice: &CurveAdvice) -> &'static str {
    match advice.is_smallest {
        true => "; less was not simulated and may do (--memory)",
        false => "",
    }
}

/// What more memory than the chosen one does; what less may do, where more does nothing.
pub(super) fn of_more(advice: &CurveAdvice, points: &[CurvePoint], facts: &TraceFacts) -> String {
    let (chosen, lowest) = (&advice.chosen, &advice.lowest);
    if chosen.memory_bytes < lowest.memory_bytes {
        return lowers(chosen, lowest, points);
    }
    if chosen.hits == chosen.gets {
        return of_less(advice).to_owned();
    }
    if chosen.hits >= facts.most_hits {
        return format!("; no memory can avoid these misses{}", of_less(advice));
    }
    if advice.is_largest {
        return "; more was not simulated and may help (--memory)".to_owned();
    }
    let larger = points
        .iter()
        .filter(|point| point.memory_bytes > chosen.memory_bytes);
    let better = larger.filter(|point| point.hits > chosen.hits);
    better.max_by_key(|point| point.hits).map_or_else(
        || "; no larger limit that was simulated lowers that".to_owned(),
        |best| lowers(chosen, best, points),
    )
}

/// By how much a point misses less than the chosen one: with the same policy, where that misses no more, and rather with one that evicts.
fn lowers(chosen: &CurvePoint, less: &CurvePoint, points: &[CurvePoint]) -> String {
    let is_alike = |point: &&CurvePoint| point.memory_bytes == less.memory_bytes && point.hits == less.hits;
    let rank = |point: &&CurvePoint| (point.policy != chosen.policy, point.policy == PolicyKind::None);
    let less = points.iter().filter(is_alike).min_by_key(rank).unwrap_or(less);
    format!(
        "; {} with {} lowers that by {} percentage points, to {}",
        format_bytes(less.memory_bytes),
        named(&less.policy),
        difference(chosen, less),
        percent(less)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sentence on a curve: limits in KiB, each with its misses per thousand gets, of which `first_gets` are the first requests of keys.
    fn said(curve: &[(u64, u64)], first_gets: u64) -> String {
        let facts = TraceFacts {
            gets: 1000,
            first_gets,
            most_hits: 1000 - first_gets,
            all_bytes: 1 << 30,
            keys_without_size: 0,
        };
        let point = |(kib, misses): &(u64, u64)| CurvePoint {
            policy: PolicyKind::S3Fifo,
            memory_bytes: kib << 10,
            gets: 1000,
            hits: 1000 - misses,
            asked_bytes: 0,
            hit_bytes: 0,
            items: 0,
            held_bytes: 0,
        };
        let points: Vec<CurvePoint> = curve.iter().map(point).collect();
        fall(&points, PolicyKind::S3Fifo, &facts).unwrap()
    }

    #[test]
    fn a_knee_is_said_with_its_part_of_the_fall_and_the_range_of_that() {
        assert_eq!(
            said(&[(32, 1000), (64, 980), (128, 500), (256, 470), (512, 470)], 0),
            "Knee with s3-fifo: from 64 KiB to 128 KiB the misses fall from 98.0 % to 50.0 % of gets, which is 48.0 of the 53.0 percentage \
             points by which they fall from 32 KiB to 512 KiB."
        );
        let whole = said(&[(32, 1000), (64, 1000), (128, 50)], 50);
        assert!(
            whole.ends_with(
                "which is all of the 95.0 percentage points by which they fall from 32 KiB to 128 KiB."
            ),
            "{whole}"
        );
    }

    #[test]
    fn what_a_knee_needs_to_be_known_is_named() {
        assert_eq!(
            said(&[(512, 192), (1024, 105), (2048, 100)], 0),
            "With s3-fifo, from 512 KiB to 1 MiB the misses fall from 19.2 % to 10.5 % of gets, which is 8.7 of the 9.2 percentage points by which \
             they fall from 512 KiB to 2 MiB. Whether this is a knee is not known, because too little smaller memory was simulated; --memory \
             256KiB..2MiB, or a smaller first limit, may show it."
        );
        let last = said(&[(512, 900), (1024, 880), (2048, 600)], 0);
        assert!(last.ends_with("too little larger memory was simulated; --memory 512KiB..4MiB, or a larger last limit, may show it."), "{last}");
        let coarse = said(&[(32, 1000), (64, 1000), (1024, 50)], 50);
        assert!(
            coarse.starts_with("With s3-fifo, from 64 KiB to 1 MiB ")
                && coarse
                    .ends_with("because too few limits were simulated; --memory 32KiB..1MiB may show it."),
            "{coarse}"
        );
    }

    #[test]
    fn where_there_is_no_knee_the_range_of_most_of_the_fall_is_said_and_of_which_limits_that_is_known() {
        let words = "No single knee with s3-fifo from 512 KiB to 8 MiB: three quarters of the fall take more than a doubling of the memory; from \
                     512 KiB to 4 MiB the misses fall from 90.0 % to 35.0 % of gets, which is all of the 55.0 percentage points by which they \
                     fall from 512 KiB to 8 MiB.";
        let curve = [(512, 900), (1024, 700), (2048, 500), (4096, 350), (8192, 350)];
        assert_eq!(said(&curve, 350), words);
        // What the smallest limit holds is most of what any memory can.
        let hidden = said(
            &[(512, 150), (1024, 140), (2048, 100), (4096, 60), (8192, 30)],
            30,
        );
        assert!(
            hidden.starts_with("No single knee with s3-fifo from 512 KiB to 8 MiB: ")
                && hidden.ends_with(" Less than 512 KiB was not simulated and may have one (--memory)."),
            "{hidden}"
        );
        let rising = said(
            &[(512, 1000), (1024, 980), (2048, 960), (4096, 940), (8192, 920)],
            30,
        );
        assert!(
            rising.ends_with(" More than 8 MiB was not simulated and may have one (--memory)."),
            "{rising}"
        );
    }
}
