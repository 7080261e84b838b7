//! Writing a column: rows, lines of text or a field of a table in, a file out.

mod chunks;
mod csv_input;
mod csv_records;
mod encoder;
mod text;

pub use csv_input::{CsvOptions, InputColumn, encode_csv};
pub use csv_records::CsvRecords;
pub(crate) use encoder::existing_segments;
pub use encoder::{EncodeReport, Encoder};
pub use text::{encode_lines, encode_text, encode_text_within};
