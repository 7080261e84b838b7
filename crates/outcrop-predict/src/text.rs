//! Applications, components and measurements as people write them: TOML, or CSV with the same names.
//!
//! Both become [`Entry`]s, lists of fields, which one parser reads. A name that is not known is an error with the name that is nearest.

mod entry;
mod quantity;
mod read;

use crate::application::Application;
use crate::component::Component;
use entry::Entry;

/// Why a file of applications, components or measurements could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct FileError {
    /// Line or entry, and the key where there is one.
    pub place: String,
    /// What is wrong, and what is expected.
    pub problem: String,
}

impl FileError {
    fn at(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            problem: problem.into(),
        }
    }
}

/// What was measured of an application with a component.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The application's name.
    pub application: String,
    /// The component's name.
    pub component: String,
    /// The number of clients; none where one load alone is predicted.
    pub clients: Option<u32>,
    /// The figure.
    pub figure: MeasuredFigure,
}

/// A figure of an application, in one of the forms that publications have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MeasuredFigure {
    /// Operations per second.
    Throughput(f64),
    /// Mean time of an operation, in nanoseconds.
    Latency(f64),
    /// Bytes per second.
    Bandwidth(f64),
}

/// Reads applications from the text of a TOML or CSV file.
///
/// # Errors
/// [`FileError`] with the place, the value seen and what is expected.
pub fn applications(text: &str) -> Result<Vec<Application>, FileError> {
    entries(text, "application")?
        .into_iter()
        .map(read::application)
        .collect()
}

/// Reads components from the text of a TOML or CSV file. Entries with one name become one component: each adds its block size.
/// The second list has sentences about what was not stated or not used.
///
/// # Errors
/// [`FileError`] with the place, the value seen and what is expected.
pub fn components(text: &str) -> Result<(Vec<Component>, Vec<String>), FileError> {
    let mut notes = Vec::new();
    let mut components: Vec<Component> = Vec::new();
    let entries = entries(text, "component")?;
    let is_list = entries.iter().any(Entry::is_list);
    for entry in entries {
        let place = entry.place.clone();
        let (mut component, own_place) = read::component(entry, &mut notes)?;
        match components.iter_mut().find(|known| known.name == component.name) {
            Some(known) => {
                component.place = own_place.unwrap_or(known.place);
                read::join(known, component).map_err(|problem| FileError::at(place, problem))?;
            }
            None => {
                if own_place.is_none() {
                    notes.push(format!(
                        "{}: place is not given, so it counts as an accelerator",
                        component.name
                    ));
                }
                components.push(component);
            }
        }
    }
    if is_list {
        let (complete, empty) = components.into_iter().partition(Component::has_figures);
        components = complete;
        let name = |component: Component| {
            format!(
                "{}: it has no latency and no throughput, and is left out",
                component.name
            )
        };
        notes.extend(Vec::into_iter(empty).map(name));
    }
    for component in &components {
        read::check_complete(component)?;
    }
    Ok((components, notes))
}

/// Reads measurements from the text of a TOML or CSV file.
///
/// # Errors
/// [`FileError`] with the place, the value seen and what is expected.
pub fn measured(text: &str) -> Result<Vec<Measured>, FileError> {
    entries(text, "measured")?
        .into_iter()
        .map(read::measurement)
        .collect()
}

/// The entries of a file: `[[kind]]` tables of TOML, or rows of CSV.
fn entries(text: &str, kind: &str) -> Result<Vec<Entry>, FileError> {
    let entries = if is_csv(text) {
        entry::of_csv(text, kind)?
    } else {
        entry::of_toml(text, kind)?
    };
    if entries.is_empty() {
        return Err(FileError::at(
            "file",
            format!("it has no {kind}; expected [[{kind}]] tables, or CSV with a header"),
        ));
    }
    Ok(entries)
}

/// CSV begins with a header: names and commas, and no `=` or `[`.
fn is_csv(text: &str) -> bool {
    let has_text = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let first = text.lines().map(str::trim).find(has_text);
    first.is_some_and(|line| line.contains(',') && !line.contains(['=', '[']))
}
