//! Which columns are worth a dictionary, and how to write them.

use outcrop_measure::metric::Unit;
use outcrop_measure::units::format_bytes;

use super::cell::Cell;
use super::judgement::{Judgement, Verdict, judge};
use crate::answer::Claim;
use crate::number::{Number, counted};

/// Columns named in one sentence; the figure has them all.
const MOST_NAMED: usize = 8;

/// What to do, by verdict, then the index, then the profile.
pub(super) fn claims(cells: &[Cell<'_>]) -> Vec<Claim> {
    let mut judged = judge(cells);
    if judged.iter().any(|judgement| !judgement.best.is_generated()) {
        judged.retain(|judgement| !judgement.best.is_generated());
    } else {
        // Of made columns the sizes are the finding; a verdict on each would be one on the generator.
        return generated_claims(cells, &judged);
    }
    let verdicts = [
        (
            Verdict::Worth,
            "Worth a dictionary",
            "smaller than text by half or more, no larger than the best general compressor, and searchable",
        ),
        (
            Verdict::ForSearch,
            "Worth it for search",
            "a general compressor over the text is smaller, but only a column file is searched without reading it all",
        ),
        (
            Verdict::NotWorth,
            "Not worth it",
            "the values hardly repeat, or the file is more than half of the text",
        ),
    ];
    let mut claims: Vec<Claim> = verdicts
        .iter()
        .filter_map(|(verdict, topic, why)| {
            let of_it: Vec<&Judgement<'_, '_>> = judged
                .iter()
                .filter(|judgement| judgement.verdict == *verdict)
                .collect();
            columns_claim(topic, why, &of_it)
        })
        .collect();
    claims.extend(index_claim(&judged));
    claims.extend(profile_claim(&judged));
    claims
}

fn columns_claim(topic: &str, why: &str, judged: &[&Judgement<'_, '_>]) -> Option<Claim> {
    if judged.is_empty() {
        return None;
    }
    let named: Vec<String> = judged
        .iter()
        .take(MOST_NAMED)
        .map(|judgement| sizes_in_words(judgement))
        .collect();
    let more = judged.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 {
        format!("; and {more} more")
    } else {
        String::new()
    };
    let names: Vec<&str> = judged
        .iter()
        .take(MOST_NAMED)
        .map(|judgement| judgement.words.as_str())
        .collect();
    Some(Claim {
        topic: topic.to_owned(),
        brief: format!("{}: {}", judged.len(), names.join(", ")),
        text: format!(
            "{} of the columns ({why}): {}{more}.",
            judged.len(),
            named.join("; ")
        ),
        numbers: judged
            .iter()
            .filter_map(|judgement| size_number(judgement))
            .collect(),
    })
}

fn size_number(judgement: &Judgement<'_, '_>) -> Option<Number> {
    let number = judgement.best.number("file_bytes")?.clone();
    Some(number.named(format!("size of {}", judgement.words)))
}

/// `Country: 1.2 MB of text in 34 kB (zstd:19: 40 kB)`.
fn sizes_in_words(judgement: &Judgement<'_, '_>) -> String {
    let bytes = |bytes: f64| format_bytes(bytes as u64);
    let codec = judgement.codec.map_or_else(String::new, |(codec, size)| {
        format!(" ({codec}: {})", bytes(size))
    });
    format!(
        "{}: {} of text in {}{codec}",
        judgement.words,
        bytes(judgement.text_bytes),
        judgement
            .best
            .value("file_bytes")
            .map_or_else(|| "?".to_owned(), bytes)
    )
}

fn index_claim(judged: &[Judgement<'_, '_>]) -> Option<Claim> {
    let gains: Vec<_> = judged
        .iter()
        .filter_map(|judgement| Some((judgement, judgement.index.as_ref()?)))
        .collect();
    let (example, gain) = gains.first()?;
    let worth: Vec<&str> = gains
        .iter()
        .filter(|(_, gain)| gain.is_worth)
        .map(|(judgement, _)| judgement.words.as_str())
        .collect();
    let choice = match worth.len() {
        0 => "none: build them in memory when the column is opened, where lookups are many".to_owned(),
        count if count == gains.len() => format!("postings, for all {count}"),
        count => format!("postings for {count} of {}: {}", gains.len(), worth.join(", ")),
    };
    Some(Claim {
        topic: "Index".to_owned(),
        brief: choice.clone(),
        text: format!(
            "{choice}. For {}, postings make the file {:.1} times as large and find the rows of a value in {} instead of {} \
             by a scan (p50).",
            example.words, gain.size_ratio, gain.with, gain.without
        ),
        numbers: vec![
            gain.with.clone().named("lookup with postings, p50"),
            gain.without.clone().named("lookup by scan, p50"),
            Number::derived(
                "size with postings ÷ without",
                gain.size_ratio,
                Unit::Ratio,
                gain.with.n,
            ),
        ],
    })
}

fn profile_claim(judged: &[Judgement<'_, '_>]) -> Option<Claim> {
    let smaller: Vec<&str> = judged
        .iter()
        .filter(|judgement| judgement.best.factor("profile") == "smallest")
        .map(|judgement| judgement.words.as_str())
        .collect();
    if judged.is_empty() {
        return None;
    }
    let text = match smaller.len() {
        0 => "balanced: no column is more than 5 % smaller with `smallest`".to_owned(),
        count => format!(
            "balanced; `smallest` saves more than 5 % on {count} of {}: {}",
            judged.len(),
            smaller.join(", ")
        ),
    };
    Some(Claim {
        topic: "Profile".to_owned(),
        brief: text.clone(),
        text: format!("{text}."),
        numbers: Vec::new(),
    })
}

fn generated_claims(cells: &[Cell<'_>], judged: &[Judgement<'_, '_>]) -> Vec<Claim> {
    let mut claims: Vec<Claim> = index_claim(judged).into_iter().collect();
    let speeds = cells.iter().filter(|cell| cell.factor("operation") == "encode");
    let speed = |cell: &&Cell<'_>| cell.value("encode_speed").unwrap_or(0.0);
    let fastest = speeds.max_by(|left, right| speed(left).total_cmp(&speed(right)));
    claims.extend(fastest.and_then(|cell| {
        let number = cell.number("encode_speed")?;
        let threads = counted(cell.parsed("threads")?, "thread");
        Some(Claim {
            topic: "Encoding".to_owned(),
            brief: format!("up to {number} with {threads}"),
            text: format!(
                "At best {number} of text, with {threads} on {}.",
                cell.column_words()
            ),
            numbers: vec![number.clone()],
        })
    }));
    claims
}
