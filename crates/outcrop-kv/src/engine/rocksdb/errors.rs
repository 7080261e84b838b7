//! What the library says, in our words.

use std::path::Path;

use super::super::failure;
use super::ENGINE;
use crate::error::KvError;

/// Why a database was not opened, by a library of this version.
pub(super) fn not_opened(version: &str, directory: &Path, message: &str) -> KvError {
    let engine = || format!("{ENGINE} {version}");
    if let Some(codec) = missing_codec(message) {
        return KvError::MissingCodec {
            engine: engine(),
            codec,
        };
    }
    if message.contains("lock") && message.contains("LOCK") {
        return KvError::locked(directory);
    }
    // Names of files are in it, and a directory may have any name.
    let without_names = message.replace(&*directory.to_string_lossy(), "");
    let is_of_another_version = [
        "version",
        "not supported",
        "Not implemented",
        "unknown",
        "does not match",
    ]
    .iter()
    .any(|words| without_names.contains(words));
    if is_of_another_version && !is_full(message) {
        return KvError::version(directory, &engine(), message);
    }
    said("open a database", directory, message)
}

/// The codec of `Invalid argument: Compression type LZ4 is not linked with the binary.`
fn missing_codec(message: &str) -> Option<String> {
    let (_, rest) = message.split_once("ompression type ")?;
    let (codec, _) = rest.split_once(" is not linked")?;
    Some(codec.to_owned())
}

fn is_full(message: &str) -> bool {
    message.contains("No space left") || message.contains("NoSpace") || message.contains("quota exceeded")
}

/// Whether a library that was built with assertions, as Debian's is, ended its process because it went on writing to a file after a write to
/// it had failed.
pub(in crate::engine) fn says_that_a_write_failed(last_words: &str) -> bool {
    last_words.contains("AssertFalseAndGetStatusForPrevError")
}

/// An error of the engine in our words.
pub(super) fn said(action: &str, directory: &Path, message: &str) -> KvError {
    if is_full(message) {
        return KvError::no_space(directory, message);
    }
    match message.strip_prefix("Corruption: ") {
        Some(detail) => KvError::damaged(directory, detail),
        None => failure::other(ENGINE, action, message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_file_and_one_of_another_version_are_distinguished_whatever_the_directory_is_called() {
        let directory = Path::new("/srv/version 2/unknown");
        let of = |message: &str| not_opened("7.8.3", directory, message);
        let damaged = of("Corruption: block checksum mismatch in /srv/version 2/unknown/000012.sst");
        assert!(matches!(damaged, KvError::Damaged { .. }), "{damaged:?}");
        let version = of("Corruption: Unknown format version in /srv/version 2/unknown/000012.sst");
        assert!(matches!(version, KvError::Version { .. }), "{version:?}");
        let files = said(
            "read",
            directory,
            "IO error: While open a file: /db/1.sst: Too many open files",
        );
        assert!(
            files
                .to_string()
                .ends_with("; raise the limit on open files (ulimit -n)"),
            "{files}"
        );
    }

    #[test]
    fn what_the_library_says_of_a_codec_it_lacks_is_understood() {
        let message = "Invalid argument: Compression type LZ4HC is not linked with the binary.";
        assert_eq!(missing_codec(message).as_deref(), Some("LZ4HC"));
        assert_eq!(
            missing_codec("IO error: lock /db/LOCK: Resource temporarily unavailable"),
            None
        );
        assert!(is_full(
            "IO error: No space left on device: While appending to file: /db/1.log"
        ));
    }
}
