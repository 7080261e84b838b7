//! `tidy.toml`: the exceptions to the rules, each with its reason.

use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

/// The whole file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) size: SizeLimits,
    /// Modules that may contain `unsafe` code.
    #[serde(default)]
    pub(crate) unsafe_module: Vec<Exception>,
    /// Files that do not open with a `//!` header.
    #[serde(default)]
    pub(crate) without_header: Vec<Exception>,
    /// Words that are a factor's or a metric's name and mean something else where they stand.
    #[serde(default)]
    pub(crate) vocabulary_word: Vec<WordException>,
}

/// One excepted word of one file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WordException {
    /// Path relative to the checkout.
    pub(crate) path: String,
    /// The literal.
    pub(crate) word: String,
    /// What it means there; must not be empty.
    pub(crate) reason: String,
}

/// One excepted file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exception {
    /// Path relative to the checkout.
    pub(crate) path: String,
    /// Why it is excepted; must not be empty.
    pub(crate) reason: String,
}

/// How long a source file may be.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SizeLimits {
    /// No file may have more lines than this.
    pub(crate) hard_max_lines: usize,
    /// A file with more lines than this is long.
    pub(crate) long_lines: usize,
    /// How many long files there may be; lowered when one is split, never raised.
    pub(crate) long_files: usize,
    /// The median file may not have more lines than this.
    pub(crate) median_max_lines: usize,
}

impl Config {
    /// # Errors
    /// The file cannot be read or parsed.
    pub(crate) fn load(path: &Path) -> Result<Self> {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        toml::from_str(&text).with_context(|| format!("{} does not parse", path.display()))
    }
}
