//! Reads the small text files of /proc and /sys, below a root that tests can choose.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use outcrop_measure::metric::Unavailable;

/// A directory that holds `proc`, `sys` and `etc`: `/`, or a copy of parts of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemTree {
    root: PathBuf,
}

/// The largest file worth reading here: a mount table of a large container host is below this.
const MAX_FILE_BYTES: u64 = 4 << 20;

impl SystemTree {
    /// The running system's own files.
    pub fn live() -> Self {
        Self::at("/")
    }

    /// The tree below `root`.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Where `relative` (no leading slash) lies.
    pub fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root.join(relative)
    }

    /// The bytes of a file.
    pub(crate) fn bytes(&self, relative: impl AsRef<Path>) -> Result<Vec<u8>, Unavailable> {
        let path = self.path(relative);
        let read = || -> io::Result<Vec<u8>> {
            let mut bytes = Vec::new();
            File::open(&path)?.take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        read().map_err(|error| cannot_read(&path, &error))
    }

    /// The text of a file without blanks around it; bytes that are not UTF-8 are replaced.
    pub(crate) fn text(&self, relative: impl AsRef<Path>) -> Result<String, Unavailable> {
        Ok(String::from_utf8_lossy(&self.bytes(relative)?).trim().to_owned())
    }

    /// A file that holds one number.
    pub(crate) fn number<T: FromStr>(&self, relative: impl AsRef<Path>) -> Result<T, Unavailable> {
        let relative = relative.as_ref();
        let text = self.text(relative)?;
        text.parse().map_err(|_| {
            let path = self.path(relative);
            Unavailable::because(format!(
                "{} holds `{}`, which is not a number",
                path.display(),
                excerpt(&text)
            ))
        })
    }

    /// A file that holds `0` or `1`.
    pub(crate) fn switch(&self, relative: impl AsRef<Path>) -> Result<bool, Unavailable> {
        self.number::<u64>(relative).map(|number| number != 0)
    }

    /// The names in a directory, sorted.
    pub(crate) fn names(&self, relative: impl AsRef<Path>) -> Result<Vec<OsString>, Unavailable> {
        let path = self.path(relative);
        let list = || -> io::Result<Vec<OsString>> {
            let mut names: Vec<_> = fs::read_dir(&path)?
                .map(|entry| Ok(entry?.file_name()))
                .collect::<io::Result<_>>()?;
            names.sort();
            Ok(names)
        };
        list().map_err(|error| cannot_read(&path, &error))
    }

    /// The last component of where a symbolic link leads.
    pub(crate) fn link_name(&self, relative: impl AsRef<Path>) -> Result<String, Unavailable> {
        let path = self.path(relative);
        let target = fs::read_link(&path).map_err(|error| cannot_read(&path, &error))?;
        let name = target.file_name().unwrap_or(target.as_os_str());
        Ok(name.to_string_lossy().into_owned())
    }

    pub(crate) fn exists(&self, relative: impl AsRef<Path>) -> bool {
        self.path(relative).exists()
    }

    /// Makes a file of a tree that a test reads.
    #[cfg(test)]
    pub(crate) fn write(&self, relative: impl AsRef<Path>, text: &str) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().expect("a file in the tree")).expect("its folder");
        fs::write(path, text).expect("the file");
    }
}

/// The reason that a failed read leaves.
pub(crate) fn cannot_read(path: &Path, error: &io::Error) -> Unavailable {
    let path = path.display();
    Unavailable::because(match error.kind() {
        io::ErrorKind::NotFound => format!("this kernel has no {path}"),
        io::ErrorKind::PermissionDenied => format!("no permission to read {path} (try as root)"),
        _ => format!("{path} cannot be read: {error}"),
    })
}

/// The start of a text, for a message.
pub(crate) fn excerpt(text: &str) -> String {
    const LENGTH: usize = 60;
    let mut characters = text.chars();
    let mut start: String = characters.by_ref().take(LENGTH).collect();
    if characters.next().is_some() {
        start.push('…');
    }
    start
}
