//! What a column takes in each form, and the one line that says what to make of it.

use outcrop_measure::units::{format_data, format_exact_count};

/// Sizes that differ by less than this part are called the same.
const SAME: f64 = 0.005;
/// Another form must be smaller by this part to be worth rewriting a file for.
const WORTH_REWRITING: f64 = 0.02;

/// What a Parquet file has around the column at most, which its size leaves out; a column file is counted whole. What gains less proves
/// nothing.
const PARQUET_FRAME_BYTES: f64 = 1024.0;
/// The same as it usually is, for who compares the size with that of a file.
const USUAL_FRAME: &str = "0.5 kB";

/// One column in its user's file, as a column file, and in Parquet with zstd, all with the same rows.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnSizes {
    /// The column.
    pub name: String,
    /// As a column file.
    pub ocol_bytes: f64,
    /// As newline text.
    pub text_bytes: f64,
    /// In the user's file, and how that is said: `in this file (dictionary→plain, Snappy)`. `None` where it is unknown.
    pub stored: Option<(f64, String)>,
    /// Whether that file is Parquet, whose sizes of columns leave out what is around them too.
    pub is_stored_in_parquet: bool,
    /// In Parquet with zstd:3, in the smaller of its encodings.
    pub parquet_zstd_bytes: Option<f64>,
    /// The same as writers encode it by default, where that is known.
    pub parquet_usual_bytes: Option<f64>,
    /// Rows that were taken.
    pub row_count: f64,
    /// Rows that the table has, where known.
    pub table_rows: Option<f64>,
    /// The type of the values in the user's file, where a column file has them as text: `Int64`.
    pub text_of: Option<String>,
}

/// The form that a column is smallest in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmallestForm {
    /// A column file.
    Ocol,
    /// A column file or Parquet with zstd, which take as much.
    Either,
    /// Parquet with zstd.
    ParquetZstd,
    /// What the user has, but for a few per cent.
    AsItIs,
}

impl ColumnSizes {
    /// What other forms are compared with: the column in the user's file, its text where that is unknown.
    pub fn base_bytes(&self) -> f64 {
        self.stored.as_ref().map_or(self.text_bytes, |(bytes, _)| *bytes)
    }

    /// The smallest form, if it is smaller than the user's file by 2 % or more.
    pub fn smallest_form(&self) -> SmallestForm {
        let smaller = match self.is_smaller_in_parquet() {
            true => self.parquet_beside_base(),
            false => self.ocol_bytes,
        };
        if smaller > self.base_bytes() * (1.0 - WORTH_REWRITING) {
            SmallestForm::AsItIs
        } else if self.is_smaller_in_parquet() {
            SmallestForm::ParquetZstd
        } else if self.is_as_small_in_parquet() {
            SmallestForm::Either
        } else {
            SmallestForm::Ocol
        }
    }

    /// What Parquet takes, to be compared with the user's file: with what is around the column, where that file is counted whole.
    fn parquet_beside_base(&self) -> f64 {
        let frame = match self.is_stored_in_parquet {
            true => 0.0,
            false => PARQUET_FRAME_BYTES,
        };
        self.parquet_zstd_bytes
            .map_or(f64::INFINITY, |parquet| parquet + frame)
    }

    /// Whether Parquet saves enough over a column file to be worth a word.
    fn is_smaller_in_parquet(&self) -> bool {
        self.parquet_zstd_bytes.is_some_and(|parquet| {
            let margin = (self.ocol_bytes * WORTH_REWRITING).max(PARQUET_FRAME_BYTES);
            parquet <= self.ocol_bytes - margin
        })
    }

    /// Whether a column file saves too little over Parquet to be worth a word. The footer is not in Parquet's size, so it needs no margin of its own.
    fn is_as_small_in_parquet(&self) -> bool {
        let worth = self.base_bytes() * (1.0 - WORTH_REWRITING);
        let is_close = |parquet: f64| self.ocol_bytes > parquet * (1.0 - WORTH_REWRITING);
        self.parquet_zstd_bytes.is_some_and(is_close) && self.parquet_beside_base() <= worth
    }

