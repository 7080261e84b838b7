//! Jobs: real codecs over real data, in every way that a plan may ask for.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use outcrop_codec::{CodecSpec, ContextUse};
use outcrop_compress::{
    Blocks, Caches, CompressError, JobReport, JobSpec, Sample, SizeReport, Source, StagesSpec, allowed_cpus,
    run_hardware, run_job, run_metered_job, run_stages,
};
use outcrop_measure::seed::Seed;
use outcrop_probe::Clock;
use outcrop_probe::energy::Meter;
use outcrop_workload::Content;

static GO_ON: AtomicBool = AtomicBool::new(false);

fn sample(bytes: u64) -> Sample {
    Source::embedded()
        .unwrap()
        .draw(bytes, 4096, Seed(5), &GO_ON)
        .unwrap()
}

fn spec(codec: &str) -> JobSpec {
    JobSpec::new(codec.parse().unwrap(), Duration::from_millis(20))
}

fn run(blocks: &Blocks<'_>, spec: &JobSpec) -> JobReport {
    run_job(blocks, spec, None, &Clock::new(), &GO_ON).unwrap()
}

#[test]
fn every_codec_gives_back_what_it_was_given_in_both_directions() {
    let sample = sample(512 << 10);
    for family in outcrop_codec::families() {
        for block_bytes in [1000, 64 << 10] {
            let blocks = Blocks::cut(&sample, block_bytes);
            let report = run(&blocks, &spec(family.name));
            assert_eq!(
                report.size.uncompressed_bytes,
                sample.bytes().len() as u64,
                "{}",
                family.name
            );
            assert_eq!(report.size.lengths.len(), blocks.as_slice().len());
            let whole: u64 = report.size.lengths.iter().map(|length| u64::from(*length)).sum();
            assert_eq!(whole, report.size.compressed_bytes);
            for phase in [&report.compress, &report.decompress] {
                assert!(
                    phase.bytes > 0 && phase.wall_ns > 0 && phase.latency.count() > 0,
                    "{}",
                    family.name
                );
                assert!(phase.cpu_ns_per_byte().is_some());
            }
        }
    }
}

#[test]
fn none_has_the_ratio_one_and_percentiles_follow_the_blocks() {
    let sample = sample(1 << 20);
    let blocks = Blocks::cut(&sample, 4096);
    let none = run(&blocks, &spec("none"));
    assert_eq!((none.size.ratio(), none.size.block_ratio(50)), (1.0, Some(1.0)));
    let lz4 = run(&blocks, &spec("lz4"));
    let curve: Vec<f64> = [1, 10, 50, 90, 99]
        .map(|percent| lz4.size.block_ratio(percent).unwrap())
        .into();
    assert!(curve.is_sorted() && curve[0] < curve[4], "{curve:?}");
    let few = run(&Blocks::cut(&sample, 64 << 10), &spec("lz4"));
    assert_eq!(few.size.block_ratio(1), None, "16 blocks have no p1");
    assert!(few.size.block_ratio(10).is_some());
}

#[test]
fn threads_share_the_blocks_and_their_common_phase_is_counted_once() {
    if allowed_cpus().unwrap().len() < 2 {
        println!("skipped: two threads at once: this machine has one CPU");
        return;
    }
    let sample = sample(1 << 20);
    let blocks = Blocks::cut(&sample, 4096);
    let two = JobSpec {
        threads: 2,
        ..spec("zstd:1")
    };
    let report = run(&blocks, &two);
    let pass = sample.bytes().len() as u64;
    // The first thread to finish whole passes ends the phase: the other one is no more than its share behind.
    assert!(
        report.compress.bytes >= pass / 2,
        "{} of {pass}",
        report.compress.bytes
    );
    assert!(report.compress.cpu_ns.unwrap() <= 2 * report.compress.wall_ns + 1_000_000);
    // Whichever thread is cut short, what it leaves is whole: every trial decompresses and compares it.
    for codec in ["zstd:1", "zstd:3", "lz4", "brotli:1"] {
        for _ in 0..5 {
            run(
                &blocks,
                &JobSpec {
                    threads: 2,
                    duration: Duration::from_millis(2),
                    ..spec(codec)
                },
            );
        }
    }
    // One block for two threads: both get it.
    let one = Blocks::cut(&sample, sample.bytes().len());
    assert!(run(&one, &two).compress.bytes >= 4096);
}

