//! What several columns take together in each form.

use outcrop_measure::units::format_data;

use super::verdict::{ColumnSizes, OcolIndex, PARQUET_FRAME_BYTES, WORTH_REWRITING, compared};

/// Columns named in a sentence.
const MOST_NAMED: usize = 3;

/// Several columns of a table together: those whose size is known in each form. Where no size in the user's file is known, as of a file that
/// is compressed as a whole, they are compared with their text.
#[derive(Clone, Debug, PartialEq)]
pub struct TotalSizes {
    /// The columns.
    pub columns: Vec<String>,
    /// Columns that were compared, these included.
    pub compared_count: usize,
    /// Columns of the table; those that were compared, where it is not known.
    pub table_count: usize,
    /// Where the user has them: `in this file`.
    pub place: &'static str,
    /// In the user's file; none where that is not known of any.
    pub stored_bytes: Option<f64>,
    /// The file, where it is compressed as a whole and no column has a size of its own in it.
    pub compressed_file_bytes: Option<f64>,
    /// Whether all rows of the table are in these sizes.
    pub has_all_rows: bool,
    /// As newline text.
    pub text_bytes: f64,
    /// In Parquet with zstd:3, without the footer of the file.
    pub parquet_zstd_bytes: f64,
    /// Whether the user's file is Parquet: its sizes are without the footer, too.
    is_stored_in_parquet: bool,
    /// The same with the defaults of Arrow's writers; none where that is not known of all.
    pub parquet_default_bytes: Option<f64>,
    /// Columns whose size in Parquet needs another encoding than the default of Arrow's writers, or larger pages.
    pub encoded_count: usize,
    /// As column files.
    pub ocol_bytes: f64,
    /// What the sizes of the column files have of indexes, which the other forms do not have: of any, where it is counted for one.
    pub ocol_index: OcolIndex,
    /// Each column in the form that it is smallest in.
    pub smallest_bytes: f64,
}

impl TotalSizes {
    /// The total; none of fewer than two columns.
    pub fn of(columns: &[&ColumnSizes]) -> Option<Self> {
        let is_any_stored = columns.iter().any(|sizes| sizes.stored.is_some());
        let mut total = Self {
            columns: Vec::new(),
            compared_count: columns.len(),
            table_count: columns.len(),
            place: "in this file",
            stored_bytes: is_any_stored.then_some(0.0),
            compressed_file_bytes: one_file(columns).filter(|_| !is_any_stored),
            has_all_rows: columns.iter().all(|sizes| sizes.has_all_rows()),
            text_bytes: 0.0,
            parquet_zstd_bytes: 0.0,
            is_stored_in_parquet: columns.iter().all(|sizes| sizes.is_stored_in_parquet),
            parquet_default_bytes: Some(0.0),
            encoded_count: 0,
            ocol_bytes: 0.0,
            ocol_index: OcolIndex::None,
            smallest_bytes: 0.0,
        };
        let mut taken = Vec::new();
        for sizes in columns {
            let stored = sizes.stored.as_ref().map(|(bytes, _)| *bytes);
            let Some(parquet) = sizes.parquet_zstd_bytes else {
                continue;
            };
            if is_any_stored && stored.is_none() {
                continue;
            }
            total.columns.push(sizes.name.clone());
            total.stored_bytes = total.stored_bytes.zip(stored).map(|(sum, bytes)| sum + bytes);
            total.text_bytes += sizes.text_bytes;
            total.parquet_zstd_bytes += parquet;
            let usual = total.parquet_default_bytes.zip(sizes.parquet_usual_bytes);
            total.parquet_default_bytes = usual.map(|(sum, bytes)| sum + bytes);
            total.encoded_count += usize::from(sizes.larger_by_default().is_some());
            total.ocol_bytes += sizes.ocol_bytes;
            taken.push(*sizes);
            total.smallest_bytes += sizes.base_bytes().min(parquet).min(sizes.ocol_bytes);
        }
        total.ocol_index = index_of(&taken);
        (total.columns.len() > 1).then_some(total)
    }

    /// The same of a table with this number of columns.
    #[must_use]
    pub fn in_table(self, table_count: usize) -> Self {
        Self {
            table_count: table_count.max(self.compared_count),
            ..self
        }
    }

