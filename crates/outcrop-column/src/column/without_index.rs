//! What a column with an index would take without it: whoever compares it with a form that has none wants to know.

use std::io;

use super::Column;
use crate::dictionary::WrittenValues;
use crate::encode::EncodeReport;
use crate::error::Result;
use crate::packed::is_packable;
use crate::segment::{EncodeOptions, Index, Profile};
use crate::storage::WriteAt;

impl Column {
    /// What encoding the same rows with `options` but without an index would report; nothing is written. The file shrinks by more than its
    /// postings: the dictionary is smaller too, and the file may be packed. `None` where there is no index, where rows cannot be
    /// read back, and of several segments.
    ///
    /// *Cost*: two passes over the dictionary, whose blocks are made again, in the memory of a few of them. With [`Profile::Smallest`],
    /// rows that may be packed (up to 2 MiB of text) are encoded again, of which [`Column::watch`] hears.
    ///
    /// ```
    /// # use outcrop_column::{Column, EncodeOptions, Index, encode_text};
    /// let with = EncodeOptions { index: Index::Postings, ..Default::default() };
    /// let encode = |options| {
    ///     let mut file = Vec::new();
    ///     encode_text("tuff\nmarl\ntuff\n".as_bytes(), options)?.finish(&mut file)?;
    ///     Ok::<_, outcrop_column::ColumnError>(file)
    /// };
    /// let report = Column::open_in(encode(with)?)?.without_index(with)?;
    /// assert_eq!(report.map(|report| report.file_bytes), Some(encode(EncodeOptions::default())?.len() as u64));
    /// # Ok::<(), outcrop_column::ColumnError>(())
    /// ```
    ///
    /// # Errors
    /// [`crate::ColumnError::LongBlock`] for a value that is longer than [`Column::limit_blocks`] allows;
    /// [`crate::ColumnError::Corrupt`] and what the source reports.
    pub fn without_index(&self, options: EncodeOptions) -> Result<Option<EncodeReport>> {
        let [segment] = &self.segments[..] else {
            return Ok(None);
        };
        if segment.postings.is_none() || segment.codes.is_none() {
            return Ok(None);
        }
        let options = EncodeOptions {
            index: Index::None,
            ..options
        };
        let entry = &segment.entry;
        let is_small = is_packable(entry.text_bytes, entry.row_count, entry.symbol_count());
        if options.profile == Profile::Smallest && is_small {
            let (mut encoder, watch) = (self.compact(options)?, self.watch.clone());
            encoder.watch(move |progress| watch.report(progress.step, progress.done, progress.total));
            return encoder.finish(&mut Nowhere).map(Some);
        }
        let values = WrittenValues {
            dictionary: &segment.dictionary,
            source: &*self.source,
        };
        let (entry, file_bytes) = entry.without_index(&values, options, &mut Nowhere)?;
        Ok(Some(EncodeReport::of_segment(&entry, file_bytes)))
    }
}

/// Takes what is made only for its size.
struct Nowhere;

impl WriteAt for Nowhere {
    fn write_all_at(&mut self, _bytes: &[u8], _offset: u64) -> io::Result<()> {
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}
