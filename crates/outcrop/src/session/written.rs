//! Where a report and the cells of a run are written, and what happens where they cannot be.

use std::path::Path;

use outcrop_report::{Paths, Report, ReportError};
use outcrop_results::layout::JOURNAL_FILE;
use outcrop_results::{ResultsError, RunView, cells};

use super::Destination;
use crate::exit::bad_input;
use crate::output::note;
use crate::output_file::refuse_system_folder;

/// Writes both for the run in `dir`; no paths where that folder cannot be written and need not be.
pub(super) fn write(
    view: &RunView,
    report: &Report,
    dir: &Path,
    destination: Destination<'_>,
) -> anyhow::Result<Option<Paths>> {
    let folder = match destination {
        Destination::Folder(folder) => folder,
        _ => dir,
    };
    let cells_written = match destination {
        Destination::Discarded => Ok(()),
        _ => write_cells(view, folder, destination),
    };
    let written = cells_written.and_then(|()| Ok(outcrop_report::write(report, folder)?));
    match (written, destination) {
        (Ok(paths), _) => Ok(Some(paths)),
        (Err(error), Destination::RunIfWritable) if is_read_only(&error) => {
            note(&format!(
                "warning: {} cannot be written, so its report is unchanged; --output DIR writes it to another folder",
                dir.display()
            ));
            Ok(None)
        }
        (Err(error), _) => Err(error),
    }
}

/// Writes the cells of a run; a folder that the user names is made where it does not exist.
fn write_cells(view: &RunView, folder: &Path, destination: Destination<'_>) -> anyhow::Result<()> {
    if matches!(destination, Destination::Folder(_)) {
        let refused = |why: String| bad_input(anyhow::anyhow!("--output {}: {why}", folder.display()));
        // A run keeps its own report: replaced by another's, it would be of cells that the run does not have.
        if folder.join(JOURNAL_FILE).exists() && !is_same(folder, &view.dir) {
            return Err(refused(
                "it is the folder of another run; name another folder".to_owned(),
            ));
        }
        // Figures of an earlier report are replaced, so that what is there has to be one.
        if folder.join("figures").exists() && !folder.join("report.html").exists() {
            return Err(refused(
                "its folder `figures` does not belong to a report; name another folder".to_owned(),
            ));
        }
        refuse_system_folder("--output", folder)?;
        std::fs::create_dir_all(folder).map_err(|error| refused(error.to_string()))?;
    }
    Ok(cells::write_files(view, folder)?)
}

/// Whether two paths lead to one folder.
fn is_same(one: &Path, other: &Path) -> bool {
    let [one, other] = [one, other].map(|path| std::fs::canonicalize(path).ok());
    one.is_some() && one == other
}

/// Whether something could not be written because nothing can be there, or not by this user.
fn is_read_only(error: &anyhow::Error) -> bool {
    use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    // Errors of results name their cause and have no chain.
    let of_results = |error: &ResultsError| match error {
        ResultsError::Io { cause, .. } => Some(cause.kind()),
        _ => None,
    };
    let kind = match error.downcast_ref::<ReportError>() {
        Some(ReportError::Write(error)) => of_results(error),
        Some(ReportError::Io { source, .. }) => Some(source.kind()),
        Some(_) => None,
        None => error.downcast_ref::<ResultsError>().and_then(of_results),
    };
    matches!(kind, Some(PermissionDenied | ReadOnlyFilesystem))
}
