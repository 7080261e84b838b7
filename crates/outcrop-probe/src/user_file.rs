//! Files that users name: opened where reading them ends, read no further than makes sense, and refused otherwise.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use outcrop_measure::units::format_bytes;

/// Opens a regular file for reading, or a pipe that the shell made (`<(…)`, /dev/stdin). What else there is may be waited for,
/// or read, for ever: a named pipe that nobody writes to, a device.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] with what it is instead; what the system says.
pub fn open(path: &Path) -> io::Result<File> {
    // Asked before it is opened: a named pipe without a writer would block.
    let kind = path.metadata()?.file_type();
    let what = if kind.is_file() {
        return File::open(path);
    } else if !kind.is_fifo() {
        kind_of(kind)
    } else if path.canonicalize().is_err() {
        // No name leads to it, so it is the shell's own, and somebody writes to it.
        return File::open(path);
    } else {
        "a named pipe, not a regular file; to read it all the same, give <(cat PIPE)"
    };
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("it is {what}"),
    ))
}

fn kind_of(kind: std::fs::FileType) -> &'static str {
    if kind.is_dir() {
        "a directory, not a regular file"
    } else if kind.is_char_device() {
        "a character device, not a regular file"
    } else if kind.is_block_device() {
        "a block device, not a regular file"
    } else {
        "a socket, not a regular file"
    }
}

/// All bytes of a file that [`open`] opens and that has at most `most_bytes`; a longer one is not `what` is expected.
///
/// # Errors
/// Those of [`open`] and of [`read_all`].
pub fn read(path: &Path, most_bytes: u64, what: &str) -> io::Result<Vec<u8>> {
    read_all(open(path)?, most_bytes, what)
}

/// As [`read`], as text.
///
/// # Errors
/// Those of [`read`]; [`io::ErrorKind::InvalidData`] for bytes that are not UTF-8.
pub fn read_text(path: &Path, most_bytes: u64, what: &str) -> io::Result<String> {
    text(read(path, most_bytes, what)?)
}

/// All bytes of an input that has at most `most_bytes`; a longer one is not `what` is expected. *Cost*: memory for one byte more
/// than that, however long the input is.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] for a longer input; what the system says.
pub fn read_all(input: impl Read, most_bytes: u64, what: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(most_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most_bytes {
        let most = format_bytes(most_bytes);
        let text = format!("it has more than {most}, so it is not {what}");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    Ok(bytes)
}

/// Bytes as text.
///
/// # Errors
/// [`io::ErrorKind::InvalidData`] for bytes that are not UTF-8.
pub fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not text (UTF-8)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_regular_file_is_refused_before_it_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for (path, what) in [
            (&*pipe, "a named pipe"),
            (&*socket, "a socket"),
            (folder.path(), "a directory"),
            (Path::new("/dev/zero"), "a character device"),
        ] {
            let error = read(path, 10, "a list").unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
            let expected = format!("it is {what}, not a regular file");
            assert!(error.to_string().starts_with(&expected), "{error}");
        }
        let missing = open(&folder.path().join("missing")).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_link_leads_to_its_file_and_a_pipe_without_a_name_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, "slate").unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        assert_eq!(read_text(&link, 5, "a list").unwrap(), "slate");
        let (reader, mut writer) = io::pipe().unwrap();
        io::Write::write_all(&mut writer, b"gneiss").unwrap();
        drop(writer);
        let name = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&reader));
        assert_eq!(read(Path::new(&name), 6, "a list").unwrap(), b"gneiss");
    }

    #[test]
    fn no_more_is_read_than_may_be_there() {
        let error = read_all(io::repeat(0), 1 << 20, "a list").unwrap_err();
        assert_eq!(error.to_string(), "it has more than 1 MiB, so it is not a list");
        assert_eq!(read_all(&b"abc"[..], 3, "a list").unwrap(), b"abc");
        assert_eq!(text(vec![0xFF]).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
