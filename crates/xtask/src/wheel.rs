//! `cargo xtask wheel`: the optimised wheel of the Python package, held to its size and used in an empty environment.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, ensure};

use crate::command;
use crate::python::PythonEnvironment;
use crate::workspace::Workspace;

const REQUIREMENTS: &str = "scripts/requirements-wheel.txt";
/// Bytes of the wheel. Those of other packages that read Arrow have 24 to 85 MB.
const SIZE_LIMIT: u64 = 12_000_000;
/// What proves that the installed package works without any other.
const WITHOUT_OTHERS: &str = "\
import outcrop, os, sys
report = outcrop.Column.encode(['marl', None, 'tuff'], 'c.ocol', index='postings')
assert outcrop.Column.open('c.ocol').find('tuff').rows().to_pylist() == [2], report
with outcrop.Cache(memory='8MiB') as cache:
    cache.client().set('rock', 'marl')
assert not {'numpy', 'pyarrow', 'polars', 'pandas'} & set(sys.modules)
from importlib.metadata import files
assert {'LICENSE-APACHE', 'LICENSE-MIT'} <= {file.name for file in files('outcrop')}
print('outcrop', outcrop.__version__, 'works alone')
";

/// Builds the wheel, checks it, and prints where it is.
///
/// # Errors
/// The tools cannot be installed, the build fails, the wheel is too large or does not work alone; the message says why.
pub(crate) fn run(workspace: &Workspace) -> Result<bool> {
    let wheel = build(workspace)?;
    let size = std::fs::metadata(&wheel)?.len();
    ensure!(
        size <= SIZE_LIMIT,
        "{} has {size} bytes; at most {SIZE_LIMIT} are allowed",
        wheel.display()
    );
    let folder = workspace.target.join("xtask/wheel");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let said = command::output(&mut alone(&wheel, &folder)?)?;
    println!(
        "{}: {:.2} MB; {}",
        wheel.display(),
        size as f64 / 1e6,
        said.trim()
    );
    Ok(true)
}

fn build(workspace: &Workspace) -> Result<PathBuf> {
    let python = PythonEnvironment::of(workspace, REQUIREMENTS, "python-wheel")?
        .map_err(|lack| anyhow!("{}", lack.reason()))?;
    let folder = workspace.target.join("wheels");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    let mut maturin = python.program("maturin");
    maturin
        .current_dir(workspace.root.join("python"))
        .args(["build", "--profile", "wheel", "--locked"])
        .args(["--compression-level", "9", "--out"])
        .arg(&folder)
        .env("PATH", python.search_path()?)
        .env("CARGO_ENCODED_RUSTFLAGS", without_paths(workspace)?);
    ensure!(
        maturin.status().context("cannot start maturin")?.success(),
        "the wheel cannot be built"
    );
    only_wheel(&folder)
}

/// Flags that keep the folders of this machine out of what is shipped: sources are named from their package on.
fn without_paths(workspace: &Workspace) -> Result<String> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let registry = home
        .context("neither CARGO_HOME nor a home folder is known")?
        .join("registry/src");
    // The registry has one folder for each index.
    let mut folders: Vec<PathBuf> = match std::fs::read_dir(&registry) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?,
        Err(_) => Vec::new(),
    };
    folders.push(workspace.root.clone());
    let flags: Vec<String> = folders
        .iter()
        .map(|folder| format!("--remap-path-prefix={}/=", folder.display()))
        .collect();
    // Between flags, cargo expects this character.
    Ok(flags.join("\u{1f}"))
}

/// The wheel in `folder`, which has one.
///
/// # Errors
/// It has none or several.
pub(crate) fn only_wheel(folder: &Path) -> Result<PathBuf> {
    let mut wheels = Vec::new();
    for file in std::fs::read_dir(folder)? {
        let path = file?.path();
        if path.extension().is_some_and(|ending| ending == "whl") {
            wheels.push(path);
        }
    }
    ensure!(
        wheels.len() == 1,
        "{} has {} wheels",
        folder.display(),
        wheels.len()
    );
    Ok(wheels.remove(0))
}

/// Installs the wheel in an environment without any other package, and uses it there.
///
/// # Errors
/// The environment cannot be made, or the wheel cannot be installed.
pub(crate) fn alone(wheel: &Path, folder: &Path) -> Result<Command> {
    let environment = folder.join("empty");
    command::output(
        Command::new("python3")
            .args(["-m", "venv", "--clear"])
            .arg(&environment),
    )?;
    let mut install = Command::new(environment.join("bin/pip"));
    install.args(["install", "--quiet", "--disable-pip-version-check", "--no-index"]);
    command::output(install.arg(wheel))?;
    let mut python = Command::new(environment.join("bin/python"));
    python
        .current_dir(&environment)
        .args(["-I", "-c", WITHOUT_OTHERS]);
    Ok(python)
}
