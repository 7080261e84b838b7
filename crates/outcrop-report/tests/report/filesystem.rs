//! Findings, answer and figures of the filesystem layer on runs whose truth is known: nothing here was measured.

use outcrop_measure::metric::Metric;
use outcrop_report::{Finding, MeasuredSystem, Report, Verdict};
use outcrop_results::{Outcome, RunView, TrialEntry, Value};
use outcrop_schema::filesystem::{
    ACHIEVED_QUEUE_DEPTH, ARRIVAL, ARRIVAL_REQUESTED, CODEC_TIME, COMPRESSED_SHARE, COMPRESSION,
    CPU_PER_OPERATION, DATA_RATIO, EXTENT_TIME, FILESYSTEM, FILESYSTEM_TIME, FOREIGN_CPU_SHARE, IOPS,
    KERNEL_THREAD_SHARE, LATENCY, OPERATION, OPTIONS, PAGE_CACHE_BELOW, PAGES_CACHED_BEFORE, PREDICTED_IOPS,
    PREDICTED_LATENCY, PREDICTED_SPACE, RAW_LATENCY_4K, RAW_LATENCY_128K, READ_AMPLIFICATION,
    READ_AMPLIFICATION_OWN, SCHEMA, SERVICE_LATENCY, SPACE_RATIO, SYNC, WAKE_TIME, WRITE_THROUGHPUT,
};
use outcrop_schema::{Remark, Settings, Vocabulary};

/// Cells of a run; each with three trials of the same values.
pub(crate) struct Builder {
    pub(crate) run: RunView,
}

pub(crate) type Values<'v> = &'v [(Metric, f64)];

/// What a sound cell of compressed btrfs says, at a ratio of 3.6.
const SOUND: Values<'static> = &[
    (SPACE_RATIO, 3.58),
    (DATA_RATIO, 3.6),
    (PREDICTED_SPACE, 3.6),
    (COMPRESSED_SHARE, 1.0),
    (PAGES_CACHED_BEFORE, 0.0),
    (READ_AMPLIFICATION, 8.9),
    (READ_AMPLIFICATION_OWN, 8.9),
    (LATENCY.mean, 280_000.0),
    (LATENCY.p50, 260_000.0),
    (LATENCY.p99, 520_000.0),
    (IOPS, 3571.0),
    (ACHIEVED_QUEUE_DEPTH, 1.0),
    (CODEC_TIME, 146_000.0),
    (PREDICTED_LATENCY, 278_000.0),
    (PREDICTED_IOPS, 3597.0),
    (CPU_PER_OPERATION, 217_000.0),
    (KERNEL_THREAD_SHARE, 0.86),
    (FOREIGN_CPU_SHARE, 0.05),
    (WRITE_THROUGHPUT, 4.2e8),
];

impl Builder {
    pub(crate) fn new() -> Self {
        Self {
            run: RunView {
                dir: "runs/20261121T020000Z-filesystems".into(),
                name: "20261121T020000Z-filesystems".into(),
                plan: "[run]\nseed = \"0x2a\"\neffort = \"quick\"\n\n[[plan]]\nname = \"fs-choice\"\nlayer = \"filesystem\"\n\
                       design = \"every-combination\"\n"
                    .into(),
                environment: serde_json::Value::Null,
                trials: Vec::new(),
                torn_bytes: 0,
                vocabulary: Vocabulary::default(),
            },
        }
    }

    pub(crate) fn cell(
        mut self,
        filesystem: &str,
        compression: &str,
        changes: Values<'_>,
        remark: &Remark,
    ) -> Self {
        let mut factors = Settings::defaults(SCHEMA.workload);
        factors.read(&FILESYSTEM, filesystem).expect("a filesystem");
        factors.read(&COMPRESSION, compression).expect("a compression");
        for repetition in 0..3 {
            let mut values: Vec<(Metric, f64)> = SOUND.to_vec();
            for (metric, value) in changes {
                values.retain(|(known, _)| known.name != metric.name);
                values.push((*metric, *value));
            }
            let number = self.run.trials.len() as u32;
            self.run.trials.push(TrialEntry {
                trial: number,
                seed: u64::from(number),
                started_at: "2026-11-21T02:00:00.123456Z".into(),
                data: None,
                variant: None,
                histograms: Vec::new(),
                cell: format!("{filesystem} {compression}"),
                layer: SCHEMA.name.to_owned(),
                subject: "silesia 64 MiB".to_owned(),
                factors: factors.spellings(),
                plans: vec!["fs-choice".to_owned()],
                repetition,
                took_s: None,
                others_cpu_share: None,
                outcome: Outcome::Completed,
                duration_s: 0.4,
                values: values
                    .into_iter()
                    .map(|(metric, value)| Value::measured(metric, value))
                    .collect(),
                notes: vec![remark.clone()],
            });
        }
        self
    }

