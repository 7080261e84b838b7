//! A column of an Arrow IPC file or stream.

use std::collections::VecDeque;
use std::io::Read;

use arrow_array::ArrayRef;
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_schema::{ArrowError, Schema};

use super::as_text::as_strings;
use super::{FORMAT, ForeignField, damaged, fields_of, find_column, guarded};
use crate::encode::InputColumn;
use crate::error::{ColumnError, Result};

/// What an IPC *file* begins with, its padding included; then follows a stream, and behind its end a footer
/// that a reader from the front does not need.
const FILE_MAGIC: &[u8; 8] = b"ARROW1\0\0";
const CONTINUATION: u32 = u32::MAX;
/// What the compressed buffers of a message may become whatever their size in the file: 1 GiB.
const ALWAYS_ALLOWED_BYTES: usize = 1 << 30;
/// Above that, how many bytes may come of one in the file. Zstandard makes 30,000 of one, so a file of some 100 kB could fill any memory.
const LARGEST_RATIO: usize = 100;
const NO_SCHEMA: &str = "it does not begin with a schema, as an Arrow IPC file or stream does";

/// Iterator over the arrays of one column of an Arrow IPC file or stream, read once,
/// front to back: a pipe will do.
///
/// *Cost in memory*: one record batch and the dictionaries. A length that is only claimed is not allocated, and a batch whose compressed
/// buffers claim to become more than 1 GiB and more than 100 times their size is refused.
///
/// ```
/// use outcrop_column::arrow::ArrowStrings;
/// use outcrop_column::{ArrowForm, Column, EncodeOptions, Encoder, InputColumn, encode_text};
/// let mut file = Vec::new();
/// encode_text("ooze\nclay\nooze\n".as_bytes(), EncodeOptions::default())?.finish(&mut file)?;
/// let mut ipc = Vec::new();
/// Column::open_in(file)?.write_arrow(&mut ipc, "sediment", ArrowForm::Stream)?;
///
/// let mut encoder = Encoder::new(EncodeOptions::default());
/// for array in ArrowStrings::open(&ipc[..], InputColumn::Named("sediment"))? {
///     encoder.push_array(&array?)?;
/// }
/// assert_eq!(encoder.row_count(), 3);
/// # Ok::<(), outcrop_column::ColumnError>(())
/// ```
#[derive(Debug)]
pub struct ArrowStrings<R> {
    input: R,
    decoder: StreamDecoder,
    column: usize,
    decoded: VecDeque<ArrayRef>,
    is_over: bool,
    keeps_types: bool,
}

impl<R: Read> ArrowStrings<R> {
    /// Reads the schema and finds the column.
    ///
    /// # Errors
    /// [`ColumnError::NoSuchColumn`] and [`ColumnError::NotStrings`] with the columns that there are;
    /// [`ColumnError::Foreign`] for bytes that are not Arrow IPC; what `input` reports.
    pub fn open(input: R, column: InputColumn<'_>) -> Result<Self> {
        let (mut strings, schema) = Self::begin(input)?;
        strings.column = find_column(&schema, column)?;
        Ok(strings)
    }

    /// The same arrays with the types that the file has, for whoever writes the column again.
    ///
    /// # Errors
    /// As [`ArrowStrings::open`].
    pub fn open_typed(input: R, column: InputColumn<'_>) -> Result<Self> {
        let mut arrays = Self::open(input, column)?;
        arrays.keeps_types = true;
        Ok(arrays)
    }

    /// Reads the schema; the column is to be chosen.
    fn begin(mut input: R) -> Result<(Self, Schema)> {
        let mut start = Vec::new();
        input.by_ref().take(4).read_to_end(&mut start)?;
        if start[..] == FILE_MAGIC[..4] {
            if taken(&mut input, 4)?[..] != FILE_MAGIC[4..] {
                return Err(foreign(
                    "the file begins with ARRO, but not with ARROW1 and two zeros",
                ));
            }
            // Some writers pad to 64 bytes.
            for _ in 0..64 / 4 {
                start = taken(&mut input, 4)?;
                if start[..] != [0; 4] {
                    break;
                }
            }
        }
        let mut strings = Self {
            input,
            decoder: StreamDecoder::new(),
            column: 0,
            decoded: VecDeque::new(),
            is_over: false,
            keeps_types: false,
        };
        let first = start.first_chunk().map(|&bytes| u32::from_le_bytes(bytes));
        let header = first.map_or(Ok(None), |first| strings.next_message(first))?;
        let header = header.ok_or_else(|| foreign(NO_SCHEMA))?;
        // The decoder acts on a message without a body when the next one comes; the column must be known now.
        let schema = guarded(FORMAT, || {
            let message = arrow_ipc::root_as_message(&header).map_err(|error| foreign(error.to_string()))?;
            let schema = message.header_as_schema().ok_or_else(|| foreign(NO_SCHEMA))?;
            Ok(arrow_ipc::convert::fb_to_schema(schema))
        })?;
        Ok((strings, schema))
    }

