//! What a column takes in each form, and the one line that says what to make of it.

use outcrop_measure::units::{format_data, format_exact_count};

/// Sizes that differ by less than this part are called the same.
const SAME: f64 = 0.005;
/// Another form must be smaller by this part to be worth rewriting a file for.
pub(super) const WORTH_REWRITING: f64 = 0.02;
/// And by as many bytes: a block of a disk, which a file takes in any case.
const DISK_BLOCK_BYTES: f64 = 4096.0;

/// What a Parquet file has around the column at most, which its size leaves out; a column file is counted whole. What gains less proves
/// nothing.
pub(super) const PARQUET_FRAME_BYTES: f64 = 1024.0;
/// The same as it usually is, for who compares the size with that of a file.
const USUAL_FRAME: &str = "0.5 kB";

/// What the size of a column file has of an index from values to rows, which the other forms do not have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OcolIndex {
    /// The file has none.
    None,
    /// The file has one, and the size is what it would take without it.
    LeftOut {
        /// The size of the file.
        file_bytes: f64,
    },
    /// The file has one, and the size is that of the file: what it would take without is not known, or it has nothing else.
    Counted,
}

/// One column in its user's file, as a column file, and in Parquet with zstd, all with the same rows.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnSizes {
    /// The column.
    pub name: String,
    /// As a column file.
    pub ocol_bytes: f64,
    /// The index of that file.
    pub ocol_index: OcolIndex,
    /// Whether it may be smaller with `--profile smallest`, which it was not encoded with.
    pub may_be_smaller: bool,
    /// As newline text.
    pub text_bytes: f64,
    /// In the user's file, and how that is said: `in this file (dictionary→plain, Snappy)`. `None` where it is unknown.
    pub stored: Option<(f64, String)>,
    /// The user's whole file, where it is compressed as a whole and its columns have no sizes of their own.
    pub compressed_file_bytes: Option<f64>,
    /// Whether that file is Parquet, whose sizes of columns leave out what is around them too.
    pub is_stored_in_parquet: bool,
    /// In Parquet with zstd:3, written by Outcrop in the encoding that takes least.
    pub parquet_zstd_bytes: Option<f64>,
    /// Which encoding that is, where it is not the default: `DELTA_BYTE_ARRAY encoding`. Runs that tried the delta encodings only do not say.
    pub parquet_encoding: Option<String>,
    /// The same as Arrow's writers encode it by default, where that is known.
    pub parquet_usual_bytes: Option<f64>,
    /// What Parquet has the values as, where the user's file is text: `integers`.
    pub parquet_as: Option<String>,
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
    /// A column file or Parquet with zstd, which take about as much.
    Either,
    /// Parquet with zstd.
    ParquetZstd,
    /// What the user has, but for a few per cent or a block of a disk.
    AsItIs,
}

impl ColumnSizes {
    /// As a column file that was written, with the index that it may have.
    pub(super) fn file_bytes(&self) -> f64 {
        match self.ocol_index {
            OcolIndex::LeftOut { file_bytes } => file_bytes,
            OcolIndex::None | OcolIndex::Counted => self.ocol_bytes,
        }
    }

    /// What other forms are compared with: the column in the user's file, its text where that is unknown.
    pub fn base_bytes(&self) -> f64 {
        self.stored.as_ref().map_or(self.text_bytes, |(bytes, _)| *bytes)
    }

    /// The smallest form, if it is smaller than the user's file by 2 % or more, and by a block of a disk.
    pub fn smallest_form(&self) -> SmallestForm {
        if !self.is_worth(self.ocol_bytes.min(self.parquet_beside_base())) {
            SmallestForm::AsItIs
        } else if self.is_smaller_in_parquet() {
            SmallestForm::ParquetZstd
        } else if self.is_as_small_in_parquet() {
            SmallestForm::Either
        } else {
            SmallestForm::Ocol
        }
    }

    /// What the column takes in the form that is smallest.
    pub(super) fn smallest_bytes(&self) -> f64 {
        match self.smallest_form() {
            SmallestForm::Ocol | SmallestForm::Either => self.ocol_bytes,
            SmallestForm::ParquetZstd => self.parquet_zstd_bytes.unwrap_or(self.ocol_bytes),
            SmallestForm::AsItIs => self.base_bytes(),
        }
    }