    pub(crate) fn btrfs(self, compression: &str, changes: Values<'_>) -> Self {
        let options = OPTIONS.remark(format!("mounted with rw,compress-force={compression},subvolid=5"));
        self.cell("btrfs", compression, changes, &options)
    }
}

/// A sound run, for tests of every layer.
pub(crate) fn example() -> RunView {
    Builder::new().btrfs("zstd:3", &[]).btrfs("zstd:1", &[]).run
}

/// What a quick profile measures of filesystems.
pub(crate) fn choice() -> RunView {
    let remark = OPTIONS.remark("mounted with rw,relatime");
    let plain: Values<'_> = &[(SPACE_RATIO, 0.99), (LATENCY.p50, 91_000.0)];
    let builder = Builder::new()
        .btrfs("zstd:3", &[])
        .btrfs("zstd:1", &[])
        .btrfs("lzo", &[]);
    ["ext4", "xfs", "btrfs"]
        .into_iter()
        .fold(builder, |builder, filesystem| {
            builder.cell(filesystem, "none", plain, &remark)
        })
        .run
}

pub(crate) fn finding(run: &RunView, id: &str) -> Finding {
    let report = Report::of(run);
    let found = report.layers[0].findings.iter().find(|finding| finding.id == id);
    found.unwrap_or_else(|| panic!("no finding {id}")).clone()
}

fn verdict(changes: Values<'_>, id: &str) -> Verdict {
    finding(&Builder::new().btrfs("zstd:3", changes).run, id).verdict
}

const FINDINGS: [&str; 9] = [
    "reads-were-cold",
    "compression-happened",
    "options-are-effective",
    "amplification-in-bounds",
    "bytes-are-the-kernels",
    "space-is-the-codecs",
    "cpu-is-accounted",
    "littles-law",
    "prediction-is-observed",
];

#[test]
fn every_finding_holds_of_a_sound_cell() {
    for id in FINDINGS {
        assert_eq!(verdict(&[], id), Verdict::Holds, "{id}");
    }
}

