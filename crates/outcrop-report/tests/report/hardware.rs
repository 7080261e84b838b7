//! What is predicted from a run: no more than its cores allow, with ratios of codecs that were measured on the same data.

use std::path::Path;

use outcrop_measure::metric::{Metric, Provenance};
use outcrop_predict::{Case, Station};
use outcrop_report::placement::{Candidate, CompressedAt};
use outcrop_report::{Constraints, Finding, MeasuredSystem, Placement, Report, Verdict};
use outcrop_results::{RunView, Value};
use outcrop_schema::filesystem::WAKE_TIME;
use outcrop_schema::kv::{
    BACKGROUND_CPU, BLOCKS_FETCHED, CALLER_CPU, COMPACTION_READ, COMPRESSION, CPU, DEVICE_READ, FILESYSTEM,
    KERNEL_THREADS_CPU, READ_LATENCY, TABLES_WRITTEN, THREADS, THROUGHPUT,
};

use crate::compression_fixture::{Builder, Codec, codec};
use crate::placement::{USUAL, least_ratio, stored};
use crate::{filesystem, kv_fixture};

/// The content of the fixture's stores.
const CONTENT: &str = "compressible:2";

/// The environment of a machine with two CPUs.
pub(crate) fn two_cpus() -> serde_json::Value {
    let kept =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/run-of-records-1/environment.json");
    let text = std::fs::read_to_string(kept).expect("the kept run has it");
    serde_json::from_str(&text).expect("an environment is JSON")
}

/// Adds codecs that were measured on some content.
fn with_codecs(mut run: RunView, codecs: &[Codec], content: &str) -> RunView {
    let mut builder = Builder::new(3);
    for codec in codecs {
        for size_kib in [4, 16] {
            builder = builder.speed(*codec, size_kib, 1, content, 1.0);
        }
    }
    run.trials.extend(builder.build().trials);
    run
}

fn set(run: &mut RunView, metric: &Metric, of_old: impl Fn(f64) -> f64) {
    let trials = run.trials.iter_mut();
    let values = trials.flat_map(|trial| &mut trial.values);
    for value in values.filter(|value| value.metric == metric.name) {
        value.value = value.value.map(&of_old);
    }
}

/// Two threads on two CPUs: without compression an operation takes 19 of the 20 µs of CPU time that there are for it, and two blocks are read
/// and written behind the clients' backs.
fn busy() -> RunView {
    let mut run = kv_fixture::of(&[
        stored("none", "as-is", 100e3, 110e6),
        stored("lz4", "as-is", 25e3, 60e6),
    ]);
    for trial in &mut run.trials {
        trial.factors.insert(THREADS.name.to_owned(), "2".to_owned());
    }
    for (metric, value) in [
        (CALLER_CPU, 17_000.0),
        (BACKGROUND_CPU, 1_500.0),
        (KERNEL_THREADS_CPU, 500.0),
        (BLOCKS_FETCHED, 2.25),
        (COMPACTION_READ, 2.0 * 16_384.0),
        (TABLES_WRITTEN, 2.0 * 16_384.0),
    ] {
        set(&mut run, &metric, |_| value);
    }
    run.environment = two_cpus();
    with_codecs(run, &[codec("lz4", 2.0, 7e8, 3e9)], CONTENT)
}

fn with_lz4(system: &MeasuredSystem) -> (Station, f64) {
    let study = system.study().expect("measurements have predictions");
    let is_compressed = |case: &&Case<'_>| case.component.is_some();
    let case = study.cases.iter().find(is_compressed).expect("lz4 is predicted");
    let found = case.outcome.as_ref().expect("nothing is missing");
    (found.binding, found.throughput)
}

#[test]
fn a_store_that_fills_the_cores_is_capped_by_the_cpu_time_of_the_compressed_operation() {
    let mut run = busy();
    let (binding, throughput) = with_lz4(&MeasuredSystem::of(&run).unwrap());
    // 16 KiB: 5.46 µs to decompress, 23.4 µs to compress.
    let (decompress_ns, compress_ns) = (16_384.0 / 3e9 * 1e9, 16_384.0 / 7e8 * 1e9);
    let cpu_ns = 19_000.0 + 2.25 * decompress_ns + 2.0 * compress_ns;
    let allowed = 2e9 / cpu_ns;
    assert_eq!(binding, Station::Cpu);
    assert!(
        (throughput / allowed - 1.0).abs() < 0.02,
        "{throughput}, {allowed} allowed"
    );
    // Where nobody recorded the CPUs, nothing is known of that limit.
    run.environment = serde_json::Value::Null;
    let (binding, throughput) = with_lz4(&MeasuredSystem::of(&run).unwrap());
    assert_eq!(binding, Station::Clients);
    assert!(throughput > 1.5 * allowed, "{throughput}, {allowed} allowed");
}

