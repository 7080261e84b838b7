//! Compression runs for tests, computed from a formula: a codec has a ratio at 4 KiB that grows with the block, and two
//! speeds. Nothing here was measured.

use std::collections::BTreeMap;

use outcrop_measure::metric::{Provenance, Unit};
use outcrop_results::{Outcome, RunView, TrialEntry, Value};

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
            },
            repetitions,
            spread: 0.02,
            efficiency: 0.95,
            stage_sum: 1.0,
        }
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
        let factors = factors(&format!("zstd:{level}"), size_kib, 1, &content, "stages");
        let ratio = |metric: &str, value| (metric.to_owned(), Unit::Ratio, value, Provenance::Derived);
        let values = vec![
            ratio("stage_match_finding_share", lz),
            ratio("stage_literals_share", (1.0 - lz) * 0.6),
            ratio("stage_sequences_share", (1.0 - lz) * 0.4),
            ratio("stage_sum_ratio", self.stage_sum),
            (
                "block_entropy".to_owned(),
                Unit::BitsPerByte,
                bits,
                Provenance::Measured,
            ),
        ];
        for repetition in 0..self.repetitions {
            self.push(&factors, repetition, &values);
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
        let factors = factors(codec.name, size_kib, threads, content, "speed");
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
                (
                    "compression_ratio".to_owned(),
                    Unit::Ratio,
                    ratio,
                    Provenance::Measured,
                ),
                (
                    "compression_ratio_low".to_owned(),
                    Unit::Ratio,
                    ratio,
                    Provenance::Derived,
                ),
                (
                    "compression_ratio_high".to_owned(),
                    Unit::Ratio,
                    ratio,
                    Provenance::Derived,
                ),
                ("sampled_share".to_owned(), Unit::Ratio, 1.0, Provenance::Measured),
            ];
            for percentile in [1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 99] {
                let name = format!("block_ratio_p{percentile}");
                let value = 1.0 + (ratio - 1.0) * 2.0 * f64::from(percentile) / 100.0;
                values.push((name, Unit::Ratio, value, Provenance::Measured));
            }
            for (direction, speed) in [("compress", codec.compress), ("decompress", codec.decompress)] {
                let speed = speed * noise;
                let latency = size_kib as f64 * 1024.0 / speed * 1e9 * f64::from(threads);
                values.push((
                    format!("{direction}_speed"),
                    Unit::BytesPerSecond,
                    speed,
                    Provenance::Measured,
                ));
                for (name, share) in [("mean", 1.0), ("p50", 0.95), ("p99", 1.6)] {
                    let metric = format!("{direction}_latency_{name}");
                    values.push((metric, Unit::Nanoseconds, latency * share, Provenance::Measured));
                }
            }
            if codec.name == "dpzip" {
                let metric = "modelled_compress_speed".to_owned();
                values.push((metric, Unit::BytesPerSecond, 5.5e9, Provenance::Modelled));
            }
            self.push(&factors, repetition, &values);
        }
        self
    }

    fn push(
        &mut self,
        factors: &BTreeMap<String, String>,
        repetition: u32,
        values: &[(String, Unit, f64, Provenance)],
    ) {
        let number = self.run.trials.len() as u32;
        let value = |(metric, unit, value, provenance): &(String, Unit, f64, Provenance)| Value {
            metric: metric.clone(),
            unit: *unit,
            value: Some(*value),
            provenance: *provenance,
            source: None,
        };
        self.run.trials.push(TrialEntry {
            trial: number,
            cell: format!("{factors:?}"),
            layer: "compression".into(),
            subject: "sample 1.66MiB".into(),
            plans: vec!["throughput-latency".into()],
            repetition,
            seed: u64::from(number),
            factors: factors.clone(),
            started_at: "2026-11-21T02:00:00.123456Z".into(),
            duration_s: 0.5,
            outcome: Outcome::Completed,
            values: values.iter().map(value).collect(),
            histograms: Vec::new(),
            notes: Vec::new(),
        });
    }

    pub(crate) fn build(self) -> RunView {
        self.run
    }
}

fn factors(
    codec: &str,
    size_kib: u64,
    threads: u32,
    content: &str,
    measurement: &str,
) -> BTreeMap<String, String> {
    [
        ("codec", codec.to_owned()),
        ("compression_block_size", format!("{size_kib}KiB")),
        ("threads", threads.to_string()),
        ("context", "reused".to_owned()),
        ("caches", "warm".to_owned()),
        ("content", content.to_owned()),
        ("measurement", measurement.to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

/// Everything that the four plans give.
pub(crate) fn complete() -> RunView {
    Builder::new(5)
        .speeds(&CODECS, &[4, 16, 64], &[1, 2])
        .robustness(&CODECS[1..])
        .stages()
        .build()
}
