//! Which form each column is smallest in, and how to write it.

use std::collections::BTreeSet;

use outcrop_measure::metric::Unit;
use outcrop_measure::units::format_data;
use outcrop_schema::column::{ENCODE_SPEED, LEFT_OUT, PROFILE, Profile, THREADS};
use outcrop_workload::column::SearchMode;

use super::baselines;
use super::cell::{column_words, is_file, is_generated};
use super::judgement::{IndexGain, Judgement, place};
use super::verdict::SmallestForm;
use super::whole::{Whole, total_of};
use crate::answer::Claim;
use crate::cell::{Cell, best};
use crate::change::ties;
use crate::finding::as_sentence;
use crate::layer::undecided::add_wide_rivals;
use crate::number::{Number, counted};
use crate::placement::{Bound, Bounded, Bounds, Verdict};

/// Columns named in one sentence; the figure has them all.
const MOST_NAMED: usize = 8;
/// In addition to the first, where a line is to be kept short.
const MOST_IN_BRIEF: usize = 2;

/// Forms with their topics, in the order of the page.
const FORMS: [(SmallestForm, &str); 4] = [
    (SmallestForm::Ocol, "Smaller as .ocol"),
    (SmallestForm::ParquetZstd, "Smaller in Parquet zstd"),
    (SmallestForm::Either, "Parquet zstd or .ocol"),
    (SmallestForm::AsItIs, "Leave as they are"),
];

/// What to do with the columns of files: the form of each, then the index, then the profile. Columns that no form makes small enough for a
/// limit come first, and nothing is advised for them.
pub(super) fn on_files(wholes: &[Whole<'_>], judged: &[Judgement<'_>], bounds: &Bounds<'_>) -> Vec<Claim> {
    let judge = |whole| (whole, limited(whole, bounds));
    let (kept, broken): (Vec<_>, Vec<_>) = wholes
        .iter()
        .map(judge)
        .partition(|(_, verdict)| verdict.is_kept());
    let kept: Vec<&Whole<'_>> = kept.into_iter().map(|(whole, _)| whole).collect();
    let claim = |form| form_claim(form, &kept, wholes);
    let mut forms: Vec<(f64, Claim)> = FORMS.iter().filter_map(claim).collect();
    // What no verdict is about comes before what is to be left alone.
    forms.extend(left_out_claim(wholes).map(|claim| (f64::MIN, claim)));
    // The largest gain comes first: the first claim is the one instruction of the layer.
    forms.sort_by(|left, right| right.0.total_cmp(&left.0));
    let forms = broken_claim(&broken)
        .into_iter()
        .chain(forms.into_iter().map(|(_, claim)| claim))
        .chain(total_claim(wholes));
    let profile = (!wholes.is_empty() || !judged.is_empty()).then(|| profile_claim(wholes, judged));
    forms
        .chain(index_claim(judged))
        .chain(profile.flatten())
        .collect()
}

/// Of made columns the sizes are the finding; a verdict on each would be one on the generator.
pub(super) fn on_generated(cells: &[Cell<'_>], judged: &[Judgement<'_>]) -> Vec<Claim> {
    let index = index_claim(judged).into_iter();
    index
        .chain(baselines::claims(cells))
        .chain(encode_claim(cells))
        .collect()
}

/// How a column stands to the limit on the ratio: by its text over the form that is smallest.
fn limited(whole: &Whole<'_>, bounds: &Bounds<'_>) -> Verdict {
    let sizes = &whole.sizes;
    bounds.judge(Bounded {
        ratio: Bound::exact(sizes.text_bytes / sizes.smallest_bytes()),
        ..Bounded::default()
    })
}

