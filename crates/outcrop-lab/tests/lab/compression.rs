//! The compression layer from plan to journal: its cells, its metrics, and what it refuses.

use std::collections::BTreeSet;

use outcrop_lab::{PlanOptions, PlanSet, PlanSource, shipped_plans};
use outcrop_measure::metric::Metric;
use outcrop_measure::metric::Provenance;
use outcrop_measure::units::ByteSize;
use outcrop_results::{RunView, TrialEntry};
use outcrop_schema::compression as metrics;

use super::scene::{assert_complete, directory, plan_set, run_to_the_end, start, try_plan_set};

const PLAN: &str = r#"
name = "codecs"
question = "Does the compression layer work?"
layer = "compression"

[subject]
sample_size = "1MiB"

[factors]
codec = ["zstd:1", "dpzip"]
compression_block_size = ["4KiB", "64KiB"]
caches = ["warm", "cold"]

[trial]
repetitions = 2
warm_up = "0ms"
duration = "20ms"
"#;

fn names(entry: &TrialEntry) -> BTreeSet<&str> {
    entry.values.iter().map(|value| value.metric.as_str()).collect()
}

#[test]
fn trials_carry_every_metric_of_the_contract() {
    let here = directory();
    let set = plan_set(PLAN, here.path());
    let mut folder = start(&set, here.path());
    run_to_the_end(&set, &mut folder).unwrap();
    let entries = assert_complete(&set, &folder);
    for entry in &entries {
        assert_eq!(entry.layer, "compression");
        assert!(
            entry.subject.starts_with("sample 1.05 MB of "),
            "{}",
            entry.subject
        );
        let mut expected: BTreeSet<String> = [
            metrics::COMPRESSION_RATIO,
            metrics::COMPRESSION_RATIO_LOW,
            metrics::COMPRESSION_RATIO_HIGH,
            metrics::SAMPLED_SHARE,
            metrics::SAVED_SHARE,
            metrics::UNCOMPRESSED_BYTES,
            metrics::COMPRESSED_BYTES,
            metrics::BLOCK_COUNT,
            metrics::BLOCK_ENTROPY,
            metrics::ENERGY_PER_BYTE,
            metrics::CONTEXT_BYTES,
        ]
        .map(|metric| metric.name.to_owned())
        .into();
        let more = |metrics: &[Metric]| -> Vec<String> {
            metrics.iter().map(|metric| metric.name.to_owned()).collect()
        };
        expected.extend(more(&metrics::BLOCK_RATIOS));
        for direction in metrics::Direction::ALL {
            let latency = metrics::LATENCY.of(direction);
            expected.extend(more(&[
                metrics::SPEED.of(direction),
                metrics::CPU_PER_BYTE.of(direction),
                latency.mean,
                latency.p50,
                latency.p99_9,
                latency.max,
            ]));
        }
        if entry.factors["codec"].starts_with("dpzip") {
            expected.extend(more(&metrics::STORED_BYTES));
            expected.insert(metrics::MODELLED_COMPRESS_SPEED.name.to_owned());
            let modelled = entry
                .values
                .iter()
                .find(|value| value.metric == "modelled_page_latency")
                .unwrap();
            assert_eq!(modelled.provenance, Provenance::Modelled);
        }
        let names = names(entry);
        let missing: Vec<_> = expected
            .iter()
            .filter(|name| !names.contains(name.as_str()))
            .collect();
        assert!(missing.is_empty(), "{missing:?} in {:?}", entry.factors);
        let operations: Vec<_> = entry
            .histograms
            .iter()
            .map(|entry| entry.operation.as_str())
            .collect();
        assert_eq!(operations, ["compress", "decompress"]);
    }
}

#[test]
fn sizes_are_the_same_in_every_repetition_and_for_every_seed() {
    let here = directory();
    let set = plan_set(
        &PLAN.replace("1MiB", "16MiB").replace(", \"cold\"", ""),
        here.path(),
    );
    let mut folder = start(&set, here.path());
    run_to_the_end(&set, &mut folder).unwrap();
    let mut sizes: BTreeSet<(String, String, u64)> = BTreeSet::new();
    for entry in folder.trials().unwrap() {
        let size = entry
            .values
            .iter()
            .find(|value| value.metric == "compressed_bytes")
            .unwrap();
        let factors = &entry.factors;
        sizes.insert((
            factors["codec"].clone(),
            factors["compression_block_size"].clone(),
            size.value.unwrap() as u64,
        ));
    }
    assert_eq!(sizes.len(), 4, "{sizes:?}");
}

#[test]
fn the_stages_of_natural_and_of_independent_bytes_stand_side_by_side() {
    let here = directory();
    let text = PLAN.replace("[\"zstd:1\", \"dpzip\"]", "[\"zstd:1\"]").replace(
        "[factors]",
        "[workload]\nmeasurement = \"stages\"\n\n[factors]\ncontent = [\"natural:4\", \"entropy:4\"]",
    );
    let set = plan_set(&text, here.path());
    let mut folder = start(&set, here.path());
    run_to_the_end(&set, &mut folder).unwrap();
    for entry in assert_complete(&set, &folder) {
        let value = |name: &str| {
            let found = entry.values.iter().find(|value| value.metric == name);
            found.and_then(|value| value.value).unwrap()
        };
        let shares =
            ["match_finding", "literals", "sequences"].map(|stage| value(&format!("stage_{stage}_share")));
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{shares:?}");
        assert!((value("block_entropy") - 4.0).abs() < 0.7, "{:?}", entry.factors);
        assert!(value("stage_whole_time") > 0.0 && value("stage_sum_ratio") > 0.0);
    }
}

