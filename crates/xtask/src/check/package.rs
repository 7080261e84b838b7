//! The step `python`: the wheel is packed and installed in an empty environment; then its tests, its stubs, every snippet and every
//! notebook.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::steps::{fresh_folder, skipped_for};
use super::{Outcome, Session};
use crate::python::PythonEnvironment;
use crate::{command, wheel};

const NAME: &str = "python";
/// The least version of Python that the package is for.
const LEAST_PYTHON: &str = "3.11";
pub(super) fn check(session: &mut Session) -> Result<Outcome> {
    let python = match PythonEnvironment::ready(session.workspace)? {
        Ok(python) => python,
        Err(lack) => return Ok(skipped_for(lack)),
    };
    if let Some(reason) = too_old(&python)? {
        return Ok(Outcome::Skipped {
            reason,
            avoidable: false,
        });
    }
    // A library without tests is not built for tests. One test is named so that dependencies keep the features that
    // they have there: nothing is compiled twice.
    let mut build = session.cargo(&["build", "--quiet", "--workspace", "--lib", "--test", "schema"]);
    let built = session.stream(NAME, &mut build)?;
    if !matches!(built, Outcome::Passed { .. }) {
        return Ok(built);
    }
    let folder = fresh_folder(session, NAME)?;
    let packed = pack(session, &python, &folder)?;
    let alone = session.stream(NAME, &mut wheel::alone(&packed, &folder)?)?;
    if !matches!(alone, Outcome::Passed { .. }) {
        return Ok(alone);
    }
    let mut install = python.program("pip");
    install.args([
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-index",
        "--no-deps",
        "--force-reinstall",
    ]);
    command::output(install.arg(&packed))?;
    let tests = session.workspace.root.join("python");
    let mut stubs = python.program("python");
    // The suite changes into the tests' folder: the sources beside it have no extension module.
    stubs
        .current_dir(&folder)
        .args(["-m", "mypy.stubtest", "outcrop"]);
    let mut suite = python.program("python");
    suite
        .current_dir(&folder)
        .args([
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--durations=5",
            "--rootdir",
        ])
        .arg(&tests)
        .arg("-c")
        .arg(tests.join("pyproject.toml"))
        .arg(tests.join("tests"))
        // On the disk that the target is on: not every temporary folder takes direct I/O.
        .arg("--basetemp")
        .arg(folder.join("temporary"))
        .env("PYTHONDONTWRITEBYTECODE", "1");
    for mut step in [stubs, suite] {
        let outcome = session.stream(NAME, &mut step)?;
        if !matches!(outcome, Outcome::Passed { .. }) {
            return Ok(outcome);
        }
    }
    let size = std::fs::metadata(&packed)?.len();
    Ok(Outcome::Passed {
        note: format!("the wheel without optimisation has {:.1} MB", size as f64 / 1e6),
    })
}

/// Why this machine's Python cannot load the package; none where it can.
fn too_old(python: &PythonEnvironment) -> Result<Option<String>> {
    let script = "import sys; print('%d.%d' % sys.version_info[:2], sys.version_info >= (3, 11))";
    let said = command::output(python.program("python").args(["-c", script]))?;
    let (version, is_new) = said.trim().split_once(' ').context("Python says its version")?;
    Ok((is_new != "True").then(|| format!("Python is {version}; the package needs {LEAST_PYTHON} or newer")))
}

/// Packs the library that was just built and the Python files, with the metadata that maturin writes for a wheel.
fn pack(session: &Session, python: &PythonEnvironment, folder: &Path) -> Result<PathBuf> {
    let root = &session.workspace.root;
    let unpacked = folder.join("unpacked");
    std::fs::create_dir_all(unpacked.join("outcrop"))?;
    let mut metadata = python.program("maturin");
    metadata
        .current_dir(root.join("python"))
        .args(["pep517", "write-dist-info", "--metadata-directory"])
        .arg(&unpacked)
        .args(["--interpreter"])
        .arg(python.path_of("python"))
        .env("PATH", python.search_path()?);
    command::output(&mut metadata)?;
    for file in std::fs::read_dir(root.join("python/outcrop"))? {
        let file = file?;
        if file.file_type()?.is_file() {
            std::fs::copy(file.path(), unpacked.join("outcrop").join(file.file_name()))?;
        }
    }
    let library = session.workspace.target.join("debug/liboutcrop_python.so");
    let extension = unpacked.join("outcrop/_outcrop.abi3.so");
    // As maturin does for a release: debugging information is most of it.
    let mut strip = Command::new("strip");
    command::output(
        strip
            .arg("--strip-unneeded")
            .arg("-o")
            .arg(&extension)
            .arg(&library),
    )?;
    let mut pack = python.program("python");
    command::output(
        pack.args(["-m", "wheel", "pack", "--dest-dir"])
            .arg(folder)
            .arg(&unpacked),
    )?;
    wheel::only_wheel(folder)
}
