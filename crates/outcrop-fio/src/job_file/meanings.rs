//! What Outcrop makes of fio's options that are not a factor: those that ask for what is so anyway, and those that it cannot have.

/// What an option means here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// It is read where jobs are translated.
    Read,
    /// It asks for what is always so, in a clause.
    Always(&'static str),
    /// It is refused unless it is 0, which turns it off; what to do instead, in a clause.
    Refused(&'static str),
    /// It is refused with every value: 0 is one like the others, a CPU or a pattern. What to do instead, in a clause.
    NeverTaken(&'static str),
    /// Outcrop knows nothing of it.
    Unknown,
}

use Meaning::{Always, NeverTaken, Read, Refused};

const BLOCK_SIZES: &str = "the size of requests is fixed; write one job for each size";
const PROCESSORS: &str = "run outcrop under `taskset` or `numactl` instead";
const NO_CHECK: &str = "a job file only measures; `outcrop device … --verify` verifies, without figures";
const NO_PAUSE: &str = "leave it out; rate_iops with rate_process=poisson spaces requests";
const OWN_CONTENT: &str = "every write has its own content, unless it is zeros";
const NO_STOP: &str = "trials are bounded by time; give runtime";

const STEADY: &str =
    "every trial says whether it is steady; a plan with stop = \"when-steady\" ends with rounds that are";
const NO_KERNEL_THREAD: &str =
    "each thread hands its requests over itself; hipri polls for completions, without a thread of the kernel";

const OPTIONS: &[(&str, Meaning)] = &[
    ("size", Read),
    ("filesize", Read),
    ("filename", Read),
    ("directory", Read),
    ("runtime", Read),
    ("ramp_time", Read),
    ("loops", Read),
    ("stonewall", Read),
    ("name", Always("a job has the name of its section")),
    ("description", Always("it describes")),
    ("time_based", Always("trials are always timed")),
    (
        "group_reporting",
        Always("the threads of a job are reported as one"),
    ),
    ("new_group", Always("jobs are reported separately")),
    ("thread", Always("jobs are threads")),
    ("norandommap", Always("random offsets are drawn independently")),
    ("softrandommap", Always("random offsets are drawn independently")),
    (
        "random_generator",
        Always("random offsets come from a generator with a recorded seed"),
    ),
    (
        "randrepeat",
        Always("the seed is recorded, and --seed repeats it"),
    ),
    (
        "allrandrepeat",
        Always("the seed is recorded, and --seed repeats it"),
    ),
    ("randseed", Always("--seed sets the seed of a run")),
    ("refill_buffers", Always(OWN_CONTENT)),
    ("scramble_buffers", Always(OWN_CONTENT)),
    ("invalidate", Read),
    (
        "registerfiles",
        Always("files are registered where the kernel can"),
    ),
    ("fixedbufs", Always("buffers are registered where the kernel can")),
    ("clat_percentiles", Always("percentiles are always reported")),
    ("lat_percentiles", Always("percentiles are always reported")),
    ("slat_percentiles", Read),
    (
        "percentile_list",
        Always("p50 to p99.99 are reported as far as operations support them"),
    ),
    ("disable_lat", Always("latency is always measured")),
    ("disable_clat", Always("latency is always measured")),
    ("disable_slat", Always("latency is always measured")),
    ("gtod_reduce", Always("latency is always measured")),
    (
        "write_bw_log",
        Always("every interval of a trial is kept in the run folder"),
    ),
    (
        "write_lat_log",
        Always("every interval of a trial is kept in the run folder"),
    ),
    (
        "write_iops_log",
        Always("every interval of a trial is kept in the run folder"),
    ),
    (
        "write_hist_log",
        Always("every interval of a trial is kept in the run folder"),
    ),
    (
        "log_avg_msec",
        Always("every interval of a trial is kept in the run folder"),
    ),
    (
        "log_hist_msec",
        Always("every interval of a trial is kept in the run folder"),
    ),
    ("per_job_logs", Always("the threads of a job are reported as one")),
    (
        "create_serialize",
        Always("the scratch file is made before the first job"),
    ),
    (
        "create_on_open",
        Always("the scratch file is made before the first job"),
    ),
    ("fallocate", Always("the scratch file is written in full")),
    ("overwrite", Always("the scratch file is written in full")),
    ("unlink", Always("the scratch file is removed")),
    ("end_fsync", Always("files are synced after each trial")),
    ("fsync_on_close", Always("files are synced after each trial")),
    ("exitall", Always("jobs run one after the other")),
    ("exitall_on_error", Always("a failed trial is reported as failed")),
    ("unit_base", Always("units follow Outcrop's own rules")),
    ("significant_figures", Always("units follow Outcrop's own rules")),
    ("wait_for", Always("jobs run one after the other")),
    (
        "io_submit_mode",
        Always("with a rate, requests follow a schedule whether or not earlier ones have completed"),
    ),
    (
        "unified_rw_reporting",
        Always("reads and writes are reported both together and separately"),
    ),
    (
        "log_max_value",
        Always("every interval of a trial is kept in the run folder"),
    ),
    (
        "log_unix_epoch",
        Always("every interval of a trial is kept in the run folder"),
    ),
    (
        "bwavgtime",
        Always("every interval of a trial is kept in the run folder"),
    ),
    (
        "iopsavgtime",
        Always("every interval of a trial is kept in the run folder"),
    ),
    ("iomem_align", Always("buffers are aligned")),
    ("mem_align", Always("buffers are aligned")),
    ("bssplit", Refused(BLOCK_SIZES)),
    ("bs_unaligned", Refused("direct access is aligned")),
    ("blockalign", Refused("requests are aligned to their size")),
    (
        "sync_file_range",
        Refused("writes are made durable by fsync, fdatasync or sync=dsync; use one of these"),
    ),
    (
        "rate_min",
        Refused("the report says how much of the rate was achieved; leave it out"),
    ),
    (
        "rate_iops_min",
        Refused("the report says how much of the rate was achieved; leave it out"),
    ),
    ("offset", Refused("the span begins at the start of the file")),
    (
        "offset_increment",
        Refused("leave it out; jobs of a sequential pattern start at evenly spaced offsets of one span"),
    ),
    ("io_size", Refused(NO_STOP)),
    ("number_ios", Refused(NO_STOP)),
    ("fill_device", Refused(NO_STOP)),
    (
        "nrfiles",
        Refused("a device is measured through one file; `outcrop filesystem` uses many"),
    ),
    (
        "openfiles",
        Refused("a device is measured through one file; `outcrop filesystem` uses many"),
    ),
    (
        "file_service_type",
        Refused("a device is measured through one file; `outcrop filesystem` uses many"),
    ),
    (
        "filename_format",
        NeverTaken("a device is measured through one file; leave it out"),
    ),
    (
        "opendir",
        Refused("a device is measured through one file; `outcrop filesystem` uses many"),
    ),
    ("cpus_allowed", NeverTaken(PROCESSORS)),
    ("cpus_allowed_policy", NeverTaken(PROCESSORS)),
    ("cpumask", NeverTaken(PROCESSORS)),
    ("verify", Refused(NO_CHECK)),
    ("do_verify", Refused(NO_CHECK)),
    ("verify_async", Refused(NO_CHECK)),
    ("verify_backlog", Refused(NO_CHECK)),
    ("verify_dump", Refused(NO_CHECK)),
    ("verify_fatal", Refused(NO_CHECK)),
    ("verify_interval", Refused(NO_CHECK)),
    ("verify_pattern", NeverTaken(NO_CHECK)),
    ("verify_only", Refused(NO_CHECK)),
    ("thinktime", Refused(NO_PAUSE)),
    ("thinktime_blocks", Refused(NO_PAUSE)),
    (
        "startdelay",
        Refused("jobs run one after the other, each with its own warm-up (ramp_time)"),
    ),
    (
        "latency_target",
        Refused("several values of rate_iops give the curve"),
    ),
    (
        "latency_window",
        Refused("several values of rate_iops give the curve"),
    ),
    (
        "latency_percentile",
        Refused("several values of rate_iops give the curve"),
    ),
    (
        "flow",
        Refused("jobs run one after the other; a mix is rwmixread"),
    ),
    ("sqthread_poll", Refused(NO_KERNEL_THREAD)),
    ("sqthread_poll_cpu", NeverTaken(NO_KERNEL_THREAD)),
    (
        "nonvectored",
        Refused("leave it out; each engine has one kind of system call"),
    ),
    (
        "uncached",
        Refused("leave it out; direct=1 bypasses the page cache"),
    ),
    ("iomem", Refused("buffers are ordinary memory")),
    (
        "buffer_pattern",
        NeverTaken(
            "content is random, zeros (zero_buffers) or compressible (buffer_compress_percentage); use one of these",
        ),
    ),
    (
        "buffer_compress_chunk",
        Refused("content compresses in chunks of 4 KiB"),
    ),
    ("dedupe_percentage", Refused("content does not repeat")),
    ("zonemode", Refused("zoned devices are not measured")),
    ("zonesize", Refused("zoned devices are not measured")),
    ("zonerange", Refused("zoned devices are not measured")),
    ("zoneskip", Refused("zoned devices are not measured")),
    ("read_beyond_wp", Refused("zoned devices are not measured")),
    ("max_open_zones", Refused("zoned devices are not measured")),
    ("read_iolog", NeverTaken("logs are not replayed")),
    (
        "write_iolog",
        NeverTaken("requests are not logged one by one; the seed repeats them"),
    ),
    ("steadystate", Refused(STEADY)),
    ("percentage_random", NeverTaken("a cell is random or sequential")),
    (
        "rw_sequencer",
        Refused("leave it out; rw sets the order of requests"),
    ),
    (
        "continue_on_error",
        Refused("failed requests are counted, and too many fail a trial; leave it out"),
    ),
    ("exec_prerun", NeverTaken("run it before outcrop")),
    ("exec_postrun", NeverTaken("run it after outcrop")),
    (
        "ioscheduler",
        NeverTaken("write it to /sys/block/DEVICE/queue/scheduler before the run"),
    ),
    ("prio", NeverTaken("run outcrop under `ionice` instead")),
    ("nice", Refused("run outcrop under `nice` instead")),
    ("ss", Refused(STEADY)),
    ("ss_dur", Refused(STEADY)),
    ("ss_ramp", Refused(STEADY)),
];

/// Every option of fio that is no factor, with what it means: for those who answer the same options elsewhere.
pub fn all() -> impl Iterator<Item = (&'static str, Meaning)> {
    OPTIONS.iter().copied()
}

/// What an option means.
pub(super) fn of(name: &str) -> Meaning {
    let known = OPTIONS.iter().find(|(known, _)| *known == name);
    known.map_or(Meaning::Unknown, |(_, meaning)| *meaning)
}
