//! Factors with their values: read once, typed from there on.

use std::any::Any;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::factor::{About, Factor, FactorRef};
use crate::value::Value;

/// One value, with its type and its canonical spelling.
///
/// The spelling is what makes two values one: `4k` and `4KiB` are the same cell.
#[derive(Clone)]
pub struct Setting {
    spelling: Arc<str>,
    value: Option<Arc<dyn Any + Send + Sync>>,
    place: Option<f64>,
}

impl Setting {
    /// A value as it is spelled in plans and records.
    pub fn of<T: Value>(value: T) -> Self {
        Self {
            spelling: value.to_string().into(),
            place: value.place(),
            value: Some(Arc::new(value)),
        }
    }

    /// A text that no factor could read: what a record of another version holds.
    pub fn unread(text: &str) -> Self {
        Self {
            spelling: text.into(),
            value: None,
            place: None,
        }
    }

    /// The canonical spelling.
    pub fn spelling(&self) -> &str {
        &self.spelling
    }

    /// Where it lies on an axis, see [`Value::place`].
    pub fn place(&self) -> Option<f64> {
        self.place
    }

    fn value<T: Value>(&self) -> Option<&T> {
        self.value.as_ref()?.downcast_ref()
    }
}

impl fmt::Debug for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.spelling)
    }
}

impl PartialEq for Setting {
    fn eq(&self, other: &Self) -> bool {
        self.spelling == other.spelling
    }
}

impl Eq for Setting {}

impl PartialOrd for Setting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// By place where both have one, so that 4 KiB comes before 16 KiB; then by spelling, numbers in it as numbers.
impl Ord for Setting {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_place = match (self.place, other.place) {
            (Some(one), Some(two)) => one.total_cmp(&two),
            (one, two) => two.is_some().cmp(&one.is_some()),
        };
        by_place
            .then_with(|| numbers_as_numbers(&self.spelling, &other.spelling))
            .then_with(|| self.spelling.cmp(&other.spelling))
    }
}

/// Compares texts piece by piece, so that `fixed:64B` comes before `fixed:100B`.
fn numbers_as_numbers(one: &str, other: &str) -> Ordering {
    let pieces = |text: &str| -> Vec<(bool, String)> {
        let mut pieces: Vec<(bool, String)> = Vec::new();
        for letter in text.chars() {
            match pieces.last_mut() {
                Some((is_number, piece)) if *is_number == letter.is_ascii_digit() => piece.push(letter),
                _ => pieces.push((letter.is_ascii_digit(), letter.to_string())),
            }
        }
        pieces
    };
    let as_key = |(is_number, piece): &(bool, String)| {
        let digits = piece.trim_start_matches('0');
        // Of two numbers without leading zeros, the longer one is larger.
        (
            !is_number,
            if *is_number { digits.len() } else { 0 },
            digits.to_owned(),
        )
    };
    let key = |text: &str| -> Vec<_> { pieces(text).iter().map(as_key).collect() };
    key(one).cmp(&key(other))
}

/// The values of some factors, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Settings(BTreeMap<Cow<'static, str>, Setting>);

impl Settings {
    /// The defaults of some factors.
    ///
    /// # Panics
    /// When a factor does not accept its own default, which a test of this crate rules out.
    pub fn defaults(factors: &[FactorRef]) -> Self {
        let mut settings = Self::default();
        for factor in factors {
            if let Some(default) = factor.default {
                let read = factor.read(default);
                settings.insert(factor.name, read.expect("a factor accepts its own default"));
            }
        }
        settings
    }

    /// The factors of a record: what a factor of the record's layer can read is typed, the rest keeps its text.
    pub fn of_record<'r>(
        known: impl Fn(&str) -> Option<FactorRef>,
        factors: impl IntoIterator<Item = (&'r String, &'r String)>,
    ) -> Self {
        let read = |(name, text): (&String, &String)| match known(name) {
            Some(factor) => {
                let setting = factor.read(text).unwrap_or_else(|_| Setting::unread(text));
                (Cow::Borrowed(factor.name), setting)
            }
            None => (Cow::Owned(name.clone()), Setting::unread(text)),
        };
        Self(factors.into_iter().map(read).collect())
    }

    /// The value of a factor; `None` where the cell does not have it or its text could not be read.
    pub fn get<T: Value>(&self, factor: &Factor<T>) -> Option<&T> {
        self.0.get(factor.name)?.value()
    }

    /// The value of a factor that checked settings have.
    ///
    /// # Panics
    /// When there is none: the lab gives every factor that a layer asks for its value before it asks.
    pub fn value<T: Value>(&self, factor: &Factor<T>) -> &T {
        self.get(factor)
            .unwrap_or_else(|| panic!("checked settings have a value of `{}`", factor.name))
    }

    /// The canonical spelling of a factor's value.
    pub fn spelling(&self, factor: &About) -> Option<&str> {
        self.0.get(factor.name).map(Setting::spelling)
    }

    /// A value with its spelling, by the factor's name.
    pub fn setting(&self, name: &str) -> Option<&Setting> {
        self.0.get(name)
    }

    /// Whether the factor has a value.
    pub fn has(&self, factor: &About) -> bool {
        self.0.contains_key(factor.name)
    }

    /// Gives a factor a value.
    pub fn set<T: Value>(&mut self, factor: &Factor<T>, value: T) {
        self.0.insert(Cow::Borrowed(factor.name), Setting::of(value));
    }

    /// Gives a factor a value unless it has one.
    pub fn set_default<T: Value>(&mut self, factor: &Factor<T>, value: T) {
        if !self.has(factor) {
            self.set(factor, value);
        }
    }

    /// Gives a factor a value that was read before.
    pub fn insert(&mut self, name: &'static str, setting: Setting) {
        self.0.insert(Cow::Borrowed(name), setting);
    }

    /// Reads a value for a factor.
    ///
    /// # Errors
    /// A sentence with the text seen and what is accepted.
    pub fn read<T: Value>(&mut self, factor: &Factor<T>, text: &str) -> Result<(), String> {
        let value = factor.parse(text)?;
        self.set(factor, value);
        Ok(())
    }

    /// Takes a factor's value away.
    pub fn remove(&mut self, factor: &About) {
        self.0.remove(factor.name);
    }

    /// Names and values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Setting)> {
        self.0.iter().map(|(name, setting)| (name.as_ref(), setting))
    }

    /// Names and spellings, as records carry them.
    pub fn spellings(&self) -> BTreeMap<String, String> {
        self.iter()
            .map(|(name, setting)| (name.to_owned(), setting.spelling().to_owned()))
            .collect()
    }

    /// Names of the factors in which two differ, in alphabetical order.
    pub fn differences<'s>(&'s self, other: &'s Self) -> Vec<&'s str> {
        let mut names: Vec<&str> = self.0.keys().chain(other.0.keys()).map(AsRef::as_ref).collect();
        names.sort_unstable();
        names.dedup();
        names.retain(|name| self.0.get(*name) != other.0.get(*name));
        names
    }
}
