//! The options of one job of fio, as they were given, under one name each.

use std::cmp::Ordering;
use std::collections::BTreeMap;

/// One option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    /// fio's usual name of it.
    pub(crate) name: String,
    /// Its value; empty where it was given alone.
    pub(crate) value: String,
    /// `job.fio:12`; empty in a result.
    pub(crate) at: String,
    /// Greater in those that were given later; the same in those whose order is not known.
    order: usize,
}

/// The options of a job: of those that were given twice the last one counts, as in fio.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options(Vec<Given>);

/// Why it is not known which of two options counts.
pub(crate) const WITHOUT_ORDER: &str =
    "says something else, and a JSON object has no order that says which of the two counts";

/// Names that fio has for one option.
const SYNONYMS: &[(&str, &str)] = &[
    ("readwrite", "rw"),
    ("blocksize", "bs"),
    ("blocksize_range", "bsrange"),
    ("timeout", "runtime"),
    ("iodepth_batch_submit", "iodepth_batch"),
    ("iodepth_batch_complete", "iodepth_batch_complete_min"),
    ("wait_for_previous", "stonewall"),
    // fio takes the beginning of a name, and this one's example has it longer.
    ("threads", "thread"),
];

/// What is wrong with an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The option's name.
    pub(crate) option: String,
    /// Where it stands; empty where it was not given, and in a result.
    pub(crate) at: String,
    /// A clause with the value seen and what to do.
    pub(crate) reason: String,
}

impl Options {
    /// Adds an option behind all others, or replaces its value.
    pub(crate) fn set(&mut self, name: &str, value: &str, at: &str) {
        self.set_in(self.next(), name, value, at);
    }

    /// Adds those of a JSON object behind all others: an object has no order.
    pub(crate) fn set_object(&mut self, object: &BTreeMap<String, String>) {
        let order = self.next();
        for (name, value) in object {
            self.set_in(order, name, value, "");
        }
    }

    fn next(&self) -> usize {
        self.0.last().map_or(0, |given| given.order + 1)
    }

    fn set_in(&mut self, order: usize, name: &str, value: &str, at: &str) {
        let name = name.trim().to_ascii_lowercase();
        let synonym = SYNONYMS.iter().find(|(synonym, _)| *synonym == name);
        let name = synonym.map_or(name.as_str(), |(_, usual)| usual).to_owned();
        self.0.retain(|given| given.name != name);
        self.0.push(Given {
            name,
            value: value.trim().to_owned(),
            at: at.to_owned(),
            order,
        });
    }

    /// What was given of an option.
    pub(crate) fn get(&self, name: &str) -> Option<&Given> {
        self.0.iter().find(|given| given.name == name)
    }

    /// Its value.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.get(name).map(|given| given.value.as_str())
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Given> {
        self.0.iter()
    }

    /// The value of an option as `read` understands it.
    pub(crate) fn read<T>(
        &self,
        name: &str,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, Problem> {
        let Some(given) = self.get(name) else {
            return Ok(None);
        };
        read(&given.value)
            .map(Some)
            .map_err(|reason| Problem::of(given, reason))
    }

    /// What two options say that set the same thing, of which the later one counts, as in fio; each with how its value is read.
    pub(crate) fn later<T: PartialEq>(
        &self,
        (one, read_one): (&str, impl FnOnce(&str) -> Result<T, String>),
        (other, read_other): (&str, impl FnOnce(&str) -> Result<T, String>),
    ) -> Result<Option<T>, Vec<Problem>> {
        let alone = |problem| vec![problem];
        let said = self.read(one, read_one).map_err(alone)?;
        let otherwise = self.read(other, read_other).map_err(alone)?;
        let (Some(given), Some(beside)) = (self.get(one), self.get(other)) else {
            return Ok(said.or(otherwise));
        };
        match given.order.cmp(&beside.order) {
            Ordering::Greater => Ok(said),
            Ordering::Less => Ok(otherwise),
            Ordering::Equal if said == otherwise => Ok(said),
            Ordering::Equal => Err([(given, other), (beside, one)]
                .map(|(given, other)| Problem::of(given, format!("{other} {WITHOUT_ORDER}")))
                .into()),
        }
    }

    /// Whether 1000 is fio's kilo here.
    pub(crate) fn is_si(&self) -> bool {
        self.value("kb_base") == Some("1000")
    }
}

impl Problem {
    /// What is wrong with an option that was given.
    pub(crate) fn of(given: &Given, reason: impl Into<String>) -> Self {
        Self {
            option: given.name.clone(),
            at: given.at.clone(),
            reason: reason.into(),
        }
    }
}
