//! Exchange with other tools: HdrHistogram's V2 encoding, deflated and in base64.
//!
//! *Shape* (big-endian): cookie `0x1c849314`, length of the rest, zlib stream of: cookie `0x1c849313`, payload length,
//! normalising offset (0), significant digits, lowest value, highest value (64 bits each), conversion ratio
//! (1.0), then zigzag LEB128 numbers of at most nine bytes: a count, or minus a number of empty slots.
//!
//! *Source*: the `hdrhistogram` crate and HdrHistogram's Java `AbstractHistogram.encodeIntoCompressedByteBuffer`.
//! Writing goes through the crate. Reading does not, because its decoder allocates what the header asks for (up
//! to 4 GiB) and overflows on some counts; ours is checked against it.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};

use super::{COUNT_LIMIT, LatencyHistogram, add_count, index_of};
use crate::error::MeasureError;

/// Two digits have 128 slots an octave: each of our buckets is a whole number of them.
const WRITTEN_DIGITS: u8 = 2;
const COOKIE: u32 = 0x1c84_9313;
const COMPRESSED_COOKIE: u32 = 0x1c84_9314;
/// More than any histogram of three digits inflates to: 40 bytes of header, nine for each of 55 × 1024 slots.
const LARGEST_INFLATED_BYTES: u64 = 1 << 20;
/// More than such a histogram takes in base64 when it does not compress.
const LARGEST_TEXT_BYTES: usize = 2 << 20;
/// Refuses counts that no measurement has (2⁵³, 285 years at a million a second) and a float would round.
const LARGEST_COUNT: u64 = 1 << 53;

pub(super) fn encode(histogram: &LatencyHistogram) -> String {
    // The highest value must be at least twice the lowest, which is 1.
    let highest = histogram.max().unwrap_or(0).max(2);
    let mut hdr = Histogram::<u64>::new_with_bounds(1, highest, WRITTEN_DIGITS)
        .expect("1, a highest value of at least 2, and 2 digits are valid bounds");
    for bucket in histogram.buckets() {
        hdr.record_n(bucket.low_ns, bucket.count.min(COUNT_LIMIT))
            .expect("the low end of a bucket is at most the maximum, which is in range");
    }
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(&hdr, &mut bytes)
        .expect("memory takes what is written, and every count fits 63 bits");
    BASE64.encode(bytes)
}

pub(super) fn decode(text: &str) -> Result<LatencyHistogram, MeasureError> {
    if text.len() > LARGEST_TEXT_BYTES {
        return Err(MeasureError::histogram(format!(
            "{} bytes of text are more than any has (limit {LARGEST_TEXT_BYTES})",
            text.len()
        )));
    }
    let bytes = BASE64
        .decode(text.trim())
        .map_err(|error| MeasureError::histogram(format!("base64: {error}")))?;
    let mut fields = Fields(&bytes);
    match fields.u32()? {
        COOKIE => decode_v2(fields),
        COMPRESSED_COOKIE => {
            let length = fields.u32()?;
            let compressed = fields.rest_of_length(length)?;
            let inflated = inflate(compressed)?;
            let mut fields = Fields(&inflated);
            match fields.u32()? {
                COOKIE => decode_v2(fields),
                cookie => Err(unknown_cookie(cookie)),
            }
        }
        cookie => Err(unknown_cookie(cookie)),
    }
}

fn unknown_cookie(cookie: u32) -> MeasureError {
    MeasureError::histogram(format!(
        "it starts with {cookie:#010x}, not {COOKIE:#010x} or {COMPRESSED_COOKIE:#010x}"
    ))
}

fn inflate(compressed: &[u8]) -> Result<Vec<u8>, MeasureError> {
    let mut inflated = Vec::new();
    flate2::read::ZlibDecoder::new(compressed)
        .take(LARGEST_INFLATED_BYTES + 1)
        .read_to_end(&mut inflated)
        .map_err(|error| MeasureError::histogram(format!("zlib: {error}")))?;
    if inflated.len() as u64 > LARGEST_INFLATED_BYTES {
        return Err(MeasureError::histogram(format!(
            "it inflates to more than {LARGEST_INFLATED_BYTES} bytes"
        )));
    }
    Ok(inflated)
}

