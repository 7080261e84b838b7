//! The plans that ship, how they are named, and which of them make up a profile of the stack: a layer says which stand for it.

use std::path::Path;

use outcrop_measure::units::TimeSpan;
use outcrop_schema::Settings;
use outcrop_workload::word::hint;

use crate::effort::Effort;
use crate::error::LabError;
use crate::layer::{LayerRef, Profile};
use crate::layers::Layers;
use crate::plan::{DataForm, PlanOptions, PlanSource};

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
    "ssd-read-write-mix": "How does a true mix of reads and writes perform, compared with pure reads and pure writes?",
    "ssd-queue-depth": "How do IOPS and latency change with queue depth, and where is the knee?",
    "ssd-max": "What are the highest bandwidth and IOPS of the device, and what does its datasheet claim?",
    "ssd-matrix": "How does the device perform at every combination of access size, queue depth and mix?",
    "ssd-snia-iops": "What IOPS does the device sustain in steady state, by mix and access size, in the rounds of the SNIA PTS?",
    "ssd-snia-latency": "What latency does the device have in steady state at depth 1, in the rounds of the SNIA PTS?",
    "ssd-snia-wsat": "Is there a write cliff: how do random writes change with time until the device is saturated, as in the SNIA PTS?",
    "ssd-depth-by-size": "How do IOPS and latency change with queue depth, for small and larger reads and writes?",
    "ssd-mix-by-size": "How do bandwidth and latency change with the share of reads, at 4 and 64 KiB?",
    "ssd-max-sequential": "What is the highest sequential bandwidth, with accesses of up to 16 MiB?",
    "ssd-content": "Is compressible content written faster, by the device or the filesystem?",
    "ssd-durability": "What does it cost to make writes durable?",
    "fs-choice": "Which filesystem and compression suit these data: space, writing, cold reads, CPU?",
    "fs-read-amplification": "How many bytes does a small cold read fetch, and how long does it take, by extent, block or cluster size?",
    "fs-throughput-latency": "How does the latency of cold reads grow with jobs and offered load, with and without compression?",
    "fs-writes": "What do synced, small and overwriting writes cost, and what changes with ageing?",
    "fs-small-files": "What do many small files cost in space, requests and time?",
    "codec-choice": "Which codec, and which block size, suit these data?",
    "zstd-stages": "How does zstd's time split into match finding, literals and sequences, by level, block size and entropy?",
    "ratio-percentiles": "How are the ratios of single blocks distributed at 4 and 64 KiB, for Snappy, LZ4, Deflate, Zstd and dpzip?",
    "throughput-latency": "How fast does each codec compress and decompress at 4 and 64 KiB, from one thread to all, and what is the latency per block?",
    "robustness": "How do throughput and latency change as the data become less compressible, by repetition and by entropy?",
    "column-size": "How large is a dictionary column by cardinality and skew, compared with its floor?",
    "column-search": "How fast are rows found by value, prefix and range, in memory, in a cached file and by a scan?",
    "column-choice": "Which columns are smaller as .ocol than in this file, and than in Parquet with zstd?",
    "column-index": "How fast are columns encoded, and what do postings cost in size and save in finding the rows of a value?",
    "column-encode": "How fast is a column encoded, by threads, cardinality, skew and order of the rows?",
    "column-kernels": "How much faster are rows found with a dictionary, postings and vector instructions than by a plain scan of the text?",
    "column-kernels-whole": "How much faster do vector instructions encode and decode a column?",
    "column-codecs": "Is a dictionary column smaller than its text under a general compressor?",
    "column-ablation": "What does each technique save in the size of a column file, and what does it cost in the speed of encoding?",
    "kv-compression": "What does compressing the engine's blocks cost and save, by codec and block size?",
    "kv-scaling": "How do throughput and read latency change with threads and processes, by codec?",
    "kv-ycsb": "How do the engines perform under YCSB's core workloads, and does an LSM tree or a B-tree suit them better?",
    "kv-network": "What does a store behind a socket, Redis or memcached, cost compared with an embedded engine, by workload and value size?",
    "kv-mixgraph": "What changes with small values and requests that cluster in ranges, by codec and block size?",
    "kv-energy": "How much CPU time and energy does an operation take, by codec and number of processes?",
    "placement": "Where should these data be compressed: what does it cost and save in the store's own blocks?",
    "placement-filesystem": "Where should these data be compressed: what does it cost and save in the filesystem below the store?",
    "predict-software": "Is a store's throughput under each codec what its uncompressed run and the codec's figures predict?",
    "predict-codecs": "How long does each codec of predict-software take for one block?",
    "predict-filesystem": "Are reads of a compressing filesystem what its uncompressed reads and the codec's figures predict?",
    "cache-etc": "What hit ratio, latency and throughput does the cache give under ETC, by memory?",
    "cache-policies": "Which eviction policy has the highest hit ratio, by memory, and does it match its paper?",
    "cache-sensitivity": "What is the effect of memory, load factor, keys, mix, threads, compressibility of values and the build, one at a time?",
    "cache-etc-lite": "Can the figures of an earlier study be reproduced: hit ratio, p95 and throughput of a small cache by memory, build, load factor and keys?",
    "cache-peers": "What do requests cost in CPU and latency, compared with memcached and Redis, by pipeline, connections, closed and open loop?",
    "cache-peer-hits": "With the same memory limit, does Outcrop's server hit more often than memcached and Redis?",
};

/// Every plan that ships.
pub fn shipped_plans() -> &'static [ShippedPlan] {
    SHIPPED
}

