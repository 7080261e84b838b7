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

/// What is so of every job of Outcrop. fio repeats no block before it has been everywhere, and reserves the space of a file that it
/// only writes; Outcrop draws each block anew, and writes its file in full first.
const GLOBAL: &str = "[global]\ntime_based\ngroup_reporting\nnorandommap\noverwrite=1\nlat_percentiles=1\nclat_percentiles=0\n";
/// Where the files are that fio makes. No option says it: the path of the machine that was measured need not be one where the file is run.
const OF_PLACE: &str = "\
; the directory is left out too: a section that names no path makes its own file in fio's working directory,
; which may be on another disk, and fio leaves it there unless unlink=1 is in the section
";
/// How the subject of results begins whose files have no name.
const FILES_OF_FIO: &str = "files of fio";
/// What a ring of Outcrop's has, where the kernel grants it.
const OF_RINGS: &str = "fixedbufs\nregisterfiles\n";

/// The cells of a run of devices as a job file.
///
/// A job that writes has its `filename` behind a `;`, so that the file overwrites nothing as it stands: fio makes files in its
/// working directory then. Where several jobs share a span, they have one name for all, since fio gives each job a file of the whole
/// size otherwise. Files that fio makes are in its working directory too, which the head says, and are removed unless somebody may put the
/// name of a file of theirs in that section. Results may come from anywhere, so engines and options that are not known to do nothing but reads and writes
/// of that file are left out and named; a cell whose engine may do more is left out as a whole.
///
/// # Errors
/// When the run has no cell of the device layer.
pub fn export_jobs(run: &RunView) -> Result<ExportedJobs, FioError> {
    let mut exported = ExportedJobs {
        text: String::new(),
        left_out: Vec::new(),
    };
    let (mut is_any_made, mut is_any_named) = (false, false);
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
        let place = place(options.value("filename"), options.mix, shared.as_deref());
        let is_scratch = is_scratch(options.value("filename"));
        is_any_named |= !is_scratch;
        is_any_made |= is_scratch || place.starts_with(';');
        let mut section = format!("\n[{name}]\nstonewall\n");
        for (name, value) in options.iter() {
            match name {
                "filename" => section.push_str(&place),
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
    if count == 0 {
        return Err(FioError::NothingToExport {
            run: run.name.clone(),
        });
    }
    let run_name = run.name.escape_debug();
    let mut head = format!("; the cells of {run_name}; warm-ups are left out (ramp_time)\n");
    if is_any_made {
        head.push_str(OF_PLACE);
    }
    head.push_str(GLOBAL);
    // fio puts it before every name, so that a section with a name of its own would be about another file.
    if is_any_made && !is_any_named {
        head.push_str(&directory(run));
    }
    exported.text.insert_str(0, &head);
    Ok(exported)
}

/// The directory of a run as a comment that gives the option, where the run's plan names it.
fn directory(run: &RunView) -> String {
    let plan: toml::Table = run.plan.parse().unwrap_or_default();
    let named = plan.get("run").and_then(|of_run| of_run.get("directory"));
    match named.and_then(toml::Value::as_str) {
        None => String::new(),
        Some(path) if !is_harmless_path(path) => {
            "; the name of the run's directory has letters that mean more to fio\n".to_owned()
        }
        Some(path) => format!(
            "; the directory of the run; without the ; fio uses it:\n; directory={}\n",
            path.replace(':', "\\:")
        ),
    }
}

/// Whether the file of a job was made for it, by Outcrop or by fio.
fn is_scratch(subject: &str) -> bool {
    subject.starts_with(Kind::ScratchFile.name()) || subject.starts_with(FILES_OF_FIO)
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
    if is_scratch(subject) {
        return match shared {
            Some(_) => scratch,
            None => "unlink=1\n".to_owned(),
        };
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
            ("scratch-file 1GiB, preconditioned 2×", "unlink=1\n"),
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
            ("files of fio in d", "unlink=1\n"),
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
