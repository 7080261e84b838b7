//! Seeds: every random choice of a run descends from one recorded number.
//!
//! A run has a root seed; each trial, job and stream derives its own from it by name or number, so that
//! adding a stream never shifts the random numbers of another. The derivation is part of what a record
//! promises ("run again with this seed"), so it never changes: golden tests hold it.

use std::fmt;
use std::str::FromStr;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use crate::error::MeasureError;

/// The generator that seeds start: xoshiro256++.
///
/// *Source*: Blackman and Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS 47(4), 2021.
pub type Generator = Xoshiro256PlusPlus;

/// The start of a stream of random numbers. Printed and stored as hexadecimal (`0x00000000000004d2`);
/// decimal is read too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Seed(pub u64);

/// 2⁶⁴ divided by the golden ratio: the increment of SplitMix64.
const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;
/// FNV-1a's 64-bit offset basis and prime.
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;
/// Keeps numbered children apart from named ones.
const INDEX_DOMAIN: u64 = 0x696e_6465_7800_0000;

impl Seed {
    /// The seed of the child called `label`.
    ///
    /// The parent is mixed, the label's UTF-8 bytes are folded in with FNV-1a, and the result is mixed again
    /// with the SplitMix64 finaliser. Not cryptographic.
    ///
    /// *Source*: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014;
    /// Fowler, Noll and Vo's hash (RFC 9923).
    #[must_use]
    pub const fn derive(self, label: &str) -> Self {
        let mut hash = FNV_OFFSET ^ mix(self.0.wrapping_add(GOLDEN_GAMMA));
        let bytes = label.as_bytes();
        let mut index = 0;
        while index < bytes.len() {
            hash = (hash ^ bytes[index] as u64).wrapping_mul(FNV_PRIME);
            index += 1;
        }
        Self(mix(hash.wrapping_add(GOLDEN_GAMMA)))
    }

    /// The seed of the child number `index`; different from every named child's up to chance.
    #[must_use]
    pub const fn derive_index(self, index: u64) -> Self {
        let parent = mix(self.0.wrapping_add(GOLDEN_GAMMA)) ^ INDEX_DOMAIN;
        Self(mix(
            parent.wrapping_add(index.wrapping_add(1).wrapping_mul(GOLDEN_GAMMA))
        ))
    }

    /// Starts the generator of this seed.
    pub fn rng(self) -> Generator {
        Generator::seed_from_u64(self.0)
    }
}

/// The finaliser of SplitMix64: a bijection in which every input bit reaches every output bit.
const fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

impl fmt::Display for Seed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:#018x}", self.0)
    }
}

impl FromStr for Seed {
    type Err = MeasureError;

    fn from_str(text: &str) -> Result<Self, MeasureError> {
        let error =
            |problem: String| MeasureError::quantity(text, "a seed", problem, "`1234` or `0x4d2` (64 bits)");
        let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        let (digits, radix) = hexadecimal.map_or((text, 10), |digits| (digits, 16));
        // `from_str_radix` would take it.
        if digits.starts_with('+') {
            return Err(error("it has a sign".to_owned()));
        }
        u64::from_str_radix(digits, radix)
            .map(Self)
            .map_err(|_| error("it is not a whole number of 64 bits".to_owned()))
    }
}

impl Serialize for Seed {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Seed {
    /// Takes the printed form, or an integer where the format has 64-bit ones.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::units::text_serde::from_text_or_integer(deserializer, "a seed", Self)
    }
}
