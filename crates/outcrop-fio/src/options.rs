//! The options of one job of fio, as they were given, under one name each.

/// One option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    /// fio's usual name of it.
    pub(crate) name: String,
    /// Its value; empty where it was given alone.
    pub(crate) value: String,
    /// `job.fio:12`; empty in a result.
    pub(crate) at: String,
}

/// The options of a job: of those that were given twice the last one counts, as in fio.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options(Vec<Given>);

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
    /// Adds an option, or replaces its value.
    pub(crate) fn set(&mut self, name: &str, value: &str, at: &str) {
        let name = name.trim().to_ascii_lowercase();
        let synonym = SYNONYMS.iter().find(|(synonym, _)| *synonym == name);
        let name = synonym.map_or(name.as_str(), |(_, usual)| usual).to_owned();
        self.0.retain(|given| given.name != name);
        self.0.push(Given {
            name,
            value: value.trim().to_owned(),
            at: at.to_owned(),
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