#[test]
fn every_trap_makes_its_finding_fail() {
    let traps: [(&str, Values<'_>); 9] = [
        // The second read of an extent by O_DIRECT: 0.026 bytes for each byte.
        (
            "reads-were-cold",
            &[(READ_AMPLIFICATION, 0.026), (READ_AMPLIFICATION_OWN, 0.026)],
        ),
        ("reads-were-cold", &[(PAGES_CACHED_BEFORE, 7717.0)]),
        // nodatasum, or fallocate before writing.
        ("compression-happened", &[(COMPRESSED_SHARE, 0.0)]),
        ("amplification-in-bounds", &[(READ_AMPLIFICATION, 4.6)]),
        ("bytes-are-the-kernels", &[(READ_AMPLIFICATION, 40.9)]),
        // Space that xfs reserved, or a codec of another level.
        ("space-is-the-codecs", &[(DATA_RATIO, 3.4)]),
        ("cpu-is-accounted", &[(FOREIGN_CPU_SHARE, 1.4)]),
        ("littles-law", &[(LATENCY.mean, 140_000.0)]),
        // Twice the codec's time would predict 424 µs.
        ("prediction-is-observed", &[(LATENCY.p50, 600_000.0)]),
    ];
    for (id, changes) in traps {
        assert_eq!(verdict(changes, id), Verdict::DoesNotHold, "{id} {changes:?}");
    }
    // zstd:99, of which the kernel made zstd:15.
    let options = OPTIONS.remark("mounted with rw,compress-force=zstd:15,subvolid=5");
    let run = Builder::new().cell("btrfs", "zstd:9", &[], &options).run;
    assert_eq!(
        finding(&run, "options-are-effective").verdict,
        Verdict::DoesNotHold
    );
    // Forced is not the heuristic, whose options read almost the same.
    let options = OPTIONS.remark("mounted with rw,compress=zstd:3,subvolid=5");
    let run = Builder::new().cell("btrfs", "zstd:3", &[], &options).run;
    assert_eq!(
        finding(&run, "options-are-effective").verdict,
        Verdict::DoesNotHold
    );
    // A loop device without direct I/O below.
    let below = PAGE_CACHE_BELOW.remark("loop0 was attached without direct I/O");
    let run = Builder::new().cell("btrfs", "zstd:3", &[], &below).run;
    assert_eq!(finding(&run, "reads-were-cold").verdict, Verdict::DoesNotHold);
}

#[test]
fn a_directory_that_others_mounted_to_compress_and_that_does_not_is_noticed() {
    let verdict = |options: &str, share: f64| {
        let options = OPTIONS.remark(format!("mounted with {options}"));
        let changes: Values<'_> = &[(COMPRESSED_SHARE, share)];
        let mut run = Builder::new().cell("btrfs", "none", changes, &options).run;
        for trial in &mut run.trials {
            for factor in [FILESYSTEM.name, COMPRESSION.name] {
                trial.factors.remove(factor);
            }
        }
        finding(&run, "compression-happened").verdict
    };
    let forced = "rw,relatime,compress-force=zlib:1,subvolid=5";
    assert_eq!(verdict(forced, 1.0), Verdict::Holds);
    assert_eq!(
        verdict("rw,nodatasum,compress-force=zlib:1,subvolid=5", 0.0),
        Verdict::DoesNotHold
    );
    // Not asked for, or only where the kernel thinks that it pays.
    for options in ["rw,subvolid=5", "rw,compress=zlib:1", "rw,compress-force=none"] {
        assert!(
            matches!(verdict(options, 0.0), Verdict::NotTestable(_)),
            "{options}"
        );
    }
}

#[test]
fn the_answer_names_the_smallest_the_soonest_and_what_the_smallest_costs() {
    let squashfs: Values<'_> = &[(SPACE_RATIO, 3.5), (LATENCY.p50, 118_000.0)];
    let ext4: Values<'_> = &[(SPACE_RATIO, 1.0), (LATENCY.p50, 91_000.0)];
    let remark = OPTIONS.remark("mounted with rw");
    let run = Builder::new()
        .btrfs("zstd:3", &[])
        .cell("ext4", "none", ext4, &remark)
        .cell("squashfs", "zstd:3", squashfs, &remark)
        .run;
    let report = Report::of(&run);
    let answer = &report.layers[0].answer;
    let brief = |topic: &str| {
        let claim = answer.advice.iter().find(|claim| claim.topic == topic);
        claim
            .unwrap_or_else(|| panic!("{topic}: {:?}", answer.advice))
            .brief
            .clone()
    };
    assert!(
        brief("Smallest").starts_with("btrfs zstd:3"),
        "{}",
        brief("Smallest")
    );
    assert!(
        brief("Fastest small reads, p50").starts_with("ext4"),
        "{}",
        brief("Fastest small reads, p50")
    );
    let price = brief("Price of the least space");
    assert!(
        price.starts_with("btrfs zstd:3: data ÷ space 3.58; cold 4 KiB random reads, one at a time, take 260 µs (p50), 169 µs longer"),
        "{price}"
    );
    let page = report.to_html();
    assert!(page.contains("fs-space-against-latency"));
}

#[test]
fn compression_that_saves_nothing_is_to_be_left_off() {
    let random: Values<'_> = &[(SPACE_RATIO, 0.994), (LATENCY.p50, 300_000.0)];
    let plain: Values<'_> = &[(SPACE_RATIO, 0.996), (LATENCY.p50, 91_000.0)];
    let run = Builder::new()
        .btrfs("zstd:3", random)
        .cell("btrfs", "none", plain, &OPTIONS.remark("mounted with rw"))
        .run;
    let report = Report::of(&run);
    let advice = &report.layers[0].answer.advice;
    let actions: Vec<&String> = advice.iter().filter_map(|claim| claim.action.as_ref()).collect();
    assert_eq!(actions.len(), 1, "{actions:?}");
    assert!(
        actions[0].starts_with("Leave the filesystem's compression off: it saves nothing here"),
        "{actions:?}"
    );
    assert!(advice.iter().all(|claim| claim.topic != "Smallest"), "{advice:?}");

    // Where it saves space, what reads then take longer is said, and the reader judges.
    let dear: Values<'_> = &[(SPACE_RATIO, 1.5), (LATENCY.p50, 900_000.0)];
    let run = Builder::new()
        .btrfs("zstd:3", dear)
        .cell("btrfs", "none", plain, &OPTIONS.remark("mounted with rw"))
        .run;
    let report = Report::of(&run);
    let advice = &report.layers[0].answer.advice;
    let action = advice.iter().find_map(|claim| claim.action.as_ref()).unwrap();
    assert_eq!(
        action,
        "Least space: btrfs zstd:3, data ÷ space 1.50; p50 900 µs instead of 91.0 µs for cold 4 KiB random reads, one at a time (btrfs none)"
    );
    assert!(advice.iter().all(|claim| claim.topic != "Balanced"), "{advice:?}");
}

#[test]
fn the_fastest_writing_says_when_it_was_synced() {
    let label = |operation: &str, sync: &str| {
        let mut run = Builder::new().btrfs("zstd:3", &[]).run;
        for trial in &mut run.trials {
            trial.factors.insert(OPERATION.name.into(), operation.into());
            trial.factors.insert(SYNC.name.into(), sync.into());
        }
        let report = Report::of(&run);
        let rows = &report.layers[0].answer.capabilities;
        let row = rows.iter().find(|row| row.label.starts_with("Fastest writing"));
        row.unwrap().label.clone()
    };
    assert_eq!(label("write", "each:1"), "Fastest writing, each write synced");
    assert_eq!(
        label("append", "each:64"),
        "Fastest writing, synced every 64 writes"
    );
    assert_eq!(label("write", "end"), "Fastest writing, synced at the end");
    // The files that are overwritten were written before, in one go.
    assert_eq!(label("overwrite", "each:1"), "Fastest writing, synced at the end");
}

#[test]
fn publications_are_held_to_their_own_figures() {
    let run = Builder::new().btrfs("zstd:3", &[]).run;
    let report = Report::of(&run);
    let verdicts: Vec<(&str, &Verdict)> = report.layers[0]
        .references
        .iter()
        .flat_map(|section| &section.findings)
        .map(|finding| (finding.id.as_str(), &finding.verdict))
        .collect();
    let expected = [
        ("plotted-is-logged", &Verdict::DoesNotHold),
        ("units-are-decimal", &Verdict::DoesNotHold),
        ("latency-is-the-queue", &Verdict::Holds),
        ("tail-is-of-completion", &Verdict::Holds),
        ("paced-not-saturated", &Verdict::Holds),
        ("update-contains-its-read", &Verdict::DoesNotHold),
        // zstd's table of 2017.
        ("level-trades-speed-for-space", &Verdict::Holds),
        ("compressed-reads-wait-for-cpu", &Verdict::Holds),
    ];
    for one in expected {
        assert!(verdicts.contains(&one), "{one:?} in {verdicts:?}");
    }
}

#[test]
fn an_offered_load_that_is_not_answered_is_called_overloaded_and_answers_nothing() {
    let behind = |arrival: &str, changes: Values<'_>| {
        let mut run = Builder::new().btrfs("zstd:3", &[]).btrfs("zstd:1", changes).run;
        for trial in &mut run.trials[3..] {
            trial.factors.insert(ARRIVAL.name.to_owned(), arrival.to_owned());
        }
        run
    };
    let warned = |run: &RunView| {
        let report = Report::of(run);
        let cautions = &report.layers[0].answer.cautions;
        cautions
            .iter()
            .any(|caution| caution.text.starts_with("Overloaded: 20.0 k/s offered"))
    };
    let late: Values<'_> = &[
        (ARRIVAL_REQUESTED, 20_000.0),
        (LATENCY.p50, 10_000.0),
        (SERVICE_LATENCY.p50, 2_600.0),
    ];
    let run = behind("constant:20k", late);
    assert!(warned(&run));
    // Its latency is the least, and still the closed loop is the answer.
    let report = Report::of(&run);
    let page = report.screen(100, false);
    assert!(!page.contains("10.0 µs") && page.contains("260 µs"), "{page}");
    let in_time: Values<'_> = &[(ARRIVAL_REQUESTED, 3_600.0), (SERVICE_LATENCY.p50, 250_000.0)];
    assert!(!warned(&behind("constant:3600", in_time)));
}

