//! Sentences that differ in their numbers alone, told as one: `only 5 to 8 of 9 trials had enough operations for a p99.9`.

/// What stands between the ends of a range.
const TO: &str = " to ";

/// A sentence apart: what stands around its numbers, and the numbers as they are spelled; a range is one of them.
fn parts(sentence: &str) -> (Vec<&str>, Vec<&str>) {
    let bytes = sentence.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    // A point or a comma belongs to a number where digits are on both of its sides: 99.9, 10,000.
    let is_of_number = |at: usize| {
        is_digit(at) || (matches!(bytes[at], b'.' | b',') && at > 0 && is_digit(at - 1) && is_digit(at + 1))
    };
    let (mut words, mut numbers) = (Vec::new(), Vec::new());
    let (mut from, mut at, mut is_typed) = (0, 0, false);
    while at < bytes.len() {
        // What is typed has no ranges: `cargo build --profile o2`.
        is_typed ^= bytes[at] == b'`';
        if !is_digit(at) || is_typed {
            at += 1;
            continue;
        }
        let start = at;
        let number_end = |from: usize| {
            (from..bytes.len())
                .find(|at| !is_of_number(*at))
                .unwrap_or(bytes.len())
        };
        at = number_end(at);
        if sentence[at..].starts_with(TO) && is_digit(at + TO.len()) {
            at = number_end(at + TO.len());
        }
        words.push(&sentence[from..start]);
        numbers.push(&sentence[start..at]);
        from = at;
    }
    words.push(&sentence[from..]);
    (words, numbers)
}

/// A sentence without its numbers: two that have the same are alike.
pub(crate) fn kind(sentence: &str) -> String {
    parts(sentence).0.join("#")
}

/// Sentences of one kind as one, in which a number that differs is the range of all; empty without any.
pub(crate) fn ranged(sentences: &[&str]) -> String {
    let apart: Vec<_> = sentences.iter().map(|sentence| parts(sentence)).collect();
    let Some((words, _)) = apart.first() else {
        return String::new();
    };
    let mut text = String::new();
    for (place, word) in words.iter().enumerate() {
        text.push_str(word);
        let numbers: Vec<&str> = apart
            .iter()
            .filter_map(|(_, numbers)| numbers.get(place).copied())
            .collect();
        text.push_str(&range(&numbers));
    }
    text
}

/// `5` of numbers that are the same, `5 to 8` of others; the first of what is no number, such as a version.
fn range(numbers: &[&str]) -> String {
    let ends: Vec<&str> = numbers.iter().flat_map(|number| number.split(TO)).collect();
    let mut values: Vec<(f64, &str)> = ends
        .iter()
        .filter_map(|number| Some((number.replace(',', "").parse().ok()?, *number)))
        .collect();
    values.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    match (values.first(), values.last()) {
        (Some((least, low)), Some((most, high))) if values.len() == ends.len() => match least < most {
            true => format!("{low} to {high}"),
            false => (*low).to_owned(),
        },
        _ => numbers.first().copied().unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_differ_become_the_range_of_all() {
        let few = |have: &str, count: &str| {
            format!(
                "only {have} of 9 trials had enough operations for a p99.9 (the rest had {count} of at least 10,000)"
            )
        };
        let sentences = [few("8", "980"), few("5", "1,081"), few("8", "7200")];
        let sentences: Vec<&str> = sentences.iter().map(String::as_str).collect();
        assert!(
            sentences
                .iter()
                .all(|sentence| kind(sentence) == kind(sentences[0]))
        );
        assert_eq!(
            ranged(&sentences),
            "only 5 to 8 of 9 trials had enough operations for a p99.9 (the rest had 980 to 7200 of at least 10,000)"
        );
        assert_eq!(ranged(&sentences[..1]), sentences[0]);
        assert_eq!(ranged(&[]), "");
        let trials = [
            "(0 to 4372 of at least 10000)",
            "(53 of at least 10000)",
            "(2776 to 9,150 of at least 10000)",
        ];
        assert_eq!(kind(trials[0]), kind(trials[1]));
        assert_eq!(ranged(&trials), "(0 to 9,150 of at least 10000)");
    }

    #[test]
    fn a_number_in_what_is_typed_becomes_no_range() {
        let build = |cells: u32, name: &str| format!("{cells} cells need `cargo build --profile {name}`");
        assert_ne!(kind(&build(3, "o0")), kind(&build(3, "o2")));
        assert_eq!(
            ranged(&[&build(3, "o0"), &build(5, "o0")]),
            "3 to 5 cells need `cargo build --profile o0`"
        );
    }

    #[test]
    fn what_differs_in_words_is_not_alike() {
        assert_ne!(kind("too few operations for a p99"), kind("no energy source"));
        assert_ne!(kind("2 of 5"), kind("2 of 5 cells"));
        assert_eq!(
            ranged(&["zstd 1.5.7", "zstd 1.5.6"]),
            "zstd 1.5.7",
            "no range of versions"
        );
        assert_eq!(kind("a p99.9."), "a p#.", "a full stop is none of the number");
    }
}
