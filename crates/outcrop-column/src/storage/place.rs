//! Where no file is ever made: among device nodes, and in the kernel's own trees.

use std::io;
use std::path::{Component, Path, PathBuf};

/// Trees that are the system's.
const SYSTEM: [&str; 3] = ["/dev", "/proc", "/sys"];
/// The part of them in which programs keep files.
const SHARED_MEMORY: &str = "/dev/shm";
/// As many links are followed as the kernel follows.
const MOST_LINKS: usize = 40;

/// Fails where a file or a folder of this name would be in `/dev`, `/proc` or `/sys`, or where the name is a link that leads through
/// them, as `/dev/stdout` and `/proc/self/fd/1` do: renaming would put a file in the place of the link. `/dev/shm` is allowed.
///
/// Neither the name nor its folders need to exist. Behind a folder that does not, there is no `..`: where it leads is not known before the
/// folder is made.
///
/// # Errors
/// `InvalidInput` with the tree or the `..`, and what the system answers where a link cannot be read.
pub fn check_place(path: &Path) -> io::Result<()> {
    let mut name = std::path::absolute(path)?;
    for links in 0..MOST_LINKS {
        let is_link = links > 0;
        if !name.is_symlink() {
            return refuse_system(is_link, &resolved(&name)?);
        }
        // The link itself would be replaced, wherever it leads.
        let folder = name.parent().unwrap_or(&name);
        refuse_system(is_link, &resolved(folder)?)?;
        name = folder.join(std::fs::read_link(&name)?);
    }
    Err(io::Error::other("leads through too many links"))
}

/// The place of a folder whose last parts may not exist yet.
fn resolved(folder: &Path) -> io::Result<PathBuf> {
    let there = folder
        .ancestors()
        .find_map(|part| Some((part, part.canonicalize().ok()?)));
    let Some((part, mut place)) = there else {
        return Ok(folder.to_owned());
    };
    for missing in folder.strip_prefix(part).unwrap_or(folder).components() {
        match missing {
            Component::ParentDir => {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "has `..` after a folder that does not exist; write the path without it",
                ));
            }
            Component::Normal(name) => place.push(name),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    Ok(place)
}

fn refuse_system(is_link: bool, place: &Path) -> io::Result<()> {
    let tree = SYSTEM.iter().find(|tree| place.starts_with(tree));
    match tree {
        Some(tree) if !place.starts_with(SHARED_MEMORY) => {
            let what = match (is_link, place == Path::new(tree)) {
                (false, true) => "is the system's".to_owned(),
                (false, false) => format!("is under {tree}"),
                (true, true) => format!("is a link to {tree}"),
                (true, false) => format!("is a link to a name under {tree}"),
            };
            Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("{what}, where Outcrop never creates files; choose another place"),
            ))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Nothing here makes a file where it would be refused.
    #[test]
    fn names_among_device_nodes_and_in_the_kernels_trees_are_refused_and_others_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, at(name)).unwrap();
        link("/proc/self/fd/1", "stdout");
        link("stdout", "twice");
        link("/dev/outcrop-no-such-file", "nothing");
        link("/dev", "devices");
        link("itself", "itself");
        std::fs::write(at("there"), "").unwrap();
        link("there", "beside");
        link("missing", "dangling");
        link("/proc/self/cwd", "working");
        let absolute = "/dev /dev/ /dev/outcrop-no-such-file /dev/outcrop-no-such-folder/runs/a /dev/shm/../outcrop-no-such-file \
                        /dev/stdout /dev/fd/1 /proc/self/fd/1 /proc/outcrop /sys/outcrop";
        let links = "stdout twice nothing devices devices/a devices/a/b";
        // An absolute name stays what it is.
        for refused in absolute.split(' ').chain(links.split(' ')) {
            let error = check_place(&at(refused)).unwrap_err().to_string();
            assert!(
                error.contains("where Outcrop never creates files"),
                "{refused}: {error}"
            );
        }
        for (refused, says) in [
            ("/dev", "is the system's, where"),
            ("/dev/outcrop-no-such-file", "is under /dev, where"),
            ("devices", "is a link to /dev, where"),
            ("nothing", "is a link to a name under /dev, where"),
        ] {
            let error = check_place(&at(refused)).unwrap_err().to_string();
            assert!(error.starts_with(says), "{refused}: {error}");
        }
        for refused in ["missing/../devices/a", "new/../there", "dangling/../new"] {
            let error = check_place(&at(refused)).unwrap_err().to_string();
            assert_eq!(
                error, "has `..` after a folder that does not exist; write the path without it",
                "{refused}"
            );
        }
        std::fs::create_dir(at("folder")).unwrap();
        let error = check_place(&at("itself")).unwrap_err();
        assert_eq!(error.to_string(), "leads through too many links");
        for allowed in [
            "there",
            "beside",
            "dangling",
            "new",
            "new/deep",
            "working/new",
            "folder/../new/deep",
        ] {
            check_place(&at(allowed)).unwrap();
        }
        for allowed in [
            "here",
            "./runs/a",
            "/device",
            "/dev/shm",
            "/dev/shm/outcrop",
            "/proc/self/cwd/a",
            "/",
        ] {
            check_place(Path::new(allowed)).unwrap();
        }
    }
}