fn modelled(placement: &Placement) -> Vec<&Candidate> {
    let candidates = placement.candidates.iter();
    candidates.filter(|one| one.bound_by.is_some()).collect()
}

#[test]
fn limits_hold_for_modelled_hardware_too_and_its_binding_station_is_named() {
    let mut run = kv_fixture::of(&USUAL);
    run.environment = two_cpus();
    let free = Placement::of(&run, &Constraints::default(), None).unwrap();
    // The store's own is known; nobody published what handing blocks to a card takes.
    for candidate in modelled(&free) {
        match candidate.place {
            CompressedAt::Drive => assert!(candidate.cpu_share.is_some_and(|share| share > 0.3)),
            _ => assert_eq!(candidate.cpu_share, None, "{candidate:?}"),
        }
    }
    let text = free.answer.join(" ");
    assert!(text.contains("limited by the clients' own waiting"), "{text}");
    let frugal = Constraints {
        cpu_share: Some(0.2),
        ..Constraints::default()
    };
    let frugal = Placement::of(&run, &frugal, None).unwrap();
    for candidate in modelled(&frugal) {
        let why = candidate.left_out.as_deref().unwrap_or_default();
        assert!(why.contains("breaks the limit on the CPU share ("), "{why}");
    }
}

const HARDWARE: [Codec; 4] = [
    codec("dpzip", 2.1, 2e8, 8e8),
    codec("deflate-zlib:6", 2.3, 4e7, 3e8),
    codec("deflate-libdeflate:1", 2.0, 2e8, 8e8),
    codec("zstd:1", 2.2, 3e8, 9e8),
];

#[test]
fn hardware_has_the_ratio_of_its_codec_where_that_was_measured_on_the_same_data() {
    let run = with_codecs(kv_fixture::of(&USUAL), &HARDWARE, CONTENT);
    let placement = Placement::of(&run, &Constraints::default(), None).unwrap();
    let of = |name: &str| {
        let all = modelled(&placement);
        let found = all.into_iter().find(|one| one.what == name).unwrap();
        (found.ratio.clone().unwrap(), found.ratio_of.clone().unwrap())
    };
    let (drive, codec) = of("DPZip");
    assert_eq!((drive.value, drive.provenance), (2.1, Provenance::Modelled));
    // A drive compresses its pages, whatever the blocks of the store are.
    assert_eq!(codec, "dpzip in blocks of 4 KiB");
    let (card, codec) = of("QAT 4XXX");
    assert!((card.value - 2.2).abs() < 1e-9, "{card:?}");
    assert_eq!(codec, "deflate-libdeflate:1 in blocks of 16 KiB");
    let capacity = "usable only if the drive exposes it as capacity";
    let text = placement.answer.join(" ");
    assert!(
        text.contains("ratio 2.10, that of dpzip in blocks of 4 KiB on these data"),
        "{text}"
    );
    assert!(text.contains(capacity), "{text}");
    assert!(Report::of(&run).to_html().contains(capacity));
    // It is still never the answer, and what breaks a limit is not said to be the fastest.
    assert!(placement.candidates[placement.best.unwrap()].bound_by.is_none());
    let strict = Placement::of(&run, &least_ratio(2.5), None).unwrap();
    let text = strict.answer.join(" ");
    assert!(
        text.contains("none of the published hardware meets the limits"),
        "{text}"
    );
}

#[test]
fn the_ratio_of_a_codec_on_other_data_stands_for_nothing() {
    let run = with_codecs(kv_fixture::of(&USUAL), &HARDWARE, "compressible:4");
    let placement = Placement::of(&run, &Constraints::default(), None).unwrap();
    let all = modelled(&placement);
    assert!(!all.is_empty());
    assert!(all.iter().all(
        |one| one.ratio.is_none() && matches!(one.place, CompressedAt::Drive | CompressedAt::Accelerator)
    ));
}

fn finding(run: &RunView, id: &str) -> Finding {
    let report = Report::of(run);
    let mut findings = report.layers.into_iter().flat_map(|layer| layer.findings);
    findings
        .find(|finding| finding.id == id)
        .expect("demands are known")
}

fn bound(run: &RunView) -> Finding {
    finding(run, "kv-bound-holds")
}

