//! What somebody says of delimited text; what nobody says of it is found in its first megabyte.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use outcrop_workload::words;

use crate::factor::{Factor, FactorRef, Role};
use crate::parse::{any, spelled};
use crate::value::Value;

/// The byte between two fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delimiter(pub u8);

impl FromStr for Delimiter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.as_bytes() {
            b"tab" | b"\\t" => Ok(Self(b'\t')),
            [one] => Ok(Self(*one)),
            _ => Err(format!(
                "delimiter {text:?}: expected one byte, such as ',' or '|', or `tab`"
            )),
        }
    }
}

impl fmt::Display for Delimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            b'\t' => f.write_str("tab"),
            other => char::from(other).fmt(f),
        }
    }
}

impl Value for Delimiter {}

words! {
    /// Whether the first line of a table names its columns.
    pub enum Header: "header" {
        /// It does.
        Yes = "yes",
        /// It is a row.
        No = "no",
    }
}

words! {
    /// Whether quotation marks enclose fields.
    pub enum Quotes: "quotes" {
        /// As RFC 4180 says.
        Yes = "yes",
        /// They are ordinary characters.
        No = "no",
    }
}

crate::value::ordered!(Header, Quotes);

/// What separates the fields.
pub static DELIMITER: Factor<Delimiter> = Factor::new("delimiter", "Field delimiter of the table", spelled)
    .decided("detected")
    .accepts("delimited text: one byte, such as `\"|\"`, or `\"tab\"`")
    .role(Role::Data);
/// Whether the first line names the columns.
pub static HEADER: Factor<Header> =
    Factor::new("header", "Whether the first line names the columns", spelled)
        .decided("detected")
        .accepts("delimited text: `\"yes\"`, `\"no\"`")
        .role(Role::Data);
/// Whether quotation marks enclose fields.
pub static QUOTES: Factor<Quotes> = Factor::new("quotes", "Whether quotation marks enclose fields", spelled)
    .decided("`\"yes\"`")
    .accepts("delimited text: `\"yes\"`, `\"no\"` (they are ordinary characters)")
    .role(Role::Data);
/// The text of a field that is null.
pub static NULL_TEXT: Factor<String> = Factor::new("null_text", "Text of the fields that are null", any)
    .decided("no field is null")
    .accepts("delimited text: fields with exactly this text are null")
    .role(Role::Data);

/// The words of a command that say the same, as they are typed but not quoted.
pub fn arguments<'s>(said: impl Fn(&str) -> Option<&'s str>) -> Vec<Cow<'s, str>> {
    let mut words: Vec<Cow<'s, str>> = Vec::new();
    if let Some(delimiter) = said(DELIMITER.name) {
        words.extend(["--delimiter".into(), delimiter.into()]);
    }
    match said(HEADER.name) {
        Some("yes") => words.push("--header".into()),
        Some(_) => words.push("--no-header".into()),
        None => {}
    }
    if said(QUOTES.name) == Some("no") {
        words.push("--no-quotes".into());
    }
    match said(NULL_TEXT.name) {
        // As a word of its own, it would be taken for a flag.
        Some(null) if null.starts_with('-') => words.push(format!("--null={null}").into()),
        Some(null) => words.extend(["--null".into(), null.into()]),
        None => {}
    }
    words
}

/// All that can be said.
pub static OF_DELIMITED: &[FactorRef] = &[&DELIMITER, &HEADER, &QUOTES, &NULL_TEXT];
