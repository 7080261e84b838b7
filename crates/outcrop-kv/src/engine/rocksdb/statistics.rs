//! What RocksDB counts, read from the text that it gives.

use outcrop_measure::metric::Unavailable;

use crate::store::{Counted, StoreCounters};

/// Counters from the text of `rocksdb_options_statistics_get_string`: lines such as `rocksdb.wal.bytes COUNT : 1234`.
pub(super) fn counters(text: &str, has_block_cache: bool) -> StoreCounters {
    // Without a cache these two stay at 0, however many blocks are read.
    let of_cache = |name| match has_block_cache {
        true => ticker(text, name),
        false => Err(Unavailable::because(
            "RocksDB counts the blocks that it fetches only where it has a block cache",
        )),
    };
    let sum = |names: &[&str]| -> Counted { names.iter().map(|name| ticker(text, name)).sum() };
    const FLUSHES: &str = "rocksdb.flush.write.bytes";
    const COMPACTIONS: &str = "rocksdb.compact.write.bytes";
    // Every read of a table file counts as one of the last level or of another, whoever asked.
    const READS: [&str; 2] = [
        "rocksdb.last.level.read.bytes",
        "rocksdb.non.last.level.read.bytes",
    ];
    StoreCounters {
        written_bytes: sum(&["rocksdb.wal.bytes", FLUSHES, COMPACTIONS]),
        compaction_written_bytes: sum(&[COMPACTIONS]),
        read_bytes: sum(&READS),
        cache_hits: of_cache("rocksdb.block.cache.data.hit"),
        cache_misses: of_cache("rocksdb.block.cache.data.miss"),
        compressed_blocks: sum(&["rocksdb.number.block.compressed"]),
        decompressed_blocks: sum(&["rocksdb.number.block.decompressed"]),
        compaction_read_bytes: sum(&["rocksdb.compact.read.bytes"]),
        table_written_bytes: sum(&[FLUSHES, COMPACTIONS]),
        stalled_ns: sum(&["rocksdb.stall.micros"]).map(|micros| micros * 1000),
    }
}

fn ticker(text: &str, name: &str) -> Counted {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(" COUNT : "));
    let count = line.and_then(|count| count.trim().parse().ok());
    count.ok_or_else(|| Unavailable::because(format!("this RocksDB has no counter {name}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickers_are_summed_and_a_missing_one_is_named() {
        let text = "rocksdb.wal.bytes COUNT : 100\nrocksdb.flush.write.bytes COUNT : 20\n\
                    rocksdb.compact.write.bytes COUNT : 3\nrocksdb.stall.micros COUNT : 7\n\
                    rocksdb.db.get.micros P50 : 1.0 P95 : 2.0 COUNT : 5 SUM : 9\n";
        let counters = counters(text, true);
        assert_eq!(counters.written_bytes, Ok(123));
        assert_eq!(counters.compaction_written_bytes, Ok(3));
        assert_eq!(counters.stalled_ns, Ok(7000));
        let missing = counters.read_bytes.unwrap_err();
        assert!(missing.reason.contains("last.level.read.bytes"), "{missing}");
    }
}
