//! Moments that are asked for in another form than a column has them in: `10:00:00Z` sorts behind `10:00:00.000000Z`.

use super::wanted::Wanted;
use outcrop_column::{Column, ColumnError};
use std::ops::Bound;

/// Length of the day in a moment, `2026-11-22`; a blank or a T follows it.
const DAY_LENGTH: usize = 10;
/// A moment to the second, with a zero for each digit.
const TO_THE_SECOND: &str = "0000-00-00T00:00:00";
/// Lengths of moments to the hour, the minute and the second.
const LENGTHS: [usize; 3] = [13, 16, TO_THE_SECOND.len()];

/// What became of the bounds of a range.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    /// What people learn of them.
    pub(super) notes: Vec<String>,
    /// The range that is searched, where it is spelled otherwise than asked for.
    pub(super) searched: Option<String>,
}

/// Gives the bounds of a range of UTC moments as many digits as the values of their seconds have: text of fewer digits would sort behind the
/// moments that it is equal to. Where these values have several forms, as text they are not in the order of time, and that is said.
pub(super) fn complete_bounds(wanted: &mut Wanted, column: &Column) -> Result<Bounds, ColumnError> {
    let mut bounds = Bounds::default();
    let Wanted::Range(start, end) = wanted else {
        return Ok(bounds);
    };
    let mut read = Vec::new();
    for bound in [&mut *start, &mut *end] {
        let (Bound::Included(text) | Bound::Excluded(text)) = bound else {
            continue;
        };
        let Ok(asked) = std::str::from_utf8(text) else {
            continue;
        };
        match as_stored(asked, column)? {
            Read::AsAsked => {}
            Read::As(stored) => {
                read.push(format!("{asked} as {stored}"));
                *text = stored.into_bytes();
            }
            Read::Unclear(said) => bounds.notes.push(said),
        }
    }
    if !read.is_empty() {
        let read = read.join(" and ");
        bounds
            .notes
            .push(format!("read {read}, as the column has moments of that time"));
        bounds.searched = Some([start, end].map(|bound| text_of(bound)).join(".."));
    }
    Ok(bounds)
}

/// How a bound is to be read.
enum Read {
    AsAsked,
    As(String),
    /// As text, which is not in the order of time, with what to say of it.
    Unclear(String),
}

/// Only values of the bound's own second are compared by what follows it.
fn as_stored(asked: &str, column: &Column) -> Result<Read, ColumnError> {
    let Some((second, _)) = of_utc(asked) else {
        return Ok(Read::AsAsked);
    };
    let (mut first, mut has_one_form) = (None, true);
    column
        .find_prefix(second.as_bytes())?
        .for_each_value_alone(|value| {
            let first = first.get_or_insert_with(|| value.to_vec());
            has_one_form &= is_of_form(value, first);
            Ok(())
        })?;
    let Some(first) = first.map(|first| String::from_utf8_lossy(&first).into_owned()) else {
        // The values of an hour or a minute have a colon where the bound ends.
        let (is_whole, begin) = (asked.starts_with(&second), asked.trim_end_matches('Z'));
        return Ok(
            match !is_whole && column.find_prefix(begin.as_bytes())?.value_count() > 0 {
                true => Read::As(format!("{second}Z")),
                false => Read::AsAsked,
            },
        );
    };
    if !has_one_form {
        return Ok(Read::Unclear(format!(
            "{asked} is compared as text, and the values of {second}, which have several forms, are then not in the order of time; the bound \
             {second} is before all of them"
        )));
    }
    Ok(match completed(asked, &first) {
        Some(stored) if stored == asked => Read::AsAsked,
        Some(stored) => Read::As(stored),
        None if of_utc(&first).is_some() => hint(asked, &first, false).map_or(Read::AsAsked, Read::Unclear),
        None => Read::AsAsked,
    })
}

/// Whether both have the same, with any digit for each digit.
fn is_of_form(text: &[u8], other: &[u8]) -> bool {
    let is_like = |(one, other): (&u8, &u8)| one == other || (one.is_ascii_digit() && other.is_ascii_digit());
    text.len() == other.len() && text.iter().zip(other).all(is_like)
}

fn text_of(bound: &Bound<Vec<u8>>) -> String {
    match bound {
        Bound::Included(text) | Bound::Excluded(text) => String::from_utf8_lossy(text).into_owned(),
        Bound::Unbounded => String::new(),
    }
}

/// The second of a UTC moment, and the digits of its fraction; none of other text. To the minute, it is one of second 0.
fn of_utc(text: &str) -> Option<(String, &str)> {
    let time = text.strip_suffix('Z')?;
    let (second, digits) = time.split_once('.').unwrap_or((time, ""));
    let is_whole = second.len() == TO_THE_SECOND.len();
    let is_fraction = digits.bytes().all(|digit| digit.is_ascii_digit()) && (is_whole || !time.contains('.'));
    if !is_fraction || !LENGTHS.contains(&second.len()) || !second.is_ascii() {
        return None;
    }
    let second = format!("{second}{}", &TO_THE_SECOND[second.len()..]);
    let form = form(&second).replacen(' ', "T", 1);
    (form == TO_THE_SECOND).then_some((second, digits))
}

/// A UTC moment with as many digits as a stored one has; none where that has too few, or another separator.
fn completed(asked: &str, stored: &str) -> Option<String> {
    let ((second, digits), (like, stored_digits)) = (of_utc(asked)?, of_utc(stored)?);
    let (digits, width) = (digits.trim_end_matches('0'), stored_digits.len());
    let is_like = second.get(DAY_LENGTH..=DAY_LENGTH) == like.get(DAY_LENGTH..=DAY_LENGTH);
    if !is_like || digits.len() > width {
        return None;
    }
    Some(match width {
        0 => format!("{second}Z"),
        _ => format!("{second}.{digits:0<width$}Z"),
    })
}

