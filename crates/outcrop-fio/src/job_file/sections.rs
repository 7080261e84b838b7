//! The form of job files: sections of options, `[global]` ones that hold for those behind them, comments, `include`.
//!
//! *Source*: fio's HOWTO, "Job file format".

use std::path::Path;

use outcrop_probe::user_file;

use crate::error::FioError;
use crate::options::Options;

/// A job file has some kilobytes.
const MOST_BYTES: u64 = 1 << 20;
/// Files that include files.
const MOST_LEVELS: usize = 8;
/// Jobs of a file, those of included ones too.
const MOST_SECTIONS: usize = 1000;

/// A job with what holds for it.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) at: String,
    pub(super) options: Options,
}

/// The jobs of a file, and what is wrong with its form, each with its place.
pub(super) fn read(
    path: &Path,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(Vec<Section>, Vec<String>), FioError> {
    let mut reader = Reader {
        variable,
        global: Options::default(),
        sections: Vec::new(),
        problems: Vec::new(),
        place: Place::Nowhere,
    };
    reader.read(path, 0)?;
    Ok((reader.sections, reader.problems))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Before the first section.
    Nowhere,
    Global,
    Job,
}

struct Reader<'v> {
    variable: &'v dyn Fn(&str) -> Option<String>,
    global: Options,
    sections: Vec<Section>,
    problems: Vec<String>,
    place: Place,
}

impl Reader<'_> {
    fn read(&mut self, path: &Path, level: usize) -> Result<(), FioError> {
        let text = user_file::read_text(path, MOST_BYTES, "a job file");
        let text = text.map_err(FioError::io("read", path))?;
        let refuse = |reason: String| FioError::JobFile {
            problems: vec![format!("{}: {reason}", path.display())],
        };
        for (line, text) in (1..).zip(text.lines()) {
            let at = format!("{}:{line}", path.display());
            self.read_line(text.trim(), &at, path, level)?;
            if self.sections.len() > MOST_SECTIONS {
                return Err(refuse(format!("it has more than {MOST_SECTIONS} jobs")));
            }
        }
        Ok(())
    }

    fn read_line(&mut self, line: &str, at: &str, path: &Path, level: usize) -> Result<(), FioError> {
        if line.is_empty() || line.starts_with(';') || line.starts_with('#') {
            return Ok(());
        }
        if let Some(rest) = line.strip_prefix('[') {
            match rest.split_once(']') {
                Some((name, _)) => self.open(name.trim(), at),
                None => self.problems.push(format!(
                    "{at}: `{line}` opens a section but does not close it; expected [NAME]"
                )),
            }
            return Ok(());
        }
        if let Some(included) = line.strip_prefix("include ") {
            let included = path.parent().unwrap_or(Path::new(".")).join(included.trim());
            if level == MOST_LEVELS {
                self.problems
                    .push(format!("{at}: more than {MOST_LEVELS} files include each other"));
                return Ok(());
            }
            return match self.read(&included, level + 1) {
                Err(FioError::Io { cause, .. }) => {
                    self.problems
                        .push(format!("{at}: cannot include {}: {cause}", included.display()));
                    Ok(())
                }
                read => read,
            };
        }
        // Behind an option, too, `;` and `#` begin a comment.
        let option = line.split([';', '#']).next().unwrap_or_default().trim_end();
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let value = self.expand(value, at);
        match (self.place, self.sections.last_mut()) {
            (Place::Global, _) => self.global.set(name, &value, at),
            (Place::Job, Some(section)) => section.options.set(name, &value, at),
            _ => self.problems.push(format!(
                "{at}: `{line}` comes before the first section; begin with [global] or [NAME]"
            )),
        }
        Ok(())
    }

    /// `[global]` begins with what earlier ones said, a job with what is global.
    fn open(&mut self, name: &str, at: &str) {
        if name == "global" {
            self.place = Place::Global;
            return;
        }
        self.place = Place::Job;
        self.sections.push(Section {
            name: name.to_owned(),
            at: at.to_owned(),
            options: self.global.clone(),
        });
    }

    /// Puts in what the environment has for `${NAME}`.
    fn expand(&mut self, value: &str, at: &str) -> String {
        let mut expanded = String::new();
        let mut rest = value;
        while let Some((before, behind)) = rest.split_once("${") {
            expanded.push_str(before);
            let Some((name, behind)) = behind.split_once('}') else {
                self.problems
                    .push(format!("{at}: `{value}` opens `${{` but does not close it"));
                return value.to_owned();
            };
            match (self.variable)(name) {
                Some(text) => expanded.push_str(&text),
                None => self
                    .problems
                    .push(format!("{at}: the environment has no {name}; set it, as for fio")),
            }
            rest = behind;
        }
        expanded.push_str(rest);
        expanded
    }
}
