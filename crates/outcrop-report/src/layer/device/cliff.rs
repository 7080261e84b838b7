//! Whether writes fall off a cliff: their level falls for good when a drive's fast cache is full.

use outcrop_measure::units::{format_data, format_iops, format_nanoseconds};
use outcrop_schema::device::{BYTES_WRITTEN, CONTAMINATION, Direction};

use super::cell::{DeviceCell, value_of};
use super::findings::{BACK_WITHIN, Fall, WriteCourse, checked, write_courses};
use crate::answer::Claim;
use crate::cell::Cell;
use crate::cell_table::LONG_TRIAL_S;
use crate::disturbed;
use crate::finding::as_sentence;
use crate::number::counted;

/// When and how far the level of writes fell, of the trial in which it fell furthest; where none fell, how much was written without.
/// Nothing where no trial of writes is long enough to tell, unless there is no other: then that it is too short.
pub(super) fn claim(cells: &[Cell<'_>]) -> Option<Claim> {
    let courses = write_courses(cells);
    let longest = courses
        .iter()
        .max_by(|one, other| one.length_s.total_cmp(&other.length_s));
    // That a short trial met no cliff says nothing.
    let is_long = |course: &&WriteCourse| course.length_s >= LONG_TRIAL_S || course.fall.is_some();
    let Some(longest) = longest.filter(|_| courses.iter().any(|course| is_long(&course))) else {
        return too_short(cells);
    };
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
    let strays = checked(cells).strays;
    let (brief, text) = match steepest {
        Some((course, fall)) => {
            let mut of_it = strays.iter().filter(|stray| stray.words == course.words);
            let other_load = of_it.find(|stray| stray.foreign > CONTAMINATION);
            let (doubt, why) = doubt(other_load.map(|stray| stray.foreign), course.others_cpu_share);
            of_fall(course, fall, (doubt, &why), &(count, trials))
        }
        None => of_none(longest, &trials),
    };
    let numbers = steepest.map(|(_, fall)| fall.numbers()).unwrap_or_default();
    Some(Claim::new("Write cliff", brief, as_sentence(&text), numbers))
}

/// That no trial fell, briefly and at length; how far one could have without being seen, where that is more than what counts.
fn of_none(longest: &WriteCourse, trials: &str) -> (String, String) {
    let (length_s, written) = (longest.length_s, format_data(longest.written_bytes));
    let hidden = longest
        .least_visible
        .filter(|least| *least > WriteCourse::LEAST_FALL);
    let (start, unseen) = match hidden {
        None => ("none", String::new()),
        Some(all) if all >= 1.0 => (
            "not decided: none seen",
            "the IOPS of its seconds vary too much for any fall to be seen".to_owned(),
        ),
        Some(part) => (
            "none",
            format!(
                "a fall by less than {:.0} % would not have been seen",
                part * 100.0
            ),
        ),
    };
    let [brief, sentence] = match unseen.is_empty() {
        true => [String::new(), String::new()],
        false => [format!("; {unseen}"), format!(" {}", as_sentence(&unseen))],
    };
    (
        format!("{start} within {length_s:.0} s ({written} written){brief}"),
        format!(
            "in none of {trials} was the level of writes seen to fall by more than {:.0} %. The longest lasted {length_s:.0} s and wrote {written}; \
             a larger cache may still fill up later.{sentence}",
            WriteCourse::LEAST_FALL * 100.0
        ),
    )
}

/// That the trial which a run consists of is too short to tell. Whoever measures one trial of writes and nothing else asks how they change.
fn too_short(cells: &[Cell<'_>]) -> Option<Claim> {
    let ([cell], [trial]) = (cells, cells.first()?.trials()) else {
        return None;
    };
    let length_s = trial.duration_s;
    let length = format_nanoseconds(length_s * 1e9);
    let written = value_of(trial, &BYTES_WRITTEN)
        .map_or_else(String::new, |bytes| format!(" ({} written)", format_data(bytes)));
    let is_asked = cell.only() == Some(Direction::Write) && length_s < LONG_TRIAL_S;
    // Another program has a flag of another name.
    let flag = if cell.is_imported() {
        ""
    } else {
        " (`--duration 5m`)"
    };
    let enough = format!("a trial of {LONG_TRIAL_S:.0} s or more, better of minutes{flag}, can tell");
    is_asked.then(|| {
        Claim::new(
            "Write cliff",
            format!("none seen in {length}{written}, which is too short to tell; {enough}"),
            as_sentence(&format!(
                "the only trial lasted {length}{written}. That is too short to tell whether the level of writes falls; {enough}"
            )),
            Vec::new(),
        )
    })
}

/// Why a fall may not be that of a cache, in a few words and in a sentence: the device moved so much more than was requested, or other programs
/// used the CPUs.
fn doubt(other_load: Option<f64>, others_cpu_share: Option<f64>) -> (&'static str, String) {
    let io = other_load.map(|foreign| {
        format!(
            " The device moved {:.0} % more than that trial requested, so other I/O, rather than a full cache, may have slowed the writes; \
             repeat it on a device that nothing else uses.",
            foreign * 100.0
        )
    });
    let cpu = disturbed::in_words(others_cpu_share.into_iter()).map(|_| {
        format!(
            " Other programs used {:.0} % of the CPUs during that trial, and may have slowed the writes; repeat it on a quiet machine.",
            others_cpu_share.unwrap_or_default() * 100.0
        )
    });
    match (io, cpu) {
        (Some(io), Some(cpu)) => (
            ", not decided: other programs used the CPUs and the device meanwhile",
            io + &cpu,
        ),
        (Some(io), None) => (", not decided: other I/O used the device meanwhile", io),
        (None, Some(cpu)) => (", not decided: other programs used the CPUs meanwhile", cpu),
        (None, None) => ("", String::new()),
    }
}

/// What a fall was, briefly and at length; `count` of `trials` had one that lasts. Both rates are means, as the bytes beside them are sums.
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
                "writes fell after {at_s:.0} s ({written} written): {before} on average before, {after} on average afterwards{doubt}"
            ),
            format!(
                "in {count} of {trials} the level of writes fell by more than {least:.0} % and stayed low. Furthest ({words}): after \
                 {at_s:.0} s, when {written} had been written, from an average of {before} to one of {after} afterwards.{why}"
            ),
        ),
        Some(back) => {
            let (level, back_at_s, length_s) = (format_iops(back.level), back.at_s, back.length_s);
            let first_level = format_iops(fall.first_level);
            (
                format!(
                    "none that lasts: writes fell after {at_s:.0} s ({written} written), {before} on average before, and were back at \
                     their first level ({level}) after {back_at_s:.0} s"
                ),
                format!(
                    "in none of {trials} did the level of writes fall by more than {least:.0} % for good. Furthest ({words}): after {at_s:.0} s, \
                     when {written} had been written, it fell from an average of {before} to one of {after} afterwards, but was back within {:.0} % of \
                     its first level ({first_level}), at {level}, after {back_at_s:.0} s for {length_s:.0} s.{why}",
                    BACK_WITHIN * 100.0
                ),
            )
        }
    }
}
