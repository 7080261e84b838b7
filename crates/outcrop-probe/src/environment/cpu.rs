//! The processor: model, cores, caches, frequency control and the counter that clocks use.

use std::collections::BTreeSet;

use outcrop_measure::metric::Unavailable;
use serde::{Deserialize, Serialize};

use crate::reading::Reading;
use crate::system_tree::SystemTree;

/// The processor, as the first CPU of /proc/cpuinfo and /sys describe it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cpu {
    /// Model name.
    pub model: Reading<String>,
    /// Revision of the microcode.
    pub microcode: Reading<String>,
    /// Logical CPUs that are online.
    pub online_cpu_count: Reading<u64>,
    /// Logical CPUs that this process may run on.
    pub allowed_cpu_count: Reading<u64>,
    /// Physical cores among those online.
    pub core_count: Reading<u64>,
    /// Sockets.
    pub package_count: Reading<u64>,
    /// Simultaneous multithreading: `on`, `off`, `forceoff`, `notsupported`, `notimplemented`.
    pub smt: Reading<String>,
    /// Caches that the first CPU sees.
    pub caches: Reading<Vec<Cache>>,
    /// Those of the features that matter to measuring and to codecs which this CPU has.
    pub features: Reading<Vec<String>>,
    /// Who sets the frequency (`intel_pstate`, `acpi-cpufreq`).
    pub frequency_driver: Reading<String>,
    /// How the frequency is chosen (`performance`, `powersave`, `schedutil`).
    pub frequency_governor: Reading<String>,
    /// The highest frequency of the first CPU.
    pub frequency_max_khz: Reading<u64>,
    /// Which counter the kernel keeps time with.
    pub clocksource: Reading<String>,
}

/// One cache of the first CPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// 1 to 4.
    pub level: u64,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: String,
    /// Its size.
    pub size_bytes: u64,
    /// The logical CPUs that share it (`0-3`).
    pub shared_by_cpus: String,
}

/// Vector units and instructions that codecs use, and what makes the time-stamp counter a clock.
const FEATURES: [&str; 22] = [
    "constant_tsc",
    "nonstop_tsc",
    "tsc_known_freq",
    "rdtscp",
    "sse4_2",
    "pclmulqdq",
    "aes",
    "popcnt",
    "bmi2",
    "avx",
    "avx2",
    "avx512f",
    "avx512bw",
    "avx512vl",
    "avx512_vbmi",
    "vpclmulqdq",
    "gfni",
    "sha_ni",
    "erms",
    "fsrm",
    "asimd",
    "crc32",
];

const CPUS: &str = "sys/devices/system/cpu";

impl Cpu {
    /// The processor of this machine.
    pub fn here() -> Self {
        Self::read(&SystemTree::live())
    }

    pub(super) fn read(tree: &SystemTree) -> Self {
        let cpuinfo = tree.text("proc/cpuinfo");
        let field = |name: &str| cpuinfo.clone().and_then(|text| field(&text, name));
        let frequency = |name: &str| tree.text(format!("{CPUS}/cpu0/cpufreq/{name}"));
        Self {
            model: field("model name").into(),
            microcode: field("microcode").into(),
            online_cpu_count: tree
                .text(format!("{CPUS}/online"))
                .and_then(|list| count_in_list(&list))
                .into(),
            allowed_cpu_count: allowed_cpu_count().into(),
            core_count: cpuinfo.clone().and_then(|text| count_cores(&text)).into(),
            package_count: cpuinfo.clone().and_then(|text| count_packages(&text)).into(),
            smt: tree.text(format!("{CPUS}/smt/control")).into(),
            caches: caches(tree).into(),
            features: field("flags")
                .or_else(|_| field_named(&cpuinfo, "Features"))
                .map(|flags| features(&flags))
                .into(),
            frequency_driver: frequency("scaling_driver").into(),
            frequency_governor: frequency("scaling_governor").into(),
            frequency_max_khz: tree
                .number(format!("{CPUS}/cpu0/cpufreq/cpuinfo_max_freq"))
                .into(),
            clocksource: tree
                .text("sys/devices/system/clocksource/clocksource0/current_clocksource")
                .into(),
        }
    }