    /// The same of columns that the user has in this place.
    #[must_use]
    pub(super) fn stored(self, place: &'static str) -> Self {
        Self { place, ..self }
    }

    /// `all 12 columns`, or how many of the table's there are; `the first rows of all 12 columns` where sizes are for a part of them.
    pub fn name(&self) -> String {
        let part = if self.has_all_rows {
            ""
        } else {
            "the first rows of "
        };
        match self.columns.len() {
            all if all == self.table_count => format!("{part}all {all} columns"),
            some => format!("{part}{some} of {} columns", self.table_count),
        }
    }

    /// `id, country, comment and 9 more`.
    pub fn which(&self) -> String {
        let named = self.columns.iter().take(MOST_NAMED).map(String::as_str);
        let named: Vec<&str> = named.collect();
        match self.columns.len().saturating_sub(MOST_NAMED) {
            0 => named.join(", "),
            more => format!("{} and {more} more", named.join(", ")),
        }
    }

    /// What the user has, and how that is said. A file that is compressed as a whole is compared with all of its columns and rows; else its size
    /// stands beside that of the text.
    pub(super) fn base(&self) -> (f64, String) {
        match (self.stored_bytes, self.compressed_file_bytes) {
            (Some(bytes), _) => (bytes, self.place.to_owned()),
            (None, Some(file)) if self.is_whole_file() => {
                let text = format_data(self.text_bytes);
                let words = format!("{}, compressed as a whole ({text} as text)", self.place);
                (file, words)
            }
            (None, Some(file)) => {
                let (file, place) = (format_data(file), self.place);
                let words = format!("as text ({place}, compressed as a whole, all columns take {file})");
                (self.text_bytes, words)
            }
            (None, None) => (self.text_bytes, "as text".to_owned()),
        }
    }

    /// The compressed file, where it holds these columns and rows and no others.
    pub(super) fn whole_file_bytes(&self) -> Option<f64> {
        self.compressed_file_bytes.filter(|_| self.is_whole_file())
    }

    fn is_whole_file(&self) -> bool {
        self.has_all_rows && self.columns.len() == self.table_count
    }

    /// `with other encodings for 2 of them; 30.1 MB as Arrow writes by default`; none where the default is as small for each column.
    pub(super) fn encoding_in_words(&self) -> Option<String> {
        let usual = self.parquet_default_bytes.map_or_else(String::new, |usual| {
            format!("; {} as Arrow writes by default", format_data(usual))
        });
        (self.encoded_count > 0)
            .then(|| format!("with other encodings for {} of them{usual}", self.encoded_count))
    }

    /// What follows the size in Parquet where the footer, which grows with the columns, may be worth a word beside it.
    fn without_footer(&self) -> &'static str {
        let footer = PARQUET_FRAME_BYTES * self.columns.len() as f64;
        let is_small = self.parquet_zstd_bytes * WORTH_REWRITING < footer;
        match is_small && !self.is_stored_in_parquet {
            true => " without the file's footer",
            false => "",
        }
    }

    /// `all 2 columns: 34.6 MB now, Parquet zstd:3 22.0 MB, .ocol 21.2 MB`: few words, for the row of a screen.
    pub(super) fn in_brief(&self) -> String {
        let now = self.stored_bytes.or_else(|| self.whole_file_bytes());
        let (base, place) = match (now, self.compressed_file_bytes) {
            (Some(bytes), _) => (bytes, "now".to_owned()),
            (None, Some(file)) => (
                self.text_bytes,
                format!("as text ({} compressed)", format_data(file)),
            ),
            (None, None) => (self.text_bytes, "as text".to_owned()),
        };
        let [base, parquet, ocol] = [base, self.parquet_zstd_bytes, self.ocol_bytes].map(format_data);
        format!(
            "{}: {base} {place}, Parquet zstd:3 {parquet}, .ocol {ocol}",
            self.name()
        )
    }

    /// `all 2 columns (id, country): 34.6 MB in this file, 22.0 MB in Parquet with zstd:3 (36 % smaller), 21.2 MB as .ocol (39 % smaller); each
    /// column in the smallest of these, 20.1 MB`
    pub fn in_words(&self) -> String {
        let (base, place) = self.base();
        let form = |bytes: f64, form: &str, encoding: Option<String>| {
            let change = compared(bytes, base);
            let encoding = encoding.map_or_else(String::new, |encoding| format!(", {encoding}"));
            format!("{} {form} ({change}{encoding})", format_data(bytes))
        };
        let (indexes, as_written) = match self.ocol_index {
            OcolIndex::None => ("", String::new()),
            OcolIndex::Counted => (" with indexes", String::new()),
            OcolIndex::LeftOut { file_bytes } => {
                let files = format_data(file_bytes);
                let words = format!("; with their indexes, the .ocol files take {files}");
                (" without indexes", words)
            }
        };
        format!(
            "{} ({}): {} {place}, {}, {}; each column in the smallest of these, {}{as_written}",
            self.name(),
            self.which(),
            format_data(base),
            form(
                self.parquet_zstd_bytes,
                &format!("in Parquet with zstd:3{}", self.without_footer()),
                self.encoding_in_words()
            ),
            form(self.ocol_bytes, &format!("as .ocol{indexes}"), None),
            format_data(self.smallest_bytes)
        )
    }
}

