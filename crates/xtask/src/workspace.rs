//! The checkout as the rules see it: its folder, its crates and the text of its files.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use cargo_metadata::{Metadata, MetadataCommand};

use crate::command;

/// One file of the checkout.
#[derive(Clone, Debug)]
pub(crate) struct SourceFile {
    /// Path relative to the checkout, with `/`.
    pub(crate) path: String,
    /// Nothing where the file is not UTF-8: a picture can be linked to, and has no text for a rule.
    pub(crate) text: String,
}

/// A crate of this workspace.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    /// Name of the folder that holds its manifest.
    pub(crate) folder: String,
    /// `package.metadata.outcrop.rank`, if it is there and a number.
    pub(crate) rank: Option<i64>,
    /// Names of the workspace crates it depends on, for whatever purpose.
    pub(crate) dependencies: Vec<String>,
}

/// This checkout.
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
    /// The resolved dependency graph for this machine's platform.
    pub(crate) metadata: Metadata,
}

impl Workspace {
    /// Asks cargo about the workspace that the working directory is in.
    ///
    /// # Errors
    /// cargo or rustc fails; the message has what it said.
    pub(crate) fn load() -> Result<Self> {
        let version = command::output(Command::new("rustc").arg("-vV"))?;
        let host = version
            .lines()
            .find_map(|line| line.strip_prefix("host: "))
            .context("rustc -vV names no host")?;
        let options = ["--filter-platform".to_owned(), host.to_owned()];
        let metadata = MetadataCommand::new()
            .other_options(options)
            .exec()
            .context("cargo metadata failed")?;
        Ok(Self {
            root: metadata.workspace_root.clone().into(),
            target: metadata.target_directory.clone().into(),
            metadata,
        })
    }

    /// Every crate of the workspace, by name.
    pub(crate) fn members(&self) -> Vec<Member> {
        let packages = self.metadata.workspace_packages();
        let mut members: Vec<Member> = packages
            .iter()
            .map(|package| Member {
                name: package.name.to_string(),
                folder: package
                    .manifest_path
                    .parent()
                    .and_then(|folder| folder.file_name())
                    .unwrap_or("")
                    .to_owned(),
                rank: package.metadata["outcrop"]["rank"].as_i64(),
                dependencies: (package.dependencies.iter())
                    .filter(|dependency| dependency.path.is_some())
                    .map(|dependency| dependency.name.clone())
                    .collect(),
            })
            .collect();
        members.sort_by(|a, b| a.name.cmp(&b.name));
        members
    }

    /// Every file that git tracks or would track.
    ///
    /// # Errors
    /// git fails.
    pub(crate) fn files(&self) -> Result<Vec<SourceFile>> {
        // A checkout that another user owns (a container's volume) is read all the same: nothing is run from it.
        let mut git = Command::new("git");
        git.current_dir(&self.root)
            .args(["-c", "safe.directory=*", "ls-files", "-z"]);
        git.args(["--cached", "--others", "--exclude-standard"]);
        let listing = command::output(&mut git)?;
        let paths = listing.split('\0').filter(|path| !path.is_empty());
        let mut files: Vec<SourceFile> = paths
            .filter_map(|path| {
                // Listed, but deleted in the working tree: left out.
                let bytes = std::fs::read(self.root.join(path)).ok()?;
                let text = String::from_utf8(bytes).unwrap_or_default();
                Some(SourceFile {
                    path: path.to_owned(),
                    text,
                })
            })
            .collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.dedup_by(|a, b| a.path == b.path);
        Ok(files)
    }
}
