//! TOML to [`Draft`]s: structure, types and unknown keys, each complaint with its line and column.
//!
//! A walk over toml's spanned tree rather than a serde derive, because a derive reports a wrong type inside a
//! per-effort table as "data did not match any variant", without the place or what would be accepted.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use outcrop_measure::seed::Seed;
use outcrop_measure::units::TimeSpan;
use outcrop_schema::kv::Prices;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::design::Design;
use super::doubt::{BudgetUse, RunLimits};
use super::draft::{Draft, Given, Located, TrialDraft};
use super::source::PlanSource;
use super::variants::VariantName;
use crate::effort::Effort;
use crate::error::LabError;
use outcrop_workload::word::hint;

type Key<'t> = Spanned<Cow<'t, str>>;
type Value<'t> = Spanned<DeValue<'t>>;
/// Entries of a table in their order in the file.
type Entries<'t, 'd> = Vec<(&'t Key<'d>, &'t Value<'d>)>;

/// The `[run]` table of an expanded plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RunHeader {
    pub(super) seed: Option<Seed>,
    pub(super) effort: Option<Effort>,
    pub(super) directory: Option<PathBuf>,
    pub(super) data: Option<String>,
    pub(super) limits: RunLimits,
    pub(super) prices: Option<Prices>,
}

/// One file: the plans in it and, in the expanded form, what the run was.
#[derive(Debug)]
pub(super) struct Document {
    /// Whether it has the expanded form, which says how the whole run is to be.
    pub(super) is_expanded: bool,
    pub(super) header: RunHeader,
    pub(super) drafts: Vec<Draft>,
}

/// Reads a single plan or the expanded form, with the values of one effort.
pub(super) fn document(source: &PlanSource, effort: Option<Effort>) -> Result<Document, LabError> {
    let root = DeTable::parse(&source.text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        source.error(&span, format!("not TOML: {}", error.message()))
    })?;
    let root = root.get_ref();
    let mut reader = Reader {
        source,
        effort: effort.unwrap_or_default(),
        is_expanded: root.contains_key("run") || root.contains_key("plan"),
    };
    if !reader.is_expanded {
        return Ok(Document {
            is_expanded: false,
            header: RunHeader {
                effort,
                ..RunHeader::default()
            },
            drafts: vec![reader.plan(root, 0..0)?],
        });
    }
    reader.refuse_unknown(root, "an expanded plan", &["run", "plan"])?;
    let mut header = match root.get("run") {
        Some(run) => reader.header(run, effort)?,
        None => RunHeader::default(),
    };
    header.effort = effort.or(header.effort);
    reader.effort = header.effort.unwrap_or_default();
    let drafts = reader.plans(root)?;
    Ok(Document {
        is_expanded: true,
        header,
        drafts,
    })
}

struct Reader<'s> {
    source: &'s PlanSource,
    effort: Effort,
    is_expanded: bool,
}

