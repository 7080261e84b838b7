//! The checksum of a journal's line: CRC-32C of the bytes before it, as the last field of the line's object.
//!
//! `{"trial":0, … ,"crc32c":"1f2e3d4c"}`. Runs of earlier versions have lines without one. They are still read, but such a line may
//! hold nothing except what they wrote, and none may stand behind a line that has a checksum: otherwise a flipped byte in
//! the field itself would pass for an old line.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;

/// From the comma before the field to its value.
const FIELD: &[u8] = br#","crc32c":""#;
/// Behind the value, with the newline.
const END: &[u8] = b"\"}\n";
/// Hexadecimal digits of the value, in lower case.
const DIGITS: usize = 8;
const SEAL: usize = FIELD.len() + DIGITS + END.len();

/// What lines had before they had checksums.
const OLD_FIELDS: [&str; 16] = [
    "trial",
    "cell",
    "layer",
    "subject",
    "plans",
    "repetition",
    "seed",
    "factors",
    "data",
    "variant",
    "started_at",
    "duration_s",
    "outcome",
    "values",
    "histograms",
    "notes",
];

/// Ends the object that begins at `start` with its checksum and a newline.
pub(super) fn seal(lines: &mut Vec<u8>, start: usize) {
    // The brace that closes the object.
    lines.pop();
    let checksum = crc32c::crc32c(&lines[start..]);
    lines.extend_from_slice(FIELD);
    lines.extend_from_slice(format!("{checksum:08x}").as_bytes());
    lines.extend_from_slice(END);
}

/// Checks a whole line; true where it has a checksum.
///
/// # Errors
/// A clause that says what is wrong.
pub(super) fn check(line: &[u8], is_required: bool) -> Result<bool, String> {
    let Some((content, stated)) = split(line) else {
        if is_required {
            return Err("it has no checksum, although lines before it have one".to_owned());
        }
        return check_old(line).map(|()| false);
    };
    let seen = format!("{:08x}", crc32c::crc32c(content));
    if seen.as_bytes() != stated {
        return Err(format!(
            "its checksum is {}, but its content has {seen}: some bytes were changed",
            String::from_utf8_lossy(stated)
        ));
    }
    Ok(true)
}

/// What the checksum is of, and the checksum.
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let (content, seal) = line.split_at_checked(line.len().checked_sub(SEAL)?)?;
    let value = seal.strip_prefix(FIELD)?.strip_suffix(END)?;
    let is_hex = value.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_hex.then_some((content, value))
}

/// A line of an earlier version has no field that it did not have; what is no object at all is left to the parser.
fn check_old(line: &[u8]) -> Result<(), String> {
    let Ok(fields) = serde_json::from_slice::<BTreeMap<String, IgnoredAny>>(line) else {
        return Ok(());
    };
    match fields.keys().find(|name| !OLD_FIELDS.contains(&name.as_str())) {
        Some(name) => Err(format!(
            "it has the field {name:?}, which no version wrote without a checksum"
        )),
        None => Ok(()),
    }
}