/// [`hint`] of a bound. Where both are UTC moments, what their digits mean has been said of the values of the bound's second.
pub(super) fn hint_of_bound(asked: &str, stored: &str) -> Option<String> {
    let separator = |text: &str| of_utc(text)?.0.chars().nth(DAY_LENGTH);
    match separator(asked).is_some() && separator(asked) == separator(stored) {
        true => None,
        false => hint(asked, stored, false),
    }
}

/// Where both are moments or days, in different forms. Of a prefix and a bound the stored form has more.
pub(super) fn hint(asked: &str, stored: &str, is_whole: bool) -> Option<String> {
    let is_same = match is_whole {
        true => form(asked) == form(stored),
        false => form(stored).starts_with(&form(asked)),
    };
    if !is_moment(asked) || !is_moment(stored) || is_same {
        return None;
    }
    let other = in_stored_form(asked, stored, is_whole).filter(|other| other != asked);
    let other = match other {
        Some(other) => format!("; find `{other}`"),
        None if of_utc(asked).is_some() && of_utc(stored).is_some() => {
            "; use at most as many digits as they have".to_owned()
        }
        None => String::new(),
    };
    Some(format!(
        "the values are stored as {stored}, and {asked} is compared as text{other}"
    ))
}

/// What to look for instead, as far as that is known; of a prefix and a bound what the values begin with.
fn in_stored_form(asked: &str, stored: &str, is_whole: bool) -> Option<String> {
    if asked.len() <= DAY_LENGTH {
        return None;
    }
    let (day, time) = asked.split_at(DAY_LENGTH);
    let separator = stored.get(DAY_LENGTH..=DAY_LENGTH)?;
    let separated = format!("{day}{separator}{}", &time[1..]);
    let begin = separated.trim_end_matches('Z');
    if !is_whole && form(stored).starts_with(&form(begin)) {
        return Some(begin.to_owned());
    }
    Some(completed(&separated, stored).unwrap_or(separated))
}

/// With a zero for each digit.
fn form(text: &str) -> String {
    let zero = |letter: char| if letter.is_ascii_digit() { '0' } else { letter };
    text.chars().map(zero).collect()
}

/// A day, or a day and what follows it behind a blank or a T.
fn is_moment(text: &str) -> bool {
    let form = form(text);
    let rest = form.strip_prefix("0000-00-00");
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['T', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_utc_moment_gets_the_digits_that_the_stored_ones_have() {
        let stored = "2026-01-01T10:00:00.000000Z";
        for (asked, expected) in [
            ("2026-01-01T10:00:01Z", Some("2026-01-01T10:00:01.000000Z")),
            ("2026-01-01T10:00:00.500Z", Some("2026-01-01T10:00:00.500000Z")),
            (
                "2026-01-01T10:00:00.5000000Z",
                Some("2026-01-01T10:00:00.500000Z"),
            ),
            ("2026-01-01T10:01Z", Some("2026-01-01T10:01:00.000000Z")),
            ("2026-01-01T10Z", Some("2026-01-01T10:00:00.000000Z")),
            (stored, Some(stored)),
            ("2026-01-01T10:00:00.0000001Z", None),
            ("2026-01-01T10:00:00", None),
            ("2026-01-01 10:00:00Z", None),
            ("2026-01-01T10:00.5Z", None),
            ("2026-01-01Z", None),
            ("granite Z", None),
        ] {
            assert_eq!(completed(asked, stored).as_deref(), expected, "{asked}");
        }
        let said = hint("2026-01-01T10:00:00.0000001Z", stored, false).expect("it has more digits");
        assert!(
            said.ends_with("; use at most as many digits as they have"),
            "{said}"
        );
        let whole = completed("2026-01-01T10:00:00.000Z", "2026-01-01T10:00:00Z");
        assert_eq!(whole.as_deref(), Some("2026-01-01T10:00:00Z"));
        assert_eq!(completed("2026-01-01T10:00:00Z", "2026-01-01T10:00:00.000"), None);
    }

    #[test]
    fn a_moment_that_is_not_found_is_answered_with_the_text_to_look_for() {
        let stored = "2026-01-01T10:00:00.000000Z";
        for (asked, is_whole, find) in [
            ("2026-01-01T10:00:00Z", true, "2026-01-01T10:00:00.000000Z"),
            ("2026-01-01 10:00:00Z", true, "2026-01-01T10:00:00.000000Z"),
            ("2026-01-01 10:00:00Z", false, "2026-01-01T10:00:00"),
            ("2026-01-01T10:00:00Z", false, "2026-01-01T10:00:00"),
        ] {
            let said = hint(asked, stored, is_whole).expect("it is in another form");
            assert!(said.ends_with(&format!("; find `{find}`")), "{asked}: {said}");
        }
    }

    #[test]
    fn a_moment_in_another_form_is_answered_with_the_form_that_is_stored() {
        let stored = "2008-01-01T00:02:04";
        let said = hint("2008-01-01 00:02:04", stored, true).unwrap();
        assert!(said.ends_with("; find `2008-01-01T00:02:04`"), "{said}");
        let day = hint("2008-01-01", stored, true).unwrap();
        assert!(
            day.starts_with("the values are stored as 2008-01-01T00:02:04"),
            "{day}"
        );
        assert_eq!(hint("2008-01-01", stored, false), None, "a prefix is shorter");
        assert!(hint("2008-01-01 0", stored, false).is_some());
        assert_eq!(hint("2009-02-03T00:00:00", stored, true), None);
        assert_eq!(hint("granite", stored, true), None);
        assert_eq!(hint("2008-01-01 0", "granite", true), None);
    }
}