#[test]
fn memory_of_contexts_is_the_most_that_any_block_takes() {
    // zstd takes tables by the length of a block, and keeps larger ones only until it has not needed them for a while.
    let (whole, tail) = (128 << 10, 9000);
    let both = sample(whole + tail);
    let bytes = |sample: &Sample, codec: &str, context: ContextUse| {
        let spec = JobSpec {
            context,
            ..spec(codec)
        };
        run(&Blocks::cut(sample, 64 << 10), &spec).size.context_bytes
    };
    for codec in ["zstd:1", "zstd:9", "lz4:1"] {
        for context in [ContextUse::Reused, ContextUse::Fresh] {
            let parts = [whole, tail].map(|length| bytes(&sample(length), codec, context));
            assert!(
                parts.iter().all(|bytes| bytes.is_some_and(|bytes| bytes > 1000)),
                "{codec}: {parts:?}"
            );
            assert_eq!(
                bytes(&both, codec, context),
                parts.into_iter().flatten().max(),
                "{codec} {context:?}"
            );
        }
    }
}

#[test]
fn contexts_and_caches_are_factors() {
    let sample = sample(256 << 10);
    let blocks = Blocks::cut(&sample, 16 << 10);
    let fresh = JobSpec {
        context: ContextUse::Fresh,
        ..spec("zstd:3")
    };
    let reused = run(&blocks, &spec("zstd:3"));
    assert_eq!(run(&blocks, &fresh).size.lengths, reused.size.lengths);
    let cold = run(
        &blocks,
        &JobSpec {
            caches: Caches::Cold,
            ..spec("zstd:3")
        },
    );
    assert_eq!(cold.compress.cpu_ns, None);
    assert_eq!(cold.size.lengths, reused.size.lengths);
    let both = JobSpec {
        caches: Caches::Cold,
        threads: 2,
        ..spec("zstd:3")
    };
    let error = run_job(&blocks, &both, None, &Clock::new(), &GO_ON).unwrap_err();
    assert!(matches!(error, CompressError::Spec { .. }), "{error}");
    let many = JobSpec {
        threads: 100_000,
        ..spec("zstd:3")
    };
    assert!(
        many.validate()
            .unwrap_err()
            .to_string()
            .contains("threads is 100000; expected 1 to")
    );
}

#[test]
fn when_time_is_short_other_blocks_are_timed_in_every_repetition_and_it_is_said() {
    let sample = sample(1 << 20);
    let blocks = Blocks::cut(&sample, 4096);
    let short = JobSpec {
        duration: Duration::from_millis(1),
        ..spec("zstd:12")
    };
    let report = run(&blocks, &short);
    assert!(report.timed_blocks < blocks.as_slice().len());
    assert!(report.notes[0].contains("blocks only"), "{:?}", report.notes);
    assert_eq!(
        report.size.lengths.len(),
        blocks.as_slice().len(),
        "all are verified"
    );
    let known = Arc::clone(&report.size);
    let next = JobSpec {
        selection: 1,
        ..short
    };
    let again = run_job(&blocks, &next, Some(known), &Clock::new(), &GO_ON).unwrap();
    assert_eq!(again.size.compressed_bytes, report.size.compressed_bytes);
}

