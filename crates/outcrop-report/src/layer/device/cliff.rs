//! Whether writes fall off a cliff: their level falls for good when a drive's fast cache is full.

use outcrop_measure::units::{format_data, format_iops};
use outcrop_schema::device::CONTAMINATION;

use super::findings::{BACK_WITHIN, Fall, WriteCourse, contaminated, write_courses};
use crate::answer::Claim;
use crate::cell::Cell;
use crate::cell_table::LONG_TRIAL_S;
use crate::finding::as_sentence;
use crate::number::counted;

/// When and how far the level of writes fell, of the trial in which it fell furthest; where none fell, how much was written without.
/// Nothing where no trial of writes is long enough to tell.
pub(super) fn claim(cells: &[Cell<'_>]) -> Option<Claim> {
    let courses = write_courses(cells);
    let longest = courses
        .iter()
        .max_by(|one, other| one.length_s.total_cmp(&other.length_s))?;
    // That a short trial met no cliff says nothing.
    if longest.length_s < LONG_TRIAL_S && courses.iter().all(|course| course.fall.is_none()) {
        return None;
    }
    let fallen = courses
        .iter()
        .filter_map(|course| Some((course, course.fall.as_ref()?)));
    let lasting = fallen.clone().filter(|(_, fall)| fall.recovery.is_none());
    let count = lasting.clone().count();
    let by_ratio = |one: &(&WriteCourse, &Fall), other: &(&WriteCourse, &Fall)| {
        one.1.ratio().total_cmp(&other.1.ratio())
    };
    let steepest = lasting.min_by(by_ratio).or_else(|| fallen.min_by(by_ratio));
    let trials = counted(courses.len(), "trial");
    let (_, strays) = contaminated(cells);
    let (brief, text) = match steepest {
        Some((course, fall)) => {
            let mut of_it = strays.iter().filter(|stray| stray.words == course.words);
            let other_load = of_it.find(|stray| stray.foreign > CONTAMINATION);
            let (doubt, why) = doubt(other_load.map(|stray| stray.foreign));
            of_fall(course, fall, (doubt, &why), &(count, trials))
        }
        None => {
            let (length_s, written) = (longest.length_s, format_data(longest.written_bytes));
            (
                format!("none within {length_s:.0} s ({written} written)"),
                format!(
                    "in none of {trials} the level of writes fell by more than {:.0} %. The longest lasted {length_s:.0} s and wrote {written}; a \
                     cache that is larger than that may still end.",
                    WriteCourse::LEAST_FALL * 100.0
                ),
            )
        }
    };
    let numbers = steepest.map(|(_, fall)| fall.numbers()).unwrap_or_default();
    Some(Claim::new("Write cliff", brief, as_sentence(&text), numbers))
}

/// Why a fall may not be that of a cache, in a few words and in a sentence: the device moved so much more than was requested.
fn doubt(other_load: Option<f64>) -> (&'static str, String) {
    let Some(foreign) = other_load else {
        return ("", String::new());
    };
    let more = foreign * 100.0;
    let why = format!(
        " The device moved {more:.0} % more than that trial requested, so that other I/O may have slowed the writes, and not the end of a cache; \
         repeat it on a device that nothing else uses."
    );
    (", not decided: other I/O used the device meanwhile", why)
}

/// What a fall was, briefly and at length; `count` of `trials` had one that lasts.
fn of_fall(
    course: &WriteCourse,
    fall: &Fall,
    (doubt, why): (&str, &str),
    (count, trials): &(usize, String),
) -> (String, String) {
    let words = &course.words;
    let (before, after) = (format_iops(fall.before), format_iops(fall.after));
    let (at_s, written) = (fall.at_s, format_data(fall.written_bytes));
    let least = WriteCourse::LEAST_FALL * 100.0;
    match &fall.recovery {
        None => (
            format!(
                "writes fell after {at_s:.0} s ({written} written): {before} before, {after} on average afterwards{doubt}"
            ),
            format!(
                "in {count} of {trials} the level of writes fell by more than {least:.0} % and stayed low. Furthest ({words}): after \
                 {at_s:.0} s, when {written} had been written, from {before} to an average of {after} afterwards.{why}"
            ),
        ),
        Some(back) => {
            let (level, back_at_s, length_s) = (format_iops(back.level), back.at_s, back.length_s);
            (
                format!(
                    "none that lasts: writes fell after {at_s:.0} s ({written} written), {before} before, and were back at {level} after \
                     {back_at_s:.0} s"
                ),
                format!(
                    "in none of {trials} the level of writes fell by more than {least:.0} % for good. Furthest ({words}): after {at_s:.0} s, \
                     when {written} had been written, it fell from {before} to an average of {after} afterwards, but was back within {:.0} % of \
                     the level before, at {level}, after {back_at_s:.0} s for {length_s:.0} s.{why}",
                    BACK_WITHIN * 100.0
                ),
            )
        }
    }
}
