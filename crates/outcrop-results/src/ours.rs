//! Which files of a run's folder Outcrop wrote: what a user puts there, no command removes or replaces.

use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::path::Path;

use crate::layout::OURS;

/// How much of a page or figure is searched for what tells whose it is.
const HEAD_BYTES: u64 = 4096;

/// The element of a page that carries the name of its file: a copy under another name is its user's.
pub fn name_element(file_name: &str) -> String {
    format!(r#"<meta name="outcrop-file" content="{file_name}">"#)
}

/// Whether a file of a run's folder is one that Outcrop writes there, or the beginning of one that a killed process left.
pub(crate) fn is_ours(dir: &Path, name: &str) -> bool {
    let path = dir.join(name);
    let is_page = || name.ends_with(".html") && begins_with(&path, &name_element(name));
    let is_begun = || begun(name).is_some_and(|name| OURS.contains(&name) || name.ends_with(".html"));
    is_file(&path) && (OURS.contains(&name) || is_begun() || is_page())
}

/// Whether a file of a run's `figures` is one that a report wrote there: the title within carries the name of the file.
pub fn is_our_figure(path: &Path) -> bool {
    let figure = name_of(path).strip_suffix(".svg");
    let has_its_title = |figure: &str| begins_with(path, &format!(r#"<title id="{figure}-title">"#));
    is_file(path) && figure.is_some_and(has_its_title)
}

/// Whether a file of a run's `figures` is the beginning of one. Another report may be about to give it its name.
pub(crate) fn is_begun_figure(path: &Path) -> bool {
    is_file(path) && begun(name_of(path)).is_some_and(|name| name.ends_with(".svg"))
}

fn name_of(path: &Path) -> &str {
    path.file_name().and_then(OsStr::to_str).unwrap_or_default()
}

/// The name that a temporary file was to get: `.report.html.4711.tmp`.
fn begun(name: &str) -> Option<&str> {
    let (name, process) = name.strip_prefix('.')?.strip_suffix(".tmp")?.rsplit_once('.')?;
    process.parse::<u32>().is_ok().then_some(name)
}

/// A link leads to a file that is not the run's.
fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// Whether a text stands in the first bytes of a file.
fn begins_with(path: &Path, text: &str) -> bool {
    let mut head = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    read.is_ok() && String::from_utf8_lossy(&head).contains(text)
}
