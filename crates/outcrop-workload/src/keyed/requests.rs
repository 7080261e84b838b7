//! The stream of requests: the kind and the key are drawn independently of each other.

use outcrop_measure::seed::{Generator, Seed};
use rand::Rng;

use super::popularity::KeyDraws;
use super::request_mix::{RequestKind, RequestMix};

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// What is done.
    pub kind: RequestKind,
    /// With which key.
    pub key_id: u64,
}

/// Requests without end.
#[derive(Clone, Debug)]
pub struct Requests {
    keys: KeyDraws,
    mix: RequestMix,
    key_draws: Generator,
    kind_draws: Generator,
}

impl Requests {
    pub(super) fn new(keys: KeyDraws, mix: RequestMix, seed: Seed) -> Self {
        Self {
            keys,
            mix,
            key_draws: seed.derive("keys").rng(),
            kind_draws: seed.derive("request kinds").rng(),
        }
    }

    /// The next request. *Cost*: 10 to 40 ns by the popularity.
    #[inline]
    pub fn next_request(&mut self) -> Request {
        Request {
            kind: self.mix.kind_of(self.kind_draws.next_u64()),
            key_id: self.keys.next_key(&mut self.key_draws),
        }
    }
}

impl Iterator for Requests {
    type Item = Request;

    #[inline]
    fn next(&mut self) -> Option<Request> {
        Some(self.next_request())
    }
}
