//! What several columns take together in each form.

use outcrop_measure::units::format_data;

use super::verdict::{ColumnSizes, compared};

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
    /// Which columns of the table are left out, and why, as a clause; empty for none.
    pub left_out: String,
    /// In the user's file; none where that is not known of any.
    pub stored_bytes: Option<f64>,
    /// As newline text.
    pub text_bytes: f64,
    /// In Parquet with zstd:3.
    pub parquet_zstd_bytes: f64,
    /// The same with writers' defaults; none where that is not known of all.
    pub parquet_default_bytes: Option<f64>,
    /// Columns whose size in Parquet needs delta encoding.
    pub delta_count: usize,
    /// As column files.
    pub ocol_bytes: f64,
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
            left_out: String::new(),
            stored_bytes: is_any_stored.then_some(0.0),
            text_bytes: 0.0,
            parquet_zstd_bytes: 0.0,
            parquet_default_bytes: Some(0.0),
            delta_count: 0,
            ocol_bytes: 0.0,
            smallest_bytes: 0.0,
        };
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
            total.delta_count += usize::from(sizes.larger_by_default().is_some());
            total.ocol_bytes += sizes.ocol_bytes;
            total.smallest_bytes += sizes.base_bytes().min(parquet).min(sizes.ocol_bytes);
        }
        (total.columns.len() > 1).then_some(total)
    }

    /// The same of a table with this number of columns, and a clause about those that are left out.
    #[must_use]
    pub fn in_table(self, table_count: usize, left_out: &str) -> Self {
        Self {
            table_count: table_count.max(self.compared_count),
            left_out: left_out.to_owned(),
            ..self
        }
    }

    /// The same of columns that the user has in this place.
    #[must_use]
    pub(super) fn stored(self, place: &'static str) -> Self {
        Self { place, ..self }
    }

    /// `all 12 columns`, or how many of the table's there are.
    pub fn name(&self) -> String {
        match self.columns.len() {
            all if all == self.table_count => format!("all {all} columns"),
            some => format!("{some} of {} columns", self.table_count),
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

    /// `with delta encoding for 2 of them; 30.1 MB with writers' defaults`; none where the default is as small for each column.
    pub(super) fn encoding_in_words(&self) -> Option<String> {
        let usual = self.parquet_default_bytes.map_or_else(String::new, |usual| {
            format!("; {} with writers' defaults", format_data(usual))
        });
        (self.delta_count > 0).then(|| format!("with delta encoding for {} of them{usual}", self.delta_count))
    }

    /// `all 2 columns: 34.6 MB now, Parquet zstd:3 22.0 MB, .ocol 21.2 MB`: few words, for the row of a screen.
    pub(super) fn in_brief(&self) -> String {
        let (base, place) = match self.stored_bytes {
            Some(bytes) => (bytes, "now"),
            None => (self.text_bytes, "as text"),
        };
        let [base, parquet, ocol] = [base, self.parquet_zstd_bytes, self.ocol_bytes].map(format_data);
        format!(
            "{}: {base} {place}, Parquet zstd:3 {parquet}, .ocol {ocol}",
            self.name()
        )
    }

    /// `all 2 columns (id, country): 34.6 MB in this file, 22.0 MB in Parquet with zstd:3 (36 % smaller), 21.2 MB as .ocol (39 % smaller); each
    /// column in its smallest form, 20.1 MB`
    pub fn in_words(&self) -> String {
        let (base, place) = match self.stored_bytes {
            Some(bytes) => (bytes, self.place),
            None => (self.text_bytes, "as text"),
        };
        let form = |bytes: f64, form: &str, encoding: Option<String>| {
            let change = compared(bytes, base);
            let encoding = encoding.map_or_else(String::new, |encoding| format!(", {encoding}"));
            format!("{} {form} ({change}{encoding})", format_data(bytes))
        };
        let left_out = match self.left_out.as_str() {
            "" => String::new(),
            clause => format!("; {clause}"),
        };
        format!(
            "{} ({}): {} {place}, {}, {}; each column in its smallest form, {}{left_out}",
            self.name(),
            self.which(),
            format_data(base),
            form(
                self.parquet_zstd_bytes,
                "in Parquet with zstd:3",
                self.encoding_in_words()
            ),
            form(self.ocol_bytes, "as .ocol", None),
            format_data(self.smallest_bytes)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(name: &str, stored: Option<f64>, parquet: f64, ocol: f64) -> ColumnSizes {
        ColumnSizes {
            name: name.to_owned(),
            ocol_bytes: ocol,
            text_bytes: 9e6,
            stored: stored.map(|bytes| (bytes, "in this file".to_owned())),
            is_stored_in_parquet: false,
            parquet_zstd_bytes: Some(parquet),
            parquet_usual_bytes: None,
            parquet_as: None,
            row_count: 10.0,
            table_rows: Some(10.0),
            text_of: None,
        }
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
             4.00 MB as .ocol (50 % smaller); each column in its smallest form, 3.00 MB"
        );
        assert_eq!(TotalSizes::of(&all[..2]).unwrap().name(), "all 2 columns");
        assert_eq!(TotalSizes::of(&all[..1]), None);
    }

    #[test]
    fn a_total_in_parquet_says_for_how_many_columns_it_needs_delta_encoding() {
        let with_default = |name: &str, parquet: f64, usual: f64| ColumnSizes {
            parquet_usual_bytes: Some(usual),
            ..sizes(name, Some(4e6), parquet, 3e6)
        };
        let columns = [with_default("ts", 1e6, 3e6), with_default("char", 2e6, 2e6)];
        let all: Vec<&ColumnSizes> = columns.iter().collect();
        let words = TotalSizes::of(&all).unwrap().in_words();
        assert!(
            words.contains(
                "3.00 MB in Parquet with zstd:3 (62 % smaller, with delta encoding for 1 of them; 5.00 MB with writers' defaults), "
            ),
            "{words}"
        );
    }

    #[test]
    fn columns_of_a_file_that_is_compressed_as_a_whole_are_compared_with_their_text_and_others_are_named() {
        let columns = [sizes("city", None, 2e6, 3e6), sizes("country", None, 3e6, 1e6)];
        let all: Vec<&ColumnSizes> = columns.iter().collect();
        let total = TotalSizes::of(&all)
            .unwrap()
            .in_table(3, "left out: id (numbers)");
        assert_eq!(
            total.in_words(),
            "2 of 3 columns (city, country): 18.0 MB as text, 5.00 MB in Parquet with zstd:3 (72 % smaller), 4.00 MB as .ocol \
             (78 % smaller); each column in its smallest form, 3.00 MB; left out: id (numbers)"
        );
    }
}
