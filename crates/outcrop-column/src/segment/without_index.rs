//! What a segment that is written with an index would take in a file without one.

use super::dictionary::write_dictionary;
use super::options::{EncodeOptions, Techniques};
use crate::dictionary::WrittenValues;
use crate::error::Result;
use crate::format::{Footer, HEADER_BYTES, SectionKind, SectionWriter, SegmentEntry};
use crate::storage::WriteAt;

/// The sections of a file without index, in the order in which they are written.
const WRITTEN: [SectionKind; 4] = [
    SectionKind::Name,
    SectionKind::Dictionary,
    SectionKind::ClassMap,
    SectionKind::Codes,
];

impl SegmentEntry {
    /// The entry of the same rows, and the size of their file, where they are the only segment and are written as `options` say, which
    /// ask for no index, and not packed. The dictionary alone is made again, of `values`: its blocks are larger where no index needs small
    /// ones. Codes do not depend on the index. What is made goes to `out`, with gaps where the other sections would be.
    pub(crate) fn without_index(
        &self,
        values: &WrittenValues<'_>,
        options: EncodeOptions,
        out: &mut dyn WriteAt,
    ) -> Result<(Self, u64)> {
        let mut writer = SectionWriter::new(out, HEADER_BYTES as u64);
        let mut sections = Vec::new();
        for section in WRITTEN.into_iter().filter_map(|kind| self.section(kind)) {
            if section.kind == SectionKind::Dictionary {
                let how = options.dictionary(Techniques::default());
                let bytes = values.value_bytes()?;
                let (_, made) = write_dictionary(values, bytes, how, options.threads, || (), &mut writer)?;
                sections.push(made);
            } else {
                writer.pass(section.length);
                sections.push(section.clone());
            }
        }
        let entry = Self {
            sections,
            ..self.clone()
        };
        let footer = Footer {
            segments: vec![entry.clone()],
            ..Footer::default()
        };
        let file_bytes = writer.write_footer(&footer, false)?;
        Ok((entry, file_bytes))
    }
}
