//! How many job files of a folder Outcrop accepts, and what stands in the way of the others: the table in `docs/from-fio.md`.
//!
//! `cargo run --example job_files -- /usr/share/doc/fio/examples [--in-turn]`

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use outcrop_fio::FioError;
use outcrop_fio::job_file::{AtOnce, read};

#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args()
        .nth(1)
        .ok_or("give the folder of the job files")?;
    let at_once = match std::env::args().any(|argument| argument == "--in-turn") {
        true => AtOnce::InTurn,
        false => AtOnce::Refused,
    };
    let entries = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    let mut paths: Vec<PathBuf> = entries.iter().map(std::fs::DirEntry::path).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "fio"));
    paths.sort();
    let mut accepted = Vec::new();
    let mut in_the_way: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in &paths {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        match read(path, at_once, &|_| Some("1m".to_owned())) {
            Ok(_) => accepted.push(name),
            Err(FioError::JobFile { problems }) => {
                for problem in problems {
                    // Behind file and line: `option=value: why`, or a sentence.
                    let text = problem.splitn(3, ':').nth(2).unwrap_or_default().trim();
                    let option = match text.starts_with('[') {
                        true if text.contains("buffered") => "buffered I/O (no `direct=1`)",
                        true => "jobs at the same time (no `stonewall`)",
                        false => text.split(['=', ':']).next().unwrap_or_default(),
                    };
                    in_the_way
                        .entry(option.to_owned())
                        .or_default()
                        .insert(name.clone());
                }
            }
            Err(other) => println!("{name}: {other}"),
        }
    }
    println!(
        "{} of {} files are accepted: {}\n",
        accepted.len(),
        paths.len(),
        accepted.join(", ")
    );
    println!("| reason | files |\n|---|---:|");
    let mut rows: Vec<_> = in_the_way.into_iter().collect();
    rows.sort_by_key(|(option, files)| (std::cmp::Reverse(files.len()), option.clone()));
    for (option, files) in rows {
        println!("| {option} | {} |", files.len());
    }
    Ok(())
}