#[test]
fn a_drive_is_charged_by_what_reached_the_device_and_not_by_what_the_page_cache_answered() {
    let drive = |read_bytes: f64| {
        let mut run = busy();
        set(&mut run, &DEVICE_READ, |_| read_bytes);
        let placement = Placement::of(&run, &Constraints::default(), None).unwrap();
        let all = modelled(&placement);
        let drive = all.into_iter().find(|one| one.place == CompressedAt::Drive);
        drive.expect("what reaches the device is known").throughput.value
    };
    // Nothing reached it: reads of a drive that compresses take no longer.
    assert!((drive(0.0) / 100e3 - 1.0).abs() < 1e-9, "{}", drive(0.0));
    // Twice as much that reached it is twice the wait, which is far below that of the blocks that the store asked for.
    let (some, more) = (drive(2.0 * 16_384.0), drive(4.0 * 16_384.0));
    assert!(more < some && some < 100e3, "{more} {some}");
    let wait_ns = |throughput: f64| 2e9 / throughput - 20_000.0;
    assert!(
        (wait_ns(more) / wait_ns(some) - 2.0).abs() < 1e-6,
        "{more} {some}"
    );
}

#[test]
fn a_client_of_an_accelerator_wakes_as_late_as_a_thread_did_in_the_same_run() {
    let card = |wake_ns: Option<f64>| {
        let mut run = kv_fixture::of(&USUAL);
        if let Some(wake_ns) = wake_ns {
            let reads = filesystem::Builder::new().btrfs("zstd:3", &[(WAKE_TIME, wake_ns)]);
            run.trials.extend(reads.run.trials);
        }
        let placement = Placement::of(&run, &Constraints::default(), None).unwrap();
        let all = modelled(&placement);
        let card = all.into_iter().find(|one| one.what == "QAT 8970");
        card.expect("it is modelled").throughput.value
    };
    assert!(card(Some(0.0)) > card(Some(20e3)) && card(Some(20e3)) > card(Some(40e3)));
    // Where the run measured none, that of the record is taken.
    let (less, assumed, more) = (card(Some(42e3)), card(None), card(Some(44e3)));
    assert!(less > assumed && assumed > more, "{less} {assumed} {more}");
}

#[test]
fn a_drive_that_had_nothing_to_decompress_is_said_to() {
    let said = |read_bytes: f64| {
        let mut run = kv_fixture::of(&USUAL);
        set(&mut run, &DEVICE_READ, |_| read_bytes);
        let placement = Placement::of(&run, &Constraints::default(), None).unwrap();
        placement.answer.join(" ")
    };
    let idle = "a drive had next to nothing to decompress";
    assert!(said(0.0).contains(idle), "{}", said(0.0));
    assert!(!said(1024.0).contains(idle), "{}", said(1024.0));
}

#[test]
fn hardware_has_the_error_that_the_model_has_on_published_hardware_at_least() {
    let factor = |run: &RunView| {
        let placement = Placement::of(run, &Constraints::default(), None).unwrap();
        let text = placement.answer.join(" ");
        assert!(text.contains("on published hardware it was "), "{text}");
        let all = modelled(&placement);
        let drive = all.into_iter().find(|one| one.place == CompressedAt::Drive);
        let interval = drive.and_then(|drive| drive.throughput.interval);
        interval.map(|interval| interval.high / interval.estimate)
    };
    let unchecked = factor(&kv_fixture::of(&USUAL)).expect("the model was checked on other hardware");
    assert!(unchecked > 1.1, "{unchecked}");
    // What a run says of codecs makes that no smaller.
    assert!(factor(&busy()).expect("the run has predictions") >= unchecked * (1.0 - 1e-9));
}

#[test]
fn a_drive_is_unavailable_with_the_reason_where_nobody_counted_what_reaches_the_device() {
    let without = |change: &dyn Fn(&mut Vec<Value>)| {
        let mut run = kv_fixture::of(&USUAL);
        run.trials.iter_mut().for_each(|trial| {
            trial.values.retain(|value| value.metric != DEVICE_READ.name);
            change(&mut trial.values);
        });
        let placement = Placement::of(&run, &Constraints::default(), None).unwrap();
        let is_drive = |one: &&Candidate| one.place == CompressedAt::Drive;
        assert!(!placement.candidates.iter().any(|one| is_drive(&one)));
        assert!(
            placement
                .candidates
                .iter()
                .any(|one| one.place == CompressedAt::Accelerator)
        );
        assert!(placement.answer.join(" ").contains(&placement.not_modelled[0]));
        placement.not_modelled
    };
    assert_eq!(
        without(&|_| {}),
        [
            "DPZip cannot be modelled; missing: the bytes of an operation that reach the drive (this run did not record them)."
        ]
    );
    let refused = without(&|values| {
        values.push(Value::unavailable(
            DEVICE_READ,
            "an overlay has no device of its own",
        ));
    });
    assert!(
        refused[0].contains("(an overlay has no device of its own)"),
        "{refused:?}"
    );
}

