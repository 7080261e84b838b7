//! The Python side: virtual environments with the tools that a file of requirements names.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::command;
use crate::workspace::Workspace;

/// What `cargo xtask check` uses.
const CHECKS: &str = "scripts/requirements.txt";

/// A virtual environment under the target folder; its programs are run by path, it is never activated.
pub(crate) struct PythonEnvironment {
    folder: PathBuf,
}

/// Why there is no environment.
#[derive(Debug)]
pub(crate) enum NoEnvironment {
    /// A package that `make test` installs is missing.
    NotInstalled(String),
    /// The package index did not answer or has no such package.
    NoPackages(String),
}

impl NoEnvironment {
    pub(crate) fn reason(&self) -> &str {
        let (Self::NotInstalled(reason) | Self::NoPackages(reason)) = self;
        reason
    }
}

impl PythonEnvironment {
    /// The environment of the checks.
    ///
    /// # Errors
    /// As [`PythonEnvironment::of`].
    pub(crate) fn ready(workspace: &Workspace) -> Result<Result<Self, NoEnvironment>> {
        Self::of(workspace, CHECKS, "python")
    }

    /// Makes the environment `target/NAME` from a file of requirements, or reuses it while the file is the same.
    ///
    /// # Errors
    /// The outer error is about our own files; the inner says what this machine lacks.
    pub(crate) fn of(workspace: &Workspace, file: &str, name: &str) -> Result<Result<Self, NoEnvironment>> {
        let requirements = workspace.root.join(file);
        let wanted = std::fs::read_to_string(&requirements).with_context(|| format!("cannot read {file}"))?;
        let environment = Self {
            folder: workspace.target.join(name),
        };
        let stamp = environment.folder.join("requirements-installed.txt");
        if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
            return Ok(Ok(environment));
        }
        let mut make = Command::new("python3");
        make.args(["-m", "venv", "--clear"]).arg(&environment.folder);
        if let Err(error) = command::output(&mut make) {
            let hint = "install python3 and python3-venv (`make test` does)";
            return Ok(Err(NoEnvironment::NotInstalled(format!("{error:#}; {hint}"))));
        }
        let mut install = environment.program("pip");
        install
            .args([
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--requirement",
            ])
            .arg(&requirements);
        if let Err(error) = command::output(&mut install) {
            let reason = format!("{error:#}");
            let last = reason.lines().next_back().unwrap_or("").to_owned();
            return Ok(Err(NoEnvironment::NoPackages(format!(
                "pip cannot install {file}: {last}"
            ))));
        }
        std::fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))?;
        Ok(Ok(environment))
    }

    /// The search path with this environment's programs first, for programs that start others.
    ///
    /// # Errors
    /// The folder's name has a colon.
    pub(crate) fn search_path(&self) -> Result<std::ffi::OsString> {
        let others = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.folder.join("bin")).chain(std::env::split_paths(&others));
        std::env::join_paths(folders).context("the target folder's name has a colon")
    }

    /// Where a program of the environment is.
    pub(crate) fn path_of(&self, name: &str) -> PathBuf {
        self.folder.join("bin").join(name)
    }

    /// A program of the environment, `python` for one.
    pub(crate) fn program(&self, name: &str) -> Command {
        Command::new(self.path_of(name))
    }
}
