//! Consistent hashing as twemproxy (nutcracker) does it, so that both place every key on the same server.
//!
//! *Source*: ketama by R. Jones (last.fm, 2007), in the variant of twemproxy's `nc_ketama.c` and `nc_fnv.c`, whose
//! arithmetic in single precision and whose 32-bit cut of FNV-1a are part of the placement. Written from its
//! published behaviour; a test holds it against the program.

use std::fmt::Write as _;

use md5::{Digest as _, Md5};

use crate::target::Target;

/// Points of one server of mean weight.
const POINTS_PER_SERVER: f32 = 160.0;
/// Points that one MD5 yields.
const POINTS_PER_HASH: usize = 4;
/// A server on this port is hashed by its host alone, as libmemcached does.
const NAMELESS_PORT: u16 = 11211;

/// How a key becomes a place on the ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyHash {
    /// twemproxy's default: FNV-1a with the 64-bit constants cut to 32 bits. Keys that differ in their last
    /// character alone land close together, so few keys of one form may miss a server altogether.
    #[default]
    Fnv1a64,
    /// The first four bytes of MD5.
    Md5,
}

impl KeyHash {
    /// The place of a key.
    pub fn hash(self, key: &[u8]) -> u32 {
        match self {
            Self::Fnv1a64 => key.iter().fold(0x8422_2325, |hash: u32, byte| {
                // twemproxy reads bytes as signed characters.
                (hash ^ i32::from(byte.cast_signed()).cast_unsigned()).wrapping_mul(0x0000_01b3)
            }),
            Self::Md5 => points_of(key)[0],
        }
    }
}

/// Servers on a ring of 32-bit places.
#[derive(Clone, Debug)]
pub struct Ring {
    /// Place and server, by place.
    points: Vec<(u32, usize)>,
    hash: KeyHash,
}

impl Ring {
    /// Servers of equal weight.
    pub fn new(servers: &[Target], hash: KeyHash) -> Self {
        let names: Vec<(String, u32)> = servers.iter().map(|server| (name_of(server), 1)).collect();
        Self::weighted(&names, hash)
    }

    /// Servers by the names that they are hashed by, and their weights.
    pub fn weighted(servers: &[(String, u32)], hash: KeyHash) -> Self {
        let total: u32 = servers.iter().map(|(_, weight)| weight).sum();
        let mut points = Vec::new();
        for (index, (name, weight)) in servers.iter().enumerate() {
            let share = *weight as f32 / total as f32;
            let hashes = (share * POINTS_PER_SERVER / POINTS_PER_HASH as f32 * servers.len() as f32
                + 0.000_000_000_1)
                .floor() as u32;
            let mut text = String::new();
            for number in 0..hashes {
                text.clear();
                // Writing to a string cannot fail.
                let _ = write!(text, "{name}-{number}");
                points.extend(points_of(text.as_bytes()).map(|place| (place, index)));
            }
        }
        points.sort_unstable();
        Self { points, hash }
    }

    /// The number of the server that a key belongs to: the first at or after its place. None without servers.
    pub fn server_of(&self, key: &[u8]) -> Option<usize> {
        let place = self.hash.hash(key);
        let next = self.points.partition_point(|(point, _)| *point < place);
        self.points
            .get(next)
            .or_else(|| self.points.first())
            .map(|(_, server)| *server)
    }
}

/// The name that twemproxy hashes a server by when its configuration gives it none.
fn name_of(server: &Target) -> String {
    if server.port == NAMELESS_PORT {
        server.host.clone()
    } else {
        format!("{}:{}", server.host, server.port)
    }
}

fn points_of(text: &[u8]) -> [u32; POINTS_PER_HASH] {
    let digest = Md5::digest(text);
    std::array::from_fn(|index| {
        let bytes: [u8; 4] = std::array::from_fn(|byte| digest[index * 4 + byte]);
        u32::from_le_bytes(bytes)
    })
}
