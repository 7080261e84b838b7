//! Which form of the kernels runs: the widest that the processor has, unless somebody wants to see what that is worth.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{ColumnError, Result};

/// The instructions that the inner loops of scanning, decoding and encoding use. Results never depend on them.
///
/// Checksums (CRC-32C) and zstd choose for themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kernels {
    /// Plain loops, as the compiler translates them for every processor of this architecture: on x86-64 that may include SSE2.
    Scalar,
    /// Vectors of 32 bytes, and what came with them: AVX2, BMI1, BMI2, POPCNT.
    Avx2,
    /// Vectors of 64 bytes where a kernel gains by them: AVX-512 F, BW and VL, and DQ, VBMI and VBMI2 where the processor has them. The other kernels
    /// are those of AVX2.
    Avx512,
}

/// The widest kernels that may run, for all threads of the process.
static MOST: AtomicU8 = AtomicU8::new(Kernels::Avx512 as u8);

/// Held by the one limit that there is at a time.
static LIMITED: Mutex<()> = Mutex::new(());

impl Kernels {
    /// All of them, the plainest first.
    pub const ALL: [Self; 3] = [Self::Scalar, Self::Avx2, Self::Avx512];

    /// Their one spelling.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// The widest that this processor runs.
    pub fn widest() -> Self {
        let runs = |kernels: &&Self| kernels.missing().is_empty();
        Self::ALL.iter().rev().find(runs).copied().unwrap_or(Self::Scalar)
    }

    /// Whether this processor runs them.
    ///
    /// # Errors
    /// [`ColumnError::Kernels`] with what it lacks.
    pub fn check(self) -> Result<()> {
        let missing = self.missing();
        if missing.is_empty() {
            return Ok(());
        }
        Err(ColumnError::Kernels {
            kernels: self.name(),
            missing,
            widest: Self::widest().name(),
        })
    }

    /// No wider kernels than these run until what is returned is dropped, in all threads of the process. It is meant for
    /// measuring: the widest are the default and the fastest. A second limit waits until the first is dropped, so one thread must
    /// not hold two.
    ///
    /// ```
    /// use outcrop_column::Kernels;
    ///
    /// let plain_loops = Kernels::Scalar.limit()?;
    /// assert_eq!(Kernels::in_use(), Kernels::Scalar);
    /// drop(plain_loops);
    /// assert_eq!(Kernels::in_use(), Kernels::widest());
    /// # Ok::<(), outcrop_column::ColumnError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Kernels::check`].
    pub fn limit(self) -> Result<KernelLimit> {
        self.check()?;
        let only = LIMITED.lock().unwrap_or_else(PoisonError::into_inner);
        MOST.store(self as u8, Ordering::Relaxed);
        Ok(KernelLimit { _only: only })
    }

    /// The widest that run now.
    pub fn in_use() -> Self {
        Self::most().min(Self::widest())
    }

    /// The widest that may run, whether this processor has them or not.
    #[inline]
    pub(super) fn most() -> Self {
        match MOST.load(Ordering::Relaxed) {
            0 => Self::Scalar,
            1 => Self::Avx2,
            _ => Self::Avx512,
        }
    }

    /// The plainest kernels to which a form belongs that needs these features, as `stringify!` writes them.
    pub(super) const fn of_features(features: &str) -> Self {
        let wanted = b"avx512";
        let bytes = features.as_bytes();
        let mut start = 0;
        while start + wanted.len() <= bytes.len() {
            let mut same = 0;
            while same < wanted.len() && bytes[start + same] == wanted[same] {
                same += 1;
            }
            if same == wanted.len() {
                return Self::Avx512;
            }
            start += 1;
        }
        Self::Avx2
    }

    #[cfg(target_arch = "x86_64")]
    fn missing(self) -> Vec<&'static str> {
        macro_rules! lacking {
            ($($feature:tt)+) => {
                [$(($feature, is_x86_feature_detected!($feature))),+]
            };
        }
        let of_avx2 = lacking!("avx2" "bmi1" "bmi2" "popcnt");
        let of_avx512 = lacking!("avx512f" "avx512bw" "avx512vl");
        let (of_avx2, of_avx512): (&[_], &[_]) = match self {
            Self::Scalar => (&[], &[]),
            Self::Avx2 => (&of_avx2, &[]),
            Self::Avx512 => (&of_avx2, &of_avx512),
        };
        let all = of_avx2.iter().chain(of_avx512);
        all.filter(|(_, is_there)| !is_there)
            .map(|(feature, _)| *feature)
            .collect()
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn missing(self) -> Vec<&'static str> {
        match self {
            Self::Scalar => Vec::new(),
            Self::Avx2 | Self::Avx512 => vec!["x86-64"],
        }
    }
}

/// Holds the kernels back until it is dropped; see [`Kernels::limit`].
#[derive(Debug)]
#[must_use = "the limit ends when this is dropped"]
pub struct KernelLimit {
    _only: MutexGuard<'static, ()>,
}

impl Drop for KernelLimit {
    fn drop(&mut self) {
        MOST.store(Kernels::Avx512 as u8, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::Kernels;

    #[test]
    fn a_form_belongs_to_the_kernels_of_the_widest_vectors_that_it_needs() {
        assert_eq!(Kernels::of_features(r#""avx512f", "avx512bw""#), Kernels::Avx512);
        assert_eq!(Kernels::of_features(r#""avx2", "bmi2""#), Kernels::Avx2);
        assert_eq!(Kernels::of_features(r#""bmi1", "popcnt""#), Kernels::Avx2);
        assert_eq!(Kernels::of_features(""), Kernels::Avx2);
    }

    #[test]
    fn every_processor_runs_the_plain_loops_and_all_that_are_plainer_than_its_widest() {
        let widest = Kernels::widest();
        for kernels in Kernels::ALL {
            assert_eq!(
                kernels.check().is_ok(),
                kernels <= widest,
                "{kernels:?}, widest {widest:?}"
            );
        }
    }
}
