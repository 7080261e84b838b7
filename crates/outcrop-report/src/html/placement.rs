//! Where to compress, below the table of layers: the answer in a paragraph, what was compared, and a picture.

use maud::{Markup, PreEscaped, html};

use outcrop_measure::units::format_ratio;
use outcrop_schema::kv::THROUGHPUT;

use super::answer::prose;
use super::cells::scroll_cue;
use crate::number::Number;
use crate::placement::{Candidate, CompressedAt, DRIVE_CAPACITY, Placement};

/// The columns of the table; energy stands behind them where it was metered, and the note is the last.
const HEADINGS: [&str; 5] = [
    "compressed",
    THROUGHPUT.name,
    "read p99",
    "ratio",
    "share of all CPUs, with kernel threads",
];
/// Candidates of the table; the page's data have all of them.
const MOST_ROWS: usize = 14;

/// The paragraph, the table and the picture.
pub(super) fn section(placement: &Placement) -> Markup {
    html! {
        section.placement id="placement" aria-labelledby="placement-heading" {
            h2 id="placement-heading" { "Where to compress" }
            @if let Some((first, rest)) = placement.answer.split_first() {
                p { strong { (prose(first)) } @for sentence in rest { " " (prose(sentence)) } }
            }
            (table(placement))
            @if placement.race.budget.is_some() { (stops(placement)) }
            @if let Some(figure) = &placement.figure {
                div.figures {
                    figure id={ "figure-" (figure.id) } {
                        h3 { (figure.title) }
                        div.drawing { (PreEscaped(figure.to_page_svg())) }
                        figcaption { (figure.caption) }
                    }
                }
            }
        }
    }
}

/// The paragraph alone.
pub(super) fn brief(placement: &Placement) -> Markup {
    html! {
        section {
            h2 { "Where to compress" }
            p { @for sentence in &placement.answer { (prose(sentence)) " " } }
        }
    }
}

fn table(placement: &Placement) -> Markup {
    let has_energy = placement
        .candidates
        .iter()
        .any(|candidate| candidate.energy.is_some());
    let further: &[&str] = if has_energy {
        &["energy", "note"]
    } else {
        &["note"]
    };
    let headings: Vec<&str> = HEADINGS.iter().chain(further).copied().collect();
    let saves_in_drive =
        |candidate: &Candidate| candidate.place == CompressedAt::Drive && candidate.ratio.is_some();
    html! {
        (scroll_cue(headings.len(), false))
        div.scroll {
            table {
                caption { "One store under one load. Ratio: space without compression" (base(placement)) " ÷ its own, log included. "
                    "On the front: nothing else measured is at least as good in both throughput and space, and better in one. With costs: the same with CPU time and energy."
                    @if let Some(reason) = &placement.no_energy { " Energy is unavailable: " (reason) "." }
                    @for reason in &placement.not_modelled { " " (prose(reason)) }
                    @if placement.candidates.iter().any(saves_in_drive) { " For hardware, the ratio is that of a codec measured on the same data, and of the blocks alone; "
                        (DRIVE_CAPACITY) "." } }
                thead { tr {
                    @for heading in &headings { th scope="col" { (heading) } }
                } }
                tbody { @for (index, candidate) in placement.candidates.iter().enumerate().take(MOST_ROWS) {
                    (row(candidate, role(placement, index), has_energy))
                } }
            }
        }
    }
}

/// What the ratios are against: ` (blocks of 4 KiB, ext4)`.
fn base(placement: &Placement) -> String {
    let mut candidates = placement.candidates.iter();
    let plain = candidates.find(|one| one.place == CompressedAt::Nowhere);
    plain.map_or_else(String::new, |plain| format!(" ({})", plain.what))
}

/// What a candidate is in the sentences above the table.
fn role(placement: &Placement, index: usize) -> &'static str {
    match Some(index) {
        place if place == placement.best && placement.is_decided => "the answer",
        place if place == placement.best => "so far the answer",
        place if place == placement.second => "second best",
        _ => "",
    }
}

/// Where the trials of a budget went.
fn stops(placement: &Placement) -> Markup {
    let known = placement.candidates.iter();
    let known = known.filter_map(|candidate| Some((candidate, candidate.stopped.as_ref()?)));
    html! {
        div.scroll {
            table {
                caption { "Where the trials went, and why each candidate got no more" }
                thead { tr { @for heading in ["compressed", "trials", "no more because"] { th scope="col" { (heading) } } } }
                tbody { @for (candidate, reason) in known {
                    tr {
                        th scope="row" { (candidate.name()) }
                        td { (candidate.throughput.n) }
                        td { (reason) }
                    }
                } }
            }
        }
    }
}

fn row(candidate: &Candidate, role: &str, has_energy: bool) -> Markup {
    let note = match (candidate.limited_by, &candidate.left_out) {
        (Some(station), Some(reason)) => format!("{reason}; limited by {station}"),
        (Some(station), None) => format!("limited by {station}"),
        (None, Some(reason)) => reason.clone(),
        (None, None) => {
            let on_front = match (candidate.on_front, candidate.on_front_with_costs) {
                (true, _) => "on the front",
                (false, true) => "on the front with costs",
                (false, false) => "",
            };
            let words = [role, on_front, candidate.verdict.why.as_str()];
            let said = words.into_iter().filter(|words| !words.is_empty());
            said.collect::<Vec<_>>().join("; ")
        }
    };
    let ratio = |ratio: &Number| {
        let without_log = candidate.ratio_without_log.map_or_else(String::new, |ratio| {
            format!("; {} without the log", format_ratio(ratio))
        });
        // Space is often the same in every trial.
        let ends = ratio.ends().map(|(low, high)| [low, high].map(format_ratio));
        let is_exact = ends.is_some_and(|[low, high]| low == high);
        let known = if is_exact {
            ratio.to_string()
        } else {
            ratio.with_ends()
        };
        format!("{known}{without_log}")
    };
    html! {
        tr {
            th scope="row" { (candidate.name()) }
            td { (candidate.throughput.with_ends()) }
            td { @if let Some(p99) = &candidate.p99 { (p99.with_ends()) } @else { "–" } }
            td { @if let Some(known) = &candidate.ratio { (ratio(known)) } @else { "–" } }
            td { @if let Some(share) = candidate.cpu_share { (format!("{:.0} %", share * 100.0)) } @else { "–" } }
            @if has_energy { td { @if let Some(energy) = &candidate.energy { (energy) } @else { "–" } } }
            td { (note) }
        }
    }
}
