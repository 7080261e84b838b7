//! What the library says, in our words.

use std::path::Path;

use super::ENGINE;
use crate::error::KvError;

/// Why a database was not opened, by a library of this version.
pub(super) fn not_opened(version: &str, directory: &Path, message: &str) -> KvError {
    let engine = || format!("{ENGINE} {version}");
    let place = || directory.display().to_string();
    if let Some(codec) = missing_codec(message) {
        return KvError::MissingCodec {
            engine: engine(),
            codec,
        };
    }
    if message.contains("lock") && message.contains("LOCK") {
        return KvError::Locked { directory: place() };
    }
    let is_of_another_version = [
        "Corruption",
        "not supported",
        "Not implemented",
        "unknown",
        "does not match",
    ]
    .iter()
    .any(|words| message.contains(words));
    if is_of_another_version && !is_full(message) {
        return KvError::Format {
            directory: place(),
            engine: engine(),
            detail: message.to_owned(),
        };
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

/// An error of the engine in our words.
pub(super) fn said(action: &str, directory: &Path, message: &str) -> KvError {
    if is_full(message) {
        KvError::no_space(directory, message)
    } else {
        KvError::engine(ENGINE, action, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
