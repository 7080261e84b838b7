//! Control characters in JSON, and in data on its way to a terminal.

use std::io::Write;

use outcrop_measure::harmless::{REPLACEMENT, steers};
pub(crate) use outcrop_measure::harmless::{harmless, harmless_line};

/// JSON whose text has no control character, and means the same: `serde_json` leaves those behind ASCII as they are.
pub(super) fn escaped(json: String) -> String {
    if !json.contains(steers) {
        return json;
    }
    let letters = json.chars().map(|letter| match steers(letter) {
        true => format!("\\u{:04x}", u32::from(letter)),
        false => letter.to_string(),
    });
    letters.collect()
}

/// The first byte in UTF-8 of the control characters behind ASCII, of which ESC has a twin.
const LEAD: u8 = 0xc2;

/// Data on its way to a terminal, in pieces that may end within a character.
#[derive(Debug, Default)]
pub(super) struct TerminalData {
    /// A [`LEAD`] was the last byte, and is held back until the next one says what it begins.
    is_held: bool,
}

impl TerminalData {
    pub(super) fn write(&mut self, bytes: &[u8], out: &mut impl Write) -> std::io::Result<()> {
        let mut shown = Vec::with_capacity(bytes.len() + 1);
        for byte in bytes {
            match (std::mem::take(&mut self.is_held), byte) {
                (true, 0x80..=0x9f) => {
                    shown.extend_from_slice(REPLACEMENT.as_bytes());
                    continue;
                }
                (true, _) => shown.push(LEAD),
                (false, _) => {}
            }
            match *byte {
                LEAD => self.is_held = true,
                ascii if ascii.is_ascii() && steers(ascii.into()) => {
                    shown.extend_from_slice(REPLACEMENT.as_bytes());
                }
                other => shown.push(other),
            }
        }
        out.write_all(&shown)
    }

    /// Writes what was held back: nothing follows.
    pub(super) fn end(&mut self, out: &mut impl Write) -> std::io::Result<()> {
        match std::mem::take(&mut self.is_held) {
            true => out.write_all(&[LEAD]),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    const STEERING: &str = "a\x1b[2Jb\u{9b}2Jc\x7f\r\n\t\u{a0}é";

    #[test]
    fn control_characters_are_replaced_but_for_line_ends_and_tabs() {
        let shown = "a\u{fffd}[2Jb\u{fffd}2Jc\u{fffd}\u{fffd}\n\t\u{a0}é";
        assert_eq!(harmless(STEERING), shown);
        assert_eq!(harmless_line("a\n\tb"), "a\u{fffd}\u{fffd}b");
        assert!(matches!(harmless("plain – text\n"), Cow::Borrowed(_)));
        // However the bytes come, a terminal gets the same.
        for length in 1..=STEERING.len() {
            let (mut data, mut out) = (TerminalData::default(), Vec::new());
            for piece in STEERING.as_bytes().chunks(length) {
                data.write(piece, &mut out).unwrap();
            }
            data.end(&mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), shown, "pieces of {length}");
        }
    }

    #[test]
    fn json_without_control_characters_means_the_same() {
        let json = escaped(serde_json::to_string(STEERING).unwrap());
        assert!(!json.contains(char::is_control), "{json:?}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), STEERING);
    }
}
