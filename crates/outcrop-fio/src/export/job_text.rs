//! The cells of a run as a job file: what fio would be asked for the same figures.

use std::fmt::Write as _;

use outcrop_results::RunView;
use outcrop_schema::device::{self, Kind};

use super::options;
use crate::error::FioError;

/// A job file, and the cells that it cannot have.
#[derive(Clone, Debug)]
pub struct ExportedJobs {
    /// The job file: a section for each cell, one after the other.
    pub text: String,
    /// Cells that have no counterpart, each in a sentence with the reason.
    pub left_out: Vec<String>,
}

/// What is so of every job of Outcrop. fio repeats no block before it has been everywhere; Outcrop draws each anew.
const GLOBAL: &str =
    "[global]\ntime_based\ngroup_reporting\nnorandommap\nlat_percentiles=1\nclat_percentiles=0\n";
/// What a ring of Outcrop's has, where the kernel grants it.
const OF_RINGS: &str = "fixedbufs\nregisterfiles\n";

/// The cells of a run of devices as a job file.
///
/// A job that would overwrite a device has its `filename` behind a `;`, so that the file writes to no device as it stands.
///
/// # Errors
/// When the run has no cell of the device layer.
pub fn export_jobs(run: &RunView) -> Result<ExportedJobs, FioError> {
    let mut exported = ExportedJobs {
        text: format!(
            "; the cells of {}; warm-ups are left out (ramp_time)\n{GLOBAL}",
            run.name
        ),
        left_out: Vec::new(),
    };
    let mut count = 0;
    for cell in run
        .cells()
        .iter()
        .filter(|cell| cell.layer == device::SCHEMA.name)
    {
        count += 1;
        let options = match options::of(cell) {
            Ok(options) => options,
            Err(why) => {
                let label = device::SCHEMA.label(&device::SCHEMA.read(cell.factors));
                exported.left_out.push(format!("{label}: {why}"));
                continue;
            }
        };
        let mut section = format!("\n[{}-{count}]\nstonewall\n", options.file_name());
        for (name, value) in options.iter() {
            match name {
                "filename" => section.push_str(&place(value)),
                _ => _ = writeln!(section, "{name}={value}"),
            }
        }
        if options.value("ioengine") == "io_uring" {
            section.push_str(OF_RINGS);
        }
        let duration_s = cell.completed.first().map_or(0.0, |trial| trial.duration_s);
        _ = writeln!(section, "runtime={}ms", (duration_s * 1e3).round());
        exported.text.push_str(&section);
    }
    match count {
        0 => Err(FioError::NothingToExport {
            run: run.name.clone(),
        }),
        _ => Ok(exported),
    }
}

/// Where a job reads or writes: nowhere in particular for a scratch file, which fio makes in its working directory.
fn place(subject: &str) -> String {
    let path = |kind: Kind| {
        let named = subject.strip_prefix(kind.name())?.trim_start();
        // `PATH SIZE`, and the state behind a comma.
        let named = named.split_once(", ").map_or(named, |(named, _)| named);
        named.rsplit_once(' ').map(|(path, _)| path)
    };
    if subject.starts_with(Kind::ScratchFile.name()) {
        return String::new();
    }
    match (path(Kind::ReadOnly), path(Kind::Destroyed)) {
        (Some(path), _) => format!("filename={path}\n"),
        (_, Some(path)) => format!("; overwrites the device: filename={path}\n"),
        _ => format!("filename={subject}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn a_subject_is_the_file_of_a_job_and_a_device_that_is_overwritten_is_only_named() {
        for (subject, line) in [
            ("scratch-file 1GiB, preconditioned 2×", ""),
            ("read-only /mnt/my data 64MiB", "filename=/mnt/my data\n"),
            (
                "destroyed-device /dev/nvme1n1 1GiB, preconditioned 2×",
                "; overwrites the device: filename=/dev/nvme1n1\n",
            ),
            ("/mnt/of/fio", "filename=/mnt/of/fio\n"),
        ] {
            assert_eq!(place(subject), line, "{subject}");
        }
    }
}
