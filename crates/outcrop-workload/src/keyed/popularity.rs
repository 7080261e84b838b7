//! Which keys are asked for how often: `etc`, `etc-lite`, `zipfian:THETA`, `uniform`.

use std::fmt;
use std::str::FromStr;

use outcrop_measure::seed::Generator;
use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::access_pattern::AccessPattern;
use crate::error::WorkloadError;
use crate::spelling::{Spelling, form_and_argument, spelled_as_string};
use crate::uniform::{uniform_below, uniform_unit};
use crate::zipfian::ZipfianRanks;

/// The popularity of keys; key 0 is the most popular one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum KeyPopularity {
    /// A piecewise power law: the top 1 % of keys get 55 % of the requests, the top 10 % get 90 %, the bottom half 1 %.
    ///
    /// The share of requests that the top `x` of the keys get is a power of `x` between those points, and goes on with
    /// the power of the second piece above the first. No single Zipf distribution fits all three.
    Etc,
    /// Half of the keys get 1 % of the requests; even within each half.
    EtcLite,
    /// The key of rank `k` gets a share ∝ `1/k^theta`.
    Zipfian {
        /// The skew, above 0 and at most [`AccessPattern::MAX_THETA`].
        theta: f64,
    },
    /// All alike.
    Uniform,
}

/// Share of keys, and the share of requests that this most popular part of them gets.
const ETC_POINTS: [(f64, f64); 4] = [(0.01, 0.55), (0.1, 0.9), (0.5, 0.99), (1.0, 1.0)];

impl KeyPopularity {
    /// Draws of keys `0..key_count`; a count of 0 is taken as 1.
    pub fn draws(&self, key_count: u64) -> KeyDraws {
        let key_count = key_count.max(1);
        KeyDraws {
            key_count,
            law: match *self {
                Self::Etc => Law::Pieces(etc_pieces()),
                Self::EtcLite => Law::Halves,
                Self::Zipfian { theta } => Law::Zipfian(ZipfianRanks::new(key_count, theta)),
                Self::Uniform => Law::Uniform,
            },
        }
    }
}

/// An endless stream of key numbers.
#[derive(Clone, Debug)]
pub struct KeyDraws {
    key_count: u64,
    law: Law,
}

#[derive(Clone, Debug)]
enum Law {
    Pieces([Piece; 4]),
    Halves,
    Zipfian(ZipfianRanks),
    Uniform,
}

/// `requests(x) = end_requests × (x ÷ end_keys)^(1 ÷ inverse_power)` up to `end_keys`.
#[derive(Clone, Copy, Debug)]
struct Piece {
    end_keys: f64,
    end_requests: f64,
    inverse_power: f64,
}

fn etc_pieces() -> [Piece; 4] {
    std::array::from_fn(|index| {
        let (end_keys, end_requests) = ETC_POINTS[index];
        // The first piece has no lower point of its own: it continues the second.
        let ((x0, y0), (x1, y1)) = match index {
            0 => (ETC_POINTS[0], ETC_POINTS[1]),
            _ => (ETC_POINTS[index - 1], ETC_POINTS[index]),
        };
        Piece {
            end_keys,
            end_requests,
            inverse_power: (x1 / x0).ln() / (y1 / y0).ln(),
        }
    })
}

impl KeyDraws {
    /// The next key.
    #[inline]
    pub fn next_key(&mut self, draws: &mut Generator) -> u64 {
        match &self.law {
            Law::Pieces(pieces) => {
                let requests = uniform_unit(draws.next_u64());
                let piece = pieces
                    .iter()
                    .find(|piece| requests < piece.end_requests)
                    .unwrap_or(&pieces[3]);
                let keys = piece.end_keys * (requests / piece.end_requests).powf(piece.inverse_power);
                ((keys * self.key_count as f64) as u64).min(self.key_count - 1)
            }
            Law::Halves => {
                let hot = self.key_count.div_ceil(2);
                let is_cold = uniform_below(draws.next_u64(), 100) == 0;
                if is_cold && hot < self.key_count {
                    hot + uniform_below(draws.next_u64(), self.key_count - hot)
                } else {
                    uniform_below(draws.next_u64(), hot)
                }
            }
            Law::Zipfian(ranks) => ranks.next_rank(draws) - 1,
            Law::Uniform => uniform_below(draws.next_u64(), self.key_count),
        }
    }
}

const ACCEPTED: &str = "`etc`, `etc-lite`, `zipfian:THETA` (zipfian:0.99) or `uniform`";

impl FromStr for KeyPopularity {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let spelling = Spelling {
            what: "popularity",
            accepted: ACCEPTED,
            seen: text,
        };
        match form_and_argument(text) {
            ("etc", None) => Ok(Self::Etc),
            ("etc-lite", None) => Ok(Self::EtcLite),
            ("uniform", None) => Ok(Self::Uniform),
            ("zipfian", Some(argument)) => {
                let theta = spelling.number(argument)?;
                if !(theta > 0.0 && theta <= AccessPattern::MAX_THETA) {
                    return Err(spelling.out_of_range(format!(
                        "THETA must be above 0 and at most {}; for no skew write `uniform`",
                        AccessPattern::MAX_THETA
                    )));
                }
                Ok(Self::Zipfian { theta })
            }
            _ => Err(spelling.not_understood()),
        }
    }
}

impl fmt::Display for KeyPopularity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Etc => f.write_str("etc"),
            Self::EtcLite => f.write_str("etc-lite"),
            Self::Zipfian { theta } => write!(f, "zipfian:{theta}"),
            Self::Uniform => f.write_str("uniform"),
        }
    }
}

spelled_as_string!(KeyPopularity);
