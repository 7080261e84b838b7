//! Arrow arrays as input of an encoder.

use arrow_array::types::ArrowDictionaryKeyType;
use arrow_array::{Array, ArrayRef, downcast_dictionary_array};
use arrow_schema::DataType;

use super::values::{for_each_value, not_strings, value_of};
use crate::encode::Encoder;
use crate::error::Result;
use crate::segment::KnownCodes;

/// The dictionary of the arrays that come next, and which codes its entries have: it is
/// kept while the arrays share it.
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
    /// Adds a row for each element of an array of strings or bytes: plain, large,
    /// view, or dictionary-encoded ones.
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
    /// [`NotStrings`](crate::ColumnError::NotStrings) for an array of another type, and as [`Encoder::push`].
    pub fn push_array(&mut self, array: &dyn Array) -> Result<()> {
        match array.data_type() {
            DataType::Dictionary(_, _) => downcast_dictionary_array!(
                array => self.push_dictionary(array),
                other => Err(not_strings(other))
            ),
            _ => for_each_value(array, |value| match value {
                Some(value) => self.push(value),
                None => self.push_null(),
            }),
        }
    }

    fn push_dictionary<K: ArrowDictionaryKeyType>(
        &mut self,
        array: &arrow_array::DictionaryArray<K>,
    ) -> Result<()> {
        let mut dictionary = std::mem::take(&mut self.foreign);
        dictionary.follow(array.values());
        let values = array.values();
        let value = value_of(values)?;
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
