//! What a drive with dpzip would do with the blocks: stored sizes in whole slots, and the cycle model's times.

use outcrop_codec::dpzip::{CycleModel, Dpzip, PAGE_BYTES, slotted_bytes};
use outcrop_codec::{CodecSpec, Setting};

use crate::blocks::Blocks;
use crate::error::CompressError;

/// The model's answer. Times are *modelled*; sizes are those of the pages really compressed.
#[derive(Clone, Debug, PartialEq)]
pub struct HardwareReport {
    /// Pages.
    pub pages: u64,
    /// Uncompressed bytes per second, pages following each other.
    pub bytes_per_second: f64,
    /// Mean time of a page from its first byte in to its last one out.
    pub page_latency_ns: f64,
    /// Slot size, and the bytes of all pages stored in whole slots of it.
    pub stored: Vec<(usize, u64)>,
}

/// Compresses every page of the blocks; none when the codec is not dpzip.
///
/// # Errors
/// When the codec fails.
pub fn run_hardware(
    blocks: &Blocks<'_>,
    codec: &CodecSpec,
    slot_sizes_bytes: &[usize],
) -> Result<Option<HardwareReport>, CompressError> {
    let Setting::Table(options) = codec.setting() else {
        return Ok(None);
    };
    let mut dpzip = Dpzip::new(options);
    let model = CycleModel::default();
    let mut target = [0; PAGE_BYTES];
    let mut stored: Vec<(usize, u64)> = slot_sizes_bytes.iter().map(|&slot| (slot, 0)).collect();
    let (mut pages, mut bytes, mut busy_s, mut latency_ns) = (0, 0_u64, 0.0, 0.0);
    for (index, block) in blocks.as_slice().iter().enumerate() {
        for page in block.bytes.chunks(PAGE_BYTES) {
            let (length, work) =
                dpzip
                    .compress_page(page, &mut target)
                    .map_err(|source| CompressError::Codec {
                        origin: blocks.origin(index),
                        source,
                    })?;
            let time = model.page(&work);
            pages += 1;
            bytes += page.len() as u64;
            busy_s += time.interval_cycles / model.clock_hertz;
            latency_ns += time.latency_us * 1e3;
            for (slot, sum) in &mut stored {
                *sum += slotted_bytes(length, *slot) as u64;
            }
        }
    }
    Ok(Some(HardwareReport {
        pages,
        bytes_per_second: bytes as f64 / busy_s,
        page_latency_ns: latency_ns / pages as f64,
        stored,
    }))
}
