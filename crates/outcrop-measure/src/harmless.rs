//! Control characters in what somebody else wrote: a file, a job or a journal does not steer the terminal that shows its words.

use std::borrow::Cow;

/// Replaces a control character.
pub const REPLACEMENT: &str = "\u{fffd}";

/// Text without control characters. Line ends and tabs stay: they are how tables and messages are laid out.
pub fn harmless(text: &str) -> Cow<'_, str> {
    replaced(text, steers)
}

/// A name that stands in one line: a line end in it would make a second one.
pub fn harmless_line(name: &str) -> Cow<'_, str> {
    replaced(name, char::is_control)
}

/// Whether a character may steer a terminal.
pub fn steers(letter: char) -> bool {
    letter.is_control() && !matches!(letter, '\n' | '\t')
}

fn replaced(text: &str, is_replaced: fn(char) -> bool) -> Cow<'_, str> {
    match text.contains(is_replaced) {
        true => text.replace(is_replaced, REPLACEMENT).into(),
        false => text.into(),
    }
}
