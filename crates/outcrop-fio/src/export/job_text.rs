//! The cells of a run as a job file: what fio would be asked for the same figures.

use std::fmt::Write as _;

use outcrop_measure::ByteSize;
use outcrop_results::factors::NOT_STATED;
use outcrop_results::{CellView, RunView};
use outcrop_schema::device::{self, Kind};
use outcrop_workload::ReadWriteMix;

use super::harmless::{is_harmless, is_harmless_engine, is_harmless_path};
use super::options;
use crate::error::FioError;
use crate::quantity::bytes;

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
/// How the subject of results begins whose files have no name.
const FILES_OF_FIO: &str = "files of fio";
/// What a ring of Outcrop's has, where the kernel grants it.
const OF_RINGS: &str = "fixedbufs\nregisterfiles\n";

/// The cells of a run of devices as a job file.
///
/// A job that writes has its `filename` behind a `;`, so that the file overwrites nothing as it stands: fio makes files in its
/// working directory then. Where several jobs share a span, they have one name for all, since fio gives each job a file of the whole
/// size otherwise. Results may come from anywhere, so engines and options that are not known to do nothing but reads and writes
/// of that file are left out and named; a cell whose engine may do more is left out as a whole.
///
/// # Errors
/// When the run has no cell of the device layer.
pub fn export_jobs(run: &RunView) -> Result<ExportedJobs, FioError> {
    let mut exported = ExportedJobs {
        text: format!(
            "; the cells of {}; warm-ups are left out (ramp_time)\n{GLOBAL}",
            run.name.escape_debug()
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
                exported.left_out.push(format!("{}: {why}", label(cell)));
                continue;
            }
        };
        let engine = options.value("ioengine");
        let is_stated = engine != NOT_STATED;
        if is_stated && !is_harmless_engine(engine) {
            exported.left_out.push(format!(
                "{}: a job with ioengine={} may run programs or load libraries",
                label(cell),
                engine.escape_debug()
            ));
            continue;
        }
        let name = format!("{}-{count}", options.file_name());
        let jobs = options.value("numjobs").parse::<u64>().unwrap_or(1).max(1);
        let own_size = own_size(options.value("filename"), options.value("size"), jobs);
        let shared = (jobs > 1 && own_size.is_none()).then(|| format!("outcrop-{name}.scratch"));
        let mut section = format!("\n[{name}]\nstonewall\n");
        for (name, value) in options.iter() {
            match name {
                "filename" => section.push_str(&place(value, options.mix, shared.as_deref())),
                "size" => _ = writeln!(section, "size={}", own_size.as_deref().unwrap_or(value)),
                "ioengine" if !is_stated => {}
                _ if is_harmless(name, value) => _ = writeln!(section, "{name}={value}"),
                _ => _ = writeln!(section, "; left out: {}", name.escape_debug()),
            }
        }
        if engine == "io_uring" {
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

fn label(cell: &CellView<'_>) -> String {
    device::SCHEMA.label(&device::SCHEMA.read(cell.factors))
}

/// The size of the file that each job had for itself, where fio made the files: the span is that of all of them. None where the jobs
/// shared a file, or the span has no such part.
fn own_size(subject: &str, span: &str, jobs: u64) -> Option<String> {
    let span = bytes(span, false).ok()?;
    let is_own = subject.starts_with(FILES_OF_FIO) && span.is_multiple_of(jobs);
    is_own.then(|| options::size_of(ByteSize(span / jobs)))
}

/// Where a job reads or writes: for a scratch file, nowhere in particular, so that fio makes one in its working directory, or a file
/// there with the name that several jobs share.
fn place(subject: &str, mix: ReadWriteMix, shared: Option<&str>) -> String {
    let path = |kind: Kind| {
        let named = subject.strip_prefix(kind.name())?.trim_start();
        // `PATH SIZE`, and the state behind a comma.
        let named = named.split_once(", ").map_or(named, |(named, _)| named);
        named.rsplit_once(' ').map(|(path, _)| path)
    };
    // fio removes it as Outcrop does: a file that is there would not be a scratch file to `outcrop device --job`.
    let scratch = shared.map_or_else(String::new, |name| format!("filename={name}\nunlink=1\n"));
    // Results of fio without a name say where its files were.
    if subject.starts_with(Kind::ScratchFile.name()) || subject.starts_with(FILES_OF_FIO) {
        return scratch;
    }
    let path = path(Kind::ReadOnly)
        .or_else(|| path(Kind::Destroyed))
        .unwrap_or(subject);
    if !is_harmless_path(path) {
        return format!("; the name of the file has letters that mean more to fio\n{scratch}");
    }
    // fio takes a colon for the end of a name.
    let path = path.replace(':', "\\:");
    match (mix == ReadWriteMix::READ_ONLY, shared) {
        (true, _) => format!("filename={path}\n"),
        (false, None) => format!("; overwrites what is there: filename={path}\n"),
        // fio uses the files of both lines if both are given. It must not remove the file at the path, so there is no `unlink`.
        (false, Some(name)) => format!(
            "; overwrites what is there; put it in place of the next line: filename={path}\nfilename={name}\n"
        ),
    }
}

#[cfg(test)]
mod tests {
    use outcrop_workload::ReadWriteMix;

    use super::place;

    #[test]
    fn a_subject_is_the_file_of_a_job_that_reads() {
        for (subject, line) in [
            ("scratch-file 1GiB, preconditioned 2×", ""),
            ("read-only /mnt/my data 64MiB", "filename=/mnt/my data\n"),
            (
                "destroyed-device /dev/nvme1n1 1GiB, preconditioned 2×",
                "filename=/dev/nvme1n1\n",
            ),
            ("/mnt/of/fio", "filename=/mnt/of/fio\n"),
            (
                "/dev/disk/by-path/pci-0000:01",
                "filename=/dev/disk/by-path/pci-0000\\:01\n",
            ),
            ("files of fio in d", ""),
            (
                "a\nexec_prerun=sh",
                "; the name of the file has letters that mean more to fio\n",
            ),
        ] {
            assert_eq!(place(subject, ReadWriteMix::READ_ONLY, None), line, "{subject}");
        }
    }

    #[test]
    fn what_a_job_would_overwrite_is_only_named() {
        for subject in [
            "/dev/nvme0n1",
            "destroyed-device /dev/nvme0n1 1GiB",
            "read-only /dev/nvme0n1 1GiB",
        ] {
            for mix in [ReadWriteMix::WRITE_ONLY, "70:30".parse().expect("a mix")] {
                let line = place(subject, mix, None);
                assert_eq!(
                    line, "; overwrites what is there: filename=/dev/nvme0n1\n",
                    "{subject}"
                );
            }
        }
    }
}