    /// Bytes that a column file saves over the smaller of the two other forms; negative where it saves nothing.
    pub(super) fn ocol_gain_bytes(&self) -> f64 {
        self.base_bytes().min(self.parquet_beside_base()) - self.ocol_bytes
    }

    /// What Parquet takes with the default of writers, where its smaller size needs delta encoding.
    pub(super) fn larger_by_default(&self) -> Option<f64> {
        let parquet = self.parquet_zstd_bytes?;
        let usual = self.parquet_usual_bytes?;
        (parquet < usual * (1.0 - WORTH_REWRITING)).then_some(usual)
    }

    /// ` with delta encoding (80.2 kB with the default of writers)`, which follows the size in Parquet; empty where the default is as small.
    pub(super) fn encoding_in_words(&self) -> String {
        self.larger_by_default().map_or_else(String::new, |usual| {
            format!(
                " with delta encoding ({} with the default of writers)",
                format_data(usual)
            )
        })
    }

    /// How to write the column in Parquet: `Parquet with zstd and delta encoding`.
    pub(super) fn parquet_to_write(&self) -> &'static str {
        match self.larger_by_default() {
            Some(_) => "Parquet with zstd and delta encoding",
            None => "Parquet with zstd",
        }
    }

    /// Bytes that the smaller of the other forms saves; negative where neither does.
    pub fn gain_bytes(&self) -> f64 {
        self.base_bytes() - self.ocol_bytes.min(self.parquet_beside_base())
    }

    /// `39 % smaller`, as a column file than in the user's file.
    pub fn change(&self) -> String {
        compared(self.ocol_bytes, self.base_bytes())
    }

    /// The same in the form that is smallest: of Parquet what it saves over a column file, which is what that form competes with.
    pub(super) fn change_in(&self, form: SmallestForm) -> String {
        match (form, self.parquet_zstd_bytes) {
            (SmallestForm::ParquetZstd, Some(parquet)) => {
                let encoding = match self.larger_by_default() {
                    Some(_) => " with delta encoding",
                    None => "",
                };
                format!("{} than .ocol{encoding}", compared(parquet, self.ocol_bytes))
            }
            _ => self.change(),
        }
    }

    /// `whole column, 1,500,000 rows`, or which part of it.
    pub fn rows_in_words(&self) -> String {
        rows_in_words(self.row_count, self.table_rows)
    }

    /// `o_comment: 21.2 MB as .ocol, 34.6 MB in this file (dictionary→plain, Snappy): 39 % smaller; Parquet with zstd:3 would take 22.0 MB`
    pub fn verdict(&self) -> String {
        format!("{}: {}", self.name, self.in_words())
    }

    /// The verdict without the name of the column.
    pub fn in_words(&self) -> String {
        let bytes = format_data;
        let base = match &self.stored {
            Some((stored, place)) => format!("{} {place}", bytes(*stored)),
            None => format!("{} as lines of text", bytes(self.text_bytes)),
        };
        let parquet = self.parquet_zstd_bytes.map_or_else(String::new, |parquet| {
            let than_ocol = match self.smallest_form() {
                _ if self.is_smaller_in_parquet() => {
                    format!(", {} than .ocol", compared(parquet, self.ocol_bytes))
                }
                SmallestForm::Either => ", a tie".to_owned(),
                _ => String::new(),
            };
            // Whoever follows this with a writer's defaults gets another size.
            let encoding = self.encoding_in_words();
            let is_small = parquet * WORTH_REWRITING < PARQUET_FRAME_BYTES;
            let frame = match is_small && !self.is_stored_in_parquet {
                true => format!(" and a footer of about {USUAL_FRAME}"),
                false => String::new(),
            };
            format!(
                "; Parquet with zstd:3 would take {}{encoding}{frame}{than_ocol}",
                bytes(parquet)
            )
        });
        let part = match self.table_rows {
            Some(rows) if rows <= self.row_count => String::new(),
            _ => format!(" ({})", self.rows_in_words()),
        };
        // Whoever reads the file back gets another type.
        let text = self.text_of.as_ref().map_or_else(String::new, |type_name| {
            format!("; .ocol has the values of type {type_name} as text")
        });
        format!(
            "{} as .ocol, {base}: {}{parquet}{text}{part}",
            bytes(self.ocol_bytes),
            self.change()
        )
    }
}

