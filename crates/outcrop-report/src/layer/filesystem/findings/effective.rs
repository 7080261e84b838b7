//! Whether what was asked for happened: cold reads, compression, options, and the bytes that they must lead to.

use outcrop_schema::filesystem::{
    COMPRESS_POLICY, COMPRESSED_SHARE, COMPRESSION, DATA_RATIO, IO_BLOCK_SIZE, OPTIONS, PAGE_CACHE_BELOW,
    PAGES_CACHED_BEFORE, PREDICTED_SPACE, READ_AMPLIFICATION, SPACE_RATIO,
};
use outcrop_workload::filesystem::{CompressPolicy, FileOperation, FilesystemKind};

use super::super::cell::{
    configuration, does, is_cold_random_read, is_cold_read, is_compressed, is_fresh, kind, name_apart, words,
};
use super::Outside;
use crate::cell::Cell;
use crate::finding::{Finding, Side, Verdict};

/// A read that fetches less than this part of the least that it must was answered from memory.
const LEAST_PART: f64 = 0.9;
/// Below this share of compressed extents a filesystem that was told to compress did not.
const COMPRESSED: f64 = 0.1;
/// Data that become smaller by less than this do not compress at all.
const COMPRESSIBLE: f64 = 1.05;
/// Bytes of an extent of btrfs.
const EXTENT_BYTES: f64 = 131_072.0;
/// How far read amplification may be from the stored share of an extent.
const AMPLIFICATION: f64 = 0.1;
/// Metadata beyond the extent itself.
const METADATA: f64 = 1.15;

/// Nothing was in memory before, and storage was read for every operation.
pub(super) fn reads_were_cold(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "reads-were-cold";
    const SENTENCE: &str = "Reads that are called cold came from storage.";
    let outside = Outside::of(cells.iter().filter(|cell| is_cold_read(cell)), |cell| {
        let cached = cell.value(&PAGES_CACHED_BEFORE)?;
        if cell.has(&PAGE_CACHE_BELOW) {
            return Some(Some(format!(
                "{}: a loop device lies below that is not known to have direct I/O",
                name_apart(cell)
            )));
        }
        if cached > 0.0 {
            return Some(Some(format!(
                "{}: {cached:.0} pages were cached before",
                name_apart(cell)
            )));
        }
        let fetched = cell.value(&READ_AMPLIFICATION)?;
        let least = least_amplification(cell)?;
        let is_low = fetched < least * LEAST_PART;
        Some(is_low.then(|| {
            format!(
                "{}: {fetched:.3} bytes fetched for each, at least {least:.3} are needed",
                words(cell)
            )
        }))
    });
    let how = "pages in the page cache before each pass (0), and bytes that the device read over bytes requested (at least one sector of a \
               compressed extent)";
    outside.finding(ID, SENTENCE, how, "no cell reads cold files").otherwise(
        "Something above storage answered: the page cache, which also answers O_DIRECT reads of compressed extents, or that of a loop \
         device's file. These latencies describe memory.",
    )
}

/// What must be fetched at least for each byte: a sector of an extent, or the stored share of what is read whole.
fn least_amplification(cell: &Cell<'_>) -> Option<f64> {
    const SECTOR_BYTES: f64 = 4096.0;
    if does(cell, FileOperation::SequentialRead) {
        // Metadata are in the space; so this is at most the stored share.
        return Some(cell.value(&SPACE_RATIO).map_or(0.0, |ratio| 0.9 / ratio.max(1.0)));
    }
    let asked = cell.place(&IO_BLOCK_SIZE)?;
    Some((SECTOR_BYTES / asked).min(1.0))
}

/// Extents are compressed where that was asked for.
pub(super) fn compression_happened(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "compression-happened";
    const SENTENCE: &str = "Where compression was requested, data are compressed.";
    let asked = cells.iter().filter(|cell| {
        let is_forced = cell
            .get(&COMPRESS_POLICY)
            .is_none_or(|policy| *policy == CompressPolicy::Force);
        let writes_small = [
            FileOperation::Append,
            FileOperation::Overwrite,
            FileOperation::Update,
            FileOperation::SmallFiles,
        ];
        let is_asked = is_compressed(cell) && is_forced || is_mounted_to_compress(cell);
        is_asked && is_fresh(cell) && !writes_small.iter().any(|one| does(cell, *one))
    });
    let outside = Outside::of(asked, |cell| {
        if let Some(share) = cell.value(&COMPRESSED_SHARE) {
            // Of a directory nothing is predicted: data that do not compress are named as well.
            let can = cell
                .value(&PREDICTED_SPACE)
                .is_none_or(|ratio| ratio > COMPRESSIBLE);
            let is_off = share < COMPRESSED && can;
            return Some(is_off.then(|| {
                format!(
                    "{}: {:.0} % in compressed extents",
                    configuration(cell),
                    share * 100.0
                )
            }));
        }
        let ratio = cell.value(&SPACE_RATIO)?;
        Some((ratio < 1.0).then(|| format!("{}: ratio {ratio:.2}", configuration(cell))))
    });
    let how = format!(
        "share of the bytes in extents that the filesystem calls encoded (FIEMAP), at least {:.0} %; of read-only images, the ratio",
        COMPRESSED * 100.0
    );
    outside.finding(ID, SENTENCE, &how, "no cell uses compression").otherwise(
        "Options say nothing about what happened: nodatasum, nodatacow and reserved (fallocated) extents silently switch compression off, and data that do not compress stay as they are.",
    )
}

