//! Where the column files of an encode go: one file, or one for each of several columns.

use crate::exit::bad_input;
use crate::output_file::refuse_system_folder;
use anyhow::Context as _;
use std::path::{Path, PathBuf};

/// What a column's name stands for in `-o`.
const NAME: &str = "{}";

/// The files for columns of these names, all different.
pub(super) fn outputs(output: &Path, names: &[&str]) -> anyhow::Result<Vec<PathBuf>> {
    let text = output.to_string_lossy();
    let is_folder = output.is_dir() || text.ends_with('/');
    let is_pattern = text.contains(NAME);
    if !is_folder && !is_pattern {
        return match names {
            [_] => Ok(vec![output.to_owned()]),
            _ => Err(bad_input(anyhow::anyhow!(
                "{} columns need one file each; give -o a folder (-o columns/), or a name with {NAME} where the column's name goes (-o 'trips-{NAME}.ocol')",
                names.len()
            ))),
        };
    }
    if is_folder {
        refuse_system_folder("-o", output)?;
        std::fs::create_dir_all(output)
            .with_context(|| format!("cannot make the folder {}", output.display()))
            .map_err(bad_input)?;
    }
    let mut files: Vec<PathBuf> = Vec::with_capacity(names.len());
    for name in names {
        let safe = file_name(name);
        let file = if is_folder {
            output.join(format!("{safe}.ocol"))
        } else {
            PathBuf::from(text.replace(NAME, &safe))
        };
        if files.contains(&file) {
            return Err(bad_input(anyhow::anyhow!(
                "two columns would be written to {}; encode them separately, with -o FILE",
                file.display()
            )));
        }
        files.push(file);
    }
    Ok(files)
}

/// A column's name as a part of a file's: it leads into no other folder, and hides nothing.
fn file_name(column: &str) -> String {
    let safe: String = column
        .chars()
        .map(|letter| {
            if letter == '/' || letter.is_control() {
                '_'
            } else {
                letter
            }
        })
        .collect();
    if safe.is_empty() || safe.starts_with('.') {
        return format!("_{safe}");
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_several_columns_has_a_file_of_its_own_in_the_folder_or_by_the_pattern() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("new/");
        let files = outputs(&folder, &["zone", "../x", ".hidden", ""]).unwrap();
        let expected = ["zone.ocol", "_.._x.ocol", "_.hidden.ocol", "_.ocol"].map(|name| folder.join(name));
        assert_eq!(files, expected);
        let by_pattern = outputs(Path::new("t-{}.ocol"), &["a", "b"]).unwrap();
        assert_eq!(by_pattern, [Path::new("t-a.ocol"), Path::new("t-b.ocol")]);
        assert_eq!(
            outputs(Path::new("one.ocol"), &["a"]).unwrap(),
            [Path::new("one.ocol")]
        );
        let refused = outputs(Path::new("one.ocol"), &["a", "b"]).unwrap_err();
        assert!(
            format!("{refused:#}").contains("2 columns need one file each"),
            "{refused:#}"
        );
        let refused = outputs(Path::new("{}.ocol"), &["a/b", "a_b"]).unwrap_err();
        assert!(
            format!("{refused:#}").contains("two columns would be written to"),
            "{refused:#}"
        );
    }
}
