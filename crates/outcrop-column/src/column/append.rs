//! Appends the segments of one column file to another, byte by byte: what several
//! machines encoded becomes one file.

use std::path::Path;

use super::Column;
use super::decode::Values;
use super::merged::for_each_merged;
use crate::encode::{EncodeReport, existing_segments};
use crate::error::Result;
use crate::format::{SectionWriter, SegmentEntry};
use crate::segment::EncodeOptions;
use crate::storage::{ExclusiveFile, ReadAt, WriteAt, read_range};

/// Bytes copied at a time.
const COPIED_BYTES: u64 = 1 << 20;

impl Column {
    /// Appends this column's segments as they are, dictionaries and codes unchanged, to those of an existing
    /// file: `existing` reads the file that `out` writes. As with [`crate::Encoder::append`], the old content
    /// stays valid until the last step.
    ///
    /// *Cost*: one copy of the sections, and the dictionaries of several segments in memory, to count distinct values; [`Column::compact`] merges the segments when there are many.
    ///
    /// ```
    /// # use outcrop_column::{Column, EncodeOptions, encode_text};
    /// # let encode = |text: &str| -> outcrop_column::Result<Vec<u8>> {
    /// #     let mut file = Vec::new();
    /// #     encode_text(text.as_bytes(), EncodeOptions::default())?.finish(&mut file)?;
    /// #     Ok(file)
    /// # };
    /// let (here, elsewhere) = (encode("tuff\nmarl\n")?, encode("marl\n")?);
    /// let mut both = here.clone();
    /// Column::open_in(elsewhere)?.append_segments(&here, &mut both)?;
    /// let both = Column::open_in(both)?;
    /// assert_eq!(both.find(b"marl")?.rows()?, [1, 2]);
    /// // Of several segments, a value that is in two of them is one.
    /// let mut more = here.clone();
    /// assert_eq!(both.append_segments(&here, &mut more)?.value_count, 2);
    /// # Ok::<(), outcrop_column::ColumnError>(())
    /// ```
    ///
    /// # Errors
    /// As [`crate::Encoder::append`]; [`crate::ColumnError::Corrupt`] if sections of
    /// this column reach past its end.
    pub fn append_segments(&self, existing: &dyn ReadAt, out: &mut dyn WriteAt) -> Result<EncodeReport> {
        let value_count = self.distinct_values()?;
        let (mut footer, end) = existing_segments(existing, EncodeOptions::default(), out)?;
        let mut sections = SectionWriter::new(out, end);
        sections.need(self.features);
        let mut report = EncodeReport::default();
        for segment in &self.segments {
            let entry = self.copy_segment(&segment.entry, &mut sections)?;
            report.add(&EncodeReport::of_segment(&entry, 0));
            footer.segments.push(entry);
        }
        report.value_count = value_count.unwrap_or(report.value_count);
        report.file_bytes = sections.write_footer(&footer, true)?;
        Ok(report)
    }

    /// How many values there are in all of several segments; none of one, which says so itself.
    fn distinct_values(&self) -> Result<Option<u64>> {
        if self.segments.len() < 2 {
            return Ok(None);
        }
        let parts = self
            .segments
            .iter()
            .map(|segment| Values::of(segment, &*self.source));
        let mut count = 0;
        for_each_merged(&parts.collect::<Result<Vec<_>>>()?, |_, _| {
            count += 1;
            Ok(())
        })?;
        Ok(Some(count))
    }

    fn copy_segment(&self, entry: &SegmentEntry, out: &mut SectionWriter<'_>) -> Result<SegmentEntry> {
        let mut copied = SegmentEntry {
            sections: Vec::new(),
            ..entry.clone()
        };
        for section in &entry.sections {
            let mut at = 0;
            while at < section.table_offset {
                let length = COPIED_BYTES.min(section.table_offset - at);
                out.push(&read_range(
                    &*self.source,
                    "section",
                    section.offset + at,
                    length,
                )?)?;
                at += length;
            }
            let table_at = section.offset + section.table_offset;
            let table = read_range(&*self.source, "section table", table_at, section.table_length)?;
            copied
                .sections
                .push(out.finish(section.kind, &table, section.parameter)?);
        }
        Ok(copied)
    }

    /// [`Column::append_segments`] to the file at `path`, once no other writer appends to it.
    ///
    /// # Errors
    /// As there, and [`crate::ColumnError::Path`].
    pub fn append_to(&self, path: &Path) -> Result<EncodeReport> {
        let mut file = ExclusiveFile::open(path)?;
        let appended = self.append_segments(&file.reader()?, &mut file);
        appended.inspect_err(|_| file.cut_back())
    }
}
