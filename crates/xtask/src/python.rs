//! The Python side: a virtual environment with the pinned tools of `scripts/requirements.txt`.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::command;
use crate::workspace::Workspace;

const REQUIREMENTS: &str = "scripts/requirements.txt";

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

impl PythonEnvironment {
    /// Makes the environment, or takes the one that stands when its requirements are still the same.
    ///
    /// # Errors
    /// The outer error is about our own files; the inner says what this machine lacks.
    pub(crate) fn ready(workspace: &Workspace) -> Result<Result<Self, NoEnvironment>> {
        let requirements = workspace.root.join(REQUIREMENTS);
        let wanted =
            std::fs::read_to_string(&requirements).with_context(|| format!("cannot read {REQUIREMENTS}"))?;
        let environment = Self {
            folder: workspace.target.join("python"),
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
                "pip cannot install {REQUIREMENTS}: {last}"
            ))));
        }
        std::fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))?;
        Ok(Ok(environment))
    }

    /// A program of the environment, `python` for one.
    pub(crate) fn program(&self, name: &str) -> Command {
        Command::new(self.folder.join("bin").join(name))
    }
}
