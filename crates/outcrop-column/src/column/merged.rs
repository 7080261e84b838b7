//! The distinct values of all segments as one sorted list, and where each segment's codes are in it.

#[cfg(feature = "arrow")]
use super::Column;
use super::decode::Values;
use crate::error::Result;

/// The merged dictionary of a column's segments.
#[cfg(feature = "arrow")]
pub(crate) struct MergedValues {
    /// The values in byte order, back to back.
    pub(crate) bytes: Vec<u8>,
    /// Where each of them ends.
    pub(crate) ends: Vec<usize>,
    /// For each segment the position of each code's value; a monotone map, and
    /// empty where it is the code itself.
    pub(crate) maps: Vec<Vec<u32>>,
}

#[cfg(feature = "arrow")]
impl Column {
    /// Merges the dictionaries. *Cost*: all distinct values in memory, once for each segment that has them.
    pub(crate) fn merged_values(&self) -> Result<MergedValues> {
        let mut parts = self
            .segments
            .iter()
            .map(|segment| Values::of(segment, &*self.source))
            .collect::<Result<Vec<_>>>()?;
        if parts.len() <= 1 {
            let Values { bytes, ends } = parts.pop().unwrap_or_default();
            let maps = vec![Vec::new()];
            return Ok(MergedValues { bytes, ends, maps });
        }
        let mut merged = MergedValues {
            bytes: Vec::new(),
            ends: Vec::new(),
            maps: parts.iter().map(|part| vec![0; part.ends.len()]).collect(),
        };
        let MergedValues { bytes, ends, maps } = &mut merged;
        for_each_merged(&parts, |value, places| {
            for &(part, code) in places {
                maps[part][code as usize] = ends.len() as u32;
            }
            bytes.extend_from_slice(value);
            ends.push(bytes.len());
            Ok(())
        })?;
        Ok(merged)
    }
}

/// A column's dictionary in the order of the numbers that its file stores.
#[cfg(feature = "arrow")]
pub(crate) struct StoredValues {
    /// The values back to back; that of null is empty.
    pub(crate) bytes: Vec<u8>,
    /// Where each of them ends.
    pub(crate) ends: Vec<usize>,
    /// The number of null, if a row is null.
    pub(crate) null: Option<u32>,
}

#[cfg(feature = "arrow")]
impl Column {
    /// The dictionary in rank order; `None` where that is byte order, or where each segment has its own.
    pub(crate) fn stored_values(&self) -> Result<Option<StoredValues>> {
        let [segment] = self.segments.as_slice() else {
            return Ok(None);
        };
        let Some(ranking) = segment.ranking(&*self.source)? else {
            return Ok(None);
        };
        let values = Values::of(segment, &*self.source)?;
        let mut stored = StoredValues {
            bytes: Vec::with_capacity(values.bytes.len()),
            ends: Vec::with_capacity(values.ends.len() + 1),
            null: None,
        };
        for (rank, code) in (0..).zip(ranking.codes().iter()) {
            match values.get(code) {
                Some(value) => stored.bytes.extend_from_slice(value),
                None => stored.null = Some(rank),
            }
            stored.ends.push(stored.bytes.len());
        }
        Ok(Some(stored))
    }
}

/// Calls `action` with each value in `parts`, in byte order, and every part and position of it.
pub(super) fn for_each_merged(
    parts: &[Values],
    mut action: impl FnMut(&[u8], &[(usize, u32)]) -> Result<()>,
) -> Result<()> {
    let mut all: Vec<(&[u8], (usize, u32))> = Vec::new();
    for (part, values) in parts.iter().enumerate() {
        let codes = 0..values.ends.len() as u32;
        all.extend(codes.filter_map(|code| Some((values.get(code)?, (part, code)))));
    }
    // A stable sort of runs that are sorted already merges them.
    all.sort_by_key(|&(value, _)| value);
    let mut places = Vec::new();
    for group in all.chunk_by(|a, b| a.0 == b.0) {
        places.clear();
        places.extend(group.iter().map(|&(_, place)| place));
        action(group[0].0, &places)?;
    }
    Ok(())
}
