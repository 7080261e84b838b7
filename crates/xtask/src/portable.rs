//! `cargo xtask portable`: one binary of `outcrop` for every Linux with glibc 2.28 or newer, and the proof that it is one.
//!
//! It links glibc dynamically, because engines and accelerators are loaded at run time, which a static program cannot do. zig's
//! linker knows the symbols of each glibc, so that the build does not depend on the machine's. The proof: the newest symbol version
//! that the file asks for, and real work in an empty root filesystem that holds nothing but the libraries that it names.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, ensure};

use crate::command;
use crate::python::PythonEnvironment;
use crate::workspace::Workspace;

const REQUIREMENTS: &str = "scripts/requirements-portable.txt";
/// Debian 10, RHEL 8, Ubuntu 18.10.
const GLIBC: Version = Version(2, 28);
/// Where the empty root filesystem has its libraries. Distributions search different folders, so the loader is given this one.
const LIBRARIES: &str = "lib";
const SIZE_LIMIT_MB: u64 = 40;
/// Parts of glibc itself. Anything else would have to be installed by the user.
const ALLOWED_LIBRARIES: [&str; 6] = [
    "ld-linux",
    "libc.so",
    "libm.so",
    "libpthread.so",
    "libdl.so",
    "librt.so",
];

/// What the binary is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speed {
    /// To be used: optimised across crates.
    OfBinary,
    /// To be checked: the same sources, linker and libraries without optimisation, which takes a third of the time. Its size says
    /// nothing of the other's.
    OfBuild,
}

/// Builds the binary, checks it, and prints where it is.
///
/// # Errors
/// The tools cannot be installed, the build fails, or the binary is not portable; the message says why.
pub(crate) fn run(workspace: &Workspace, speed: Speed) -> Result<bool> {
    let binary = build(workspace, speed)?;
    let size = std::fs::metadata(&binary)?.len();
    ensure!(
        speed == Speed::OfBuild || size <= SIZE_LIMIT_MB * 1_000_000,
        "{} has {size} bytes; at most {SIZE_LIMIT_MB} MB are allowed",
        binary.display()
    );
    let needs = Needs::of(&binary)?;
    for library in &needs.libraries {
        ensure!(
            ALLOWED_LIBRARIES
                .iter()
                .any(|allowed| library.starts_with(allowed)),
            "{} needs {library}, which is not part of glibc",
            binary.display()
        );
    }
    let newest = needs
        .newest_glibc
        .context("the binary asks for no version of glibc")?;
    ensure!(
        newest <= GLIBC,
        "{} needs glibc {newest}; {GLIBC} is the limit",
        binary.display()
    );
    work_in_an_empty_root(workspace, &binary, &needs)?;
    println!(
        "{}: {:.1} MiB, needs glibc {newest} and {}; it works in a root filesystem with those alone",
        binary.display(),
        size as f64 / f64::from(1 << 20),
        needs.libraries.iter().cloned().collect::<Vec<_>>().join(", ")
    );
    Ok(true)
}

fn build(workspace: &Workspace, speed: Speed) -> Result<PathBuf> {
    let python = PythonEnvironment::of(workspace, REQUIREMENTS, "python-portable")?
        .map_err(|lack| anyhow!("{}", lack.reason()))?;
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let profile = match speed {
        Speed::OfBinary => "portable",
        Speed::OfBuild => "portable-check",
    };
    let mut cargo = python.program("cargo-zigbuild");
    cargo
        .current_dir(&workspace.root)
        .args([
            "zigbuild",
            "--profile",
            profile,
            "--locked",
            "--package",
            "outcrop",
            "--target",
        ])
        .arg(format!("{target}.{GLIBC}"))
        .env("PATH", python.search_path()?);
    ensure!(
        cargo.status().context("cannot start cargo-zigbuild")?.success(),
        "the portable build failed"
    );
    // Apart, so that nobody takes the one for the other.
    let folder = workspace.target.join(profile);
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let binary = folder.join("outcrop");
    let built = workspace.target.join(target).join(profile).join("outcrop");
    std::fs::copy(&built, &binary).with_context(|| format!("cannot copy {}", built.display()))?;
    Ok(binary)
}

/// A version of glibc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Version(u32, u32);

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// What a binary asks of the system that runs it.
#[derive(Debug, PartialEq, Eq)]
struct Needs {
    libraries: BTreeSet<String>,
    /// The program that loads it: an absolute path.
    loader: String,
    newest_glibc: Option<Version>,
}

impl Needs {
    fn of(binary: &Path) -> Result<Self> {
        let readelf =
            |flag: &str| command::output(Command::new("readelf").args(["--wide", flag]).arg(binary));
        let loader = readelf("--program-headers")?;
        let loader = (loader.lines())
            .find_map(|line| line.split("program interpreter: ").nth(1))
            .context("readelf names no program interpreter: is this a dynamic program?")?;
        Ok(Self {
            libraries: libraries(&readelf("--dynamic")?),
            loader: loader.trim_end_matches(']').to_owned(),
            newest_glibc: newest_glibc(&readelf("--version-info")?),
        })
    }
}

