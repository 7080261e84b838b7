//! Compression runs for tests, computed from a formula: a codec has a ratio at 4 KiB that grows with the block, and two
//! speeds. Nothing here was measured.

use outcrop_measure::ByteSize;
use outcrop_measure::metric::Provenance;
use outcrop_results::{Outcome, RunView, TrialEntry, Value};
use outcrop_schema::compression::{
    BLOCK_COUNT, BLOCK_ENTROPY, BLOCK_RATIOS, CODEC, COMPRESSION_BLOCK_SIZE, COMPRESSION_RATIO,
    COMPRESSION_RATIO_HIGH, COMPRESSION_RATIO_LOW, CONTENT, Direction, LATENCY, MEASUREMENT,
    MODELLED_COMPRESS_SPEED, Measurement, RATIO_PERCENTILES, SAMPLED_SHARE, SCHEMA, SPEED,
    STAGE_LITERALS_SHARE, STAGE_MATCH_FINDING_SHARE, STAGE_SEQUENCES_SHARE, STAGE_SUM_RATIO, THREADS,
    Threads, UNCOMPRESSED_BYTES,
};
use outcrop_schema::{Settings, Vocabulary};

/// A codec of the formula.
#[derive(Clone, Copy)]
pub(crate) struct Codec {
    pub(crate) name: &'static str,
    /// At 4 KiB.
    pub(crate) ratio: f64,
    /// Bytes a second.
    pub(crate) compress: f64,
    /// Bytes a second.
    pub(crate) decompress: f64,
}

/// What a run usually has: none of them is beaten by another on everything, but `deflate-zlib:1`.
pub(crate) const CODECS: [Codec; 7] = [
    codec("none", 1.0, 9e9, 9e9),
    codec("lz4:1", 1.6, 7e8, 3e9),
    codec("snappy", 1.58, 6e8, 1.4e9),
    codec("zstd:1", 2.2, 3.2e8, 9e8),
    codec("zstd:19", 2.6, 4e6, 8e8),
    codec("deflate-zlib:1", 2.1, 8e7, 3e8),
    codec("dpzip", 2.1, 2e8, 8e8),
];

pub(crate) const fn codec(name: &'static str, ratio: f64, compress: f64, decompress: f64) -> Codec {
    Codec {
        name,
        ratio,
        compress,
        decompress,
    }
}

/// Builds a run, cell by cell.
pub(crate) struct Builder {
    /// What was built so far.
    pub(crate) run: RunView,
    /// The data that the next cells are of.
    pub(crate) subject: &'static str,
    /// Trials per cell.
    pub(crate) repetitions: u32,
    /// Relative spread of the speeds over the repetitions of every cell.
    pub(crate) spread: f64,
    /// Speed of n threads ÷ n ÷ speed of one.
    pub(crate) efficiency: f64,
    /// The stages' sum ÷ the whole.
    pub(crate) stage_sum: f64,
}

impl Builder {
    pub(crate) fn new(repetitions: u32) -> Self {
        Self {
            run: RunView {
                dir: "runs/20261121T020000Z-codecs".into(),
                name: "20261121T020000Z-codecs".into(),
                plan: "[run]\nseed = \"0x2a\"\neffort = \"quick\"\n".into(),
                environment: serde_json::Value::Null,
                trials: Vec::new(),
                torn_bytes: 0,
                vocabulary: Vocabulary::default(),
            },
            subject: "sample 1.66MiB",
            repetitions,
            spread: 0.02,
            efficiency: 0.95,
            stage_sum: 1.0,
        }
    }

    /// Goes on with other data.
    pub(crate) fn of(self, subject: &'static str) -> Self {
        Self { subject, ..self }
    }

    /// Adds every codec at every block size and number of threads.
    pub(crate) fn speeds(self, codecs: &[Codec], sizes_kib: &[u64], threads: &[u32]) -> Self {
        let mut builder = self;
        for codec in codecs {
            for size in sizes_kib {
                for count in threads {
                    builder = builder.speed(*codec, *size, *count, "natural", 1.0);
                }
            }
        }
        builder
    }

    /// Adds a codec over content of several target ratios and entropies; `random` is stored, and taken in four times as fast.
    pub(crate) fn robustness(self, codecs: &[Codec]) -> Self {
        let contents = [
            "zeros",
            "compressible:4",
            "compressible:2",
            "random",
            "entropy:1",
            "entropy:4",
            "entropy:8",
        ];
        let mut builder = self;
        for codec in codecs {
            for content in contents {
                let factor = if content == "random" { 4.0 } else { 1.0 };
                builder = builder.speed(*codec, 4, 1, content, factor);
            }
        }
        builder
    }

    /// Adds the cells of zstd's stages. The share of match finding is that of the published trend on natural blocks, and falls
    /// with entropy on independent bytes.
    pub(crate) fn stages(mut self) -> Self {
        for (step, level) in [1.0, 3.0, 10.0].into_iter().enumerate() {
            for (place, size) in [4_u64, 16, 128].into_iter().enumerate() {
                for bits in [1.0, 4.0, 7.0] {
                    for kind in ["natural", "entropy"] {
                        let slope = if kind == "natural" { 0.01 } else { -0.02 };
                        let lz = 0.45 + 0.12 * step as f64 + 0.08 * place as f64 + slope * bits;
                        self = self.stage(level as i32, size, (kind, bits), lz);
                    }
                }
            }
        }
        self
    }