/// The plan that a user calls `name`: a file of that name wins; otherwise a plan that ships.
///
/// ```
/// let plan = outcrop_lab::plan_source("ssd-max".as_ref())?;
/// assert_eq!(plan.name, "plans/ssd-max.toml");
/// # Ok::<(), outcrop_lab::LabError>(())
/// ```
///
/// # Errors
/// [`LabError::NoPlan`] for a name that neither has; [`LabError::ReadPlan`].
pub fn plan_source(name: &Path) -> Result<PlanSource, LabError> {
    let shipped = SHIPPED.iter().find(|plan| Path::new(plan.name) == name);
    match shipped {
        Some(plan) if !name.is_file() => Ok(plan.source()),
        None if !name.exists() && !name.to_string_lossy().contains(['/', '.']) => Err(LabError::NoPlan {
            name: name.display().to_string(),
        }),
        _ => PlanSource::read(name),
    }
}

/// What a name that no plan has may be a slip of, or the names of all plans that ship.
///
/// ```
/// assert_eq!(outcrop_lab::shipped_hint("ssd-matricks"), "did you mean `ssd-matrix`?");
/// assert!(outcrop_lab::shipped_hint("mine").starts_with("the shipped plans are ssd-access-size, "));
/// ```
pub fn shipped_hint(name: &str) -> String {
    let names: Vec<&str> = SHIPPED.iter().map(|plan| plan.name).collect();
    let found = hint(name.trim_end_matches(".toml"), &names);
    match found.strip_prefix("accepted: ") {
        Some(all) => format!("the shipped plans are {all}"),
        None => found,
    }
}

/// The options of a profile: it promises to take at most 90 seconds when it is quick and ten minutes by default. Whoever
/// sets times or repetitions decides how long it takes.
///
/// ```
/// use outcrop_lab::{Effort, PlanOptions, profile_options};
/// use outcrop_measure::units::TimeSpan;
///
/// let quick = PlanOptions { effort: Some(Effort::Quick), ..PlanOptions::default() };
/// assert_eq!(profile_options(quick.clone()).promised, Some(TimeSpan::seconds(90)));
/// assert_eq!(profile_options(PlanOptions { repetitions: Some(9), ..quick }).promised, None);
/// ```
#[must_use]
pub fn profile_options(options: PlanOptions) -> PlanOptions {
    let is_as_planned =
        options.repetitions.is_none() && options.duration.is_none() && options.warm_up.is_none();
    let promised = match options.effort.unwrap_or_default() {
        Effort::Quick => Some(TimeSpan::seconds(90)),
        Effort::Default => Some(TimeSpan::seconds(600)),
        Effort::Full => None,
    };
    PlanOptions {
        promised: promised.filter(|_| is_as_planned),
        ..options
    }
}

/// What a profile measures of each layer, by the layer's name, in the order of the stack.
pub fn profile_layers() -> impl Iterator<Item = (&'static str, Profile)> {
    Layers::default()
        .all()
        .filter_map(|layer| Some((layer.name(), layer.profile()?)))
}

/// The plans of a profile, and what a user should know of how they were chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfilePlans {
    /// The plans, in the order of the stack.
    pub plans: Vec<PlanSource>,
    /// A sentence for each layer that measures something else than usual in this directory.
    pub notes: Vec<String>,
}

/// The plans of the layers named, of all layers when none is; those for the user's data where a layer takes them, and those that a directory
/// allows.
///
/// # Errors
/// A sentence for the first name that is no layer of the profile.
pub fn profile_plans<N: AsRef<str>>(
    layers: &[N],
    data: Option<&Path>,
    directory: &Path,
) -> Result<ProfilePlans, String> {
    profile_plans_for(layers, (data, &DataForm::default()), directory)
}

/// The same for data that somebody says something about.
///
/// # Errors
/// As [`profile_plans`].
pub fn profile_plans_for<N: AsRef<str>>(
    layers: &[N],
    (data, form): (Option<&Path>, &DataForm),
    directory: &Path,
) -> Result<ProfilePlans, String> {
    let known: Vec<&str> = profile_layers().map(|(name, _)| name).collect();
    if let Some(unknown) = layers.iter().find(|name| !known.contains(&name.as_ref())) {
        let seen = unknown.as_ref();
        return Err(format!(
            "the profile has no layer {seen:?}; {}",
            hint(seen, &known)
        ));
    }
    let is_wanted =
        |layer: &LayerRef| layers.is_empty() || layers.iter().any(|name| name.as_ref() == layer.name());
    let takes = |layer: LayerRef, data: &Path| {
        let Ok(form) = form.of_layer(layer) else {
            return true;
        };
        match layer.take_data(&data.to_string_lossy(), &form) {
            Ok(taken) => taken.is_some(),
            // Data that somebody says something about are measured or refused when the plans are checked.
            Err(_) => form != Settings::default(),
        }
    };
    let mut chosen = ProfilePlans::default();
    for layer in Layers::default().all().filter(is_wanted) {
        let Some(profile) = layer.profile() else { continue };
        let names = match (layer.profile_instead(directory), data) {
            (Some((names, why)), _) => {
                let instead = format!(
                    "the {} layer measures {} on the directory's own filesystem, because no filesystem can be made for it: {why}",
                    layer.name(),
                    names.join(", ")
                );
                chosen.notes.push(instead);
                names
            }
            (None, Some(data)) if takes(layer, data) => profile.plans_for_data,
            (None, _) => profile.plans,
        };
        let shipped = names
            .iter()
            .filter_map(|name| SHIPPED.iter().find(|plan| plan.name == *name));
        chosen.plans.extend(shipped.map(ShippedPlan::source));
    }
    Ok(chosen)
}
