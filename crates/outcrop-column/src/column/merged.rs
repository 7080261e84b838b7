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
    /// For each segment the position of each code's value; a monotone map, and empty where it is the code itself.
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

/// Calls `action` with each value that occurs in `parts`, in byte order, and with every part and position that it has.
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