#[test]
fn hardware_is_modelled_from_the_store_that_everything_is_compared_with() {
    // The fastest breaks the limit: what one has otherwise is the other one.
    let mut run = kv_fixture::of(&[
        stored("none", "ext4", 100e3, 110e6),
        stored("lz4", "ext4", 70e3, 50e6),
        stored("none", "btrfs", 80e3, 100e6),
    ]);
    let fastest = |trial: &&mut outcrop_results::TrialEntry| {
        trial.factors[FILESYSTEM.name] == "ext4" && trial.factors[COMPRESSION.name] == "none"
    };
    for trial in run.trials.iter_mut().filter(fastest) {
        let mut values = trial.values.iter_mut();
        let p99 = values.find(|value| value.metric == READ_LATENCY.p99.name);
        p99.expect("the fixture has it").value = Some(1e6);
    }
    let within = Constraints {
        p99_ns: Some(90e3),
        ..Constraints::default()
    };
    let report = Report::under(&run, &[], &within, None);
    let placement = report.placement.as_ref().unwrap();
    for candidate in modelled(placement) {
        assert!(candidate.throughput.value < 81e3, "{candidate:?}");
    }
    let advice = &report.layers[0].answer.advice[0];
    assert!(
        advice
            .text
            .contains("on btrfs, the one that the answer above compares with"),
        "{}",
        advice.text
    );
}

#[test]
fn a_store_that_does_more_than_its_predicted_times_allow_is_a_failed_check_with_its_name_and_remedy() {
    const ID: &str = "kv-predicted-bound-holds";
    let mut run = busy();
    assert_eq!(finding(&run, ID).verdict, Verdict::Holds);
    // The cores allow 25.6 k/s with LZ4.
    let with_lz4 = |trial: &&mut outcrop_results::TrialEntry| {
        trial
            .factors
            .get(COMPRESSION.name)
            .is_some_and(|codec| codec == "lz4")
    };
    for trial in run.trials.iter_mut().filter(with_lz4) {
        let mut values = trial.values.iter_mut();
        let throughput = values.find(|value| value.metric == THROUGHPUT.name);
        throughput.expect("the fixture has it").value = Some(40e3);
    }
    let found = finding(&run, ID);
    assert_eq!(found.verdict, Verdict::DoesNotHold);
    assert!(
        found.extent.starts_with("1 of 1 cell, most: rocksdb"),
        "{}",
        found.extent
    );
    assert!(found.extent.ends_with("with lz4"), "{}", found.extent);
    assert!(found.remedy.starts_with("Measure stores and codecs again"));
    // The interval of what was measured decides: at 25 ± 20 k/s nothing is shown.
    let mut vague = busy();
    for (repetition, trial) in vague
        .trials
        .iter_mut()
        .filter(|trial| with_lz4(&&mut (*trial).clone()))
        .enumerate()
    {
        let mut values = trial.values.iter_mut();
        let throughput = values.find(|value| value.metric == THROUGHPUT.name);
        throughput.expect("the fixture has it").value = Some([20e3, 40e3, 45e3][repetition % 3]);
    }
    assert_eq!(finding(&vague, ID).verdict, Verdict::Holds);
}

#[test]
fn more_operations_than_the_cores_allow_are_a_failed_check() {
    let mut run = busy();
    assert_eq!(bound(&run).verdict, Verdict::Holds);
    set(&mut run, &THROUGHPUT, |throughput| throughput * 1.5);
    assert_eq!(bound(&run).verdict, Verdict::DoesNotHold);
    let screen = Report::of(&run).screen(200, false);
    let said: Vec<&str> = screen.split_whitespace().collect();
    assert!(
        said.join(" ").contains("some stores did more operations"),
        "{screen}"
    );
}

#[test]
fn a_share_of_the_cpus_whose_interval_reaches_the_limit_neither_keeps_nor_breaks_it() {
    let left_out = |most: f64| {
        let mut run = kv_fixture::of(&USUAL);
        run.environment = two_cpus();
        for trial in &mut run.trials {
            let factor = [0.5, 1.0, 2.0][trial.repetition as usize];
            let cpu = trial.values.iter_mut().filter(|value| value.metric == CPU.name);
            cpu.for_each(|cpu| cpu.value = cpu.value.map(|value| value * factor));
        }
        let limits = Constraints {
            cpu_share: Some(most),
            ..Constraints::default()
        };
        let placement = Placement::of(&run, &limits, None).expect("it has stores");
        let lz4 = placement
            .candidates
            .into_iter()
            .find(|one| one.what.contains("lz4"));
        lz4.expect("it was measured").left_out
    };
    // It is 32 %, 62 % and 122 % by trial.
    assert!(left_out(0.1).is_some_and(|why| why.starts_with("breaks the limit on the CPU share")));
    assert!(left_out(0.5).is_some_and(|why| why.starts_with("may meet the limit on the CPU share (")));
    assert_eq!(left_out(2.0), None);
}
