//! The plans that ship, and which of them make up `outcrop profile`.

use std::path::Path;

use crate::parameter::hint;
use crate::plan::PlanSource;

/// A plan that is part of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShippedPlan {
    /// Its name: `outcrop run NAME`.
    pub name: &'static str,
    /// The question that it answers.
    pub question: &'static str,
    /// TOML, as in `plans/`.
    pub text: &'static str,
}

impl ShippedPlan {
    /// The plan as a source that messages call `plans/NAME.toml`.
    pub fn source(&self) -> PlanSource {
        PlanSource {
            name: format!("plans/{}.toml", self.name),
            text: self.text.to_owned(),
        }
    }
}

macro_rules! shipped {
    ($($name:literal: $question:literal),* $(,)?) => {
        &[$(ShippedPlan {
            name: $name,
            question: $question,
            text: include_str!(concat!("../../../plans/", $name, ".toml")),
        }),*]
    };
}

/// Name and question stand here as well as in the files, so that listing them parses nothing; a test compares them.
static SHIPPED: &[ShippedPlan] = shipped! {
    "ssd-access-size": "How do bandwidth and latency change with the access size, for reads and for writes?",
    "ssd-read-write-mix": "What does a true mix of reads and writes give, beside pure reads and pure writes?",
    "ssd-queue-depth": "How do IOPS and latency change with queue depth, and where is the knee?",
    "ssd-max": "What are the highest bandwidth and IOPS that the device gives, beside its datasheet?",
    "ssd-matrix": "What do access size, queue depth and mix give in every combination?",
    "codec-choice": "Which codec, and which block size, suit these data?",
    "zstd-stages": "How does zstd's time split into match finding, literals and sequences, by level, block size and entropy?",
    "ratio-percentiles": "How are the ratios of single blocks distributed at 4 and 64 KiB, for Snappy, LZ4, Deflate, Zstd and dpzip?",
    "throughput-latency": "How fast does each codec compress and decompress at 4 and 64 KiB, from one thread to all, and how late is a block?",
    "robustness": "How do throughput and latency hold as the data compress less and less, by repetition and by entropy?",
    "column-size": "How large is a dictionary column by cardinality and skew, beside the least that it could be?",
    "column-search": "How fast are rows found by value, prefix and range, in memory, on disk and by a scan?",
    "column-choice": "Which string columns are worth a dictionary, and with which profile?",
    "column-index": "What do postings cost in size, and how much sooner are the rows of a value found?",
    "column-encode": "How fast is a column encoded, by threads, cardinality, skew and order of the rows?",
    "cache-etc": "What hit ratio, latency and throughput does the cache give under ETC, by its memory?",
    "cache-policies": "Which eviction policy hits most, by memory, and is it what its paper says?",
    "cache-sensitivity": "What do memory, load factor, keys, mix, threads, compressibility of values and the build change, each alone?",
    "cache-etc-lite": "Do the figures of an earlier study come back: hit ratio, p95 and throughput of a small cache by its number of keys?",
    "cache-peers": "What do answers cost, and how late are they, beside memcached and Redis: by pipeline, connections, closed and open loop?",
};

/// Every plan that ships.
pub fn shipped_plans() -> &'static [ShippedPlan] {
    SHIPPED
}

/// A layer of `outcrop profile`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfileLayer {
    /// The layer: `outcrop profile --layer NAME`.
    pub name: &'static str,
    /// The plans that stand for it, which ship.
    pub plans: &'static [&'static str],
    /// The plans that stand for it when it takes the user's data.
    pub plans_for_data: &'static [&'static str],
    /// Seconds that it may take with `--quick`. All layers together stay below 90.
    pub quick_s: u64,
    /// Seconds that it may take by default. All layers together stay below 600.
    pub default_s: u64,
}

/// The layers of `outcrop profile`, in the order of the stack: a further one is a line here. Tests hold each to its
/// seconds, and their sums to what the command promises.
static PROFILE: &[ProfileLayer] = &[
    ProfileLayer {
        name: "device",
        plans: &[
            "ssd-access-size",
            "ssd-read-write-mix",
            "ssd-queue-depth",
            "ssd-max",
            "ssd-matrix",
        ],
        plans_for_data: &[],
        quick_s: 50,
        default_s: 325,
    },
    ProfileLayer {
        name: "compression",
        plans: &["codec-choice"],
        plans_for_data: &["codec-choice"],
        quick_s: 18,
        default_s: 85,
    },
    ProfileLayer {
        name: "column",
        plans: &["column-size", "column-search", "column-encode"],
        plans_for_data: &["column-choice", "column-index"],
        quick_s: 12,
        default_s: 100,
    },
    ProfileLayer {
        name: "cache",
        plans: &["cache-etc"],
        plans_for_data: &["cache-etc"],
        quick_s: 10,
        default_s: 90,
    },
];

/// Every layer that `outcrop profile` measures.
pub fn profile_layers() -> &'static [ProfileLayer] {
    PROFILE
}

/// The plans of the layers named, of all layers when none is; those for the user's data where a layer takes them.
///
/// # Errors
/// A sentence for the first name that is no layer of the profile.
pub fn profile_plans<N: AsRef<str>>(layers: &[N], data: Option<&Path>) -> Result<Vec<PlanSource>, String> {
    let known: Vec<&str> = PROFILE.iter().map(|layer| layer.name).collect();
    for name in layers {
        if !known.contains(&name.as_ref()) {
            let name = name.as_ref();
            return Err(format!(
                "the profile has no layer {name:?}; {}",
                hint(name, &known)
            ));
        }
    }
    let is_wanted =
        |layer: &&ProfileLayer| layers.is_empty() || layers.iter().any(|name| name.as_ref() == layer.name);
    let takes = |layer: &ProfileLayer, data: &Path| {
        let taken = crate::layer::of(layer.name).take_data(&data.to_string_lossy());
        matches!(taken, Ok(Some(_)))
    };
    let plans = PROFILE.iter().filter(is_wanted).flat_map(|layer| match data {
        Some(data) if takes(layer, data) => layer.plans_for_data,
        _ => layer.plans,
    });
    Ok(plans
        .filter_map(|name| SHIPPED.iter().find(|plan| plan.name == *name))
        .map(ShippedPlan::source)
        .collect())
}
