//! `outcrop device --verify`: whether a device keeps what it is given, rather than how fast.

use std::sync::atomic::AtomicBool;

use outcrop_device::{
    DeviceError, EngineKind, FileAccess, ReadOnlyTarget, ScratchFile, Target, VerifyReport, VerifySpec,
    WritableDevice, check_verified, write_verified,
};
use outcrop_measure::seed::Seed;
use outcrop_measure::units::{ByteSize, format_bytes};
use outcrop_report::{number::counted, quoted};
use outcrop_schema::device::{ENGINE, IO_BLOCK_SIZE, QUEUE_DEPTH, SCHEMA, SPAN, Span};
use outcrop_schema::{Factor, Value};
use outcrop_workload::Content;

use super::{Args, default_depth, is_device, planned};
use crate::exit::{Ending, bad_input};
use crate::output::{self, Cell, Format, Table, note};
use crate::session::agreement;
use crate::work::LongWork;

/// Which half of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Half {
    /// Write, then check
    All,
    /// Only write
    Write,
    /// Only read and compare what `write` wrote with the same seed, sizes and block size
    Check,
}

/// Methods of fio's `verify`: behind it, they are not directories.
const CHECKSUMS: [&str; 19] = [
    "crc32c",
    "crc32c-intel",
    "crc64",
    "crc32",
    "crc16",
    "crc7",
    "md5",
    "xxhash",
    "sha512",
    "sha256",
    "sha1",
    "sha3-224",
    "sha3-256",
    "sha3-384",
    "sha3-512",
    "meta",
    "pattern",
    "pattern_hdr",
    "null",
];

/// Every block is written, and about half of them a second time: what is left of the first pass there is a lost write.
const PASSES: u32 = 2;
/// What a scratch file is verified over where no size is given.
const SCRATCH_SIZE: ByteSize = ByteSize(1 << 30);

/// Writes and checks as asked for, and prints what was found.
pub(super) fn run(args: &Args, half: Half) -> anyhow::Result<Ending> {
    refuse_measuring(args)?;
    if CHECKSUMS.iter().any(|name| args.path().as_os_str() == *name) && !args.path().exists() {
        return Err(refusal(format!(
            "--verify {} is fio's; Outcrop's --verify has its own checksum, so type --verify alone, which verifies and gives no figures",
            args.path().display()
        )));
    }
    let seed = match (args.flags.seed, half) {
        (Some(seed), _) => seed,
        (None, Half::All) => outcrop_lab::fresh_seed(),
        (None, Half::Write | Half::Check) => {
            return Err(refusal(
                "--verify=write and --verify=check need the same --seed, which determines what is written; give a number, and each time \
                 another one to --verify=write",
            ));
        }
    };
    let engine = one(args, &ENGINE)?.unwrap_or(EngineKind::IoUring);
    let depth = match one(args, &QUEUE_DEPTH)? {
        Some(depth) => depth,
        None => QUEUE_DEPTH
            .parse(default_depth(engine))
            .map_err(|error| refusal(&error))?,
    };
    let spec = VerifySpec {
        engine,
        io_block_size_bytes: one(args, &IO_BLOCK_SIZE)?.unwrap_or(ByteSize(4096)).0,
        queue_depth: depth,
        span_bytes: match one(args, &SPAN)?.and_then(Span::bytes) {
            Some(span) => Some(span.0),
            None => args.size.map(|size| size.0),
        },
        passes: PASSES,
        seed,
    };
    let stop = crate::interrupt::stop_flag()?;
    let target = target(args, half, &spec, &stop)?;
    let work = (!args.flags.quiet).then(LongWork::on_stderr);
    let show = |what, done, all| {
        if let Some(work) = &work {
            work.advance(what, done, all);
        }
    };
    let mut report = VerifyReport::default();
    if half != Half::Check {
        let written = write_verified(&target, &spec, &stop, &mut |done, all| show("write", done, all));
        report = written.map_err(error_of)?;
    }
    if half != Half::Write && !report.is_interrupted {
        let checked = check_verified(&target, &spec, &stop, &mut |done, all| show("check", done, all));
        report = joined(report, checked.map_err(error_of)?);
    }
    conclude(&report, half, &spec, args)
}

