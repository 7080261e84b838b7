//! What RocksDB's table files hold, read from the text of its properties.

use std::ffi::CStr;

use outcrop_measure::metric::Unavailable;

use crate::store::Counted;
use crate::tables::Tables;

/// The properties of the files of each level, from the first down; a tree has seven unless it is told otherwise.
pub(super) const LEVELS: [&CStr; 7] = [
    c"rocksdb.aggregated-table-properties-at-level0",
    c"rocksdb.aggregated-table-properties-at-level1",
    c"rocksdb.aggregated-table-properties-at-level2",
    c"rocksdb.aggregated-table-properties-at-level3",
    c"rocksdb.aggregated-table-properties-at-level4",
    c"rocksdb.aggregated-table-properties-at-level5",
    c"rocksdb.aggregated-table-properties-at-level6",
];

/// What all files hold by `rocksdb.aggregated-table-properties`, and how much of it lies above the deepest level that has any.
pub(super) fn tables(all: &str, levels: &[Result<String, Unavailable>]) -> Tables {
    let sum = |names: &[&str]| -> Counted { names.iter().map(|name| number(all, name)).sum() };
    let (upper_bytes, deepest_level) = match of_levels(levels) {
        Ok((upper, deepest)) => (Ok(upper), Ok(deepest)),
        Err(why) => (Err(why.clone()), Err(why)),
    };
    Tables {
        data_bytes: sum(&["data block size"]),
        index_bytes: sum(&["index block size"]),
        filter_bytes: sum(&["filter block size"]),
        content_bytes: sum(&["raw key size", "raw value size"]),
        entries: sum(&["# entries"]),
        upper_bytes,
        deepest_level,
        codecs: Err(Unavailable::because("RocksDB does not say it of its files")),
    }
}

/// What lies above the deepest level that has any data, and the number of that level.
fn of_levels(levels: &[Result<String, Unavailable>]) -> Result<(u64, u64), Unavailable> {
    let mut bytes = Vec::new();
    for level in levels {
        let text = level.as_ref().map_err(Clone::clone)?;
        let parts = ["data block size", "index block size", "filter block size"];
        let sum: Counted = parts.into_iter().map(|name| number(text, name)).sum();
        bytes.push(sum?);
    }
    let deepest = bytes.iter().rposition(|bytes| *bytes > 0).unwrap_or_default();
    Ok((bytes[..deepest].iter().sum(), deepest as u64))
}

/// A number of `name=number; name=number`. Behind some names stands, in parentheses, how the files are made.
fn number(text: &str, name: &str) -> Counted {
    let mut pairs = text.split(';').filter_map(|pair| pair.trim().rsplit_once('='));
    let is_it = |key: &str| {
        key.strip_prefix(name)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("))
    };
    let found = pairs.find(|(key, _)| is_it(key));
    let number = found.and_then(|(_, number)| number.trim().parse().ok());
    number.ok_or_else(|| Unavailable::because(format!("this RocksDB does not say the {name} of its files")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As RocksDB 7.8.3 writes it.
    fn text(data: u64, index: u64, filter: u64) -> String {
        format!(
            "# data blocks=3; # entries=40; # deletions=1; # merge operands=0; # range deletions=0; raw key size=1200; raw average key \
             size=30.000000; raw value size=40000; raw average value size=1000.000000; data block size={data}; index block size \
             (user-key? 2, delta-value? 2)={index}; filter block size={filter}; # entries for filter=40; (estimated) table size=9; filter \
             policy name=rocksdb.BuiltinBloomFilter; "
        )
    }

    #[test]
    fn parts_of_the_files_are_read_and_what_lies_above_the_deepest_level_is_added_up() {
        let levels = [(5, 1, 1), (0, 0, 0), (20_000, 300, 60), (0, 0, 0)];
        let levels = levels.map(|(data, index, filter)| Ok(text(data, index, filter)));
        let tables = tables(&text(20_005, 301, 61), &levels);
        assert_eq!(tables.data_bytes, Ok(20_005));
        assert_eq!(tables.index_bytes, Ok(301));
        assert_eq!(tables.filter_bytes, Ok(61));
        assert_eq!(tables.content_bytes, Ok(41_200));
        assert_eq!(tables.entries, Ok(40));
        assert_eq!(
            (tables.upper_bytes.clone(), tables.deepest_level.clone()),
            (Ok(7), Ok(2))
        );
        assert_eq!(tables.bytes(), Ok(20_367));
    }

    #[test]
    fn what_a_version_does_not_say_is_named_and_the_rest_is_read() {
        let tables = tables("data block size=7", &[Err(Unavailable::because("no levels"))]);
        assert_eq!(tables.data_bytes, Ok(7));
        let why = tables.index_bytes.unwrap_err();
        assert!(why.reason.contains("the index block size of its files"), "{why}");
        assert!(tables.upper_bytes.is_err());
    }
}
