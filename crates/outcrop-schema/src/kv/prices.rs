//! What space and CPU time cost a user: the prices that an answer to where to compress is worked out at. No prices ship.

use outcrop_measure::units::ByteSize;
use serde::{Deserialize, Serialize};

/// Prices and the amounts that they are paid for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Name of the currency.
    pub currency: String,
    /// Of one CPU for an hour.
    pub cpu_hour: f64,
    /// Of 10⁹ stored bytes for a month.
    pub gb_month: f64,
    /// Space that the data take without compression: `2TB`.
    pub data: String,
    /// Operations per second, all month.
    pub operations_per_second: f64,
}

impl Prices {
    /// Their names in an expanded plan, and in a user's file.
    pub const KEYS: [&'static str; 5] = [
        "currency",
        "cpu_hour",
        "gb_month",
        "data",
        "operations_per_second",
    ];

    /// Reads the text of a user's file, which is TOML.
    ///
    /// # Errors
    /// A sentence with the line, the key or the value at fault.
    pub fn read(text: &str) -> Result<Self, String> {
        let prices: Self = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        prices.checked()
    }

    /// The prices whose values a plan gives by name, each as text.
    ///
    /// # Errors
    /// A sentence with the key that is missing, or the value at fault.
    pub fn named(value_of: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let text = |key: &str| value_of(key).ok_or_else(|| format!("prices have no {key}"));
        let number = |key: &str| {
            let text = text(key)?;
            let number = text.parse::<f64>();
            number.map_err(|_| format!("{key} is {text}; expected a number of 0 or more"))
        };
        let [currency, cpu_hour, gb_month, data, operations_per_second] = Self::KEYS;
        let prices = Self {
            currency: text(currency)?,
            cpu_hour: number(cpu_hour)?,
            gb_month: number(gb_month)?,
            data: text(data)?,
            operations_per_second: number(operations_per_second)?,
        };
        prices.checked()
    }

    /// The values by name, as [`Prices::named`] reads them.
    pub fn by_name(&self) -> impl Iterator<Item = (&'static str, String)> {
        let values = [
            self.currency.clone(),
            self.cpu_hour.to_string(),
            self.gb_month.to_string(),
            self.data.clone(),
            self.operations_per_second.to_string(),
        ];
        Self::KEYS.into_iter().zip(values)
    }

    fn checked(self) -> Result<Self, String> {
        for (name, value) in [
            ("cpu_hour", self.cpu_hour),
            ("gb_month", self.gb_month),
            ("operations_per_second", self.operations_per_second),
        ] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(format!("{name} is {value}; expected a number of 0 or more"));
            }
        }
        self.bytes().map(|_| self)
    }

    /// Bytes that the data take without compression.
    ///
    /// # Errors
    /// A sentence with the value, where that is not a size.
    pub fn bytes(&self) -> Result<f64, String> {
        let size: Result<ByteSize, _> = self.data.parse();
        size.map(|size| size.0 as f64)
            .map_err(|error| format!("data: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FILE: &str = "currency = \"EUR\"\ncpu_hour = 0.04\ngb_month = 0.08\ndata = \"2TB\"\noperations_per_second = 20000\n";

    #[test]
    fn a_file_is_read_and_what_is_wrong_with_it_is_said() {
        assert_eq!(Prices::read(FILE).unwrap().bytes(), Ok(2e12));
        let refused = |from: &str, to: &str| Prices::read(&FILE.replace(from, to)).unwrap_err();
        assert!(refused("0.04", "-1").contains("cpu_hour is -1"));
        assert!(refused("2TB", "much").starts_with("data: "));
        assert!(refused("gb_month", "gb_mouth").contains("gb_mouth"));
        assert!(refused("cpu_hour = 0.04\n", "").contains("cpu_hour"));
    }

    proptest! {
        #[test]
        fn prices_by_name_are_read_again(
            currency in "[A-Z€$]{1,4}",
            numbers in (0.0..1e3_f64, 0.0..1e3_f64, 0.0..1e9_f64),
            terabytes in 1_u32..1000,
        ) {
            let prices = Prices {
                currency,
                cpu_hour: numbers.0,
                gb_month: numbers.1,
                data: format!("{terabytes}TB"),
                operations_per_second: numbers.2,
            };
            let known: Vec<(&str, String)> = prices.by_name().collect();
            let value_of = |key: &str| known.iter().find(|(name, _)| *name == key).map(|(_, value)| value.clone());
            prop_assert_eq!(Prices::named(value_of), Ok(prices.clone()));
            let without = |key: &str| value_of(key).filter(|_| key != "data");
            prop_assert_eq!(Prices::named(without), Err("prices have no data".to_owned()));
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".*") {
            let _ = Prices::read(&text);
        }
    }
}
