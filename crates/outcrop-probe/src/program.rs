//! Programs that are installed: where they lie, and what they say of their version.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use outcrop_measure::metric::Unavailable;
use rustix::fs::Access;

/// Where administrators' programs are, which is not on every user's PATH.
const MORE_FOLDERS: &str = "/usr/local/sbin:/usr/sbin:/sbin";

/// Where a program of this name lies: the first in PATH, or where administrators' programs are.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(std::env::split_paths(MORE_FOLDERS));
    let mut candidates = folders.map(|folder| folder.join(name));
    candidates.find(|path| is_program(path))
}

/// The program that a user named, by a path or by its name in PATH.
pub fn named(text: &str) -> Option<PathBuf> {
    if text.contains('/') {
        Some(PathBuf::from(text)).filter(|path| is_program(path))
    } else {
        find(text)
    }
}

fn is_program(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, Access::EXEC_OK).is_ok()
}

/// The first line with a number of what a program says of its version. *Cost*: it is started.
///
/// # Errors
/// It does not start.
pub fn version(path: &Path, flag: &str) -> Result<String, Unavailable> {
    let output = Command::new(path).arg(flag).stdin(Stdio::null()).output();
    let output = output
        .map_err(|error| Unavailable::because(format!("{} does not start: {error}", path.display())))?;
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().find(|line| line.chars().any(|c| c.is_ascii_digit()));
    // `Redis server v=7.0.15 sha=… malloc=…`: what follows is of the build.
    let version = line.unwrap_or_default().trim().split(" sha=").next();
    Ok(version.unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_by_name_and_by_path_and_say_their_version() {
        let found = find("cp").unwrap();
        assert_eq!(named(found.to_str().unwrap()), Some(found.clone()));
        assert_eq!(named("cp"), Some(found.clone()));
        assert!(version(&found, "--version").unwrap().starts_with("cp "));
        assert_eq!(find("no-program-has-this-name"), None);
        assert_eq!(named("/etc/passwd"), None, "a file that cannot be started");
    }
}
