//! `outcrop device`: one layer, one-off, a flag for each factor.

mod job_file;

use super::factor_flags::{FactorFlags, Given, OneOff, Spell, contradiction};
use super::fio_words::{self, FioWords};
use super::plan_flags::PlanFlags;
use crate::exit::{Ending, bad_input};
use crate::output::note;
use crate::session;
use outcrop_fio::job_file::AtOnce;
use outcrop_lab::{Draft, PlanOptions, PlanSet};
use outcrop_measure::units::{ByteSize, TimeSpan};
use outcrop_report::quoted;
use outcrop_schema::{FactorRef, LayerSchema, device};
use outcrop_workload::{EngineKind, Submission};
use std::path::{Path, PathBuf};

mod verify;

const EXAMPLES: &str = "\
Examples:
  outcrop device --queue-depth 1,32,256                        4 KiB random reads at three depths
  outcrop device --io-block-size 4k,64k --read-write-mix 70:30 --queue-depth 8
  outcrop device --read-only /dev/nvme0n1 --queue-depth 32     an existing device, never written
  outcrop device --arrival poisson:20k --queue-depth 64        open loop: latency from the schedule
  outcrop device --arrival poisson:50%,poisson:90%             shares of a closed loop's rate
  outcrop device --latency-parts apart --queue-depth 1         submission and completion apart
  outcrop device --read-write-mix 0:100 --sync none,each,dsync the cost of durable writes
  outcrop device --replay written --content compressible:2 --jobs 6 --queue-depth 256
                                             writes blocks, then reads the same ones in that order
  outcrop device /mnt/a --also /mnt/b --drives 1,2             one drive, and two at once
  outcrop device --peak --queue-depth 256                      the highest rate of the engine
  outcrop device --read-write-mix 0:100 --tbw 600TB --dry-run  what it costs in endurance
  outcrop device /dev/nvme1n1 --destroy S4EWNX0R1 --read-write-mix 0:100    overwrites the device
  outcrop device /dev/nvme1n1 --destroy S4EW1 --also /dev/nvme2n1 --destroy S4EW2 --drives 1,2
                                             overwrites both: one drive, and two at once
  outcrop device --engine noop --format json                   the cost of the measuring loop itself
  outcrop device --job nightly.fio --duration 10s              the jobs of a fio job file
  outcrop device --verify --size 4GiB --queue-depth 64         does it store what was written?
  outcrop device /dev/nvme1n1 --destroy S4EWNX0R1 --verify=write --seed 7     before a power cut
  outcrop device --read-only /dev/nvme1n1 --verify=check --seed 7             after it

--verify ends with exit code 1 if it finds a fault.

Several values, separated by commas, make a factor: every combination is a cell.
fio's option names work too (--rw randread --bs 4k --iodepth 32 --numjobs 4 --runtime 30s).
Common fio options without a counterpart are refused; the message says what to type instead.";

/// Measure a storage device, with a flag for each factor
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("repetitions", |arg| arg.help("Trials per cell [default: 5, or the job's with --job]")))]
#[command(mut_arg("warm_up", |arg| arg.help("Time before measuring starts in each trial [default: 200ms, or the job's with --job]")))]
#[command(mut_arg("duration", |arg| arg.help("Time measured in each trial [default: 1s, or the job's with --job]")))]
pub(crate) struct Args {
    /// A directory on the filesystem to measure (the scratch file is removed afterwards); with --destroy, a block device [default: . or, with --job, the `directory` that the job names]
    // Not as clap's default: a job file's directory has to give way to a `.` that was typed.
    #[arg(conflicts_with = "read_only")]
    path: Option<PathBuf>,
    /// Measure the jobs of a fio job file, one at a time; options without a counterpart are reported by line
    #[arg(long, value_name = "FILE", conflicts_with = "read_only")]
    job: Option<PathBuf>,
    /// With --job: measure jobs that fio would run at the same time (without `stonewall`) one after the other, each alone
    #[arg(long, requires = "job")]
    in_turn: bool,
    /// Measure an existing file or block device instead; it is opened for reading only
    #[arg(long, value_name = "FILE")]
    read_only: Option<PathBuf>,
    /// A directory on another drive, for another scratch file (with --read-only: another file or device; with --destroy:
    /// another device). All are loaded at the same time; results are per drive and in total. --drives 1,2 compares one with two
    #[arg(long, value_name = "PATH", conflicts_with_all = ["job", "verify"])]
    also: Vec<PathBuf>,
    /// Overwrite all data of the block device at PATH; NAME repeats its serial number or its name in /dev/disk/by-id (of a loop
    /// device: the path of its file). Refused while it or a part of it is mounted, swap, below another device or opened exclusively
    /// (O_EXCL), while another process that this user may look into has it open for writing, and while it holds a filesystem, a
    /// partition table, a volume or swap. With --also, repeat it for each device, in order; nothing is written until all are opened exclusively. With --job it names the device that jobs write to
    #[arg(long, value_name = "NAME", conflicts_with = "read_only")]
    destroy: Vec<String>,
    #[command(flatten)]
    factors: FactorFlags<Device>,
    /// The engine's highest rate: `--submission batch`, half a queue per system call. Between two calls fewer requests are in
    /// flight than the queue depth; latencies and the achieved depth are upper bounds. Buffers and files are registered either way
    #[arg(long, conflicts_with_all = ["job", "verify"])]
    peak: bool,
    /// Size of the file that is measured [default: the plan's, shown by --dry-run]
    #[arg(long, value_name = "BYTES")]
    size: Option<ByteSize>,
    /// Verify instead of measuring: write blocks that contain their address, pass and checksum, read them back, and report
    /// every fault by its offset. `write` and `check` do one half each, with the same --seed; each further `write` needs another
    /// seed, since with the same one it writes the same bytes, and a lost write leaves no trace
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "all", conflicts_with = "job")]
    verify: Option<verify::Half>,
    #[command(flatten)]
    fio: FioWords,
    #[command(flatten)]
    flags: PlanFlags,
}

