//! Arrow arrays as input of an encoder.

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowDictionaryKeyType, ByteArrayType, ByteViewType};
use arrow_array::{Array, ArrayRef, downcast_dictionary_array};
use arrow_schema::DataType;

use crate::encode::{Encoder, KnownCodes};
use crate::error::{ColumnError, Result};

/// The dictionary of the arrays that come next, and which codes its entries have: it is kept while the arrays share it.
#[derive(Debug, Default)]
pub struct ForeignDictionary {
    values: Option<ArrayRef>,
    known: KnownCodes,
}

impl ForeignDictionary {
    /// Forgets the entries unless `values` is the very dictionary that they were learnt from.
    fn follow(&mut self, values: &ArrayRef) {
        let is_same = self
            .values
            .as_ref()
            .is_some_and(|known| known.to_data().ptr_eq(&values.to_data()));
        if !is_same {
            self.values = Some(ArrayRef::clone(values));
            self.known = KnownCodes::default();
        }
    }
}

impl Encoder {
    /// Adds a row for each element of an array of strings or bytes: plain, large, view, or dictionary-encoded ones.
    ///
    /// Arrays that follow each other and share their dictionary (by address) are looked up in it once.
    ///
    /// ```
    /// use arrow_array::{DictionaryArray, StringArray, types::Int32Type};
    /// use outcrop_column::{Column, EncodeOptions, Encoder};
    /// let mut encoder = Encoder::new(EncodeOptions::default());
    /// encoder.push_array(&StringArray::from(vec![Some("marl"), None, Some("")]))?;
    /// encoder.push_array(&DictionaryArray::<Int32Type>::from_iter(["marl", "tuff", "marl"]))?;
    /// let mut file = Vec::new();
    /// encoder.finish(&mut file)?;
    /// let column = Column::open_in(file)?;
    /// assert_eq!(column.find(b"marl")?.rows()?, [0, 3, 5]);
    /// assert_eq!(column.find_null()?.rows()?, [1]);
    /// # Ok::<(), outcrop_column::ColumnError>(())
    /// ```
    ///
    /// # Errors
    /// [`ColumnError::NotStrings`] for an array of another type, and as [`Encoder::push`].
    pub fn push_array(&mut self, array: &dyn Array) -> Result<()> {
        match array.data_type() {
            DataType::Utf8 => self.push_bytes(array.as_string::<i32>()),
            DataType::LargeUtf8 => self.push_bytes(array.as_string::<i64>()),
            DataType::Binary => self.push_bytes(array.as_binary::<i32>()),
            DataType::LargeBinary => self.push_bytes(array.as_binary::<i64>()),
            DataType::Utf8View => self.push_views(array.as_string_view()),
            DataType::BinaryView => self.push_views(array.as_binary_view()),
            DataType::Dictionary(_, _) => downcast_dictionary_array!(
                array => self.push_dictionary(array),
                other => Err(not_strings(other))
            ),
            other => Err(not_strings(other)),
        }
    }

    fn push_bytes<T: ByteArrayType>(&mut self, array: &arrow_array::GenericByteArray<T>) -> Result<()> {
        array.iter().try_for_each(|value| match value {
            Some(value) => self.push(value.as_ref()),
            None => self.push_null(),
        })
    }

    fn push_views<T: ByteViewType>(&mut self, array: &arrow_array::GenericByteViewArray<T>) -> Result<()> {
        array.iter().try_for_each(|value| match value {
            Some(value) => self.push(value.as_ref()),
            None => self.push_null(),
        })
    }

    fn push_dictionary<K: ArrowDictionaryKeyType>(
        &mut self,
        array: &arrow_array::DictionaryArray<K>,
    ) -> Result<()> {
        let values = array.values();
        match values.data_type() {
            DataType::Utf8 => {
                self.push_entries(array, |index| values.as_string::<i32>().value(index).as_bytes())
            }
            DataType::LargeUtf8 => {
                self.push_entries(array, |index| values.as_string::<i64>().value(index).as_bytes())
            }
            DataType::Binary => self.push_entries(array, |index| values.as_binary::<i32>().value(index)),
            DataType::LargeBinary => self.push_entries(array, |index| values.as_binary::<i64>().value(index)),
            DataType::Utf8View => {
                self.push_entries(array, |index| values.as_string_view().value(index).as_bytes())
            }
            DataType::BinaryView => self.push_entries(array, |index| values.as_binary_view().value(index)),
            other => Err(not_strings(other)),
        }
    }

    fn push_entries<'a, K: ArrowDictionaryKeyType>(
        &mut self,
        array: &'a arrow_array::DictionaryArray<K>,
        value: impl Fn(usize) -> &'a [u8],
    ) -> Result<()> {
        let mut dictionary = std::mem::take(&mut self.foreign);
        dictionary.follow(array.values());
        let values = array.values();
        for row in 0..array.len() {
            // A row is null by its own mark or by that of the entry that it names.
            match array.key(row).filter(|&key| values.is_valid(key)) {
                Some(key) => self.push_entry(&mut dictionary.known, key, || value(key))?,
                None => self.push_null()?,
            }
        }
        self.foreign = dictionary;
        Ok(())
    }
}

fn not_strings(data_type: &DataType) -> ColumnError {
    ColumnError::NotStrings {
        name: "of this array".to_owned(),
        seen: data_type.to_string(),
        strings: Vec::new(),
    }
}
