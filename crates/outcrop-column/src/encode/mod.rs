//! Writing a column: collect provisional codes, merge dictionaries, encode blocks, write sections.

mod blocks;
mod csv_input;
mod encoder;
mod frames;
mod options;
mod row_sort;
mod sections;
mod segment;
mod side_by_side;
mod text;

pub use csv_input::{CsvOptions, InputColumn, encode_csv};
pub use encoder::Encoder;
pub(crate) use encoder::{KnownCodes, existing_segments, write_footer};
pub use options::{EncodeOptions, EncodeReport, Index, Profile};
pub use text::encode_text;

pub(crate) use sections::SectionWriter;
