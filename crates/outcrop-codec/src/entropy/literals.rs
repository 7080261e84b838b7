//! The literals section of a block: raw, one repeated byte, or Huffman in one or four streams.

use super::fse::Tables;
use super::histogram::Histogram;
use super::huffman::Code;

/// From here on four streams, which decoders read side by side. Below, their jump table costs more than it gains.
const FOUR_STREAMS_FROM: usize = 256;
/// Fewer literals than this never pay for a description of a code.
const HUFFMAN_FROM: usize = 32;

/// Writes literals sections; keeps its tables between pages.
pub(super) struct LiteralsEncoder {
    histogram: Histogram,
    code: Code,
}

impl LiteralsEncoder {
    pub(super) fn new() -> Self {
        Self {
            histogram: Histogram::new(),
            code: Code::new(),
        }
    }

    /// Writes the section of `literals`, as small as this encoder can; `None` when `target` is too small.
    /// Answers its bytes, and how many literals went through Huffman.
    #[inline(always)]
    pub(super) fn encode(
        &mut self,
        literals: &[u8],
        tables: Tables,
        target: &mut [u8],
    ) -> Option<(usize, usize)> {
        if literals.len() < HUFFMAN_FROM {
            return Some((raw(literals, target)?, 0));
        }
        self.histogram.count(literals);
        let most = usize::from(*self.histogram.counts().iter().max()?);
        if most == literals.len() {
            return Some((repeated(literals, target)?, 0));
        }
        // As zstd: hardly any byte stands out, so a code gains less than its description costs.
        if most <= (literals.len() >> 7) + 4 {
            return Some((raw(literals, target)?, 0));
        }
        match self.huffman(literals, most, tables, target) {
            Some(bytes) => Some((bytes, literals.len())),
            None => Some((raw(literals, target)?, 0)),
        }
    }

    /// Writes a compressed section; `None` when it would not be smaller than a raw one. The most
    /// frequent literal occurs `most` times.
    #[inline(always)]
    fn huffman(&mut self, literals: &[u8], most: usize, tables: Tables, target: &mut [u8]) -> Option<usize> {
        self.code.build(self.histogram.counts(), literals.len(), most);
        let four = literals.len() >= FOUR_STREAMS_FROM;
        let header = if literals.len() < 1024 { 3 } else { 4 };
        let described = self.code.describe(tables, target.get_mut(header..)?)?;
        let streams_at = header + described + if four { 6 } else { 0 };
        if streams_at + self.code.encoded_bits() / 8 >= literals.len() {
            return None;
        }
        let mut end = streams_at;
        if four {
            let segment = literals.len().div_ceil(4);
            for (index, part) in literals.chunks(segment).enumerate() {
                let bytes = self.code.encode(part, target.get_mut(end..)?)?;
                end += bytes;
                if index < 3 {
                    let entry = header + described + 2 * index;
                    target[entry..entry + 2].copy_from_slice(&u16::try_from(bytes).ok()?.to_le_bytes());
                }
            }
        } else {
            end += self.code.encode(literals, target.get_mut(end..)?)?;
        }
        if end >= literals.len() {
            return None;
        }
        let compressed = (end - header) as u32;
        let regenerated = literals.len() as u32;
        let bits = if header == 3 {
            let format = u32::from(four);
            2 | format << 2 | regenerated << 4 | compressed << 14
        } else {
            2 | 2 << 2 | regenerated << 4 | compressed << 18
        };
        target[..header].copy_from_slice(&bits.to_le_bytes()[..header]);
        Some(end)
    }
}

/// The header of a raw (0) or repeated (1) section.
fn plain_header(kind: u32, literals: usize, target: &mut [u8]) -> Option<usize> {
    let size = literals as u32;
    let (bytes, bits) = match literals {
        0..=31 => (1, kind | size << 3),
        32..=4095 => (2, kind | 1 << 2 | size << 4),
        _ => (3, kind | 3 << 2 | size << 4),
    };
    target
        .get_mut(..bytes)?
        .copy_from_slice(&bits.to_le_bytes()[..bytes]);
    Some(bytes)
}

fn raw(literals: &[u8], target: &mut [u8]) -> Option<usize> {
    let header = plain_header(0, literals.len(), target)?;
    let end = header + literals.len();
    target.get_mut(header..end)?.copy_from_slice(literals);
    Some(end)
}

fn repeated(literals: &[u8], target: &mut [u8]) -> Option<usize> {
    let header = plain_header(1, literals.len(), target)?;
    *target.get_mut(header)? = *literals.first()?;
    Some(header + 1)
}