#[test]
fn threads_are_numbers_in_cells_and_equal_numbers_are_one_cell() {
    let here = directory();
    let cpus = std::thread::available_parallelism().unwrap().get();
    let text = PLAN
        .replace(
            "caches = [\"warm\", \"cold\"]",
            "threads = [1, \"all/4\", \"all/2\", \"all\"]",
        )
        .replace("[\"zstd:1\", \"dpzip\"]", "[\"zstd:1\"]")
        .replace("[\"4KiB\", \"64KiB\"]", "[\"4KiB\"]");
    let set = plan_set(&text, here.path());
    let threads: BTreeSet<usize> = set
        .cells()
        .iter()
        .map(|cell| cell.factors.value(&metrics::THREADS).count().unwrap() as usize)
        .collect();
    let expected: BTreeSet<usize> = [1, (cpus / 4).max(1), (cpus / 2).max(1), cpus].into();
    assert_eq!((threads.len(), &threads), (set.cells().len(), &expected));
    let again = try_plan_set(&set.to_toml(), here.path()).unwrap();
    assert_eq!(again.cells(), set.cells());
}

#[test]
fn two_files_of_one_name_are_two_subjects_with_figures_of_their_own() {
    let here = directory();
    let source = |name: &str, bytes: Vec<u8>| {
        let folder = here.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        let path = folder.join("data.bin");
        std::fs::write(&path, bytes).unwrap();
        PlanSource {
            name: "plan.toml".to_owned(),
            text: format!(
                "name = \"{name}\"\nquestion = \"Are they apart?\"\nlayer = \"compression\"\n\
                 [subject]\ndata = \"{}\"\n[factors]\ncodec = [\"lz4\"]\n\
                 [trial]\nrepetitions = 2\nwarm_up = \"0ms\"\nduration = \"10ms\"\n",
                path.display()
            ),
        }
    };
    let zeros = source("zeros", vec![0; 1 << 18]);
    let noise = source(
        "noise",
        (0..1_u32 << 18)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 11) as u8)
            .collect(),
    );
    let options = PlanOptions {
        directory: Some(here.path().to_owned()),
        ..PlanOptions::default()
    };
    let set = PlanSet::from_sources(&[zeros, noise], &options).unwrap();
    let mut folder = start(&set, here.path());
    run_to_the_end(&set, &mut folder).unwrap();
    assert_complete(&set, &folder);
    let run = RunView::load(folder.dir()).unwrap();
    let ratios: Vec<(&str, f64)> = run
        .cells()
        .iter()
        .map(|cell| {
            (
                cell.subject,
                cell.summary(metrics::COMPRESSION_RATIO.name).unwrap().median,
            )
        })
        .collect();
    assert_eq!(ratios.len(), 2, "{ratios:?}");
    assert!(
        ratios[0].0.contains("noise/data.bin") && ratios[0].1 < 50.0,
        "{ratios:?}"
    );
    assert!(
        ratios[1].0.contains("zeros/data.bin") && ratios[1].1 > 100.0,
        "{ratios:?}"
    );
}

#[test]
fn the_size_of_the_sample_is_written_over_that_of_plans_which_take_one() {
    let data = directory();
    let path = data.path().join("data.bin");
    std::fs::write(&path, vec![7; 3 << 20]).unwrap();
    let plan = |name: &str| {
        shipped_plans()
            .iter()
            .find(|plan| plan.name == name)
            .unwrap()
            .source()
    };
    let options = PlanOptions {
        data: Some(path),
        sample_size: Some(ByteSize::mib(2)),
        ..PlanOptions::default()
    };
    let set = PlanSet::from_sources(&[plan("codec-choice"), plan("ssd-max")], &options).unwrap();
    assert!(
        set.to_toml().contains("sample_size = \"2MiB\""),
        "{}",
        set.to_toml()
    );
}

#[test]
fn blocks_that_no_file_fills_are_said_before_anything_is_measured() {
    let here = directory();
    let write = |name: &str, bytes: usize| std::fs::write(here.path().join(name), vec![b'x'; bytes]).unwrap();
    write("small", 5_000);
    write("larger", 20_000);
    let text = "name = \"blocks\"\nquestion = \"Which?\"\nlayer = \"compression\"\n\
        [factors]\ncompression_block_size = [\"4KiB\", \"16KiB\", \"24KiB\"]\n";
    let noted = || {
        let options = PlanOptions {
            data: Some(here.path().to_owned()),
            ..PlanOptions::default()
        };
        let source = PlanSource {
            name: "plan.toml".to_owned(),
            text: text.to_owned(),
        };
        PlanSet::from_sources(&[source], &options)
            .unwrap()
            .data_notes()
            .to_vec()
    };
    let [note] = &noted()[..] else {
        panic!("{:?}", noted());
    };
    assert!(
        note.contains("fills a block of 24 KiB: the largest has 20.0 kB, and blocks do not span files"),
        "{note}"
    );
    write("larger", 30_000);
    assert!(noted().is_empty(), "{:?}", noted());
}