/// Whether somebody else mounted the filesystem of a directory so that it compresses everything.
fn is_mounted_to_compress(cell: &Cell<'_>) -> bool {
    const FORCED: &str = "compress-force=";
    const NOTHING: [&str; 2] = ["none", "no"];
    let is_forced = |option: &str| {
        let value = option.split_once(FORCED).map(|(_, value)| value);
        value.is_some_and(|value| !NOTHING.contains(&value))
    };
    kind(cell).is_none()
        && cell
            .remark(&OPTIONS)
            .is_some_and(|shown| shown.split(',').any(is_forced))
}

/// The kernel shows what was asked for.
pub(super) fn options_are_effective(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "options-are-effective";
    const SENTENCE: &str = "The kernel shows the requested options.";
    let mounted = cells
        .iter()
        .filter(|cell| kind(cell) == Some(FilesystemKind::Btrfs) && is_compressed(cell));
    let outside = Outside::of(mounted, |cell| {
        let shown = cell.remark(&OPTIONS)?;
        let key = match cell.get(&COMPRESS_POLICY) {
            Some(CompressPolicy::Heuristic) => "compress",
            _ => "compress-force",
        };
        let wanted = format!("{key}={}", cell.spelling(&COMPRESSION));
        // The remark is a sentence with the options at its end.
        let mut options = shown.split([',', ' ']);
        let has = options.any(|option| option == wanted);
        Some((!has).then(|| format!("{}: {shown}", configuration(cell))))
    });
    let how = "compression, its level and whether it is forced in the options of the mounted filesystem, as its mount table shows them,";
    outside.finding(ID, SENTENCE, how, "no compressed btrfs was mounted by Outcrop").otherwise(
        "The kernel silently used another level or algorithm: zstd:99 becomes zstd:15, and a later compress-force without a \
         level resets both.",
    )
}

/// A small read of a compressed extent fetches the stored extent, and nothing but that.
pub(super) fn amplification_in_bounds(cells: &[Cell<'_>]) -> Finding {
    const ID: &str = "amplification-in-bounds";
    const SENTENCE: &str = "A cold read of btrfs fetches the stored extent: at most extent ÷ read, and that times the stored share.";
    let reads = cells.iter().filter(|cell| {
        is_cold_random_read(cell) && kind(cell) == Some(FilesystemKind::Btrfs) && is_compressed(cell)
    });
    let outside = Outside::by_intervals(reads, |cell| {
        let fetched = cell.number(&READ_AMPLIFICATION)?;
        let bound = EXTENT_BYTES / cell.place(&IO_BLOCK_SIZE)?;
        let expected = expected_amplification(bound, cell.value(&DATA_RATIO)?, cell.value(&COMPRESSED_SHARE));
        let most = (bound * METADATA).min(expected * (1.0 + AMPLIFICATION));
        let side = Side::of(fetched, &(expected * (1.0 - AMPLIFICATION)..=most));
        let words = format!(
            "{}: {}, expected {expected:.2}",
            name_apart(cell),
            fetched.with_ends()
        );
        Some((side, words))
    });
    let how = "read amplification against 128 KiB ÷ read × stored ÷ original of compressed extents, and 1 of others, within 10 %,";
    let finding = outside.finding(
        ID,
        SENTENCE,
        how,
        "no compressed btrfs was read cold with its stored size known",
    );
    match finding.verdict {
        Verdict::Holds => finding.meaning(
            "A small read of compressed data costs a read of its whole extent: a smaller extent, block or cluster lowers that cost.",
        ),
        Verdict::DoesNotHold | Verdict::NotTestable(_) => finding,
    }
}

/// What a read fetches on average: the stored part of a compressed extent, or itself where the extent is as it was.
fn expected_amplification(bound: f64, data_ratio: f64, compressed_share: Option<f64>) -> f64 {
    // As many bytes are stored of an uncompressed extent as it has.
    let raw = 1.0 - compressed_share.unwrap_or(1.0).clamp(0.0, 1.0);
    bound * (1.0 / data_ratio - raw).max(0.0) + raw
}

#[cfg(test)]
mod tests {
    use super::expected_amplification;

    #[test]
    fn uncompressed_extents_are_read_as_they_are() {
        assert_eq!(expected_amplification(32.0, 4.0, Some(1.0)), 8.0);
        assert_eq!(expected_amplification(32.0, 4.0, None), 8.0);
        // A half at 4 : 1 and a half as it was: 0.625 of the bytes are stored.
        let half = expected_amplification(32.0, 1.6, Some(0.5));
        assert!((half - 4.5).abs() < 1e-9, "{half}");
        assert_eq!(expected_amplification(32.0, 1.0, Some(0.0)), 1.0);
    }
}