/// Flags that mean something to a measurement only.
fn refuse_measuring(args: &Args) -> anyhow::Result<()> {
    let taken = [ENGINE.name, IO_BLOCK_SIZE.name, QUEUE_DEPTH.name, SPAN.name];
    let other = SCHEMA
        .workload
        .iter()
        .filter(|factor| !taken.contains(&factor.name));
    let given = other.filter_map(|factor| args.factors.of(factor.about())).next();
    if let Some(given) = given {
        return Err(refusal(format!(
            "--verify does not measure, so {} has no effect; it takes --io-block-size, --queue-depth, --engine, --span, --size and \
             --seed",
            given.flag
        )));
    }
    let flags = &args.flags;
    let of_trials = [
        ("--repetitions", flags.repetitions.is_some()),
        ("--warm-up", flags.warm_up.is_some()),
        ("--duration", flags.duration.is_some()),
        ("--budget", flags.budget.is_some()),
        ("--beside", flags.beside.is_given()),
        ("--tbw", flags.tbw.is_some()),
    ];
    if let Some((flag, _)) = of_trials.iter().find(|(_, is_given)| *is_given) {
        return Err(refusal(format!(
            "--verify does not measure, so {flag} has no effect; --size and --span bound what it writes and reads"
        )));
    }
    if args.flags.dry_run {
        return Err(refusal(
            "--verify has no --dry-run; --max-written bounds what it writes",
        ));
    }
    Ok(())
}

/// The one value of a factor, where its flag was given.
fn one<T: Value>(args: &Args, factor: &Factor<T>) -> anyhow::Result<Option<T>> {
    let Some(given) = args.factors.of(factor) else {
        return Ok(None);
    };
    match given.values.as_slice() {
        [value] => factor
            .parse(value)
            .map(Some)
            .map_err(|why| refusal(format!("{}: {why}", given.flag))),
        _ => Err(refusal(format!(
            "--verify takes one value, but {} has several",
            given.as_typed()
        ))),
    }
}

/// What is written and read; nothing is written to it that `--max-written` does not allow.
fn target(args: &Args, half: Half, spec: &VerifySpec, stop: &AtomicBool) -> anyhow::Result<Target> {
    if let Some(path) = &args.read_only {
        if half != Half::Check {
            return Err(refusal(
                "--read-only only reads: type --verify=check to compare what --verify=write wrote with the same --seed",
            ));
        }
        return Ok(Target::ReadOnly(ReadOnlyTarget::open(path).map_err(bad_input)?));
    }
    if let [name, others @ ..] = args.destroy.as_slice() {
        if !others.is_empty() {
            return Err(refusal("--verify takes one device, with one --destroy"));
        }
        if half == Half::Check {
            return Err(refusal(
                "--verify=check only reads: type --read-only instead of --destroy",
            ));
        }
        agreement::ask_for_device(args.path())?;
        let device = WritableDevice::open(args.path(), name).map_err(bad_input)?;
        bound_writes(args, spec, device.size_bytes(), 0)?;
        return Ok(Target::Device(device));
    }
    if is_device(args) {
        if half == Half::Check {
            return Err(refusal(format!(
                "--verify=check only reads: type --read-only {}",
                quoted(&args.path().to_string_lossy())
            )));
        }
        // Its name was not typed.
        planned(args)?;
    }
    if half != Half::All {
        return Err(refusal(
            "a scratch file is gone when the command ends, so nothing could be checked later; type --verify alone, or name a \
             device",
        ));
    }
    let size = args.size.unwrap_or(SCRATCH_SIZE).0;
    bound_writes(args, spec, size, size)?;
    let scratch = ScratchFile::create(
        args.path(),
        size,
        FileAccess::Direct,
        &Content::Zeros,
        Seed(0),
        stop,
        &mut |_, _| {},
    );
    Ok(Target::Scratch(scratch.map_err(error_of)?))
}

/// Keeps to `--max-written`: how much is written at most is known beforehand here. Of it, `creating` is what it takes to make the target.
fn bound_writes(args: &Args, spec: &VerifySpec, size: u64, creating: u64) -> anyhow::Result<()> {
    let span = spec.span_bytes.unwrap_or(size);
    let passes = span.saturating_mul(u64::from(spec.passes));
    let most = passes.saturating_add(creating);
    let first = match creating {
        0 => String::new(),
        bytes => format!(", {} of it to create the scratch file", format_bytes(bytes)),
    };
    match args.flags.max_written {
        Some(limit) if most > limit.0 => Err(refusal(format!(
            "verifying {} writes up to {}{first}, but only {limit} may be written; use a smaller --size or a larger --max-written",
            format_bytes(span),
            format_bytes(most)
        ))),
        _ => Ok(()),
    }
}

