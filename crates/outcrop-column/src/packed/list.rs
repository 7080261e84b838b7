//! Lists of values in one run of bytes: as lines, or with their lengths in front.

use super::PackedForm;
use crate::error::Result;
use crate::format::{Fields, put_varint};

const PART: &str = "packed values";

/// How a list is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// Each value and a newline: values without newlines only, and no null.
    Lines,
    /// The number of values, the size of each (see [`put_size`]), then the values.
    Lengths,
}

impl Layout {
    /// Lines where these values allow them.
    pub(super) fn of<'v>(mut values: impl Iterator<Item = Option<&'v [u8]>>) -> Self {
        let is_line = |value: Option<&[u8]>| value.is_some_and(|value| !value.contains(&b'\n'));
        if values.all(is_line) {
            Self::Lines
        } else {
            Self::Lengths
        }
    }

    pub(super) fn of_rows(self) -> PackedForm {
        match self {
            Self::Lines => PackedForm::Text,
            Self::Lengths => PackedForm::Lengths,
        }
    }

    pub(super) fn of_dictionary(self) -> PackedForm {
        match self {
            Self::Lines => PackedForm::Dictionary,
            Self::Lengths => PackedForm::DictionaryByLengths,
        }
    }

    /// The list of `values` in this layout.
    pub(super) fn write<'v>(self, values: impl Iterator<Item = Option<&'v [u8]>>) -> Vec<u8> {
        let (mut sizes, mut bytes, mut count) = (Vec::new(), Vec::new(), 0);
        for value in values {
            bytes.extend_from_slice(value.unwrap_or_default());
            match self {
                Self::Lines => bytes.push(b'\n'),
                Self::Lengths => put_size(&mut sizes, value),
            }
            count += 1;
        }
        if self == Self::Lines {
            return bytes;
        }
        let mut out = Vec::new();
        put_varint(&mut out, count);
        out.append(&mut sizes);
        out.append(&mut bytes);
        out
    }

    /// Calls `action` with each value of the list `content`.
    pub(super) fn for_each<'a>(
        self,
        content: &'a [u8],
        mut action: impl FnMut(Option<&'a [u8]>) -> Result<()>,
    ) -> Result<()> {
        let mut values = Fields::new(PART, 0, content);
        if self == Self::Lines {
            let mut rest = content;
            while !rest.is_empty() {
                let end =
                    memchr::memchr(b'\n', rest).ok_or_else(|| values.wrong("the last line has no end"))?;
                action(Some(&rest[..end]))?;
                rest = &rest[end + 1..];
            }
            return Ok(());
        }
        let count = values.varint()?;
        let mut sizes = values.clone();
        for _ in 0..count {
            values.varint()?;
        }
        for _ in 0..count {
            action(take_value(sizes.varint()?, &mut values)?)?;
        }
        values.end()
    }
}

/// A value's size: its length and one more; 0 for null.
pub(super) fn put_size(out: &mut Vec<u8>, value: Option<&[u8]>) {
    put_varint(out, value.map_or(0, |value| value.len() as u64 + 1));
}

/// The value of that size, which is next in `fields`.
pub(super) fn take_value<'a>(size: u64, fields: &mut Fields<'a>) -> Result<Option<&'a [u8]>> {
    let Some(length) = size.checked_sub(1) else {
        return Ok(None);
    };
    // A length beyond memory is beyond the bytes that are left, too.
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    fields.take(length).map(Some)
}
