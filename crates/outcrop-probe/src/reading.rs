//! A field of the environment: what was read, or why it could not be.

use outcrop_measure::metric::Unavailable;
use serde::{Deserialize, Serialize};

/// What was read, or why it could not be. As JSON: the value itself, or `{"unavailable": "reason"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Reading<T> {
    /// The reason, first so that reading JSON back tries it first.
    #[serde(with = "unavailable_object")]
    Unavailable(Unavailable),
    /// The value.
    Known(T),
}

impl<T> Reading<T> {
    /// No value, with the reason as a clause that a user understands.
    pub fn unavailable(reason: impl Into<String>) -> Self {
        Self::Unavailable(Unavailable::because(reason))
    }

    /// The value where there is one.
    pub const fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unavailable(_) => None,
        }
    }
}

impl<T> From<Result<T, Unavailable>> for Reading<T> {
    fn from(result: Result<T, Unavailable>) -> Self {
        match result {
            Ok(value) => Self::Known(value),
            Err(why) => Self::Unavailable(why),
        }
    }
}

/// `{"unavailable": "reason"}`, and nothing else in the object.
mod unavailable_object {
    use outcrop_measure::metric::Unavailable;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Object {
        unavailable: String,
    }

    pub(super) fn serialize<S: Serializer>(why: &Unavailable, serializer: S) -> Result<S::Ok, S::Error> {
        Object {
            unavailable: why.reason.clone(),
        }
        .serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Unavailable, D::Error> {
        Object::deserialize(deserializer).map(|object| Unavailable::because(object.unavailable))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json<T: Serialize>(reading: &Reading<T>) -> String {
        serde_json::to_string(reading).unwrap()
    }

    #[test]
    fn a_reading_is_its_value_or_an_object_with_the_reason() {
        assert_eq!(json(&Reading::Known(7_u64)), "7");
        assert_eq!(
            json(&Reading::<u64>::unavailable("no sensor")),
            r#"{"unavailable":"no sensor"}"#
        );
        for text in ["7", r#"{"unavailable":"no sensor"}"#] {
            assert_eq!(json(&serde_json::from_str::<Reading<u64>>(text).unwrap()), text);
        }
        // A value that is a text or an object is not mistaken for a reason.
        assert_eq!(
            serde_json::from_str::<Reading<String>>(r#""unavailable""#)
                .unwrap()
                .known()
                .unwrap(),
            "unavailable"
        );
        assert!(serde_json::from_str::<Reading<u64>>(r#"{"unavailable":"x","more":1}"#).is_err());
    }
}
