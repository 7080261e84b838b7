//! Typed columns for factors, beside the map of their spellings: depths as numbers, sizes in bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, StringArray};
use arrow_schema::{DataType, Field};
use outcrop_schema::{Column, LayerSchema, Setting, Vocabulary};

use crate::record::Record;

/// One factor's column.
#[derive(Clone, Debug)]
struct FactorColumn {
    name: &'static str,
    field: Field,
    column: Column,
}

/// The factors of a run that some layer knows, each with its column.
#[derive(Clone, Debug, Default)]
pub(super) struct FactorColumns {
    vocabulary: Vocabulary,
    columns: Vec<FactorColumn>,
}

impl FactorColumns {
    /// Columns for the factors that occur, by layer and name.
    pub(super) fn of(vocabulary: Vocabulary, occurring: &BTreeSet<(String, String)>) -> Self {
        let mut columns: BTreeMap<&'static str, FactorColumn> = BTreeMap::new();
        for (layer, name) in occurring {
            let Some(factor) = vocabulary.layer(layer).and_then(|layer| layer.factor(name)) else {
                continue;
            };
            let column = factor.column();
            let data_type = match column {
                Column::Text => DataType::Utf8,
                Column::Whole | Column::Bytes => DataType::Int64,
                Column::Real => DataType::Float64,
            };
            columns.entry(factor.name).or_insert_with(|| FactorColumn {
                name: factor.name,
                field: Field::new(factor.column_name(column), data_type, true),
                column,
            });
        }
        Self {
            vocabulary,
            columns: columns.into_values().collect(),
        }
    }

    /// Their fields.
    pub(super) fn fields(&self) -> impl Iterator<Item = Field> {
        self.columns.iter().map(|column| column.field.clone())
    }

    /// Their values; null where a record does not have the factor, or has it in a spelling that is not a number.
    pub(super) fn arrays(&self, rows: &[Record]) -> Vec<ArrayRef> {
        self.columns
            .iter()
            .map(|column| self.array(column, rows))
            .collect()
    }

    fn array(&self, column: &FactorColumn, rows: &[Record]) -> ArrayRef {
        let text = |row: &'_ Record| row.factors.get(column.name).cloned();
        if column.column == Column::Text {
            return Arc::new(rows.iter().map(text).collect::<StringArray>());
        }
        // A run has few different values: each is read once.
        let mut known: BTreeMap<(&str, &str), Option<f64>> = BTreeMap::new();
        let mut place = |row| -> Option<f64> {
            let row: &Record = row;
            let spelling = row.factors.get(column.name)?;
            let layer = self.vocabulary.layer(&row.layer)?;
            *known
                .entry((layer.name, spelling))
                .or_insert_with(|| place_of(layer, column.name, spelling))
        };
        let places = rows.iter().map(&mut place);
        match column.column {
            Column::Real => Arc::new(places.collect::<Float64Array>()),
            // Counts and sizes are far below 2^53: the conversion is exact.
            _ => Arc::new(
                places
                    .map(|place| place.map(|place| place as i64))
                    .collect::<Int64Array>(),
            ),
        }
    }
}

fn place_of(layer: &LayerSchema, name: &str, spelling: &str) -> Option<f64> {
    layer
        .factor(name)?
        .read(spelling)
        .ok()
        .as_ref()
        .and_then(Setting::place)
}