impl Reader<'_> {
    fn header(&self, run: &Value<'_>, asked: Option<Effort>) -> Result<RunHeader, LabError> {
        let table = self.table(run, "run")?;
        let known = ["seed", "effort", "version", "directory", "data", "prices"];
        let known: Vec<&str> = known.into_iter().chain(RunLimits::keys()).collect();
        self.refuse_unknown(table, "[run]", &known)?;
        let mut header = RunHeader::default();
        if let Some(value) = table.get("version") {
            self.string(
                value,
                "run.version",
                "the version of Outcrop that expanded the plan, in quotes",
            )?;
        }
        if let Some(value) = table.get("seed") {
            let text = self
                .scalar(value, "run.seed", "a number such as 1234 or \"0x4d2\"")?
                .value;
            let seed = text
                .parse::<Seed>()
                .map_err(|error| self.source.error(&value.span(), error.to_string()))?;
            header.seed = Some(seed);
        }
        if let Some(value) = table.get("effort") {
            let text = self.string(value, "run.effort", "\"quick\", \"default\" or \"full\"")?;
            let effort: Effort = text
                .value
                .parse()
                .map_err(|message: String| self.source.error(&value.span(), message))?;
            if asked.is_some_and(|asked| asked != effort) {
                let message = format!(
                    "this expanded plan has only the values of effort {effort}; leave the effort out, or run the original plans"
                );
                return Err(self.source.error(&value.span(), message));
            }
            header.effort = Some(effort);
        }
        if let Some(value) = table.get("directory") {
            header.directory = Some(
                self.string(value, "run.directory", "a path in quotes")?
                    .value
                    .into(),
            );
        }
        if let Some(value) = table.get("data") {
            header.data = Some(self.string(value, "run.data", "a path in quotes")?.value);
        }
        self.limits(table, &mut header)?;
        Ok(header)
    }

    /// How much the run may write; what the answer to where to compress has to meet, in which time, and at which prices.
    fn limits(&self, run: &DeTable<'_>, header: &mut RunHeader) -> Result<(), LabError> {
        for key in RunLimits::keys() {
            if let Some(value) = run.get(key) {
                let text = self.scalar(value, &format!("run.{key}"), "text in quotes")?.value;
                let read = header.limits.read(key, &text);
                read.map_err(|message| self.source.error(&value.span(), format!("run.{key}: {message}")))?;
            }
        }
        let Some(value) = run.get("prices") else {
            return Ok(());
        };
        let table = self.table(value, "run.prices")?;
        self.refuse_unknown(table, "[run.prices]", &Prices::KEYS)?;
        let mut known = BTreeMap::new();
        for (key, value) in table {
            let path = format!("run.prices.{}", key.get_ref());
            let text = self.scalar(value, &path, "text in quotes")?.value;
            known.insert(key.get_ref().to_string(), text);
        }
        let prices = Prices::named(|key| known.get(key).cloned());
        let at_fault = |message| self.source.error(&value.span(), format!("run.prices: {message}"));
        header.prices = Some(prices.map_err(at_fault)?);
        Ok(())
    }

    fn plans(&self, root: &DeTable<'_>) -> Result<Vec<Draft>, LabError> {
        let Some(plans) = root.get("plan") else {
            return Err(self.source.error(
                &(0..0),
                "an expanded plan needs at least one [[plan]] after [run]",
            ));
        };
        let DeValue::Array(list) = plans.get_ref() else {
            return Err(self.wrong_type(plans, "plan", "a list of tables, each under [[plan]]"));
        };
        list.iter()
            .map(|value| self.plan(self.table(value, "plan")?, value.span()))
            .collect()
    }

    fn plan(&self, table: &DeTable<'_>, span: Range<usize>) -> Result<Draft, LabError> {
        let known = [
            "name", "question", "layer", "design", "budget", "variant", "subject", "workload", "factors",
            "trial",
        ];
        // Of those who read the run; here the cells are counted again.
        let counted = self.is_expanded.then_some("cells");
        self.refuse_unknown(
            table,
            "a plan",
            &known.into_iter().chain(counted).collect::<Vec<_>>(),
        )?;
        let required = |key: &str, accepted: &str| match table.get(key) {
            Some(value) => self.string(value, key, accepted),
            None => Err(self
                .source
                .error(&span, format!("the plan has no `{key}`; expected {accepted}"))),
        };
        let mut draft = Draft {
            name: required("name", "a name in quotes, such as \"ssd-queue-depth\"")?,
            question: required("question", "the question that the plan answers, in quotes")?.value,
            layer: required("layer", "a layer in quotes, such as \"device\"")?,
            design: self.design(table)?,
            budget: self.budget(table)?,
            variant: self.variant(table)?,
            subject: Default::default(),
            workload: Default::default(),
            trial: TrialDraft::default(),
        };
        for (key, value) in self.section(table, "subject")? {
            let path = format!("subject.{}", key.get_ref());
            let located = self.scalar(
                self.for_effort(value, &path)?,
                &path,
                "text in quotes or a whole number",
            )?;
            draft.subject.insert(
                key.get_ref().to_string(),
                (self.source.at(key.span().start), located),
            );
        }
        self.settings(table, &mut draft)?;
        draft.trial = self.trial(table)?;
        Ok(draft)
    }

    fn design(&self, plan: &DeTable<'_>) -> Result<Design, LabError> {
        let Some(value) = plan.get("design") else {
            return Ok(Design::default());
        };
        let text = self.string(value, "design", "\"every-combination\" or \"one-at-a-time\"")?;
        text.value
            .parse()
            .map_err(|message: String| self.source.error(&value.span(), message))
    }

    fn budget(&self, plan: &DeTable<'_>) -> Result<BudgetUse, LabError> {
        let Some(value) = plan.get("budget") else {
            return Ok(BudgetUse::default());
        };
        let text = self.string(value, "budget", "\"evenly\" or \"doubt\"")?;
        text.value
            .parse()
            .map_err(|message: String| self.source.error(&value.span(), message))
    }

    fn variant(&self, plan: &DeTable<'_>) -> Result<Option<VariantName>, LabError> {
        let Some(value) = plan.get("variant") else {
            return Ok(None);
        };
        let text = self.string(value, "variant", "\"a\" or \"b\"")?;
        let variant = text.value.parse();
        variant
            .map(Some)
            .map_err(|message: String| self.source.error(&value.span(), message))
    }

    /// `[workload]` and `[factors]`; what is in one cannot be in the other.
    fn settings(&self, plan: &DeTable<'_>, draft: &mut Draft) -> Result<(), LabError> {
        for (key, value) in self.section(plan, "workload")? {
            let path = format!("workload.{}", key.get_ref());
            let value = self.for_effort(value, &path)?;
            if matches!(value.get_ref(), DeValue::Array(_)) {
                let message = format!("{path} is a list; a parameter that varies belongs in [factors]");
                return Err(self.source.error(&value.span(), message));
            }
            let values = vec![self.scalar(value, &path, "text in quotes or a whole number")?];
            let at = self.source.at(key.span().start);
            draft.workload.insert(
                key.get_ref().to_string(),
                Given {
                    at,
                    values,
                    is_factor: false,
                },
            );
        }
        for (key, value) in self.section(plan, "factors")? {
            let path = format!("factors.{}", key.get_ref());
            let values = self.list(self.for_effort(value, &path)?, &path)?;
            let at = self.source.at(key.span().start);
            let setting = Given {
                at,
                values,
                is_factor: true,
            };
            if draft
                .workload
                .insert(key.get_ref().to_string(), setting)
                .is_some()
            {
                let message = format!(
                    "`{}` varies here and is fixed in [workload]; keep one of the two",
                    key.get_ref()
                );
                return Err(self.source.error(&key.span(), message));
            }
        }
        Ok(())
    }

    fn trial(&self, plan: &DeTable<'_>) -> Result<TrialDraft, LabError> {
        let mut trial = TrialDraft {
            is_of_a_run: self.is_expanded,
            ..TrialDraft::default()
        };
        for (key, value) in self.section(plan, "trial")? {
            let path = format!("trial.{}", key.get_ref());
            let value = self.for_effort(value, &path)?;
            match key.get_ref().as_ref() {
                "repetitions" => trial.repetitions = Some(self.count(value, &path)?),
                "warm_up" => trial.warm_up = Some(self.time_span(value, &path)?),
                "duration" => trial.duration = Some(self.time_span(value, &path)?),
                "interval" => trial.interval = Some(self.time_span(value, &path)?),
                "stop" => trial.stop = Some(self.string(value, &path, "\"when-steady\"")?),
                other => {
                    let known = ["repetitions", "warm_up", "duration", "interval", "stop"];
                    let message = format!("unknown key `{other}` in [trial]; {}", hint(other, &known));
                    return Err(self.source.error(&key.span(), message));
                }
            }
        }
        Ok(trial)
    }

    /// The entries of a sub-table in their order in the file, none when it is absent.
    fn section<'t, 'd>(&self, plan: &'t DeTable<'d>, name: &str) -> Result<Entries<'t, 'd>, LabError> {
        let Some(value) = plan.get(name) else {
            return Ok(Vec::new());
        };
        let mut entries: Vec<_> = self.table(value, name)?.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        Ok(entries)
    }

    fn table<'t, 'd>(&self, value: &'t Value<'d>, path: &str) -> Result<&'t DeTable<'d>, LabError> {
        match value.get_ref() {
            DeValue::Table(table) => Ok(table),
            _ => Err(self.wrong_type(value, path, "a table")),
        }
    }

    /// The value for the effort: that of `{ quick = …, default = …, full = … }`, or the value itself.
    fn for_effort<'t, 'd>(&self, value: &'t Value<'d>, path: &str) -> Result<&'t Value<'d>, LabError> {
        let DeValue::Table(table) = value.get_ref() else {
            return Ok(value);
        };
        let names = Effort::ALL.map(Effort::name);
        self.refuse_unknown(table, path, &names)?;
        if let Some(missing) = names.iter().find(|name| !table.contains_key(**name)) {
            let message =
                format!("{path} has no value for `{missing}`; give one value, or quick, default and full");
            return Err(self.source.error(&value.span(), message));
        }
        Ok(&table[self.effort.name()])
    }

    fn list(&self, value: &Value<'_>, path: &str) -> Result<Vec<Located<String>>, LabError> {
        let DeValue::Array(array) = value.get_ref() else {
            return Err(self.wrong_type(value, path, "a list such as [1, 32] or [\"lz4\", \"zstd:1\"]"));
        };
        array
            .iter()
            .map(|item| self.scalar(item, path, "text in quotes or a whole number"))
            .collect()
    }

    fn scalar(&self, value: &Value<'_>, path: &str, accepted: &str) -> Result<Located<String>, LabError> {
        let text = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) if number.radix() == 10 => {
                number.as_str().trim_start_matches('+').to_owned()
            }
            _ => return Err(self.wrong_type(value, path, accepted)),
        };
        Ok(Located::new(text, self.source.at(value.span().start)))
    }

    fn string(&self, value: &Value<'_>, path: &str, accepted: &str) -> Result<Located<String>, LabError> {
        match value.get_ref() {
            DeValue::String(text) => Ok(Located::new(text.to_string(), self.source.at(value.span().start))),
            _ => Err(self.wrong_type(value, path, accepted)),
        }
    }

    fn count(&self, value: &Value<'_>, path: &str) -> Result<Located<u32>, LabError> {
        let accepted = "a whole number from 1 to 1000";
        match value.get_ref() {
            DeValue::Integer(number) => match number.as_str().parse::<u32>() {
                Ok(count @ 1..=1000) => Ok(Located::new(count, self.source.at(value.span().start))),
                _ => Err(self
                    .source
                    .error(&value.span(), format!("{path} is {number}; expected {accepted}"))),
            },
            _ => Err(self.wrong_type(value, path, accepted)),
        }
    }

    fn time_span(&self, value: &Value<'_>, path: &str) -> Result<Located<TimeSpan>, LabError> {
        let accepted = "a time in quotes, such as \"30s\" or \"250ms\"";
        let text = self.string(value, path, accepted)?;
        match text.value.parse::<TimeSpan>() {
            Ok(span) => Ok(Located::new(span, text.at)),
            Err(_) => Err(self.source.error(
                &value.span(),
                format!("{path} is {:?}; expected {accepted}", text.value),
            )),
        }
    }

    fn refuse_unknown(&self, table: &DeTable<'_>, place: &str, known: &[&str]) -> Result<(), LabError> {
        let unknown = table
            .keys()
            .filter(|key| !known.contains(&key.get_ref().as_ref()));
        match unknown.min_by_key(|key| key.span().start) {
            None => Ok(()),
            Some(key) => {
                let name = key.get_ref();
                let message = format!("unknown key `{name}` in {place}; {}", hint(name, known));
                Err(self.source.error(&key.span(), message))
            }
        }
    }

    fn wrong_type(&self, value: &Value<'_>, path: &str, accepted: &str) -> LabError {
        let seen = match value.get_ref() {
            DeValue::String(text) => format!("the text {text:?}"),
            DeValue::Integer(number) => format!("the whole number {number}"),
            DeValue::Float(number) => format!("the number {number}"),
            DeValue::Boolean(flag) => flag.to_string(),
            DeValue::Datetime(time) => format!("the date {time}"),
            DeValue::Array(_) => "a list".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
        };
        self.source
            .error(&value.span(), format!("{path} is {seen}; expected {accepted}"))
    }
}