    /// Reads the message that begins with `first` and gives its header; the arrays that it completes
    /// are queued. `None` at the end.
    fn next_message(&mut self, first: u32) -> Result<Option<Vec<u8>>> {
        let size = if first == CONTINUATION {
            self.length()?.ok_or_else(|| cut_off("a message length"))?
        } else {
            first
        };
        if size == 0 {
            return Ok(None);
        }
        let header = taken(&mut self.input, u64::from(size))?;
        let body_bytes = guarded(FORMAT, || {
            let parsed = arrow_ipc::root_as_message(&header)
                .map_err(|error| foreign(format!("not a message: {error}")))?;
            u64::try_from(parsed.bodyLength()).map_err(|_| foreign("a message with a negative length"))
        })?;
        let mut message = CONTINUATION.to_le_bytes().to_vec();
        message.extend_from_slice(&size.to_le_bytes());
        message.extend_from_slice(&header);
        let body = taken(&mut self.input, body_bytes)?;
        guarded(FORMAT, || check_room(&header, &body))?;
        guarded(FORMAT, || {
            for part in [message, body] {
                let mut buffer = Buffer::from_vec(part);
                while !buffer.is_empty() {
                    if let Some(batch) = self.decoder.decode(&mut buffer).map_err(of_decoder)? {
                        self.decoded.push_back(ArrayRef::clone(batch.column(self.column)));
                    }
                }
            }
            Ok(())
        })?;
        Ok(Some(header))
    }

    /// The next four bytes as a number; `None` at the end of the input.
    fn length(&mut self) -> Result<Option<u32>> {
        let mut bytes = Vec::new();
        self.input.by_ref().take(4).read_to_end(&mut bytes)?;
        match bytes.first_chunk() {
            Some(&number) => Ok(Some(u32::from_le_bytes(number))),
            None if bytes.is_empty() => Ok(None),
            None => Err(cut_off("a message length")),
        }
    }
}

impl<R: Read> Iterator for ArrowStrings<R> {
    type Item = Result<ArrayRef>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(array) = self.decoded.pop_front() {
                return Some(if self.keeps_types {
                    Ok(array)
                } else {
                    guarded(FORMAT, || as_strings(array))
                });
            }
            if self.is_over {
                return None;
            }
            let read = self
                .length()
                .and_then(|first| first.map_or(Ok(None), |first| self.next_message(first)));
            self.is_over = !matches!(read, Ok(Some(_)));
            if let Err(error) = read {
                return Some(Err(error));
            }
        }
    }
}

/// The columns of an Arrow IPC file or stream, in order; only the schema is read.
///
/// # Errors
/// [`ColumnError::Foreign`] for bytes that are not Arrow IPC; what `input` reports.
pub fn arrow_fields<R: Read>(input: R) -> Result<Vec<ForeignField>> {
    ArrowStrings::begin(input).map(|(_, schema)| fields_of(&schema))
}

/// Refuses compressed buffers that would become far more than they are: what they claim is allocated before any of it is seen.
fn check_room(header: &[u8], body: &[u8]) -> Result<()> {
    let message = arrow_ipc::root_as_message(header).map_err(|error| foreign(error.to_string()))?;
    let batch = message.header_as_record_batch().or_else(|| {
        message
            .header_as_dictionary_batch()
            .and_then(|batch| batch.data())
    });
    let buffers = batch.filter(|batch| batch.compression().is_some());
    let Some(buffers) = buffers.and_then(|batch| batch.buffers()) else {
        return Ok(());
    };
    let claims = buffers.iter().map(|buffer| {
        let start = usize::try_from(buffer.offset()).ok()?;
        let claim = i64::from_le_bytes(*body.get(start..)?.first_chunk()?);
        // Less than nothing stands for a buffer that is not compressed.
        (buffer.length() > 0).then(|| usize::try_from(claim).unwrap_or(0))
    });
    let claimed = claims.flatten().fold(0, usize::saturating_add);
    let allowed = body.len().saturating_mul(LARGEST_RATIO).max(ALWAYS_ALLOWED_BYTES);
    if claimed > allowed {
        return Err(foreign(format!(
            "{} compressed bytes of one record batch claim to become {claimed}, and at most {allowed} are read; \
             write it with fewer rows in a batch, or without compression",
            body.len()
        )));
    }
    Vec::<u8>::new().try_reserve_exact(claimed).map_err(|_| {
        foreign(format!(
            "its compressed buffers claim {claimed} bytes, more memory than there is"
        ))
    })
}

/// The next `length` bytes. Memory grows with what is really there.
fn taken(input: &mut impl Read, length: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.by_ref().take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length {
        Ok(bytes)
    } else {
        Err(cut_off("a message"))
    }
}

/// Errors of the decoder, which has all bytes in memory: whatever it calls an error of input is damage.
fn of_decoder(error: ArrowError) -> ColumnError {
    match error {
        ArrowError::IoError(said, _) => damaged(FORMAT, &said),
        ArrowError::ExternalError(source) => damaged(FORMAT, &source.to_string()),
        other => other.into(),
    }
}

fn cut_off(what: &str) -> ColumnError {
    foreign(format!(
        "the input is truncated: it ends within {what}; copy it again in full"
    ))
}

fn foreign(detail: impl Into<String>) -> ColumnError {
    ColumnError::Foreign {
        format: FORMAT,
        detail: detail.into(),
    }
}
