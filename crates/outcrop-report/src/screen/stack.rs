//! The stack as a table in text: a row for each layer, as on the first screen of the page.

use super::beside::{TIED, names_ties};
use super::{Pen, pad, warnings};
use crate::answer::{Answer, Instruction, NO_ADVICE};
use crate::report::LayerSection;
use crate::wrap::{fitting, fitting_with_end, wrapped};

/// Lines of a row, its warnings not counted.
const MOST_LINES: usize = 3;
/// Blanks between columns.
const GAP: usize = 2;

/// A head, and at most three lines for each layer; where its figures are void, or a trial stalled, that stands before what to do.
pub(super) fn table(layers: &[LayerSection], width: usize, pen: Pen) -> Vec<String> {
    let names = layers.iter().map(|layer| layer.layer.chars().count());
    let name_width = names.max().unwrap_or(0) + GAP;
    let measured_width = (width - name_width) * 9 / 20;
    let advice_width = width - name_width - measured_width;
    let head = format!(
        "{}{}what to do",
        pad("layer", name_width),
        pad("measured", measured_width)
    );
    let mut lines = vec![pen.bold(&head)];
    for layer in layers {
        let measured = measured(layer, measured_width - GAP);
        let voids = warnings::of_row(&layer.answer, advice_width);
        let of_void = voids.len();
        let to_do = [voids, advice(&layer.answer, advice_width)].concat();
        for index in 0..measured.len().max(to_do.len()).max(1) {
            let name = if index == 0 { layer.layer.as_str() } else { "" };
            let cell = |lines: &[String]| lines.get(index).cloned().unwrap_or_default();
            let left = pen.bold(&pad(name, name_width)) + &pad(&cell(&measured), measured_width);
            let right = match cell(&to_do) {
                warning if index < of_void => pen.warning(&warning),
                action => action,
            };
            lines.push((left + &right).trim_end().to_owned());
        }
    }
    lines
}

/// The first figure with where it was reached, and the next ones where there is room; what it was measured on, where that is not the data that
/// were given.
fn measured(layer: &LayerSection, width: usize) -> Vec<String> {
    let note = layer.measured_instead.as_ref().map_or_else(Vec::new, |other| {
        fitting(&format!("{other}, not your data:"), width, 0, MOST_LINES - 1)
    });
    let room = MOST_LINES - note.len();
    [note, figures(&layer.answer, width, room)].concat()
}

fn figures(answer: &Answer, width: usize, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for headline in answer.headlines(MOST_LINES) {
        // Where it was reached, and what it ties with, which is kept where there is no room for the place.
        let (place, ties) = match headline.conditions.split_once("; ") {
            Some((place, ties)) => (place, format!("; {ties}")),
            None => (headline.conditions, String::new()),
        };
        let first = place.split_once(", ").map(|(first, _)| first);
        let place = match place {
            "" => String::new(),
            place => format!(" ({place}{ties})"),
        };
        let text = |place: &str| {
            let figure = format!("{}: {}{place}", headline.name(), headline.number.with_ends());
            wrapped(&figure, width, 0)
        };
        // Where the place does not fit, its first words: what matters most to who compares figures.
        let begin = match first {
            Some(first) => format!(" ({first} …{ties})"),
            None => String::new(),
        };
        let only_ties = match ties.strip_prefix("; ") {
            Some(ties) => format!(" ({ties})"),
            None => String::new(),
        };
        let fits = |figure: &Vec<String>| lines.len() + figure.len() <= room;
        let mut texts = vec![text(&place)];
        texts.extend((!begin.is_empty()).then(|| text(&begin)));
        // A second figure that does not say where it was reached says nothing beside the first.
        texts.extend((lines.is_empty() && !only_ties.is_empty()).then(|| text(&only_ties)));
        if lines.is_empty() {
            texts.extend(names_ties(headline.conditions).then(|| text(TIED)));
            texts.push(text(""));
        }
        if let Some(figure) = texts.into_iter().find(fits) {
            lines.extend(figure);
        } else if lines.is_empty() {
            let figure = format!("{}: {}{place}", headline.name(), headline.number.with_ends());
            lines = fitting(&figure, width, 0, room);
        }
    }
    lines
}

/// What to do: without the parentheses at its end, which say under which load and with what it was compared, where they do not fit, and then
/// without its middle; the report has them.
fn advice(answer: &Answer, width: usize) -> Vec<String> {
    let text = match answer.instruction() {
        Instruction::Do(action) => action,
        Instruction::Undecided(claim) => {
            return fitting(
                &format!("{}: {}", claim.topic, claim.in_a_line()),
                width,
                0,
                MOST_LINES,
            );
        }
        Instruction::None => return wrapped(NO_ADVICE, width, 0),
    };
    let mut text = text;
    while wrapped(&format!("{text}."), width, 0).len() > MOST_LINES
        && let Some((shorter, _)) = text.strip_suffix(')').and_then(|text| text.rsplit_once(" ("))
    {
        text = shorter;
    }
    fitting_with_end(&format!("{text}."), width, MOST_LINES)
}