/// What the sizes of these column files have of their indexes.
fn index_of(columns: &[&ColumnSizes]) -> OcolIndex {
    let any = |is_wanted: fn(OcolIndex) -> bool| columns.iter().any(|sizes| is_wanted(sizes.ocol_index));
    if any(|index| matches!(index, OcolIndex::Counted)) {
        OcolIndex::Counted
    } else if any(|index| matches!(index, OcolIndex::LeftOut { .. })) {
        OcolIndex::LeftOut {
            file_bytes: columns.iter().map(|sizes| sizes.file_bytes()).sum(),
        }
    } else {
        OcolIndex::None
    }
}

/// The size of the compressed file that all of these columns are from.
fn one_file(columns: &[&ColumnSizes]) -> Option<f64> {
    let bytes = columns.first()?.compressed_file_bytes?;
    let is_same = |sizes: &&ColumnSizes| sizes.compressed_file_bytes == Some(bytes);
    columns.iter().all(is_same).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(name: &str, stored: Option<f64>, parquet: f64, ocol: f64) -> ColumnSizes {
        ColumnSizes {
            name: name.to_owned(),
            ocol_bytes: ocol,
            ocol_index: OcolIndex::None,
            may_be_smaller: false,
            text_bytes: 9e6,
            stored: stored.map(|bytes| (bytes, "in this file".to_owned())),
            compressed_file_bytes: None,
            is_stored_in_parquet: false,
            parquet_zstd_bytes: Some(parquet),
            parquet_encoding: None,
            parquet_usual_bytes: None,
            parquet_as: None,
            row_count: 10.0,
            table_rows: Some(10.0),
            text_of: None,
        }
    }

    #[test]
    fn a_small_total_in_parquet_is_said_to_lack_the_footer_unless_the_users_own_lacks_it_too() {
        let mut columns = [
            sizes("id", Some(90e3), 60e3, 70e3),
            sizes("city", Some(70e3), 50e3, 60e3),
        ];
        let said = |columns: &[ColumnSizes]| {
            let columns: Vec<&ColumnSizes> = columns.iter().collect();
            TotalSizes::of(&columns).unwrap().in_words()
        };
        assert!(!said(&columns).contains("footer"), "{}", said(&columns));
        columns[0].parquet_zstd_bytes = Some(20e3);
        columns[1].parquet_zstd_bytes = Some(20e3);
        let words = "40.0 kB in Parquet with zstd:3 without the file's footer (75 % smaller)";
        assert!(said(&columns).contains(words), "{}", said(&columns));
        for column in &mut columns {
            column.is_stored_in_parquet = true;
        }
        assert!(!said(&columns).contains("footer"), "{}", said(&columns));
    }

    #[test]
    fn a_total_names_its_columns_and_leaves_out_those_whose_size_is_not_known_in_each_form() {
        let columns = [
            sizes("id", Some(4e6), 2e6, 3e6),
            sizes("country", Some(4e6), 3e6, 1e6),
            sizes("comment", None, 1e6, 1e6),
        ];
        let all: Vec<&ColumnSizes> = columns.iter().collect();
        assert_eq!(
            TotalSizes::of(&all).unwrap().in_words(),
            "2 of 3 columns (id, country): 8.00 MB in this file, 5.00 MB in Parquet with zstd:3 (38 % smaller), \
             4.00 MB as .ocol (50 % smaller); each column in the smallest of these, 3.00 MB"
        );
        assert_eq!(TotalSizes::of(&all[..2]).unwrap().name(), "all 2 columns");
        assert_eq!(TotalSizes::of(&all[..1]), None);
    }

    #[test]
    fn a_total_of_column_files_with_indexes_is_without_them_as_the_other_forms_are() {
        let indexed = |name: &str, ocol: f64, file_bytes: f64| ColumnSizes {
            ocol_index: OcolIndex::LeftOut { file_bytes },
            ..sizes(name, Some(4e6), 2e6, ocol)
        };
        let mut columns = [indexed("id", 1e6, 3e6), indexed("country", 1.5e6, 2.5e6)];
        let said = |columns: &[ColumnSizes]| {
            let columns: Vec<&ColumnSizes> = columns.iter().collect();
            TotalSizes::of(&columns).unwrap().in_words()
        };
        let words = "2.50 MB as .ocol without indexes (69 % smaller); each column in the smallest of these, 2.50 MB; with their indexes, \
                     the .ocol files take 5.50 MB";
        assert!(said(&columns).ends_with(words), "{}", said(&columns));
        columns[0].ocol_index = OcolIndex::Counted;
        let words =
            "2.50 MB as .ocol with indexes (69 % smaller); each column in the smallest of these, 2.50 MB";
        assert!(said(&columns).ends_with(words), "{}", said(&columns));
    }

    #[test]
    fn a_total_in_parquet_says_for_how_many_columns_it_needs_other_encodings() {
        let with_default = |name: &str, parquet: f64, usual: f64| ColumnSizes {
            parquet_usual_bytes: Some(usual),
            ..sizes(name, Some(4e6), parquet, 3e6)
        };
        let columns = [with_default("ts", 1e6, 3e6), with_default("char", 2e6, 2e6)];
        let all: Vec<&ColumnSizes> = columns.iter().collect();
        let words = TotalSizes::of(&all).unwrap().in_words();
        assert!(
            words.contains(
                "3.00 MB in Parquet with zstd:3 (62 % smaller, with other encodings for 1 of them; 5.00 MB as Arrow writes by default), "
            ),
            "{words}"
        );
    }

    #[test]
    fn columns_of_a_file_that_is_compressed_as_a_whole_are_compared_with_their_text() {
        let columns = [sizes("city", None, 2e6, 3e6), sizes("country", None, 3e6, 1e6)];
        let all: Vec<&ColumnSizes> = columns.iter().collect();
        let total = TotalSizes::of(&all).unwrap().in_table(3);
        assert_eq!(
            total.in_words(),
            "2 of 3 columns (city, country): 18.0 MB as text, 5.00 MB in Parquet with zstd:3 (72 % smaller), 4.00 MB as .ocol \
             (78 % smaller); each column in the smallest of these, 3.00 MB"
        );
        // All of them are compared with the file, which is what the user has; some of them are not.
        let of_file = columns.map(|sizes| ColumnSizes {
            compressed_file_bytes: Some(3.5e6),
            ..sizes
        });
        let all: Vec<&ColumnSizes> = of_file.iter().collect();
        let total = TotalSizes::of(&all).unwrap();
        assert_eq!(
            total.in_words(),
            "all 2 columns (city, country): 3.50 MB in this file, compressed as a whole (18.0 MB as text), 5.00 MB in Parquet with zstd:3 \
             (43 % larger), 4.00 MB as .ocol (14 % larger); each column in the smallest of these, 3.00 MB"
        );
        assert!(
            total.in_brief().starts_with("all 2 columns: 3.50 MB now, "),
            "{}",
            total.in_brief()
        );
        let total = total.in_table(3);
        assert!(
            total.in_words().starts_with(
                "2 of 3 columns (city, country): 18.0 MB as text (in this file, compressed as a whole, all columns take 3.50 MB), 5.00 MB in"
            ),
            "{}",
            total.in_words()
        );
    }
}
