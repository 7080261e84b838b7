//! Quantities in serde formats: a string in the printed form, or a plain number where that has one meaning.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::{self, Deserializer, Visitor};

/// Reads a string through `FromStr`.
pub(crate) fn from_text<'de, T, D>(deserializer: D, quantity: &'static str) -> Result<T, D::Error>
where
    T: FromStr<Err: fmt::Display>,
    D: Deserializer<'de>,
{
    deserializer.deserialize_str(TextVisitor {
        quantity,
        convert: None::<fn(Number) -> _>,
        result: PhantomData,
    })
}

/// Reads a string through `FromStr`, or an unsigned integer through `convert`.
pub(crate) fn from_text_or_integer<'de, T, D>(
    deserializer: D,
    quantity: &'static str,
    convert: fn(u64) -> T,
) -> Result<T, D::Error>
where
    T: FromStr<Err: fmt::Display>,
    D: Deserializer<'de>,
{
    let convert = Some(move |number| match number {
        Number::Integer(integer) => Ok(convert(integer)),
        Number::Real(real) => Err(format!("{real} is not a whole number")),
    });
    deserializer.deserialize_any(TextVisitor {
        quantity,
        convert,
        result: PhantomData,
    })
}

/// Reads a string through `FromStr`, or any number through `convert`.
pub(crate) fn from_text_or_real<'de, T, D>(
    deserializer: D,
    quantity: &'static str,
    convert: fn(f64) -> Result<T, T::Err>,
) -> Result<T, D::Error>
where
    T: FromStr<Err: fmt::Display>,
    D: Deserializer<'de>,
{
    let convert = Some(move |number| {
        let real = match number {
            Number::Integer(integer) => integer as f64,
            Number::Real(real) => real,
        };
        convert(real).map_err(|error| error.to_string())
    });
    deserializer.deserialize_any(TextVisitor {
        quantity,
        convert,
        result: PhantomData,
    })
}

enum Number {
    Integer(u64),
    Real(f64),
}

struct TextVisitor<T, C> {
    quantity: &'static str,
    convert: Option<C>,
    result: PhantomData<T>,
}

impl<T, C> TextVisitor<T, C>
where
    C: Fn(Number) -> Result<T, String>,
{
    fn number<E: de::Error>(&self, number: Number, seen: de::Unexpected<'_>) -> Result<T, E>
    where
        Self: de::Expected,
    {
        match &self.convert {
            Some(convert) => convert(number).map_err(E::custom),
            None => Err(E::invalid_type(seen, self)),
        }
    }
}

impl<T, C> Visitor<'_> for TextVisitor<T, C>
where
    T: FromStr<Err: fmt::Display>,
    C: Fn(Number) -> Result<T, String>,
{
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.quantity)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, integer: u64) -> Result<T, E> {
        self.number(Number::Integer(integer), de::Unexpected::Unsigned(integer))
    }

    fn visit_i64<E: de::Error>(self, integer: i64) -> Result<T, E> {
        match u64::try_from(integer) {
            Ok(unsigned) => self.visit_u64(unsigned),
            Err(_) => Err(E::invalid_value(de::Unexpected::Signed(integer), &self)),
        }
    }

    fn visit_f64<E: de::Error>(self, real: f64) -> Result<T, E> {
        self.number(Number::Real(real), de::Unexpected::Float(real))
    }
}
