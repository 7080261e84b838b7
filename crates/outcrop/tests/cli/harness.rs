//! Runs the real binary in a directory of its own and gives back what a user would see.

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// What a user sees of one command.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Seen {
    /// The last line of stderr: the error's sentence.
    pub(crate) fn sentence(&self) -> &str {
        self.stderr.lines().last().unwrap_or_default()
    }
}

impl From<Output> for Seen {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("our output is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("our output is UTF-8"),
        }
    }
}

/// The binary under test, to be started in `dir`.
pub(crate) fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_outcrop"));
    command.current_dir(dir).args(args);
    command
}

/// Runs it to its end.
pub(crate) fn outcrop(dir: &Path, args: &[&str]) -> Seen {
    command(dir, args).output().expect("the binary starts").into()
}

/// The exit code of a command, its last words, and the most memory that it had resident.
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) sentence: String,
    pub(crate) peak_bytes: u64,
}

/// Runs the command, waits for it, and says how it ended and what it had resident at most. A small process does so: what one has when it
/// starts another counts as the other's.
const WAITING: &str = "\
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)";

/// Runs it to its end; what it prints on stdout is dropped.
pub(crate) fn ended(dir: &Path, args: &[&str], stdin: Stdio) -> Ended {
    let waiting = Command::new("python3")
        .args(["-c", WAITING, env!("CARGO_BIN_EXE_outcrop")])
        .args(args)
        .current_dir(dir)
        .stdin(stdin)
        .output()
        .unwrap();
    let Seen { stdout, stderr, .. } = waiting.into();
    let (code, peak_kib) = stdout
        .trim()
        .split_once(' ')
        .unwrap_or_else(|| panic!("{stderr}"));
    Ended {
        code: code.parse().unwrap(),
        sentence: stderr.lines().last().unwrap_or_default().to_owned(),
        peak_bytes: peak_kib.parse::<u64>().unwrap() << 10,
    }
}

/// A directory on a real disk: `/tmp` may be a tmpfs, where O_DIRECT is not what it is elsewhere.
pub(crate) fn workplace() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("the build directory is writable")
}

/// The only run folder under `dir`/runs.
pub(crate) fn only_run(dir: &Path) -> std::path::PathBuf {
    let mut runs: Vec<_> = std::fs::read_dir(dir.join("runs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(runs.len(), 1, "exactly one run folder in {}", dir.display());
    runs.pop().unwrap()
}

/// Names of what is left in a directory, sorted.
pub(crate) fn names_in(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