/// The columns that break the limit on the ratio in the form that is smallest.
fn broken_claim(broken: &[(&Whole<'_>, Verdict)]) -> Option<Claim> {
    let clause = |(whole, verdict): &(&Whole<'_>, Verdict)| {
        let form = match whole.sizes.smallest_form() {
            SmallestForm::Ocol | SmallestForm::Either => "as .ocol",
            SmallestForm::ParquetZstd => "in Parquet with zstd:3",
            SmallestForm::AsItIs => "as it is",
        };
        format!("{} {form} {}", whole.sizes.name, verdict.why)
    };
    let (first, others) = broken.split_first()?;
    let names = others.iter().take(MOST_IN_BRIEF);
    let names: Vec<&str> = names.map(|(whole, _)| whole.sizes.name.as_str()).collect();
    let also = match names.is_empty() {
        true => String::new(),
        false => format!(
            "; so {} {}{}",
            if others.len() == 1 { "does" } else { "do" },
            names.join(", "),
            left_out(others.len(), MOST_IN_BRIEF)
        ),
    };
    let brief = format!(
        "{}{also}; without limits, {}",
        clause(first),
        first.0.sizes.in_words()
    );
    let of_one = |one: &(&Whole<'_>, Verdict)| {
        format!(
            "{}; without limits, {}",
            as_sentence(&clause(one)).trim_end_matches('.'),
            one.0.sizes.in_words()
        )
    };
    let all: Vec<String> = broken.iter().take(MOST_NAMED).map(of_one).collect();
    let text = format!("{}{}.", all.join(". "), left_out(broken.len(), MOST_NAMED));
    let numbers = broken.iter().flat_map(|(whole, _)| numbers_of(whole)).collect();
    Some(Claim::new("Breaks the limits", brief, text, numbers))
}

/// The columns that are smallest in one form: what the one that gains most takes, and how much the others change; with the bytes
/// that it gains.
fn form_claim(
    (form, topic): &(SmallestForm, &str),
    kept: &[&Whole<'_>],
    wholes: &[Whole<'_>],
) -> Option<(f64, Claim)> {
    let is_of_form = |whole: &&Whole<'_>| whole.sizes.smallest_form() == *form;
    let mut of_form: Vec<&Whole<'_>> = kept.iter().copied().filter(is_of_form).collect();
    let gain = |whole: &Whole<'_>| match form {
        // What Parquet saves too is no reason for .ocol.
        SmallestForm::Ocol => whole.sizes.ocol_gain_bytes(),
        _ => whole.sizes.gain_bytes(),
    };
    of_form.sort_by(|left, right| gain(right).total_cmp(&gain(left)));
    let (first, others) = of_form.split_first()?;
    let brief = format!("{}{}", first.sizes.verdict(), others_in_brief(*form, others));
    let verdicts: Vec<String> = of_form
        .iter()
        .take(MOST_NAMED)
        .map(|whole| whole.sizes.verdict())
        .collect();
    let text = format!("{}{}.", verdicts.join(". "), left_out(of_form.len(), MOST_NAMED));
    let numbers = of_form.iter().flat_map(|whole| numbers_of(whole)).collect();
    let claim = Claim::new(*topic, brief, text, numbers).advising(action(*form, &of_form, wholes));
    let of_first = match form {
        SmallestForm::AsItIs => f64::NEG_INFINITY,
        // Columns that have one smallest form lead, however little it saves.
        SmallestForm::Either => 0.0,
        SmallestForm::Ocol | SmallestForm::ParquetZstd => first.sizes.gain_bytes(),
    };
    Some((of_first, claim))
}

/// ` and 4 more`; empty where all are shown.
fn left_out(count: usize, shown: usize) -> String {
    match count.saturating_sub(shown) {
        0 => String::new(),
        more => format!(" and {more} more"),
    }
}

/// `. Others as .ocol: country (39 % smaller), city (12 % smaller) and 4 more`; empty where there are none.
fn others_in_brief(form: SmallestForm, others: &[&Whole<'_>]) -> String {
    if others.is_empty() {
        return String::new();
    }
    let change = |whole: &&Whole<'_>| format!("{} ({})", whole.sizes.name, whole.sizes.change_in(form));
    let named: Vec<String> = others.iter().take(MOST_IN_BRIEF).map(change).collect();
    let form = match form {
        SmallestForm::ParquetZstd => "in Parquet with zstd:3",
        SmallestForm::Either => "in either",
        SmallestForm::Ocol | SmallestForm::AsItIs => "as .ocol",
    };
    let more = left_out(others.len(), MOST_IN_BRIEF);
    format!(". Others {form}: {}{more}", named.join(", "))
}

/// The sizes of a column, each with the form that it is of.
fn numbers_of(whole: &Whole<'_>) -> Vec<Number> {
    let named = |number: &Number, what: &str| number.clone().named(format!("{}, {what}", whole.sizes.name));
    let ocol = named(whole.ocol, "as .ocol");
    let stored = whole.stored().map(|number| named(number, "in the file"));
    let parquet = whole
        .parquet()
        .map(|number| named(number, "in Parquet with zstd:3"));
    [Some(ocol), stored, parquet].into_iter().flatten().collect()
}

/// What to do with the columns of one form, the first of which is named. Where there are several, what all columns take comes last: a screen
/// that cuts the sentence keeps its end.
fn action(form: SmallestForm, of_form: &[&Whole<'_>], wholes: &[Whole<'_>]) -> String {
    let Some((first, others)) = of_form.split_first() else {
        return String::new();
    };
    let (sizes, more) = (&first.sizes, left_out(others.len(), 0));
    let name = format!("{}{more}", sizes.name);
    // Others may be smallest in another encoding than the first.
    let parquet = match more.is_empty() {
        true => sizes.parquet_to_write(),
        false => "Parquet with zstd, each in its smallest encoding".to_owned(),
    };
    let what = match (form, more.is_empty()) {
        (SmallestForm::Ocol, _) => format!("Store {name} as .ocol"),
        (SmallestForm::Either, _) => {
            format!("Convert {name} to .ocol or to {parquet}, which take about the same")
        }
        (SmallestForm::ParquetZstd, _) => format!("Write {name} in {parquet}"),
        (SmallestForm::AsItIs, true) => format!("Leave {name} as it is"),
        (SmallestForm::AsItIs, false) => format!("Leave {name} as they are"),
    };
    let all = total_of(wholes).map_or_else(String::new, |total| format!("; {}", total.in_brief()));
    format!("{what}: {}{all}", sizes.in_words())
}

/// Which columns of the table no verdict is about, how much of it they are, and what tells more of them.
fn left_out_claim(wholes: &[Whole<'_>]) -> Option<Claim> {
    let clauses: BTreeSet<&str> = wholes
        .iter()
        .filter_map(|whole| whole.cell.remark(&LEFT_OUT))
        .collect();
    let clause = clauses.into_iter().collect::<Vec<_>>().join("; ");
    let text = as_sentence(&clause);
    (!clause.is_empty()).then(|| Claim::new("Other columns", clause, text, Vec::new()))
}

/// What all columns take together.
fn total_claim(wholes: &[Whole<'_>]) -> Option<Claim> {
    let total = total_of(wholes)?.in_words();
    let text = format!("{}.", as_sentence(&total).trim_end_matches('.'));
    Some(Claim::new("All columns", total, text, Vec::new()))
}

/// Whether postings are worth their bytes, with what they cost: for the advised column whose file grows most, of size and time alike.
fn index_claim(judged: &[Judgement<'_>]) -> Option<Claim> {
    let gains = judged
        .iter()
        .filter_map(|judgement| Some((judgement, judgement.index.as_ref()?)));
    let gains: Vec<(&Judgement<'_>, &IndexGain<'_>)> = gains.collect();
    let worth: Vec<_> = gains.iter().filter(|(_, gain)| gain.is_worth).collect();
    // Of those that are advised, the one whose file grows most.
    let dearest = worth
        .iter()
        .copied()
        .max_by(|(_, one), (_, other)| one.size_ratio().total_cmp(&other.size_ratio()));
    let (example, gain) = *dearest.or_else(|| gains.first())?;
    let bytes = [gain.with_bytes, gain.without_bytes].map(format_data);
    // The whole column's file is larger: the rows stand beside the sizes, where no short line cuts them off.
    let bytes = format!("{} instead of {}{}", bytes[0], bytes[1], example.part());
    let ratio = gain.size_ratio();
    let place = place(gain.mode);
    let lookup = format!("lookup {place} {} instead of {}", gain.with, gain.without);
    // What it costs stands where no line that is too short cuts it off, and each half says which way it is.
    let choice = match (worth.len(), gains.len()) {
        (0, _) => format!(
            "encode without an index: a lookup {place} takes {}, with postings {}; postings would make the file {ratio:.1} times as large ({bytes})",
            gain.without, gain.with
        ),
        (1, 1) => format!("encode with `--index postings` at {ratio:.1} times the size ({bytes}); {lookup}"),
        (all, count) => {
            let columns = match all == count {
                true => format!("all {count} columns"),
                false => format!("{all} of {count} columns"),
            };
            let up_to = if all > 1 { "up to " } else { "" };
            let names: Vec<&str> = worth.iter().map(|(one, _)| one.words.as_str()).collect();
            format!(
                "encode {columns} with `--index postings` at {up_to}{ratio:.1} times the size ({bytes}): {}; {lookup}",
                names.join(", ")
            )
        }
    };
    let rows = if is_generated(example.best) {
        "made".to_owned()
    } else {
        example.rows()
    };
    let meaning = match gain.mode {
        SearchMode::OnDisk => {
            "Without postings every lookup reads the codes of all rows, so the gain grows with their number. The page cache holds the file; lookups that wait for a device gain less."
        }
        SearchMode::InMemory | SearchMode::Scan => {
            "Loading a file without postings builds them in memory as plain row numbers; a file's own postings stay compressed, and each lookup \
             decodes what it needs of them."
        }
    };
    let text = format!(
        "{}. Size and lookups are those of {} ({rows}); a lookup is the median time to the rows of a value. {meaning}",
        as_sentence(&choice).trim_end_matches('.'),
        example.words,
    );
    let size = "size with postings ÷ without";
    let numbers = vec![
        gain.with
            .clone()
            .named(format!("lookup {place} with postings, p50")),
        gain.without.clone().named(format!("lookup {place} without, p50")),
        Number::derived(size, gain.size_ratio(), Unit::Ratio, gain.with.n),
    ];
    let action = as_sentence(&choice).trim_end_matches('.').to_owned();
    Some(Claim::new("Index", choice, text, numbers).advising(action))
}

/// Which columns the smaller profile is worth its time for; none where it was not measured.
fn profile_claim(wholes: &[Whole<'_>], judged: &[Judgement<'_>]) -> Option<Claim> {
    let of_wholes = wholes.iter().map(|whole| (whole.cell, whole.sizes.name.as_str()));
    let of_rows = judged
        .iter()
        .map(|judgement| (judgement.best, judgement.words.as_str()));
    let columns: Vec<(&Cell<'_>, &str)> = if wholes.is_empty() {
        of_rows.collect()
    } else {
        of_wholes.collect()
    };
    let is_measured = if wholes.is_empty() {
        judged.iter().any(|judgement| judgement.has_smallest)
    } else {
        wholes.iter().any(|whole| whole.has_smallest)
    };
    let smaller = columns
        .iter()
        .filter(|(cell, _)| cell.is(&PROFILE, &Profile::Smallest));
    let names: Vec<&str> = smaller.map(|(_, name)| *name).collect();
    let text = match names.len() {
        0 => "keep `--profile balanced`: no column is more than 5 % smaller with `smallest`".to_owned(),
        some => format!(
            "use `--profile smallest` for {some} of {}, where it saves more than 5 %: {}",
            columns.len(),
            names.join(", ")
        ),
    };
    is_measured.then(|| Claim::new("Profile", text.clone(), as_sentence(&text), Vec::new()))
}

/// How fast files are written, and the fewest threads that are as fast as any number of them.
fn encode_claim(cells: &[Cell<'_>]) -> Option<Claim> {
    let files = || cells.iter().filter(|cell| is_file(cell));
    let (fastest, top) = best(files(), &ENCODE_SPEED)?;
    let column = column_words(fastest);
    let threads_of = |cell: &Cell<'_>| cell.get(&THREADS).map(|threads| *threads as usize);
    let same_column = files().filter(|cell| column_words(cell) == column);
    let rivals = same_column.clone().filter_map(|cell| {
        let threads = counted(threads_of(cell)?, "thread");
        Some((format!("encode speed, {threads}"), cell.number(&ENCODE_SPEED)?))
    });
    let tying = same_column.filter_map(|cell| {
        let number = cell.number(&ENCODE_SPEED)?;
        ties(number, top).then_some((threads_of(cell)?, number))
    });
    let (least, number) = tying.min_by_key(|(threads, _)| *threads)?;
    let threads = counted(least, "thread");
    let most = threads_of(fastest)?;
    let tied = if least == most {
        String::new()
    } else {
        format!("; {} are no faster ({top})", counted(most, "thread"))
    };
    let text = format!("At most {number} of text, with {threads} on {column}{tied}.");
    let brief = format!("up to {number} with {threads}{tied}");
    let mut numbers = vec![number.clone().named(format!("encode speed, {threads}"))];
    add_wide_rivals(&mut numbers, rivals, number);
    Some(Claim::new("Encoding", brief, text, numbers))
}