    fn stage(mut self, level: i32, size_kib: u64, (kind, bits): (&str, f64), lz: f64) -> Self {
        let content = format!("{kind}:{bits}");
        let mut factors = factors(&format!("zstd:{level}"), size_kib, 1, &content);
        factors.set(&MEASUREMENT, Measurement::Stages);
        let values = [
            Value::derived(STAGE_MATCH_FINDING_SHARE, lz),
            Value::derived(STAGE_LITERALS_SHARE, (1.0 - lz) * 0.6),
            Value::derived(STAGE_SEQUENCES_SHARE, (1.0 - lz) * 0.4),
            Value::derived(STAGE_SUM_RATIO, self.stage_sum),
            Value::measured(BLOCK_ENTROPY, bits),
        ];
        for repetition in 0..self.repetitions {
            self.push(&factors, repetition, values.to_vec());
        }
        self
    }

    pub(crate) fn speed(
        mut self,
        codec: Codec,
        size_kib: u64,
        threads: u32,
        content: &str,
        factor: f64,
    ) -> Self {
        let factors = factors(codec.name, size_kib, threads, content);
        let growth = if codec.name == "none" || codec.name == "dpzip" {
            1.0
        } else {
            1.0 + 0.05 * (size_kib as f64 / 4.0).log2()
        };
        let ratio = codec.ratio * growth;
        let threads_factor = if threads == 1 {
            1.0
        } else {
            f64::from(threads) * self.efficiency
        };
        for repetition in 0..self.repetitions {
            let step = f64::from(repetition) - f64::from(self.repetitions - 1) / 2.0;
            let noise = (1.0 + self.spread * step) * threads_factor * factor;
            let mut values = vec![
                Value::measured(COMPRESSION_RATIO, ratio),
                Value::derived(COMPRESSION_RATIO_LOW, ratio),
                Value::derived(COMPRESSION_RATIO_HIGH, ratio),
                Value::measured(SAMPLED_SHARE, 1.0),
            ];
            for (metric, percentile) in BLOCK_RATIOS.into_iter().zip(RATIO_PERCENTILES) {
                let value = 1.0 + (ratio - 1.0) * 2.0 * f64::from(percentile) / 100.0;
                values.push(Value::measured(metric, value));
            }
            for direction in Direction::ALL {
                let speed = noise
                    * match direction {
                        Direction::Compress => codec.compress,
                        Direction::Decompress => codec.decompress,
                    };
                let mean = size_kib as f64 * 1024.0 / speed * 1e9 * f64::from(threads);
                let latency = LATENCY.of(direction);
                values.push(Value::measured(SPEED.of(direction), speed));
                for (metric, share) in [(latency.mean, 1.0), (latency.p50, 0.95), (latency.p99, 1.6)] {
                    values.push(Value::measured(metric, mean * share));
                }
            }
            if codec.name == "dpzip" {
                values.push(Value::of(
                    MODELLED_COMPRESS_SPEED,
                    Ok(5.5e9),
                    Provenance::Modelled,
                ));
            }
            self.push(&factors, repetition, values);
        }
        self
    }

    fn push(&mut self, factors: &Settings, repetition: u32, values: Vec<Value>) {
        let number = self.run.trials.len() as u32;
        self.run.trials.push(TrialEntry {
            trial: number,
            cell: format!("{factors:?}"),
            layer: SCHEMA.name.into(),
            subject: self.subject.into(),
            plans: vec!["throughput-latency".into()],
            repetition,
            seed: u64::from(number),
            factors: factors.spellings(),
            started_at: "2026-11-21T02:00:00.123456Z".into(),
            duration_s: 0.5,
            data: None,
            variant: None,
            took_s: None,
            others_cpu_share: None,
            outcome: Outcome::Completed,
            values,
            histograms: Vec::new(),
            notes: Vec::new(),
        });
    }

    /// Has the data be files of these lengths: larger blocks than a file are the file, with its ratio and its time.
    pub(crate) fn of_files(mut self, files_kib: &[u64]) -> Self {
        let longest = files_kib.iter().copied().max().unwrap_or(0);
        let whole = longest.next_power_of_two();
        let trials = self.run.trials.clone();
        for trial in &mut self.run.trials {
            let size = |spelling: &str| spelling.parse::<ByteSize>().map_or(0, |size| size.0 >> 10);
            let size_of = |entry: &TrialEntry| size(&entry.factors[COMPRESSION_BLOCK_SIZE.name]);
            let own = size_of(trial);
            if own > whole {
                let is_same = |other: &&TrialEntry| {
                    let same = |name: &str| other.factors.get(name) == trial.factors.get(name);
                    size_of(other) == whole && same(CODEC.name) && other.repetition == trial.repetition
                };
                let other = trials
                    .iter()
                    .find(is_same)
                    .expect("blocks as large as the largest file");
                trial.values.clone_from(&other.values);
            }
            let blocks: u64 = files_kib.iter().map(|file| file.div_ceil(own)).sum();
            let bytes: u64 = files_kib.iter().sum::<u64>() << 10;
            trial
                .values
                .push(Value::measured(UNCOMPRESSED_BYTES, bytes as f64));
            trial.values.push(Value::measured(BLOCK_COUNT, blocks as f64));
        }
        self
    }

    pub(crate) fn build(self) -> RunView {
        self.run
    }
}

/// The defaults of the layer but for these.
fn factors(codec: &str, size_kib: u64, threads: u32, content: &str) -> Settings {
    let mut factors = Settings::defaults(SCHEMA.workload);
    factors.set(&CODEC, codec.parse().expect("a codec"));
    factors.set(&COMPRESSION_BLOCK_SIZE, ByteSize(size_kib << 10));
    factors.set(&CONTENT, content.parse().expect("a content"));
    factors.set(&THREADS, Threads::Count(threads));
    factors
}

/// Everything that the four plans give.
pub(crate) fn complete() -> RunView {
    Builder::new(5)
        .speeds(&CODECS, &[4, 16, 64], &[1, 2])
        .robustness(&CODECS[1..])
        .stages()
        .build()
}
