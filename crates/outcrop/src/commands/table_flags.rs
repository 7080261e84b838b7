//! The flags that say how delimited text is read: the same for every command that reads tables.

use crate::exit::bad_input;
use outcrop_column_bench::tabular::Given;
use outcrop_lab::DataForm;
use outcrop_schema::column::{DELIMITER, Delimiter, HEADER, Header, NULL_TEXT, QUOTES, Quotes};

#[derive(Debug, clap::Args)]
pub(crate) struct TableFlags {
    /// Field delimiter of a CSV file: one byte, or `tab` [default: detected]
    #[arg(long, value_name = "CHARACTER")]
    pub(crate) delimiter: Option<String>,
    /// The first line of the CSV file has the column names [default: detected]
    #[arg(long, conflicts_with = "no_header")]
    pub(crate) header: bool,
    /// The CSV file has no header line
    #[arg(long)]
    pub(crate) no_header: bool,
    /// Treat quotation marks in the CSV file as ordinary characters
    #[arg(long)]
    pub(crate) no_quotes: bool,
    /// CSV fields with exactly this text are null; not for other formats
    #[arg(long, value_name = "TEXT", allow_negative_numbers = true)]
    pub(crate) null: Option<String>,
}

impl TableFlags {
    /// The first flag given.
    pub(crate) fn first(&self) -> Option<&'static str> {
        let flags = [
            ("--delimiter", self.delimiter.is_some()),
            ("--header", self.header),
            ("--no-header", self.no_header),
            ("--no-quotes", self.no_quotes),
            ("--null", self.null.is_some()),
        ];
        flags
            .into_iter()
            .find_map(|(flag, is_given)| is_given.then_some(flag))
    }

    /// Whether they say that there are fields.
    pub(crate) const fn say_fields(&self) -> bool {
        self.delimiter.is_some() || self.header || self.no_header
    }

    /// What they say, for a reader of tables.
    pub(crate) fn given(&self) -> anyhow::Result<Given> {
        let delimiter = self.delimiter.as_deref().map(str::parse::<Delimiter>).transpose();
        Ok(Given {
            delimiter: delimiter
                .map_err(|error| bad_input(anyhow::anyhow!(error)))?
                .map(|delimiter| delimiter.0),
            has_header: (self.header || self.no_header).then_some(self.header),
            has_quotes: !self.no_quotes,
            null: self.null.clone(),
        })
    }

    /// What they say of the user's data, for the lab.
    pub(crate) fn data_form(&self) -> DataForm {
        let mut form = DataForm::default();
        if let Some(delimiter) = &self.delimiter {
            form = form.with(&DELIMITER, delimiter, "--delimiter");
        }
        if self.header {
            form = form.with(&HEADER, Header::Yes.name(), "--header");
        }
        if self.no_header {
            form = form.with(&HEADER, Header::No.name(), "--no-header");
        }
        if self.no_quotes {
            form = form.with(&QUOTES, Quotes::No.name(), "--no-quotes");
        }
        match &self.null {
            Some(null) => form.with(&NULL_TEXT, null, "--null"),
            None => form,
        }
    }
}
