//! What a run writes, as a share of what its drive is rated to take.
//!
//! Neither NVMe nor ATA drives say what they are rated for: their health logs have what was written and an estimate of the wear,
//! and the rating (TBW, terabytes written) is in the datasheet. So the user gives it.

use outcrop_measure::units::{ByteSize, format_data};

/// What gives the share where it is not known.
const NOT_KNOWN: &str = "Drives do not report their rated endurance; with --tbw 600TB, from the datasheet (TBW), the share of it is shown too.";
/// From here on a run writes so much that a share is worth a question: a thousandth of what a small drive is rated for.
const LARGE: u64 = 100_000_000_000;

/// No drive is rated for less: it is a number without its unit.
const LEAST_RATED: ByteSize = ByteSize(1_000_000_000_000);

/// Reads the flag.
pub(crate) fn rated(text: &str) -> Result<ByteSize, String> {
    match text.parse::<ByteSize>() {
        Ok(size) if size.0 < LEAST_RATED.0 => {
            Err("no drive is rated for less than 1TB; give the unit, as in 600TB".to_owned())
        }
        size => size.map_err(|error| error.to_string()),
    }
}

/// These bytes as a share of the rating.
pub(crate) fn share(bytes: u64, rated: Option<ByteSize>) -> Option<f64> {
    Some(bytes as f64 / rated?.0 as f64)
}

/// The share in words, with whose rating it is: `0.0012 % of the rated 600 TB (yours, by --tbw)`.
pub(crate) fn in_words(bytes: u64, rated: Option<ByteSize>) -> Option<String> {
    let (share, rated) = (share(bytes, rated)?, rated?);
    Some(format!(
        "{} of the rated {} (yours, by --tbw)",
        percent(share),
        format_data(rated.0 as f64)
    ))
}

/// The share before a run, as a sentence behind a blank; where it is not known, what gives it, if the run writes much.
pub(crate) fn before_a_run(bytes: u64, rated: Option<ByteSize>) -> String {
    match in_words(bytes, rated) {
        Some(share) => format!(" On a fast device that is about {share}."),
        None if bytes >= LARGE => format!(" {NOT_KNOWN}"),
        None => String::new(),
    }
}

/// Two significant digits: shares of a run are small.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent <= 0.0 {
        return "0 %".to_owned();
    }
    let digits = (1.0 - percent.log10().floor()).clamp(0.0, 12.0) as usize;
    format!("{percent:.digits$} %")
}

#[cfg(test)]
mod tests {
    use outcrop_measure::units::ByteSize;

    use super::{before_a_run, in_words, rated};

    #[test]
    fn a_rating_without_its_unit_is_refused() {
        for text in ["0", "1", "600", "600GB"] {
            let refusal = rated(text).unwrap_err();
            assert!(
                refusal.ends_with("give the unit, as in 600TB"),
                "{text}: {refusal}"
            );
        }
        assert_eq!(rated("1TB"), Ok(ByteSize(1_000_000_000_000)));
    }

    #[test]
    fn a_share_is_small_and_says_whose_rating_it_is_of() {
        let rated: ByteSize = "600TB".parse().unwrap();
        for (bytes, words) in [
            (
                600_000_000_000_u64,
                "0.10 % of the rated 600 TB (yours, by --tbw)",
            ),
            (7_200_000_000, "0.0012 % of the rated 600 TB (yours, by --tbw)"),
            (900_000_000_000_000, "150 % of the rated 600 TB (yours, by --tbw)"),
            (0, "0 % of the rated 600 TB (yours, by --tbw)"),
        ] {
            assert_eq!(in_words(bytes, Some(rated)).unwrap(), words);
        }
        assert_eq!(in_words(1, None), None);
        assert_eq!(before_a_run(1, None), "", "nobody asked");
        assert!(before_a_run(100_000_000_000, None).contains("--tbw 600TB"));
    }
}
