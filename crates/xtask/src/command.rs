//! Runs a program and keeps what it printed.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, bail};

/// Runs `command` with stdout and stderr in one ordered stream; hands each line to `on_line` as it comes,
/// and writes all of them to `log`.
///
/// Cost: blocks until the program ends. A process that the program leaves behind with our stream open
/// blocks it further; that is deliberate, because such a process is a bug in the step.
///
/// # Errors
/// The program cannot be started, or the log cannot be written.
pub(crate) fn stream(command: &mut Command, log: &Path, mut on_line: impl FnMut(&str)) -> Result<ExitStatus> {
    let shown = display(command);
    let mut log_file = create_with_parents(log)?;
    let (reader, writer) = std::io::pipe().context("cannot create a pipe")?;
    let mut child = {
        command
            .stdin(Stdio::null())
            .stderr(writer.try_clone()?)
            .stdout(writer);
        command
            .spawn()
            .with_context(|| format!("cannot start `{shown}`"))?
    };
    // The command keeps our copies of the write end; without this the reader would never see the end.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut reader = BufReader::new(reader);
    let mut bytes = Vec::new();
    while reader.read_until(b'\n', &mut bytes)? > 0 {
        log_file.write_all(&bytes)?;
        on_line(String::from_utf8_lossy(&bytes).trim_end());
        bytes.clear();
    }
    Ok(child.wait()?)
}

fn create_with_parents(path: &Path) -> Result<std::fs::File> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    std::fs::File::create(path).with_context(|| format!("cannot write {}", path.display()))
}

/// Runs `command` and returns its stdout.
///
/// # Errors
/// The program cannot be started, fails (the message has its stderr), or prints something that is not UTF-8.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let shown = display(command);
    let output = command
        .output()
        .with_context(|| format!("cannot start `{shown}`"))?;
    if !output.status.success() {
        bail!(
            "`{shown}` failed ({}): {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{shown}` printed something that is not UTF-8"))
}

/// True when `program --version` can be run.
pub(crate) fn is_installed(program: &str, args: &[&str]) -> bool {
    let status = Command::new(program)
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

/// The command as one would type it.
pub(crate) fn display(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_streams_arrive_in_order_and_in_the_log() -> Result<()> {
        let log = std::env::temp_dir().join(format!("outcrop-xtask-{}.log", std::process::id()));
        let mut lines = Vec::new();
        let mut command = Command::new("sh");
        command.args(["-c", "echo one; echo two >&2; echo three; exit 3"]);
        let status = stream(&mut command, &log, |line| lines.push(line.to_owned()))?;
        assert_eq!(lines, ["one", "two", "three"]);
        assert_eq!(status.code(), Some(3));
        assert_eq!(std::fs::read_to_string(&log)?, "one\ntwo\nthree\n");
        Ok(std::fs::remove_file(log)?)
    }

    #[test]
    fn a_failing_program_is_named_with_what_it_said() {
        let error = output(Command::new("sh").args(["-c", "echo no such thing >&2; exit 1"]));
        let message = error.expect_err("exit status 1 is an error").to_string();
        assert!(message.contains("no such thing"), "{message}");
    }
}