/// `whole column, 1,500,000 rows`, `first 65,536 of 1,500,000 rows`, or `first 65,536 rows`.
pub(super) fn rows_in_words(row_count: f64, table_rows: Option<f64>) -> String {
    let exact = |count: f64| format_exact_count(count as u64);
    match table_rows {
        Some(rows) if rows <= row_count => format!("whole column, {} rows", exact(rows)),
        Some(rows) => format!("first {} of {} rows", exact(row_count), exact(rows)),
        None => format!("first {} rows", exact(row_count)),
    }
}

/// How one size compares with another: `39 % smaller`, `2.3 times as large`, `the same size`.
pub(super) fn compared(bytes: f64, base: f64) -> String {
    let ratio = bytes / base;
    match ratio {
        _ if !ratio.is_finite() => "larger".to_owned(),
        _ if (ratio - 1.0).abs() < SAME => "the same size".to_owned(),
        ..0.01 => format!("{:.2} % smaller", (1.0 - ratio) * 100.0),
        ..1.0 => format!("{:.0} % smaller", (1.0 - ratio) * 100.0),
        ..2.0 => format!("{:.0} % larger", (ratio - 1.0) * 100.0),
        _ => format!("{ratio:.1} times as large"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comment() -> ColumnSizes {
        ColumnSizes {
            name: "o_comment".to_owned(),
            ocol_bytes: 21_160_000.0,
            text_bytes: 73_000_000.0,
            stored: Some((34_620_000.0, "in this file (dictionary→plain, Snappy)".to_owned())),
            is_stored_in_parquet: true,
            parquet_zstd_bytes: Some(22_000_000.0),
            parquet_usual_bytes: None,
            row_count: 1_500_000.0,
            table_rows: Some(1_500_000.0),
            text_of: None,
        }
    }

    #[test]
    fn a_verdict_names_the_three_sizes_and_says_which_is_smaller() {
        assert_eq!(
            comment().verdict(),
            "o_comment: 21.2 MB as .ocol, 34.6 MB in this file (dictionary→plain, Snappy): 39 % smaller; Parquet with \
             zstd:3 would take 22.0 MB"
        );
        let beaten = ColumnSizes {
            parquet_zstd_bytes: Some(15_000_000.0),
            table_rows: Some(6_000_000.0),
            ..comment()
        };
        assert!(
            beaten
                .verdict()
                .ends_with("would take 15.0 MB, 29 % smaller than .ocol (first 1,500,000 of 6,000,000 rows)"),
            "{}",
            beaten.verdict()
        );
        assert_eq!(
            (comment().smallest_form(), beaten.smallest_form()),
            (SmallestForm::Ocol, SmallestForm::ParquetZstd)
        );
    }

    #[test]
    fn parquet_is_advised_where_it_saves_more_than_its_footer_and_two_per_cent_and_its_encoding_is_named() {
        let sizes = |ocol: f64, parquet: f64| ColumnSizes {
            ocol_bytes: ocol,
            parquet_zstd_bytes: Some(parquet),
            ..comment()
        };
        for (ocol, parquet, form) in [
            (79_200.0, 78_900.0, SmallestForm::Either),
            (2_400.0, 2_230.0, SmallestForm::Either),
            (232.0, 0.0, SmallestForm::Either),
            (98_500.0, 100_000.0, SmallestForm::Either),
            (97_000.0, 100_000.0, SmallestForm::Ocol),
            (19_600.0, 18_500.0, SmallestForm::ParquetZstd),
            (127_000.0, 14_000.0, SmallestForm::ParquetZstd),
        ] {
            let sizes = sizes(ocol, parquet);
            assert_eq!(sizes.smallest_form(), form, "{ocol} {parquet}");
            let is_said = sizes.in_words().contains("smaller than .ocol");
            assert_eq!(is_said, form == SmallestForm::ParquetZstd, "{}", sizes.in_words());
            let is_a_tie = sizes.in_words().ends_with(", a tie");
            assert_eq!(is_a_tie, form == SmallestForm::Either, "{}", sizes.in_words());
        }
        assert_eq!(
            sizes(19_600.0, 18_500.0).change_in(SmallestForm::ParquetZstd),
            "6 % smaller than .ocol"
        );
        let delta = ColumnSizes {
            parquet_usual_bytes: Some(199_000.0),
            ..sizes(127_000.0, 14_000.0)
        };
        assert!(
            delta.in_words().ends_with(
                "would take 14.0 kB with delta encoding (199 kB with the default of writers), 89 % smaller than .ocol"
            ),
            "{}",
            delta.in_words()
        );
        assert_eq!(delta.parquet_to_write(), "Parquet with zstd and delta encoding");
        assert_eq!(
            delta.change_in(SmallestForm::ParquetZstd),
            "89 % smaller than .ocol with delta encoding"
        );
    }

    #[test]
    fn a_column_of_numbers_is_said_to_become_text() {
        let numbers = ColumnSizes {
            text_of: Some("Int64".to_owned()),
            ..comment()
        };
        assert!(
            numbers
                .verdict()
                .ends_with("would take 22.0 MB; .ocol has the values of type Int64 as text"),
            "{}",
            numbers.verdict()
        );
    }

    #[test]
    fn beside_a_file_that_is_not_parquet_its_footer_counts_and_is_said() {
        let small = |base: f64, ocol: f64, parquet: f64| ColumnSizes {
            ocol_bytes: ocol,
            text_bytes: base,
            stored: Some((base, "in this file (text)".to_owned())),
            is_stored_in_parquet: false,
            parquet_zstd_bytes: Some(parquet),
            ..comment()
        };
        // 9.7 kB and the footer are no less than 10.0 kB of text.
        let sizes = small(10_000.0, 12_000.0, 9_700.0);
        assert_eq!(sizes.smallest_form(), SmallestForm::AsItIs);
        assert!(sizes.gain_bytes() < 0.0, "{}", sizes.gain_bytes());
        assert!(
            sizes
                .in_words()
                .contains("would take 9.70 kB and a footer of about 0.5 kB"),
            "{}",
            sizes.in_words()
        );
        let enough = small(10_000.0, 12_000.0, 8_000.0);
        assert_eq!(enough.smallest_form(), SmallestForm::ParquetZstd);
        // Of a large column it is nothing, and a size in Parquet has none either.
        let large = small(34e6, 24e6, 22e6);
        assert!(!large.in_words().contains("footer"), "{}", large.in_words());
        let in_parquet = ColumnSizes {
            is_stored_in_parquet: true,
            ..sizes
        };
        assert_eq!(in_parquet.smallest_form(), SmallestForm::ParquetZstd);
        assert!(
            !in_parquet.in_words().contains("footer"),
            "{}",
            in_parquet.in_words()
        );
    }

    #[test]
    fn what_gains_less_than_two_per_cent_is_left_as_it_is_and_an_unknown_size_is_compared_as_text() {
        let close = ColumnSizes {
            ocol_bytes: 34_000_000.0,
            parquet_zstd_bytes: Some(34_700_000.0),
            ..comment()
        };
        assert_eq!(close.smallest_form(), SmallestForm::AsItIs);
        let unknown = ColumnSizes {
            stored: None,
            parquet_zstd_bytes: None,
            table_rows: None,
            ..comment()
        };
        assert_eq!(
            unknown.verdict(),
            "o_comment: 21.2 MB as .ocol, 73.0 MB as lines of text: 71 % smaller (first 1,500,000 rows)"
        );
        let larger = ColumnSizes {
            ocol_bytes: 34_620_000.0 * 2.5,
            ..comment()
        };
        assert_eq!(larger.change(), "2.5 times as large");
    }
}