#[derive(Debug)]
pub(crate) struct Device;

impl OneOff for Device {
    const SCHEMA: &'static LayerSchema = &device::SCHEMA;
    const ALIASES: &'static [(FactorRef, &'static str)] = fio_words::ALIASES;
    const SPELL: Spell = fio_words::SPELL;
}

/// A one-off answers soon: a trial of this length, five times. A fifth of it is a round of the steady-state rule.
pub(crate) const DURATION: TimeSpan = TimeSpan::milliseconds(1000);
pub(crate) const WARM_UP: TimeSpan = TimeSpan::milliseconds(200);

impl Args {
    fn path(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new("."))
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    args.fio.check_path(args.path())?;
    args.fio.check_foreign(&args.factors)?;
    if let Some(job) = &args.job {
        args.factors.none_with("--job").map_err(bad_input)?;
        args.fio.none_with("--job").map_err(bad_input)?;
        note_without_effect(args);
        let at_once = match args.in_turn {
            true => AtOnce::InTurn,
            false => AtOnce::Refused,
        };
        let given = job_file::Given {
            at_once,
            directory: args.path.as_deref(),
            size: args.size,
            destroy: &args.destroy,
            flags: &args.flags,
        };
        return job_file::run(job, given);
    }
    if let Some(half) = args.verify {
        args.fio.none_with("--verify").map_err(bad_input)?;
        if half != verify::Half::Write {
            args.fio.check_verify()?;
        }
        note_without_effect(args);
        return verify::run(args, half);
    }
    let set = planned(args)?;
    if args.peak {
        note(
            "note: --peak is --submission batch: a higher rate at a lower real depth; latencies are upper bounds",
        );
    }
    note_without_effect(args);
    session::start(&set, "device", &args.flags)
}

/// Says which of fio's options ask for what is so anyway.
fn note_without_effect(args: &Args) {
    if let Some(without_effect) = args.fio.without_effect() {
        note(&format!("note: {without_effect}"));
    }
}

/// What is measured; a device whose name was not typed is refused with what to type.
fn planned(args: &Args) -> anyhow::Result<PlanSet> {
    let (warm_up, duration) = args.fio.times(&args.flags)?;
    let options = PlanOptions {
        directory: (!is_device(args)).then(|| args.path().to_owned()),
        size: args.size,
        warm_up: warm_up.or(Some(WARM_UP)),
        duration: duration.or(Some(DURATION)),
        ..args.flags.options()
    };
    let set = PlanSet::from_drafts(vec![draft(args)?], &options);
    set.map_err(|error| match args.destroy.is_empty() {
        true if is_device(args) => bad_input(anyhow::anyhow!(
            "{error}; `outcrop device --read-only {}` only reads it",
            quoted(&args.path().to_string_lossy())
        )),
        _ => session::lab_error(error),
    })
}