#[test]
fn a_small_read_of_a_compressed_extent_is_predicted_as_device_codec_wake_up_and_a_page_cache_filled_with_all_of_it()
 {
    let device: Values<'_> = &[(RAW_LATENCY_4K, 80_000.0), (RAW_LATENCY_128K, 207_000.0)];
    // 125 µs uncompressed; 28 KiB more from the device at 1 ns/B, 100 µs of the codec, 25 µs of waking, and 40 µs for 124 KiB more of page cache.
    let time_ns = 125_000.0 + 28_672.0 * (127_000.0 / 126_976.0) + 100_000.0 + 25_000.0 + 40_000.0;
    let compressed: Values<'_> = &[
        device[0],
        device[1],
        (PREDICTED_SPACE, 4.0),
        (CODEC_TIME, 100_000.0),
        (WAKE_TIME, 25_000.0),
        (FILESYSTEM_TIME, 20_000.0),
        (EXTENT_TIME, 60_000.0),
        (IOPS, 1e9 / time_ns),
    ];
    let plain: Values<'_> = &[device[0], device[1], (IOPS, 8000.0)];
    let run = Builder::new()
        .btrfs("none", plain)
        .btrfs("zstd:3", compressed)
        .run;
    let system = MeasuredSystem::of(&run).expect("reads with and without compression");
    let study = system.study().expect("each measurement has its prediction");
    let worst = study.error.worst().expect("one pair is checked");
    assert!(worst < 1e-6, "{worst}");
    // No store was predicted: what was found of files is no finding about stores.
    let mut with_stores = run;
    with_stores.trials.extend(crate::kv_fixture::codecs().trials);
    let report = Report::of(&with_stores);
    let mut findings = report.layers.iter().flat_map(|layer| &layer.findings);
    assert!(findings.all(|finding| finding.id != "kv-prediction-holds"));
}