    /// Whether a form of this size saves enough of the user's file to rewrite it.
    fn is_worth(&self, bytes: f64) -> bool {
        let base = self.base_bytes();
        base - bytes >= (base * WORTH_REWRITING).max(DISK_BLOCK_BYTES)
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
        let is_close = |parquet: f64| self.ocol_bytes > parquet * (1.0 - WORTH_REWRITING);
        self.parquet_zstd_bytes.is_some_and(is_close) && self.is_worth(self.parquet_beside_base())
    }

    /// Bytes that a column file saves over the smaller of the two other forms; negative where it saves nothing.
    pub(super) fn ocol_gain_bytes(&self) -> f64 {
        self.base_bytes().min(self.parquet_beside_base()) - self.ocol_bytes
    }

    /// Whose Parquet a size with zstd:3 is of: where the user's file is Parquet and takes no more, another writer's may take less.
    fn in_zstd(&self) -> &'static str {
        let stored = self.stored.as_ref().filter(|_| self.is_stored_in_parquet);
        let both = stored.zip(self.parquet_zstd_bytes);
        match both.is_some_and(|((stored, _), parquet)| *stored <= parquet) {
            true => "Parquet with zstd:3 as Outcrop writes it",
            false => "Parquet with zstd:3",
        }
    }

    /// What Parquet takes with the defaults of Arrow's writers, where its smaller size needs another encoding or larger pages.
    pub(super) fn larger_by_default(&self) -> Option<f64> {
        let parquet = self.parquet_zstd_bytes?;
        let usual = self.parquet_usual_bytes?;
        (parquet < usual * (1.0 - WORTH_REWRITING)).then_some(usual)
    }

    /// The encoding that the smaller size needs.
    fn encoding(&self) -> &str {
        self.parquet_encoding.as_deref().unwrap_or("delta encoding")
    }

    /// ` as integers with DELTA_BINARY_PACKED encoding (80.2 kB as Arrow writes by default)`, which follows the size in Parquet; empty where the file's own
    /// types and the default give it.
    pub(super) fn encoding_in_words(&self) -> String {
        let values = self.parquet_as.as_ref();
        let values = values.map_or_else(String::new, |values| format!(" as {values}"));
        let encoding = self.larger_by_default().map_or_else(String::new, |usual| {
            format!(
                " with {} ({} as Arrow writes by default)",
                self.encoding(),
                format_data(usual)
            )
        });
        format!("{values}{encoding}")
    }

    /// How to write the column in Parquet: `Parquet with zstd and DELTA_BYTE_ARRAY encoding`.
    pub(super) fn parquet_to_write(&self) -> String {
        match self.larger_by_default() {
            Some(_) => format!("Parquet with zstd and {}", self.encoding()),
            None => "Parquet with zstd".to_owned(),
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
                    Some(_) => format!(" with {}", self.encoding()),
                    None => String::new(),
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

    /// The verdict without the name of the column. It begins with the size in the form that is smallest, which its per cent are about.
    pub fn in_words(&self) -> String {
        let ocol = format_data(self.ocol_bytes);
        let base = match &self.stored {
            Some((stored, place)) => format!("{} {place}", format_data(*stored)),
            None => format!(
                "{} as lines of text{}",
                format_data(self.text_bytes),
                self.beside_text()
            ),
        };
        let sizes = match (self.smallest_form(), self.parquet_zstd_bytes) {
            (SmallestForm::ParquetZstd, Some(parquet)) => format!(
                "{} in Parquet with zstd:3{}, {base}: {}; .ocol would take {ocol}{}{} (Parquet is {})",
                format_data(parquet),
                self.parquet_details(parquet),
                compared(parquet, self.base_bytes()),
                self.beside_ocol_bytes(),
                self.beside_balanced(),
                compared(parquet, self.ocol_bytes)
            ),
            (SmallestForm::AsItIs, parquet) => self.left_as_it_is(&base, parquet),
            (form, parquet) => {
                let parquet = parquet.map_or_else(String::new, |parquet| {
                    let change = match form {
                        SmallestForm::Either => self.beside_ocol(parquet),
                        _ => String::new(),
                    };
                    format!(
                        "; {} would take {}{}{change}",
                        self.in_zstd(),
                        format_data(parquet),
                        self.parquet_details(parquet)
                    )
                });
                let index = self.beside_ocol_bytes();
                format!("{ocol} as .ocol{index}, {base}: {}{parquet}", self.change())
            }
        };
        let part = match self.table_rows {
            Some(rows) if rows <= self.row_count => String::new(),
            _ => format!(" ({})", self.rows_in_words()),
        };
        // Whoever reads the file back gets another type.
        let text = self.text_of.as_ref().map_or_else(String::new, |type_name| {
            format!("; .ocol has the values of type {type_name} as text")
        });
        format!("{sizes}{text}{part}")
    }

    /// What follows the size of a column file with an index: forms without one are compared with what it takes without, where that is known.
    fn beside_ocol_bytes(&self) -> &'static str {
        match self.ocol_index {
            OcolIndex::None => "",
            OcolIndex::LeftOut { .. } => " without an index",
            OcolIndex::Counted => " with an index",
        }
    }

    /// What follows the size of a column file that is not the smallest form, and may be in the smaller profile.
    const fn beside_balanced(&self) -> &'static str {
        match self.may_be_smaller {
            true => ", perhaps less with column encode --profile smallest",
            false => "",
        }
    }

    /// What follows the size of text, which is not what the user has: ` (the compressed file takes 152 kB with all its columns)`.
    fn beside_text(&self) -> String {
        self.compressed_file_bytes.map_or_else(String::new, |bytes| {
            format!(
                " (the compressed file takes {} with all its columns)",
                format_data(bytes)
            )
        })
    }

    /// Whether these are all rows of the table.
    pub(super) fn has_all_rows(&self) -> bool {
        self.table_rows.is_some_and(|rows| rows <= self.row_count)
    }

    /// What follows a size in Parquet: whoever repeats it with a writer's defaults, or looks at the size of the file, gets another one.
    fn parquet_details(&self, parquet: f64) -> String {
        let is_small = parquet * WORTH_REWRITING < PARQUET_FRAME_BYTES;
        let frame = match is_small && !self.is_stored_in_parquet {
            true => format!(" and a footer of about {USUAL_FRAME}"),
            false => String::new(),
        };
        format!("{}{frame}", self.encoding_in_words())
    }

    /// Which of the two is smaller where that is too little to prefer it: `, 1 % larger than .ocol`.
    fn beside_ocol(&self, parquet: f64) -> String {
        match compared(parquet, self.ocol_bytes) {
            same if same == SAME_SIZE => ", the same size".to_owned(),
            change if parquet < self.ocol_bytes * (1.0 - WORTH_REWRITING) => {
                format!(", {change} than .ocol, which is less than its footer may take")
            }
            change => format!(", {change} than .ocol"),
        }
    }

    /// `376 B in this file (dictionary, zstd): .ocol would take 368 B (2 % smaller), Parquet with zstd:3 188 B (50 % smaller); neither saves a
    /// disk block of 4 KiB`
    fn left_as_it_is(&self, base: &str, parquet: Option<f64>) -> String {
        let of_base = |bytes: f64| compared(bytes, self.base_bytes());
        let in_parquet = |parquet| {
            format!(
                ", {} {}{} ({})",
                self.in_zstd(),
                format_data(parquet),
                self.parquet_details(parquet),
                of_base(parquet)
            )
        };
        let parquet = parquet.map_or_else(String::new, in_parquet);
        // Of less than a block, no form saves one.
        let balanced = match self.base_bytes() < DISK_BLOCK_BYTES {
            true => "",
            false => self.beside_balanced(),
        };
        let why = match self.gain_bytes() {
            none if none <= 0.0 => String::new(),
            some if some < DISK_BLOCK_BYTES => "; that saves less than a disk block of 4 KiB".to_owned(),
            _ => "; that saves less than 2 %".to_owned(),
        };
        format!(
            "{base}: .ocol would take {}{}{} ({}){parquet}{why}",
            format_data(self.ocol_bytes),
            self.beside_ocol_bytes(),
            balanced,
            of_base(self.ocol_bytes)
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

/// What [`compared`] says of sizes that differ by next to nothing.
const SAME_SIZE: &str = "the same size";

/// How one size compares with another: `39 % smaller`, `2.3 times as large`, `the same size`.
pub(super) fn compared(bytes: f64, base: f64) -> String {
    let ratio = bytes / base;
    match ratio {
        _ if !ratio.is_finite() => "larger".to_owned(),
        _ if (ratio - 1.0).abs() < SAME => SAME_SIZE.to_owned(),
        ..0.01 => format!("{:.2} % smaller", (1.0 - ratio) * 100.0),
        ..1.0 => format!("{:.0} % smaller", (1.0 - ratio) * 100.0),
        ..2.0 => format!("{:.0} % larger", (ratio - 1.0) * 100.0),
        _ => format!("{ratio:.1} times as large"),
    }
}

#[cfg(test)]
mod tests;
