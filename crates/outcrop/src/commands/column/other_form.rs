//! What to say where a search finds nothing because the column has its values in another form than they were asked for.

use super::moment;
use super::wanted::Wanted;
use outcrop_column::Column;

/// Rows that are read to find a value that is not null.
const ROWS_READ: u64 = 64;
/// Values without rows that are examined: a list has one form.
const VALUES_EXAMINED: usize = 8;

/// A hint about a text that was looked for in vain, or that some rows have with a carriage return behind it; none where the column has nothing like
/// it. `row_counts` are those of the selections. The bounds of a range are compared as text, so their form matters whatever was found.
pub(super) fn hint(column: &Column, wanted: &Wanted, row_counts: &[u64]) -> Option<String> {
    let is_range = matches!(wanted, Wanted::Range(..));
    let is_whole = matches!(wanted, Wanted::Values { .. });
    let texts = wanted.texts();
    let is_missing = |place: &usize| is_range || row_counts.get(*place) == Some(&0);
    let missing = (0..texts.len()).filter(is_missing).map(|place| texts[place]);
    let missing: Vec<&[u8]> = missing.take(VALUES_EXAMINED).collect();
    let examined = missing.iter().chain(texts.iter().take(VALUES_EXAMINED));
    if let Some(value) = examined
        .filter(|_| is_whole)
        .find(|value| is_stored_with_return(column, value))
    {
        return Some(format!(
            "the column has `{}` with a carriage return at its end, which is another value, perhaps because lines of the encoded file end in one; encode them \
             without (`tr -d '\\r'`), or search with --prefix",
            String::from_utf8_lossy(value)
        ));
    }
    // Most searches find what they look for: no row is read then.
    let stored = if missing.is_empty() { None } else { sample(column) }?;
    missing.into_iter().find_map(|asked| {
        if asked.ends_with(b"\r") && !stored.ends_with(b"\r") {
            return Some(
                "lines of the input end in a carriage return, which is a part of each value; `tr -d '\\r'` removes it"
                    .to_owned(),
            );
        }
        let (asked, stored) = (std::str::from_utf8(asked).ok()?, std::str::from_utf8(&stored).ok()?);
        let of_moment = match is_range {
            true => moment::hint_of_bound(asked, stored),
            false => moment::hint(asked, stored, is_whole),
        };
        of_moment.or_else(|| of_number(column, asked, stored))
    })
}

/// Whether the column has the value of a line that ends as in text files of Windows.
fn is_stored_with_return(column: &Column, asked: &[u8]) -> bool {
    let found = column.find(&[asked, b"\r"].concat());
    found.is_ok_and(|found| found.value_count() > 0)
}

/// The first value that is not null; none where a file has no codes to read it from.
fn sample(column: &Column) -> Option<Vec<u8>> {
    let rows = 0..column.row_count().min(ROWS_READ);
    rows.map_while(|row| column.get(row).ok()).flatten().next()
}

/// Where the column has the same number in its plain form.
fn of_number(column: &Column, asked: &str, stored: &str) -> Option<String> {
    let is_number = |text: &str| text.parse::<f64>().is_ok();
    let plain = plain_number(asked);
    if plain == asked || !is_number(&plain) || !is_number(stored) {
        return None;
    }
    let rows = column.find(plain.as_bytes()).and_then(|found| found.count());
    rows.is_ok_and(|rows| rows > 0)
        .then(|| format!("{asked} is compared as text; the same number is stored as {plain}"))
}

/// Without a plus, leading zeros, separators of thousands and a fraction of nothing.
fn plain_number(text: &str) -> String {
    let digits: String = text
        .trim()
        .chars()
        .filter(|letter| !",_".contains(*letter))
        .collect();
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", digits.trim_start_matches('+')),
    };
    let whole = match digits.split_once('.') {
        Some((whole, fraction)) if fraction.chars().all(|digit| digit == '0') => whole,
        _ => digits,
    };
    let bare = whole.trim_start_matches('0');
    let zero = if bare.is_empty() || bare.starts_with('.') {
        "0"
    } else {
        ""
    };
    format!("{sign}{zero}{bare}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_one_plain_form() {
        for (text, plain) in [
            ("+7", "7"),
            ("007", "7"),
            ("7.0", "7"),
            ("1,000", "1000"),
            ("-00.50", "-0.50"),
            ("0", "0"),
        ] {
            assert_eq!(plain_number(text), plain);
        }
    }
}
