//! fio's options that are understood without any effect, and those that are answered with what to type instead.

use clap::{Arg, ArgAction, ArgMatches, Command};
use outcrop_fio::job_file::{self, Meaning as InJobFile};
use outcrop_schema::{FactorRef, device};

use crate::commands::factor_flags::{Given, contradiction};

/// What an option of fio means here.
#[derive(Clone, Copy, Debug)]
enum Meaning {
    /// It asks for what is always so; a clause that says what is.
    Always(&'static str),
    /// The same, and it is refused with 0, which asks for something else.
    Never0(&'static str),
    /// It is refused; what to type instead, or that there is nothing. `{}` is the value that was given.
    Instead(&'static str),
    /// The same, but 0 turns it off.
    InsteadUnless0(&'static str),
    /// The same, but these values, mostly fio's defaults, ask for nothing; and what says how it is then.
    InsteadUnless(&'static [&'static str], &'static str, &'static str),
    /// It asks for a value of a factor, unless it has one of these values, which turn that off.
    Asks(FactorRef, &'static str, &'static [&'static str]),
    /// A share in per cent by which buffers compress, which is a content here.
    Compresses,
}

use Meaning::{Always, Asks, Compresses, Instead, InsteadUnless, InsteadUnless0, Never0};

const VERIFY: &str = "type --verify, which verifies and gives no figures";
const BATCH: &str = "type --submission batch";
const SUBMISSION: &str = "--submission decides, by default refill";
const ZEROS: &str = "type --content zeros";
/// How the contents begin that a share by which buffers compress asks for.
const COMPRESSIBLE: &str = "compressible";
const NO_TRIMS: &str = "leave it out; Outcrop sends no trims to a device";

/// The options, by fio's names.
const OPTIONS: &[(&str, Meaning)] = &[
    ("name", Always("a run is named after its folder")),
    ("group_reporting", Always("all jobs are reported as one")),
    ("thread", Always("jobs are threads")),
    ("norandommap", Always("random offsets are drawn independently")),
    (
        "refill_buffers",
        Always("every write has its own content, unless it is zeros"),
    ),
    (
        "invalidate",
        Never0("every trial begins with none of the file's pages in the page cache"),
    ),
    ("eta", Always("progress is shown unless --quiet is given")),
    (
        "directory",
        Instead("give the directory as the argument: outcrop device {}"),
    ),
    ("loops", Instead("type --repetitions {}")),
    ("randseed", Instead("type --seed {}")),
    ("output-format", Instead("type --format json, or csv")),
    ("output", Instead("append > {} to the command")),
    ("minimal", Instead("type --format csv")),
    ("readonly", Instead("type --read-only FILE")),
    (
        "io_size",
        InsteadUnless0("--duration bounds a trial in time and --max-written bounds what is written"),
    ),
    (
        "rate",
        InsteadUnless0("a rate counts requests here: type --rate_iops 5k, or --arrival constant:5k"),
    ),
    (
        "rate_min",
        InsteadUnless0("leave it out; --arrival reports how much of the offered rate was answered"),
    ),
    (
        "bssplit",
        Instead("there is one size per cell: type --bs 4k,64k for two cells"),
    ),
    (
        "bsrange",
        Instead("there is one size per cell: type --bs 4k,64k for two cells"),
    ),
    ("blocksize", Instead("type --bs {}")),
    ("rwmixwrite", Instead("type --rwmixread with the share of reads")),
    ("iodepth_batch", Asks(&device::SUBMISSION, "batch", &["1"])),
    ("iodepth_batch_submit", Asks(&device::SUBMISSION, "batch", &["1"])),
    ("buffer_compress_percentage", Compresses),
    ("zero_buffers", Asks(&device::CONTENT, "zeros", &["0"])),
    (
        "offset",
        InsteadUnless0(
            "leave it out, or type --span, which bounds the part that is accessed, from its start",
        ),
    ),
    (
        "latency_target",
        InsteadUnless0("type --arrival with several rates, which give the curve"),
    ),
    ("cpus_allowed", Instead("run taskset -c {} outcrop device …")),
    ("cpumask", Instead("run taskset outcrop device …")),
    (
        "thinktime",
        InsteadUnless0("type --arrival poisson:5k for requests with pauses between them"),
    ),
    ("slat_percentiles", Asks(&device::LATENCY_PARTS, "apart", &["0"])),
    ("filesize", Instead("type --size {}")),
    ("stonewall", Always("cells are measured one after the other")),
    ("hipri", Asks(&device::COMPLETIONS, "polled", &["0"])),
    ("buffered", Asks(&device::ACCESS, "buffered", &["0"])),
    ("numa_cpu_nodes", Instead("type --numa-node {}")),
    (
        "numa_mem_policy",
        InsteadUnless(
            &["default", "local"],
            "--numa-node decides",
            "type --numa-node, which binds threads and buffers",
        ),
    ),
    (
        "iodepth_batch_complete_min",
        InsteadUnless(&["0", "1"], SUBMISSION, BATCH),
    ),
    (
        "iodepth_batch_complete",
        InsteadUnless(&["0", "1"], SUBMISSION, BATCH),
    ),
    ("trim", InsteadUnless0(NO_TRIMS)),
    ("trim_percentage", InsteadUnless0(NO_TRIMS)),
    ("do_verify", InsteadUnless0(VERIFY)),
    (
        "zonemode",
        Instead("leave it out; zoned devices cannot be measured by zone"),
    ),
    (
        "flow",
        InsteadUnless0(
            "leave it out; the jobs of a cell are all the same, and two kinds of jobs are two commands",
        ),
    ),
];

/// Options of these answers that take a value behind a blank as well; the other ones that have no effect are switches.
const WITH_VALUE: &[&str] = &[
    "name",
    "description",
    "percentile_list",
    "write_bw_log",
    "write_lat_log",
    "write_iops_log",
    "write_hist_log",
    "log_avg_msec",
    "log_hist_msec",
    "random_generator",
    "fallocate",
    "significant_figures",
    "unit_base",
    "iomem_align",
    "mem_align",
    "io_submit_mode",
    "wait_for",
    "bwavgtime",
    "iopsavgtime",
];

/// Options of fio's that are flags by themselves.
const OWN: [&str; 2] = ["verify", "time_based"];

/// All options: those that are answered here, then those that job files know, with the same answer. A flag that neither knows would be
/// answered with a flag that has a similar name and does something else.
fn options() -> impl Iterator<Item = (&'static str, Meaning)> {
    let has_own = |name: &str| OWN.contains(&name) || OPTIONS.iter().any(|(known, _)| *known == name);
    let in_job_files = job_file::meanings().filter_map(move |(name, meaning)| {
        let meaning = match meaning {
            InJobFile::Always(why) => Always(why),
            InJobFile::Refused(_) if name.starts_with("verify_") => InsteadUnless0(VERIFY),
            InJobFile::NeverTaken(_) if name.starts_with("verify_") => Instead(VERIFY),
            InJobFile::Refused(why) => InsteadUnless0(why),
            InJobFile::NeverTaken(why) => Instead(why),
            InJobFile::Read | InJobFile::Unknown => return None,
        };
        (!has_own(name)).then_some((name, meaning))
    });
    OPTIONS.iter().copied().chain(in_job_files)
}

/// Whether an option takes a value behind `=` only.
fn is_switch(name: &str, meaning: Meaning) -> bool {
    matches!(meaning, Always(_) | Never0(_)) && !WITH_VALUE.contains(&name)
}

impl Meaning {
    /// Whether the option with this value changes nothing.
    fn asks_for_nothing(self, value: Option<&str>) -> bool {
        match self {
            Always(_) => true,
            Never0(_) => value != Some("0"),
            InsteadUnless0(_) | Compresses => value == Some("0"),
            InsteadUnless(values, ..) | Asks(_, _, values) => {
                value.is_some_and(|value| values.contains(&value))
            }
            Instead(_) => false,
        }
    }

    /// The factor that it asks for a value of, and how that value begins.
    const fn asks_for(self) -> Option<(FactorRef, &'static str)> {
        match self {
            Asks(factor, value, _) => Some((factor, value)),
            Compresses => Some((&device::CONTENT, COMPRESSIBLE)),
            _ => None,
        }
    }
}

/// The content that compresses by this share, as it is read from a job file.
fn compressible(percent: Option<&str>) -> String {
    match percent.and_then(|percent| percent.parse().ok()) {
        Some(percent @ 1..=98_u8) => format!("type --content {}", job_file::compressible(percent)),
        Some(99..=100) => ZEROS.to_owned(),
        _ => format!("type --content {COMPRESSIBLE}:2, which is a ratio"),
    }
}

/// An option as somebody would type it.
fn as_typed(name: &str, value: Option<&str>) -> String {
    value.map_or_else(|| format!("--{name}"), |value| format!("--{name}={value}"))
}

/// What was given of them.
#[derive(Debug, Default)]
pub(super) struct Foreign {
    given: Vec<(&'static str, Meaning, Option<String>)>,
}

impl Foreign {
    /// Refuses the first that has no effect and should have one, in a sentence.
    pub(super) fn check(&self) -> Result<(), String> {
        for (name, meaning, value) in &self.given {
            let value = value.as_deref();
            if meaning.asks_for_nothing(value) {
                continue;
            }
            let typed = as_typed(name, value);
            let answer = match meaning {
                Never0(why) => return Err(format!("{typed} of fio: {why}; leave it out")),
                Compresses => compressible(value),
                Asks(factor, value, _) => format!("type --{} {value}", factor.flag_name()),
                Always(answer) | Instead(answer) | InsteadUnless0(answer) | InsteadUnless(_, _, answer) => {
                    answer.replace("{}", value.unwrap_or("…"))
                }
            };
            return Err(format!(
                "{typed} is a fio option that Outcrop does not have: {answer}"
            ));
        }
        Ok(())
    }

    /// Refuses the first that turns off what one of Outcrop's flags asks for, in a sentence.
    pub(super) fn check_beside(&self, ours: &Given) -> Result<(), String> {
        let is_asked = |start: &str| ours.values.iter().any(|value| value.starts_with(start));
        let turns_off = |(_, meaning, value): &&(&str, Meaning, Option<String>)| {
            let is_off = meaning.asks_for_nothing(value.as_deref());
            let off = meaning.asks_for().filter(|_| is_off);
            off.is_some_and(|(factor, start)| factor.name == ours.factor.name && is_asked(start))
        };
        match self.given.iter().find(turns_off) {
            Some((name, _, value)) => Err(contradiction(&as_typed(name, value.as_deref()), &ours.as_typed())),
            None => Ok(()),
        }
    }

    /// Whether this one was given.
    pub(super) fn has(&self, wanted: &str) -> bool {
        self.given.iter().any(|(name, ..)| *name == wanted)
    }

    /// Those that were given as switches, without a value: `--thread`.
    pub(super) fn switches(&self) -> Vec<String> {
        let given = self.given.iter();
        let switches = given.filter(|(name, meaning, value)| value.is_none() && is_switch(name, *meaning));
        switches.map(|(name, ..)| format!("--{name}")).collect()
    }

    /// Those that ask for what is so anyway, each with what that is.
    pub(super) fn without_effect(&self) -> Option<String> {
        let one = |(name, meaning, value): &(&str, Meaning, Option<String>)| {
            let value = value.as_deref().unwrap_or_default();
            let (typed, why) = match meaning {
                Always(why) | Never0(why) => (format!("--{name}"), (*why).to_owned()),
                InsteadUnless0(_) => (format!("--{name}=0"), "it is off".to_owned()),
                InsteadUnless(_, why, _) => (format!("--{name}={value}"), (*why).to_owned()),
                Asks(..) | Compresses => {
                    let (factor, _) = meaning.asks_for()?;
                    let default = factor.default.unwrap_or_default();
                    let why = format!("--{} decides, by default {default}", factor.flag_name());
                    (format!("--{name}={value}"), why)
                }
                Instead(_) => return None,
            };
            Some(format!("fio's {typed} has no effect: {why}"))
        };
        let all: Vec<String> = self.given.iter().filter_map(one).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}

impl clap::Args for Foreign {
    fn augment_args(command: Command) -> Command {
        options().fold(command, |command, (name, meaning)| {
            command.arg(
                Arg::new(name)
                    .long(name)
                    .hide(true)
                    .num_args(0..=1)
                    // A flag of fio's without a value must not swallow the directory behind it.
                    .require_equals(is_switch(name, meaning))
                    .default_missing_value("")
                    .action(ArgAction::Set),
            )
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for Foreign {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |(name, meaning): (&'static str, Meaning)| {
            let value = matches.get_one::<String>(name)?;
            let value = (!value.is_empty()).then(|| value.clone());
            Some((name, meaning, value))
        };
        let given = options().filter_map(given).collect();
        Ok(Self { given })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