#[test]
fn which_blocks_are_timed_follows_from_the_data_the_codec_and_the_duration_and_from_no_timing() {
    let mut bytes = vec![0; 1 << 20];
    Content::Random.filler(Seed(1)).fill(&mut bytes);
    let sample = Sample::generated(bytes, "random");
    let blocks = Blocks::cut(&sample, 4096);
    let all = blocks.as_slice().len();
    // A pass of 1 MiB is assumed to take 3.5 ms with lz4 and 65.5 ms with zstd:12, and has a fifth of the duration.
    for (codec, duration_ms, stride) in [("lz4", 5, 4), ("lz4", 1, 18), ("lz4", 40, 1), ("zstd:12", 40, 9)] {
        let spec = JobSpec {
            duration: Duration::from_millis(duration_ms),
            ..spec(codec)
        };
        let timed: Vec<usize> = (0..3).map(|_| run(&blocks, &spec).timed_blocks).collect();
        let expected = all.div_ceil(stride);
        assert_eq!(timed, [expected; 3], "{codec} for {duration_ms} ms");
    }
}

#[test]
fn what_was_verified_before_must_come_out_again() {
    let sample = sample(64 << 10);
    let blocks = Blocks::cut(&sample, 4096);
    let other = run(&blocks, &spec("lz4")).size;
    let error = run_job(&blocks, &spec("zstd:3"), Some(other), &Clock::new(), &GO_ON).unwrap_err();
    assert!(error.to_string().contains("is not repeatable"), "{error}");
}

#[test]
fn a_raised_stop_ends_a_job_at_the_next_block() {
    let sample = sample(1 << 20);
    let blocks = Blocks::cut(&sample, 4096);
    let stop = AtomicBool::new(true);
    let long = JobSpec {
        duration: Duration::from_secs(3600),
        ..spec("zstd:1")
    };
    let error = run_job(&blocks, &long, None, &Clock::new(), &stop).unwrap_err();
    assert!(matches!(error, CompressError::Interrupted), "{error}");
    let size = run(&blocks, &spec("zstd:1")).size;
    let error = run_job(&blocks, &long, Some(size), &Clock::new(), &stop).unwrap_err();
    assert!(matches!(error, CompressError::Interrupted), "{error}");
}

#[test]
fn the_stages_of_zstd_are_timed_warm_and_cold() {
    let sample = sample(256 << 10);
    let blocks = Blocks::cut(&sample, 16 << 10);
    let clock = Clock::new();
    let codec: CodecSpec = "zstd:3".parse().unwrap();
    let size = SizeReport::measure(&blocks, &codec, ContextUse::Reused, &GO_ON).unwrap();
    for caches in [Caches::Warm, Caches::Cold] {
        let spec = StagesSpec {
            level: 3,
            caches,
            duration: Duration::from_millis(5),
            selection: 0,
        };
        let report = run_stages(&blocks, &spec, &size, &clock, &GO_ON).unwrap();
        assert!(report.blocks > 0 && report.total.whole_ticks > 0, "{report:?}");
        assert!(
            report.total.match_finding_ticks > 0 && report.total.sequence_ticks > 0,
            "{report:?}"
        );
        assert!(report.mean_ns(report.total.whole_ticks) > 0.0);
    }
}

#[test]
fn incompressible_blocks_have_no_stages_and_no_gain() {
    let mut bytes = vec![0; 64 << 10];
    Content::Random.filler(Seed(1)).fill(&mut bytes);
    let sample = Sample::generated(bytes, "random");
    let blocks = Blocks::cut(&sample, 4096);
    let report = run(&blocks, &spec("zstd:1"));
    assert!(report.size.ratio() < 1.0);
    let stages = StagesSpec {
        level: 1,
        caches: Caches::Warm,
        duration: Duration::from_millis(1),
        selection: 0,
    };
    let error = run_stages(&blocks, &stages, &report.size, &Clock::new(), &GO_ON).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("content is incompressible in every block"),
        "{error}"
    );
}