/// Reads the fields behind the cookie.
fn decode_v2(mut fields: Fields<'_>) -> Result<LatencyHistogram, MeasureError> {
    let payload_length = fields.u32()?;
    let normalising_offset = fields.u32()?;
    let digits = fields.u32()?;
    let lowest = fields.u64()?;
    let _highest = fields.u64()?;
    let conversion_ratio = f64::from_bits(fields.u64()?);
    let mut counts = Fields(fields.rest_of_length(payload_length)?);

    // Slots of each half octave: the power of two at or above 2 × 10^digits, halved.
    let half_bits = match digits {
        2 => 7,
        3 => 10,
        _ => {
            return Err(MeasureError::histogram(format!(
                "it has {digits} significant digits"
            )));
        }
    };
    if normalising_offset != 0 || conversion_ratio != 1.0 || lowest != 1 {
        return Err(MeasureError::histogram(format!(
            "lowest value {lowest}, normalising offset {normalising_offset} or conversion ratio {conversion_ratio} \
             is not 1, 0 and 1"
        )));
    }

    let mut histogram = LatencyHistogram::new();
    let mut total: u64 = 0;
    let mut slot: u64 = 0;
    while !counts.0.is_empty() {
        let number = counts.zigzag()?;
        if number < 0 {
            // An overlong skip leads to a slot beyond 64 bits, which is an error when something is counted there.
            slot = slot.saturating_add(number.unsigned_abs());
            continue;
        }
        let count = number.unsigned_abs();
        if count > 0 {
            let value_ns = value_of_slot(slot, half_bits)?;
            total = total.saturating_add(count);
            add_count(&mut histogram.counts[index_of(value_ns)], count);
        }
        slot = slot.saturating_add(1);
    }
    if total > LARGEST_COUNT {
        return Err(MeasureError::histogram(format!(
            "it counts {total} operations, more than {LARGEST_COUNT}"
        )));
    }
    histogram.estimate_totals();
    Ok(histogram)
}

/// The lowest value of a slot; slots below 2^`half_bits` are values, each half octave has as many above.
fn value_of_slot(slot: u64, half_bits: u32) -> Result<u64, MeasureError> {
    let half = 1 << half_bits;
    if slot < half {
        return Ok(slot);
    }
    let octave = (slot >> half_bits) - 1;
    if octave + u64::from(half_bits) >= 64 {
        return Err(MeasureError::histogram(format!(
            "slot {slot} is beyond 64-bit values"
        )));
    }
    Ok(((slot & (half - 1)) | half) << octave)
}

/// Bytes that are not read yet.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], MeasureError> {
        let (array, rest) = self
            .0
            .split_first_chunk()
            .ok_or_else(|| MeasureError::histogram("it is cut off"))?;
        self.0 = rest;
        Ok(*array)
    }

    fn u32(&mut self) -> Result<u32, MeasureError> {
        self.array().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> Result<u64, MeasureError> {
        self.array().map(u64::from_be_bytes)
    }

    /// All the rest, which must be `length` bytes.
    fn rest_of_length(self, length: u32) -> Result<&'a [u8], MeasureError> {
        if self.0.len() as u64 == u64::from(length) {
            return Ok(self.0);
        }
        Err(MeasureError::histogram(format!(
            "it announces {length} bytes, {} follow",
            self.0.len()
        )))
    }

    /// A zigzag LEB128 number of at most nine bytes, the ninth of which is used whole.
    fn zigzag(&mut self) -> Result<i64, MeasureError> {
        let mut encoded: u64 = 0;
        for position in 0..9 {
            let [byte] = self.array()?;
            let is_last = position == 8 || byte & 0x80 == 0;
            let bits = if position == 8 { byte } else { byte & 0x7f };
            encoded |= u64::from(bits) << (7 * position);
            if is_last {
                break;
            }
        }
        Ok((encoded >> 1).cast_signed() ^ -(encoded & 1).cast_signed())
    }
}