/// The names in lines like `0x0001 (NEEDED)  Shared library: [libc.so.6]`.
fn libraries(dynamic_section: &str) -> BTreeSet<String> {
    let needed = dynamic_section.lines().filter(|line| line.contains("(NEEDED)"));
    needed
        .filter_map(|line| Some(line.split_once('[')?.1.split_once(']')?.0.to_owned()))
        .collect()
}

/// The highest of the versions in words like `GLIBC_2.28`; `GLIBC_2.2.5` counts as 2.2.
fn newest_glibc(version_info: &str) -> Option<Version> {
    let words = version_info.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'));
    let versions = words.filter_map(|word| {
        let mut numbers = word.strip_prefix("GLIBC_")?.split('.');
        Some(Version(
            numbers.next()?.parse().ok()?,
            numbers.next()?.parse().ok()?,
        ))
    });
    versions.max()
}

/// Compresses, encodes and queries real bytes where there is no `/proc`, no `/dev` and no other file.
fn work_in_an_empty_root(workspace: &Workspace, binary: &Path, needs: &Needs) -> Result<()> {
    let root = workspace.target.join("portable/root");
    if root.exists() {
        std::fs::remove_dir_all(&root).with_context(|| format!("cannot remove {}", root.display()))?;
    }
    std::fs::create_dir_all(root.join("tmp"))?;
    std::fs::create_dir_all(root.join(LIBRARIES))?;
    std::fs::copy(binary, root.join("outcrop"))?;
    let loader_here = root.join(needs.loader.trim_start_matches('/'));
    let folder = loader_here.parent().context("the loader has a folder")?;
    std::fs::create_dir_all(folder)?;
    std::fs::copy(&needs.loader, &loader_here).with_context(|| format!("cannot copy {}", needs.loader))?;
    for library in &needs.libraries {
        let path = command::output(Command::new("cc").arg(format!("-print-file-name={library}")))?;
        let path = Path::new(path.trim());
        std::fs::copy(path, root.join(LIBRARIES).join(library))
            .with_context(|| format!("cannot copy {}", path.display()))?;
    }
    let words: String = (0..4850).map(|row| format!("word{}\n", row % 97)).collect();
    std::fs::write(root.join("words.txt"), words)?;
    for args in [
        "--version",
        "codec --data /words.txt --codec zstd:1,lz4 --block-size 4k --duration 20ms --warm-up 0s --repetitions 1 --out /tmp/run",
        "runs --in /tmp/run",
        "column encode /words.txt -o /words.ocol",
        "column verify /words.ocol",
    ] {
        inside(&root, args)?;
    }
    let rows = inside(&root, "column find /words.ocol word96 --format csv")?;
    ensure!(
        rows.lines().count() == 51,
        "a column of 4850 rows should have 50 rows `word96` below the heading, found:\n{rows}"
    );
    std::fs::remove_dir_all(&root).with_context(|| format!("cannot remove {}", root.display()))
}

/// Runs the binary with `root` as its root filesystem and returns what it printed.
fn inside(root: &Path, args: &str) -> Result<String> {
    // A user namespace, so that nobody has to be root; `chroot` alone where we are, as containers may forbid namespaces.
    let mut command = if is_root()? {
        Command::new("chroot")
    } else {
        let mut unshare = Command::new("unshare");
        unshare.args(["--map-root-user", "chroot"]);
        unshare
    };
    command.arg(root).arg("/outcrop").args(args.split(' '));
    command::output(
        command
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .env("LD_LIBRARY_PATH", format!("/{LIBRARIES}")),
    )
    .with_context(|| format!("`outcrop {args}` does not work in an empty root filesystem"))
}

fn is_root() -> Result<bool> {
    Ok(command::output(Command::new("id").arg("-u"))?.trim() == "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_of_glibc_is_found_by_number_and_not_by_spelling() {
        let text = "  0x0010:   Name: GLIBC_2.9  Flags: none  Version: 3\n  000: 1 (*global*) 2 (GLIBC_2.2.5) 3 (GLIBC_2.28)";
        assert_eq!(newest_glibc(text), Some(Version(2, 28)));
        assert_eq!(newest_glibc("GLIBC_PRIVATE"), None);
    }

    #[test]
    fn every_library_that_a_binary_names_is_seen() -> Result<()> {
        let needs = Needs::of(&std::env::current_exe()?)?;
        assert!(needs.libraries.contains("libc.so.6"), "{needs:?}");
        assert!(needs.loader.starts_with('/'), "{needs:?}");
        assert!(needs.newest_glibc > Some(Version(2, 2)), "{needs:?}");
        Ok(())
    }
}
