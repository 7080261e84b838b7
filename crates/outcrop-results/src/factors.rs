//! One spelling for factors, so that `io_block_size_kib` 4, `4k` and `4KiB` meet in the same cell; and which of them vary.

use std::collections::{BTreeMap, BTreeSet};

use outcrop_measure::ByteSize;
use outcrop_schema::{LayerSchema, Vocabulary};

/// The value of a factor that the publication does not state.
pub const NOT_STATED: &str = "not stated";
/// Suffixes of published column names that carry a unit, and the bytes in it.
const SIZE_SUFFIXES: [(&str, f64); 3] = [("_kib", 1024.0), ("_mib", 1_048_576.0), ("_bytes", 1.0)];

/// The name and value of a factor in the spelling that plans and records use.
///
/// A size column (`io_block_size_kib`) loses its unit suffix and its value becomes a byte size (`4KiB`); what a factor of the layer can
/// read gets that factor's spelling. What a publication may say in words of its own (`full` for a span) stays a word; every other factor, and what is
/// [`NOT_STATED`], stays as it is.
///
/// # Errors
/// A clause with the value seen and the value expected.
pub fn canonical(
    layer: Option<&'static LayerSchema>,
    name: &str,
    value: &str,
) -> Result<(String, String), String> {
    let sized = SIZE_SUFFIXES
        .iter()
        .find_map(|(suffix, scale)| Some((name.strip_suffix(suffix)?, scale)));
    if value == NOT_STATED {
        return Ok((sized.map_or(name, |(stem, _)| stem).to_owned(), value.to_owned()));
    }
    if let Some((stem, scale)) = sized {
        let size = value.parse::<f64>().map(|number| number * scale);
        return match size {
            Ok(bytes) if bytes >= 0.0 && bytes.fract() == 0.0 && bytes < 9e15 => {
                // Whole and below 2^53: the conversion is exact.
                Ok((stem.to_owned(), ByteSize(bytes as u64).to_string()))
            }
            _ => Err(format!(
                "{name} {value:?} is not a size; expected a whole number of bytes"
            )),
        };
    }
    let Some(factor) = layer.and_then(|layer| layer.factor(name)) else {
        return Ok((name.to_owned(), value.to_owned()));
    };
    match factor.read(value) {
        Ok(setting) => Ok((name.to_owned(), setting.spelling().to_owned())),
        // A publication may say in words what plans say in numbers.
        Err(_) if factor.admits_words() => Ok((name.to_owned(), value.to_owned())),
        Err(error) => Err(format!("{name} {value:?}: {error}")),
    }
}

/// For each layer, the factors of which cells have several values. A factor that some do not have at all, as the levels of a codec, tells
/// nothing; but of one that no vocabulary has, as an option of another program, it does.
pub fn varying<'c>(
    cells: impl Iterator<Item = (&'c str, &'c BTreeMap<String, String>)>,
) -> BTreeMap<String, BTreeSet<String>> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut values: BTreeMap<(&str, &str), (usize, BTreeSet<&str>)> = BTreeMap::new();
    for (layer, factors) in cells {
        *counts.entry(layer).or_default() += 1;
        for (name, value) in factors {
            let (count, distinct) = values.entry((layer, name)).or_default();
            *count += 1;
            distinct.insert(value);
        }
    }
    let mut varying: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for ((layer, name), (count, distinct)) in values {
        let schema = Vocabulary::default().layer(layer);
        let is_known = schema.is_none_or(|schema| schema.factor(name).is_some());
        let is_of_some = counts.get(layer).is_some_and(|cells| count < *cells);
        if distinct.len() > 1 || !is_known && is_of_some {
            varying
                .entry(layer.to_owned())
                .or_default()
                .insert(name.to_owned());
        }
    }
    varying
}

#[cfg(test)]
mod tests {
    use outcrop_schema::device;

    use super::*;

    fn of_device(name: &str, value: &str) -> Result<(String, String), String> {
        canonical(Some(&device::SCHEMA), name, value)
    }

    fn ok(name: &str, value: &str) -> (String, String) {
        of_device(name, value).unwrap()
    }

    #[test]
    fn spellings_of_one_block_size_meet() {
        let expected = ("io_block_size".to_owned(), "4KiB".to_owned());
        for (name, value) in [
            ("io_block_size_kib", "4"),
            ("io_block_size_bytes", "4096"),
            ("io_block_size", "4k"),
            ("io_block_size", "4096"),
            ("io_block_size", "4KiB"),
        ] {
            assert_eq!(ok(name, value), expected, "{name} {value}");
        }
        assert_eq!(ok("io_block_size_kib", "0.5").1, "512");
        assert_eq!(ok("io_block_size_kib", "16384").1, "16MiB");
    }

    #[test]
    fn impossible_values_are_refused_with_the_value_seen() {
        for (name, value) in [
            ("io_block_size_kib", "four"),
            ("io_block_size_kib", "-4"),
            ("io_block_size_kib", "NaN"),
            ("io_block_size_kib", "1e300"),
            ("io_block_size", "4 apples"),
            ("queue_depth", "1.5"),
            ("read_write_mix", "70:40"),
            ("read_write_mix", "reads"),
        ] {
            let complaint = of_device(name, value).unwrap_err();
            assert!(complaint.contains(value), "{complaint}");
        }
    }

    #[test]
    fn what_is_not_a_size_stays_a_word() {
        assert_eq!(ok("span", "full").1, "full");
        assert_eq!(ok("span", "2 GiB").1, "2GiB");
        assert_eq!(ok("state", "burst (SLC cache)").1, "burst (SLC cache)");
    }
}
