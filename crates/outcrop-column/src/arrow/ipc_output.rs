//! A column as an Arrow IPC file or stream.

use std::io::Write;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{Field, Schema, SchemaRef};

use super::Scan;
use crate::Column;
use crate::error::Result;

/// The two forms of Arrow IPC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ArrowForm {
    /// With a footer, for random access; what Feather version 2 is.
    #[default]
    File,
    /// Without, for pipes.
    Stream,
}

impl Column {
    /// Writes all rows as Arrow IPC: one dictionary-encoded field `name`, in batches of 65,536 rows.
    ///
    /// # Errors
    /// As [`Column::scan`], and what `out` reports.
    pub fn write_arrow(&self, out: impl Write, name: &str, form: ArrowForm) -> Result<()> {
        let scan = self.scan()?;
        let schema = schema_of(&scan, name);
        let batches = record_batches(scan, &schema);
        match form {
            ArrowForm::File => {
                let mut writer = FileWriter::try_new(out, &schema)?;
                for batch in batches {
                    writer.write(&batch?)?;
                }
                writer.finish()?;
            }
            ArrowForm::Stream => {
                let mut writer = StreamWriter::try_new(out, &schema)?;
                for batch in batches {
                    writer.write(&batch?)?;
                }
                writer.finish()?;
            }
        }
        Ok(())
    }
}

pub(super) fn schema_of(scan: &Scan<'_>, name: &str) -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new(name, scan.data_type(), true)]))
}

pub(super) fn record_batches<'a>(
    scan: Scan<'a>,
    schema: &'a SchemaRef,
) -> impl Iterator<Item = Result<RecordBatch>> + 'a {
    scan.map(|array| Ok(RecordBatch::try_new(Arc::clone(schema), vec![Arc::new(array?)])?))
}
