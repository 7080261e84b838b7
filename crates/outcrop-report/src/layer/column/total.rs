//! What several columns take together in each form.

use outcrop_measure::units::format_data;

use super::verdict::{ColumnSizes, compared};

/// Columns named in a sentence.
const MOST_NAMED: usize = 3;

/// Several columns of a table together: those whose size is known in each form.
#[derive(Clone, Debug, PartialEq)]
pub struct TotalSizes {
    /// The columns.
    pub columns: Vec<String>,
    /// Columns that were compared, these included.
    pub compared_count: usize,
    /// In the user's file.
    pub stored_bytes: f64,
    /// In Parquet with zstd:3.
    pub parquet_zstd_bytes: f64,
    /// As column files.
    pub ocol_bytes: f64,
    /// Each column in the form that it is smallest in.
    pub smallest_bytes: f64,
}

impl TotalSizes {
    /// The total; none of fewer than two columns.
    pub fn of(columns: &[&ColumnSizes]) -> Option<Self> {
        let mut total = Self {
            columns: Vec::new(),
            compared_count: columns.len(),
            stored_bytes: 0.0,
            parquet_zstd_bytes: 0.0,
            ocol_bytes: 0.0,
            smallest_bytes: 0.0,
        };
        for sizes in columns {
            let (Some((stored, _)), Some(parquet)) = (&sizes.stored, sizes.parquet_zstd_bytes) else {
                continue;
            };
            total.columns.push(sizes.name.clone());
            total.stored_bytes += stored;
            total.parquet_zstd_bytes += parquet;
            total.ocol_bytes += sizes.ocol_bytes;
            total.smallest_bytes += stored.min(parquet).min(sizes.ocol_bytes);
        }
        (total.columns.len() > 1).then_some(total)
    }

    /// `all 12 columns`, or how many of them have a size in each form.
    pub fn name(&self) -> String {
        match self.columns.len() {
            all if all == self.compared_count => format!("all {all} columns"),
            some => format!("{some} of {} columns", self.compared_count),
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

    /// `all 2 columns (id, country): 34.6 MB in this file, 22.0 MB in Parquet with zstd:3 (36 % smaller), 21.2 MB as .ocol (39 % smaller); each
    /// column in its smallest form, 20.1 MB`
    pub fn in_words(&self) -> String {
        let form = |bytes: f64, form: &str| {
            let change = compared(bytes, self.stored_bytes);
            format!("{} {form} ({change})", format_data(bytes))
        };
        format!(
            "{} ({}): {} in this file, {}, {}; each column in its smallest form, {}",
            self.name(),
            self.which(),
            format_data(self.stored_bytes),
            form(self.parquet_zstd_bytes, "in Parquet with zstd:3"),
            form(self.ocol_bytes, "as .ocol"),
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
            parquet_zstd_bytes: Some(parquet),
            row_count: 10.0,
            table_rows: Some(10.0),
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
}