#[test]
fn a_drive_stores_whole_slots() {
    let sample = sample(256 << 10);
    let blocks = Blocks::cut(&sample, 4096);
    let dpzip: CodecSpec = "dpzip".parse().unwrap();
    let hardware = run_hardware(&blocks, &dpzip, &[64, 2048]).unwrap().unwrap();
    let compressed = run(&blocks, &spec("dpzip")).size.compressed_bytes;
    let [(64, small), (2048, large)] = hardware.stored[..] else {
        panic!("{hardware:?}")
    };
    assert!(
        compressed <= small && small <= compressed + 64 * hardware.pages,
        "{hardware:?}"
    );
    assert!(small < large && large % 2048 == 0, "{hardware:?}");
    assert!(
        hardware.bytes_per_second > 1e9 && hardware.page_latency_ns > 1000.0,
        "{hardware:?}"
    );
    assert_eq!(
        run_hardware(&blocks, &"lz4".parse().unwrap(), &[64]).unwrap(),
        None
    );
}

/// A powercap tree whose package uses 5 J as soon as a meter has started.
fn five_joules(root: &std::path::Path) -> Result<Meter, outcrop_measure::metric::Unavailable> {
    let package = root.join("intel-rapl:0");
    std::fs::create_dir_all(&package).unwrap();
    for (file, content) in [
        ("name", "package-0"),
        ("max_energy_range_uj", "262143328850"),
        ("energy_uj", "0"),
    ] {
        std::fs::write(package.join(file), content).unwrap();
    }
    let meter = Meter::start_at(root);
    std::fs::write(package.join("energy_uj"), "5000000").unwrap();
    meter
}

#[test]
fn energy_is_shared_by_the_bytes_of_all_passes_that_it_was_used_for_and_is_not_given_when_cold() {
    let root = tempfile::tempdir().unwrap();
    let sample = sample(256 << 10);
    let blocks = Blocks::cut(&sample, 4096);
    let run = |spec: &JobSpec| {
        run_metered_job(&blocks, spec, None, &Clock::new(), &GO_ON, || {
            five_joules(root.path())
        })
        .unwrap()
    };
    let warm = run(&spec("lz4"));
    assert_eq!(warm.energy_j, Ok(5.0));
    assert_eq!(warm.joules_per_byte(), Ok(5.0 / warm.metered_bytes as f64));
    let timed = |report: &JobReport| {
        let phases = [&report.compress, &report.decompress].into_iter();
        phases.map(|phase| phase.bytes + phase.latency_bytes).sum::<u64>()
    };
    // Each direction warms up with a pass over all blocks before it is timed.
    let passes = 2 * sample.bytes().len() as u64;
    assert!(warm.metered_bytes >= timed(&warm) + passes, "{warm:?}");
    let cold = run(&JobSpec {
        caches: Caches::Cold,
        ..spec("lz4")
    });
    assert!(
        cold.joules_per_byte()
            .unwrap_err()
            .to_string()
            .contains("caches cold")
    );
}

#[test]
fn an_lz_coder_gains_little_from_independent_bytes_of_4_bits_and_halves_those_of_0_8() {
    let ratio = |codec: &str, bits_per_byte: f64, block_bytes: usize| {
        let mut content = vec![0; 1 << 20];
        Content::Entropy { bits_per_byte }
            .filler(Seed(5))
            .fill(&mut content);
        let sample = Sample::generated(content, "independent bytes");
        run(&Blocks::cut(&sample, block_bytes), &spec(codec)).size.ratio()
    };
    for codec in ["lz4", "snappy"] {
        for block_bytes in [4096, 64 << 10] {
            let ratios = [0.8, 1.6, 2.4, 3.2, 4.0, 8.0].map(|bits| ratio(codec, bits, block_bytes));
            let which = format!("{codec}, {block_bytes}: {ratios:?}");
            assert!(ratios.is_sorted_by(|more, less| more > less), "{which}");
            assert!(ratios[0] > 2.0 && ratios[4] < 1.15 && ratios[5] <= 1.0, "{which}");
        }
    }
}
