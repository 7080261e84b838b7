//! Codecs of levels that nothing reached: a short load stays in the first level, which has a codec of its own.

use std::collections::BTreeSet;

use outcrop_kv::{StoreOptions, Tables};
use outcrop_schema::Remark;
use outcrop_schema::kv;
use outcrop_workload::store::{StoreCodec, StoreCompression};

/// Codecs of levels that compressed nothing in the load: the figures are those of other codecs.
pub(super) fn codec(options: &StoreOptions, tables: &Tables) -> Option<Remark> {
    let levels = options.level_codecs.codecs();
    let names = |codecs: &[StoreCodec]| {
        codecs
            .iter()
            .map(|codec| codec.name().to_owned())
            .collect::<BTreeSet<_>>()
    };
    let unused = match (&tables.codecs, &tables.deepest_level) {
        (Ok(used), _) => &names(levels) - used,
        (Err(_), Ok(deepest)) => {
            // Below level 0, the deepest level has the codec of the last one, where there is such a codec.
            let has_last = *deepest > 0 && options.bottommost.is_some();
            let count = usize::try_from(*deepest)
                .unwrap_or(usize::MAX)
                .saturating_add(usize::from(!has_last));
            let (reached, below) = levels.split_at_checked(count).unwrap_or((levels, &[]));
            let mut unused = &names(below) - &names(reached);
            if let Some(last) = options.bottommost.filter(|_| has_last) {
                unused.remove(last.codec.name());
            }
            // RocksDB writes level 0 with the codec of that level, whether there is a lower one or not.
            let is_other = |last: &StoreCompression| match reached.first() {
                Some(first) => last.codec != *first,
                None => *last != options.compression,
            };
            unused.extend(
                options
                    .bottommost
                    .filter(|last| *deepest == 0 && is_other(last))
                    .map(|last| last.to_string()),
            );
            unused
        }
        _ => return None,
    };
    let named: Vec<String> = unused
        .into_iter()
        .filter(|name| name != StoreCodec::None.name())
        .collect();
    (!named.is_empty()).then(|| {
        kv::CODEC_UNUSED.remark(format!(
            "after the load no file was compressed with {}: no data had been compacted into the levels that it is for; use more --records or a \
             smaller --write-buffer",
            named.join(" or ")
        ))
    })
}

#[cfg(test)]
mod tests {
    use outcrop_workload::store::StoreEngine;

    use super::*;

    /// What is said of a store with these codecs, whose deepest level with data is this one.
    fn said(levels: &str, bottommost: Option<&str>, deepest: u64) -> Option<String> {
        let options = StoreOptions {
            level_codecs: levels.parse().unwrap(),
            bottommost: bottommost.map(|codec| codec.parse().unwrap()),
            compression: "lz4".parse().unwrap(),
            ..StoreOptions::of(StoreEngine::RocksDb)
        };
        let tables = Tables {
            deepest_level: Ok(deepest),
            ..Tables::unavailable("not asked")
        };
        codec(&options, &tables).map(|remark| remark.text)
    }

    #[test]
    fn a_codec_of_levels_without_data_is_named_and_one_that_an_upper_level_has_too_is_not() {
        let none_below = said("none/none/lz4", None, 1).unwrap();
        assert!(
            none_below.contains("no file was compressed with lz4: "),
            "{none_below}"
        );
        assert_eq!(said("none/none/lz4", None, 2), None);
        assert_eq!(said("lz4/none/lz4", None, 1), None);
        assert_eq!(said("all", None, 0), None);
    }

    #[test]
    fn the_codec_of_the_last_level_is_named_where_all_data_are_in_the_first_which_has_another_one() {
        let last = said("all", Some("zstd:3"), 0).unwrap();
        assert!(last.contains("compressed with zstd:3: "), "{last}");
        assert_eq!(said("all", Some("zstd:3"), 1), None);
        assert_eq!(said("all", Some("lz4"), 0), None);
        assert_eq!(
            said("lz4/lz4", Some("none"), 0),
            None,
            "what is stored as it is needs no codec"
        );
        let replaced = said("none/lz4", Some("zstd:3"), 1).unwrap();
        assert!(replaced.contains("compressed with lz4: "), "{replaced}");
        assert_eq!(said("none/lz4", Some("lz4"), 1), None);
        assert_eq!(said("none/zstd", Some("zstd:9"), 1), None);
        let both = said("none/lz4", Some("zstd:3"), 0).unwrap();
        assert!(both.contains("compressed with lz4 or zstd:3: "), "{both}");
    }

    #[test]
    fn where_an_engine_says_which_codecs_its_files_have_the_level_that_they_are_in_does_not_count() {
        let options = StoreOptions {
            level_codecs: "none/none/lz4".parse().unwrap(),
            ..StoreOptions::of(StoreEngine::Fjall)
        };
        let said = |used: &[&str]| {
            let tables = Tables {
                deepest_level: Ok(6),
                codecs: Ok(used.iter().map(|name| (*name).to_owned()).collect()),
                ..Tables::unavailable("not asked")
            };
            codec(&options, &tables).is_some()
        };
        assert!(said(&["none"]));
        assert!(!said(&["none", "lz4"]) && !said(&["lz4"]));
    }
}
