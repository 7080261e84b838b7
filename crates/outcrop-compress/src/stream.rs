//! Data that goes by once: kept whole while it fits, and from then on as a random sample of its clusters.

use std::collections::BTreeSet;
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};

use outcrop_measure::seed::Seed;
use rand::RngExt;

use crate::error::CompressError;
use crate::identity::Fingerprint;

/// What a stream left behind.
pub(crate) struct Stream {
    /// Offset and content; one piece when all of it was kept.
    pub(crate) pieces: Vec<(u64, Vec<u8>)>,
    /// Its length.
    pub(crate) bytes: u64,
    /// The whole stream, when only a part was kept.
    pub(crate) drawn: Option<Drawn>,
}

/// A stream that a sample was drawn from.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    /// Its length.
    pub(crate) bytes: u64,
    /// Its clusters.
    pub(crate) clusters: u64,
    /// What tells it from others.
    pub(crate) fingerprint: String,
}

/// Reads to the end, in clusters of the second of `(limit_bytes, cluster_bytes)`. Each cluster has the same chance to be kept, whatever the length turns out to be.
///
/// *Source*: Vitter, "Random sampling with a reservoir", ACM TOMS 11(1), 1985, algorithm R.
pub(crate) fn read(
    reader: &mut dyn Read,
    name: &str,
    (limit_bytes, cluster_bytes): (u64, u64),
    seed: Seed,
    stop: &AtomicBool,
) -> Result<Stream, CompressError> {
    let room = (limit_bytes / cluster_bytes).max(1);
    let mut draws = seed.derive("stream").rng();
    let mut kept: Vec<(u64, Vec<u8>)> = Vec::new();
    let (mut bytes, mut clusters) = (0, 0);
    let mut fingerprint = Fingerprint::of_stream();
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(CompressError::Interrupted);
        }
        let mut cluster = Vec::new();
        (&mut *reader)
            .take(cluster_bytes)
            .read_to_end(&mut cluster)
            .map_err(|source| CompressError::stream(name, source))?;
        if cluster.is_empty() {
            break;
        }
        fingerprint.add(&cluster);
        let piece = (bytes, cluster);
        bytes += piece.1.len() as u64;
        clusters += 1;
        if clusters <= room {
            kept.push(piece);
        } else {
            let slot = draws.random_range(0..clusters);
            if slot < room {
                kept[slot as usize] = piece;
            }
        }
    }
    if bytes == 0 {
        let what = name.to_owned();
        return Err(CompressError::Empty { what });
    }
    if clusters <= room {
        let whole = kept.into_iter().flat_map(|(_, cluster)| cluster).collect();
        return Ok(Stream {
            pieces: vec![(0, whole)],
            bytes,
            drawn: None,
        });
    }
    kept.sort_by_key(|(offset, _)| *offset);
    fingerprint.end(bytes);
    Ok(Stream {
        pieces: kept,
        bytes,
        drawn: Some(Drawn {
            bytes,
            clusters,
            fingerprint: fingerprint.spelled(),
        }),
    })
}

/// `count` different numbers below `limit`, ascending, each set with the same probability.
///
/// *Source*: Floyd's algorithm (Bentley and Floyd, "A sample of brilliance", CACM 30(9), 1987). *Cost*: O(count).
pub(crate) fn distinct_below(limit: u64, count: u64, seed: Seed) -> BTreeSet<u64> {
    let mut draws = seed.derive("clusters").rng();
    let mut chosen = BTreeSet::new();
    for last in limit - count.min(limit)..limit {
        let candidate = draws.random_range(0..=last);
        if !chosen.insert(candidate) {
            chosen.insert(last);
        }
    }
    chosen
}
