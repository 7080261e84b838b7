//! Runs of which each cell was measured under two values of a factor, whichever that is.

use std::collections::BTreeSet;

use outcrop_results::RunView;
use outcrop_schema::device::{self, CONTENT, SYNC};
use outcrop_schema::{FactorRef, LayerSchema, cache, kv};

use crate::fixture::RunBuilder;
use crate::kv_fixture::{self, Stored};

/// The run with each of its cells once more under another value of a factor.
pub(crate) fn with_other(mut run: RunView, factor: FactorRef, value: &str) -> RunView {
    // A real run states every factor that its cells have.
    for trial in &mut run.trials {
        let usual = factor.default.unwrap_or(match factor.name {
            "request_mix" => "30:1",
            "load_factor" | "server_threads" => "1",
            "block_cache" => "8MiB",
            "durability" => "logged",
            _ => "etc",
        });
        let stated = trial.factors.entry(factor.name.to_owned());
        stated.or_insert_with(|| usual.to_owned());
    }
    let others: Vec<_> = run.trials.clone();
    run.trials.extend(others.into_iter().map(|mut trial| {
        trial.cell.push_str("-other");
        trial.factors.insert(factor.name.to_owned(), value.to_owned());
        trial
    }));
    run
}

/// A value of each factor that names a cell of its layer, other than those of the fixtures.
const OTHERS: [(FactorRef, &str); 26] = [
    (&device::ACCESS_PATTERN, "sequential"),
    (&device::IO_BLOCK_SIZE, "64KiB"),
    (&device::READ_WRITE_MIX, "50:50"),
    (&device::JOBS, "2"),
    (&device::DRIVES, "2"),
    (&device::ARRIVAL, "constant:1000"),
    (&CONTENT, "zeros"),
    (&device::SUBMISSION, "batch"),
    (&device::ENGINE, "libaio"),
    (&SYNC, "each"),
    (&device::COMPLETIONS, "polled"),
    (&device::LATENCY_PARTS, "apart"),
    (&device::REPLAY, "written"),
    (&cache::POPULARITY, "uniform"),
    (&cache::KEY_SIZE, "fixed:10B"),
    (&cache::VALUE_SIZE, "fixed:10B"),
    (&cache::REQUEST_MIX, "3:1"),
    (&cache::CONTENT, "zeros"),
    (&cache::ON_MISS, "nothing"),
    (&cache::FILL, "nothing"),
    (&cache::LOAD_FACTOR, "0.9"),
    (&cache::SERVER_THREADS, "2"),
    (&kv::BLOCK_CACHE, "1MiB"),
    (&kv::WRITE_BUFFER, "1MiB"),
    (&kv::VALUE_SIZE, "fixed:10B"),
    (&kv::THREADS, "4"),
];

/// Those of one layer.
pub(crate) fn others_of(schema: &LayerSchema) -> impl Iterator<Item = (FactorRef, &'static str)> {
    let has = |factor: FactorRef| {
        let mut own = schema.workload.iter();
        own.any(|own| std::ptr::eq(own.about(), factor.about()))
    };
    OTHERS.into_iter().filter(move |(factor, _)| has(*factor))
}

/// A run of each of these layers.
pub(crate) fn runs() -> [(&'static LayerSchema, RunView); 3] {
    let stores = ["lz4", "none"].map(|codec| Stored {
        codec,
        block_size: "4KiB",
        filesystem: "ext4",
        throughput: 1e5,
        stored: 5e7,
    });
    [
        (
            &device::SCHEMA,
            RunBuilder::new(5).cells(&[4096], &[2, 16], &[0]).build(),
        ),
        (&cache::SCHEMA, crate::cache_fixture::policies().run),
        (&kv::SCHEMA, kv_fixture::of(&stores)),
    ]
}

/// The ways in which a page may name a value of a factor, without blanks.
pub(crate) fn names_of(factor: FactorRef, value: &str) -> BTreeSet<String> {
    let spelled = format!("{} {value}", factor.words());
    let of_pages = match (factor.name, value) {
        ("arrival", "constant:1000") => Some("constant:1k/s"),
        ("read_write_mix", "0:100") => Some("random writes"),
        ("threads", "1") => Some("1 thread"),
        ("value_size", "fixed:10B") => Some("fixed:10"),
        _ => None,
    };
    let all = factor.labelled(value).into_iter().chain([spelled]);
    all.chain(of_pages.map(str::to_owned))
        .map(|name| name.replace(' ', ""))
        .collect()
}

/// The ways in which a page may name the values of a factor that cells of a run have.
pub(crate) fn names_in(run: &RunView, factor: FactorRef) -> BTreeSet<String> {
    let trials = run.trials.iter();
    let values: BTreeSet<&str> = trials.map(|trial| trial.factors[factor.name].as_str()).collect();
    values
        .into_iter()
        .flat_map(|value| names_of(factor, value))
        .collect()
}