/// Whether the argument is a device to be overwritten, or something that only could be one.
fn is_device(args: &Args) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    let is_there = || std::fs::metadata(args.path()).is_ok_and(|found| found.file_type().is_block_device());
    args.read_only.is_none() && (!args.destroy.is_empty() || is_there())
}

fn draft(args: &Args) -> anyhow::Result<Draft> {
    let mut draft = Draft::new(
        "device",
        "What does this device deliver?",
        device::SCHEMA.name,
        "outcrop device",
    );
    draft = match &args.read_only {
        // A device without a name is refused with the name that it has.
        None if is_device(args) => {
            let device = draft
                .with_subject(&device::KIND, device::Kind::Destroyed.name(), "PATH")
                .with_subject(&device::PATH, &args.path().to_string_lossy(), "PATH");
            match args.destroy.join(device::BETWEEN_DRIVES) {
                names if names.is_empty() => device,
                names => device.with_subject(&device::DESTROY, &names, "--destroy"),
            }
        }
        Some(path) => draft
            .with_subject(&device::KIND, device::Kind::ReadOnly.name(), "--read-only")
            .with_subject(&device::PATH, &path.to_string_lossy(), "--read-only"),
        None => draft.with_subject(&device::KIND, device::Kind::ScratchFile.name(), "PATH"),
    };
    let draft = also(draft, args);
    let draft = args
        .fio
        .write_over(args.factors.write_over(draft), &args.factors)?;
    let draft = depth_of_engine(draft, args)?;
    match args.peak {
        true => peak(draft, args),
        false => Ok(draft),
    }
}

/// The draft with the further drives, all of which are loaded unless `--drives` says how many.
fn also(draft: Draft, args: &Args) -> Draft {
    const FLAG: &str = "--also";
    if args.also.is_empty() {
        return draft;
    }
    let paths: Vec<String> = args.also.iter().map(|path| place(path)).collect();
    let drives = (args.also.len() + 1).to_string();
    draft
        .with_subject(&device::ALSO, &paths.join(device::BETWEEN_DRIVES), FLAG)
        .with_workload(&device::DRIVES, [drives], FLAG)
}

/// A path as plans have it. Names in /dev/disk/by-id may contain what stands between places there; the device's own does not.
fn place(path: &Path) -> String {
    let given = path.to_string_lossy();
    let resolved = given
        .contains(device::BETWEEN_DRIVES)
        .then(|| std::fs::canonicalize(path).ok())
        .flatten();
    resolved.map_or_else(|| given.to_string(), |path| path.to_string_lossy().into_owned())
}

/// The queue depth of an engine where none is typed: that of one that waits for each request is 1, as in fio.
fn default_depth(engine: EngineKind) -> &'static str {
    match engine {
        EngineKind::Psync => "1",
        _ => device::QUEUE_DEPTH.default.unwrap_or_default(),
    }
}

/// The draft with the only depth of an engine that waits for each request, where none was typed.
fn depth_of_engine(draft: Draft, args: &Args) -> anyhow::Result<Draft> {
    let (Some(engine), None) = (
        args.factors.of(&device::ENGINE),
        args.factors.of(&device::QUEUE_DEPTH),
    ) else {
        return Ok(draft);
    };
    let waits = |name: &String| name == EngineKind::Psync.name();
    let only = default_depth(EngineKind::Psync);
    if engine.values.iter().all(waits) {
        return Ok(draft.with_workload(&device::QUEUE_DEPTH, [only.to_owned()], &engine.flag));
    }
    if engine.values.iter().any(waits) {
        return Err(bad_input(anyhow::anyhow!(
            "{}: psync waits for each request, so its queue depth is {only}, but the default is {}; type --queue-depth {only} to compare \
             them at the depth that all of them have",
            engine.as_typed(),
            default_depth(EngineKind::IoUring)
        )));
    }
    Ok(draft)
}

/// The draft with what `--peak` stands for, which no other flag may contradict.
fn peak(draft: Draft, args: &Args) -> anyhow::Result<Draft> {
    const FLAG: &str = "--peak";
    let batch = Given {
        factor: &device::SUBMISSION,
        values: vec![Submission::Batch.name().to_owned()],
        typed: Vec::new(),
        flag: FLAG.to_owned(),
    };
    args.fio.check_beside(&batch)?;
    let other = args.factors.of(&device::SUBMISSION);
    if let Some(other) = other.filter(|other| !other.agrees(&batch)) {
        return Err(bad_input(anyhow::anyhow!(contradiction(FLAG, &other.as_typed()))));
    }
    Ok(draft.with_workload(&device::SUBMISSION, batch.values, FLAG))
}
