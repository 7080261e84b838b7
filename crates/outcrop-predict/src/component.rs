//! [`Component`]: what compresses, and how fast.

use crate::curve::Curve;

/// Where a component works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// On the application's cores.
    #[default]
    Cpu,
    /// In a device of its own that the application waits for.
    Accelerator,
    /// In the drive: it sees device reads and writes, not the application's blocks.
    Drive,
}

impl Place {
    /// All of them, with their spelling.
    pub const ALL: [(Self, &str); 3] = [
        (Self::Cpu, "cpu"),
        (Self::Accelerator, "accelerator"),
        (Self::Drive, "drive"),
    ];

    /// As files spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Accelerator => "accelerator",
            Self::Drive => "drive",
        }
    }
}

/// One direction of a component: compressing, or decompressing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Direction {
    /// Time of one block while nothing else runs, in nanoseconds.
    pub latency: Option<Curve>,
    /// Bytes of uncompressed data per second, of all units together.
    pub throughput: Option<Curve>,
    /// Requests that are worked on at once: engines of a device, or the threads that gave the throughput.
    pub units: Option<f64>,
}

/// What compresses: a codec on CPUs, an accelerator, or a drive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Component {
    /// What people call it.
    pub name: String,
    /// Where it works.
    pub place: Place,
    /// What it compresses with (`deflate`, `dpzip`), so that the ratio of a codec that was measured can stand for it.
    pub algorithm: Option<String>,
    /// Compressing.
    pub compress: Direction,
    /// Decompressing.
    pub decompress: Direction,
    /// Whether both directions share their units.
    pub is_shared: bool,
    /// Whether a core waits actively for it.
    pub is_polled: bool,
    /// CPU time of handing one block over, in nanoseconds; none where nobody published it.
    pub cpu_per_block_ns: Option<f64>,
    /// Uncompressed ÷ compressed size.
    pub ratio: Option<Curve>,
    /// Power above idle while it is busy, in watts.
    pub power_watts: Option<f64>,
    /// Who published or measured the figures.
    pub source: Option<String>,
}

impl Component {
    /// Whether it says how fast it is in any direction.
    pub fn has_figures(&self) -> bool {
        let says = |way: &Direction| way.latency.is_some() || way.throughput.is_some();
        says(&self.compress) || says(&self.decompress)
    }

    /// What is left out of the model's error when this is predicted: on CPUs the codec, in all of its libraries and levels.
    pub fn left_out_with(&self) -> &str {
        match (self.place, &self.algorithm) {
            (Place::Cpu, Some(algorithm)) => algorithm,
            _ => &self.name,
        }
    }

    /// Uncompressed ÷ compressed size of an application's blocks.
    pub fn ratio_at(&self, block_bytes: Option<f64>) -> Option<f64> {
        let ratio = self.ratio.as_ref()?;
        // Without a block size any point will do: there is one in most files.
        Some(ratio.level_at(block_bytes.unwrap_or(4096.0)))
    }
}