fn joined(written: VerifyReport, checked: VerifyReport) -> VerifyReport {
    VerifyReport {
        blocks_written: written.blocks_written,
        fault_count: written.fault_count + checked.fault_count,
        faults: written.faults.into_iter().chain(checked.faults).collect(),
        ..checked
    }
}

fn conclude(report: &VerifyReport, half: Half, spec: &VerifySpec, args: &Args) -> anyhow::Result<Ending> {
    let mut table = Table::new([("offset", "offset_B"), ("fault", "fault"), ("what", "what")]);
    for block in &report.faults {
        table.push(vec![
            Cell::number(block.offset as f64, block.offset.to_string()),
            Cell::text(block.fault.kind()),
            Cell::text(block.fault.to_string()),
        ]);
    }
    match args.flags.format {
        Format::Csv => table.print(Format::Csv)?,
        Format::Json => {
            let envelope = table
                .in_envelope()
                .with_detail("blocks_written", report.blocks_written)
                .with_detail("blocks_checked", report.blocks_checked)
                .with_detail("block_bytes", report.block_bytes)
                .with_detail("faults", report.fault_count)
                .with_detail("page_cache", report.page_cache.clone())
                .with_detail("seed", spec.seed.to_string());
            output::print(&output::pretty_json(&envelope)?)?;
        }
        Format::Text => {
            let faults = if report.faults.is_empty() {
                String::new()
            } else {
                table.to_text()
            };
            output::print(&format!("{faults}{}\n", sentence(report, half, spec, args)))?;
        }
    }
    if let Some(why) = &report.page_cache {
        note(&format!("warning: {why}"));
    }
    if report.is_interrupted {
        note("interrupted: the figures above cover the blocks up to then");
        return Ok(Ending::Interrupted);
    }
    match report.fault_count {
        0 => Ok(Ending::Done),
        _ => Ok(Ending::ConditionMet),
    }
}

fn sentence(report: &VerifyReport, half: Half, spec: &VerifySpec, args: &Args) -> String {
    let blocks = |count: u64| {
        let bytes = format_bytes(count * report.block_bytes);
        format!(
            "{} of {} ({bytes})",
            counted(count as usize, "block"),
            ByteSize(report.block_bytes)
        )
    };
    let written = format!(
        "{} written in {} passes",
        blocks(report.blocks_written),
        spec.passes
    );
    let faults = match report.fault_count {
        0 => "no fault".to_owned(),
        count if count as usize > report.faults.len() => {
            format!("{count} faults, of which {} are listed", report.faults.len())
        }
        count => counted(count as usize, "fault"),
    };
    let checked = format!("{} read back: {faults}", blocks(report.blocks_checked));
    match half {
        Half::All => format!("{written}, {checked}."),
        Half::Check => format!("{checked}."),
        Half::Write if report.fault_count > 0 => format!("{written}: {faults}."),
        Half::Write => format!("{written}; check it with `{}`.", check_command(spec, args)),
    }
}

/// The command that checks what was written: other sizes would look for other blocks.
fn check_command(spec: &VerifySpec, args: &Args) -> String {
    let size = spec.span_bytes.map(ByteSize);
    let size = size.map_or_else(String::new, |size| format!(" --size {size}"));
    format!(
        "outcrop device --read-only {} --verify=check --seed {} --io-block-size {}{size}",
        quoted(&args.path().to_string_lossy()),
        spec.seed,
        ByteSize(spec.io_block_size_bytes)
    )
}

/// What is refused before the first write is the user's to change; the rest is a failure.
fn error_of(error: DeviceError) -> anyhow::Error {
    match error {
        DeviceError::Spec { .. } | DeviceError::Unaligned { .. } | DeviceError::TooSmall { .. } => {
            bad_input(error)
        }
        error => anyhow::Error::new(error).context("nothing can be said about the device"),
    }
}

fn refusal(message: impl Into<String>) -> anyhow::Error {
    bad_input(anyhow::anyhow!(message.into()))
}