    /// Whether this CPU is known to have a feature; `None` if the features could not be read.
    pub fn has_feature(&self, name: &str) -> Option<bool> {
        self.features
            .known()
            .map(|features| features.iter().any(|feature| feature == name))
    }
}

fn field_named(cpuinfo: &Result<String, Unavailable>, name: &str) -> Result<String, Unavailable> {
    cpuinfo.clone().and_then(|text| field(&text, name))
}

/// The first `name : value` of /proc/cpuinfo.
fn field(cpuinfo: &str, name: &str) -> Result<String, Unavailable> {
    fields(cpuinfo, name)
        .next()
        .map(ToOwned::to_owned)
        .ok_or_else(|| Unavailable::because(format!("/proc/cpuinfo has no `{name}`")))
}

fn fields<'a>(cpuinfo: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    cpuinfo
        .lines()
        .filter_map(|line| line.split_once(':'))
        .filter(move |(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim())
}

fn count_cores(cpuinfo: &str) -> Result<u64, Unavailable> {
    let packages = fields(cpuinfo, "physical id");
    let cores: BTreeSet<_> = packages.zip(fields(cpuinfo, "core id")).collect();
    counted(cores.len(), "core id")
}

fn count_packages(cpuinfo: &str) -> Result<u64, Unavailable> {
    let packages: BTreeSet<_> = fields(cpuinfo, "physical id").collect();
    counted(packages.len(), "physical id")
}

fn counted(count: usize, name: &str) -> Result<u64, Unavailable> {
    match count {
        0 => Err(Unavailable::because(format!("/proc/cpuinfo has no `{name}`"))),
        count => Ok(count as u64),
    }
}

/// How many numbers a list such as `0-3,8` stands for.
fn count_in_list(list: &str) -> Result<u64, Unavailable> {
    let not_a_list = || Unavailable::because(format!("`{list}` is not a list of CPUs such as `0-3,8`"));
    let mut count = 0_u64;
    for part in list.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u64, u64) = (
            first.parse().map_err(|_| not_a_list())?,
            last.parse().map_err(|_| not_a_list())?,
        );
        let length = last
            .checked_sub(first)
            .and_then(|length| length.checked_add(1))
            .ok_or_else(not_a_list)?;
        count = count.checked_add(length).ok_or_else(not_a_list)?;
    }
    Ok(count)
}

fn allowed_cpu_count() -> Result<u64, Unavailable> {
    rustix::thread::sched_getaffinity(None)
        .map(|cpus| u64::from(cpus.count()))
        .map_err(|error| Unavailable::because(format!("sched_getaffinity failed: {error}")))
}

fn features(flags: &str) -> Vec<String> {
    let present: BTreeSet<&str> = flags.split_ascii_whitespace().collect();
    FEATURES
        .iter()
        .filter(|feature| present.contains(*feature))
        .map(|&feature| feature.to_owned())
        .collect()
}

fn caches(tree: &SystemTree) -> Result<Vec<Cache>, Unavailable> {
    let directory = format!("{CPUS}/cpu0/cache");
    let mut caches = Vec::new();
    for name in tree.names(&directory)? {
        let Some(index) = name.to_str().filter(|name| name.starts_with("index")) else {
            continue;
        };
        let file = |name: &str| format!("{directory}/{index}/{name}");
        caches.push(Cache {
            level: tree.number(file("level"))?,
            kind: tree.text(file("type"))?,
            size_bytes: kibibytes(&tree.text(file("size"))?)?,
            shared_by_cpus: tree.text(file("shared_cpu_list"))?,
        });
    }
    Ok(caches)
}

/// `32K` as the kernel writes cache sizes.
fn kibibytes(text: &str) -> Result<u64, Unavailable> {
    text.strip_suffix('K')
        .and_then(|number| number.parse::<u64>().ok())
        .and_then(|number| number.checked_mul(1024))
        .ok_or_else(|| Unavailable::because(format!("`{text}` is not a cache size such as `32K`")))
}
