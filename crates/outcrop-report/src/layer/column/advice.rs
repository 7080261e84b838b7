//! Which columns are worth a dictionary, and how to write them.

use outcrop_measure::metric::Unit;
use outcrop_measure::units::format_bytes;
use outcrop_schema::column::{ENCODE_SPEED, PROFILE, Profile, THREADS};

use super::cell::column_words;
use super::judgement::{Judgement, Verdict};
use crate::answer::Claim;
use crate::cell::{Cell, best};
use crate::number::{Number, counted};

/// Columns named in one sentence; the figure has them all.
const MOST_NAMED: usize = 8;

/// Verdicts with their topic and their reason, in the order of the page.
const VERDICTS: [(Verdict, &str, &str); 3] = [
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

/// What to do with the columns of files, by verdict, then the index, then the profile.
pub(super) fn on_files(judged: &[Judgement<'_>]) -> Vec<Claim> {
    let claim = |verdict| columns_claim(verdict, judged);
    let how = index_claim(judged).into_iter().chain([profile_claim(judged)]);
    VERDICTS.iter().filter_map(claim).chain(how).collect()
}

/// Of made columns the sizes are the finding; a verdict on each would be one on the generator.
pub(super) fn on_generated(cells: &[Cell<'_>], judged: &[Judgement<'_>]) -> Vec<Claim> {
    let index = index_claim(judged).into_iter();
    index.chain(encode_claim(cells)).collect()
}

fn columns_claim((verdict, topic, why): &(Verdict, &str, &str), judged: &[Judgement<'_>]) -> Option<Claim> {
    let judged = judged.iter().filter(|judgement| judgement.verdict == *verdict);
    let (count, named) = (judged.clone().count(), judged.clone().take(MOST_NAMED));
    let more = match count {
        ..=MOST_NAMED => String::new(),
        _ => format!("; and {} more", count - MOST_NAMED),
    };
    let sizes = named.clone().map(sizes_in_words).collect::<Vec<_>>().join("; ");
    let size = |one: &Judgement<'_>| one.file.clone().named(format!("size of {}", one.words));
    let brief = format!("{count}: {}", names(named));
    let text = format!("{count} of the columns ({why}): {sizes}{more}.");
    (count > 0).then(|| Claim::new(*topic, brief, text, judged.map(size).collect()))
}

fn names<'j>(judged: impl Iterator<Item = &'j Judgement<'j>>) -> String {
    let words = judged.map(|judgement| judgement.words.as_str());
    words.collect::<Vec<_>>().join(", ")
}

/// `Country: 1.2 MB of text in 34 kB (zstd:19: 40 kB)`.
fn sizes_in_words(judgement: &Judgement<'_>) -> String {
    let bytes = |bytes: f64| format_bytes(bytes as u64);
    let (text, file) = (bytes(judgement.text_bytes), bytes(judgement.file.value));
    let codec = judgement.codec.map_or_else(String::new, |(codec, size)| {
        format!(" ({codec}: {})", bytes(size))
    });
    format!("{}: {text} of text in {file}{codec}", judgement.words)
}

fn index_claim(judged: &[Judgement<'_>]) -> Option<Claim> {
    let gains = judged
        .iter()
        .filter_map(|judgement| Some((judgement, judgement.index.as_ref()?)));
    let (count, (example, gain)) = (gains.clone().count(), gains.clone().next()?);
    let worth = gains.filter(|(_, gain)| gain.is_worth).map(|(one, _)| one);
    let choice = match worth.clone().count() {
        0 => "none: build them in memory when the column is opened, where lookups are many".to_owned(),
        1 if count == 1 => "postings".to_owned(),
        all if all == count => format!("postings for all {count} columns"),
        some => format!("postings for {some} of {count} columns: {}", names(worth)),
    };
    let text = format!(
        "{choice}. For {}, postings make the file {:.1} times as large and find the rows of a value in {} instead of {} \
         by a scan (p50).",
        example.words, gain.size_ratio, gain.with, gain.without
    );
    let size = "size with postings ÷ without";
    let numbers = vec![
        gain.with.clone().named("lookup with postings, p50"),
        gain.without.clone().named("lookup by scan, p50"),
        Number::derived(size, gain.size_ratio, Unit::Ratio, gain.with.n),
    ];
    Some(Claim::new("Index", choice, text, numbers))
}

fn profile_claim(judged: &[Judgement<'_>]) -> Claim {
    let is_smaller = |judgement: &&Judgement<'_>| judgement.best.is(&PROFILE, &Profile::Smallest);
    let (smaller, total) = (judged.iter().filter(is_smaller), judged.len());
    let (some, names) = (smaller.clone().count(), names(smaller));
    let text = match some {
        0 => "balanced: no column is more than 5 % smaller with `smallest`".to_owned(),
        _ => format!("balanced; `smallest` saves more than 5 % on {some} of {total}: {names}"),
    };
    Claim::new("Profile", text.clone(), format!("{text}."), Vec::new())
}

fn encode_claim(cells: &[Cell<'_>]) -> Option<Claim> {
    let (cell, number) = best(cells, &ENCODE_SPEED)?;
    let threads = counted(*cell.get(&THREADS)? as usize, "thread");
    let column = column_words(cell);
    let text = format!("At best {number} of text, with {threads} on {column}.");
    let brief = format!("up to {number} with {threads}");
    Some(Claim::new("Encoding", brief, text, vec![number.clone()]))
}
