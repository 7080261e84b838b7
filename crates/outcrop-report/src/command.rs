//! The commands that a reader may run next. They are composed here alone, so that each is complete: it has the run's data, directory,
//! limits and folder, and the shell reads it as it stands.

mod again;
mod more;
mod pairs;
mod tables;

use outcrop_results::RunView;
use outcrop_schema::compression::{DATA, Data};
use outcrop_schema::device::{
    ALSO, BETWEEN_DRIVES, DESTROY, DRIVES, Direction, KIND, Kind, PATH, SCHEMA as DEVICE, SIZE,
};
use outcrop_schema::filesystem::SCHEMA as FILESYSTEM;
use outcrop_schema::kv::SCHEMA as KV;
use outcrop_schema::{FactorRef, LayerSchema};
use toml::{Table, Value};

use crate::report::RunSummary;
use crate::section::{LeastEffort, Missing};
pub(crate) use more::{More, budget_of};
pub use outcrop_workload::word::quoted;
pub use pairs::command_in_pairs;

/// The data of a run that read them from stdin.
const STDIN: &str = "-";
/// A limit on written bytes that the reader has to fill in.
const NEW_LIMIT: &str = " --max-written BYTES";

/// What the reader of a command has to fill in and how, as a parenthesis with a blank before it; empty where nothing.
pub(crate) fn to_fill_in(command: &str) -> &'static str {
    match command.contains(NEW_LIMIT) {
        true => {
            " (for BYTES, the same command with `--dry-run` in place of `--max-written BYTES` says how much it writes)"
        }
        false => "",
    }
}

/// What commands about a run are made of.
#[derive(Clone, Debug)]
pub(crate) struct Commands {
    /// The run's folder; none where it is not kept.
    folder: Option<String>,
    /// Its expanded plan.
    plan: Table,
    /// Whether trials of its plan are missing.
    is_unfinished: bool,
    /// The flags of the report's limits, where its plan has others.
    limits: String,
}

impl Commands {
    pub(crate) fn of(run: &RunView) -> Self {
        Self {
            is_unfinished: run.is_unfinished(),
            ..Self::about(&run.dir.to_string_lossy(), &run.plan)
        }
    }

    pub(crate) fn of_summary(run: &RunSummary) -> Self {
        Self {
            is_unfinished: run.is_unfinished,
            ..Self::about(&run.folder, &run.plan).under(&run.limits)
        }
    }

    /// The same commands, which measure under these limits: under those of the plan, what they would decide stays open.
    #[must_use]
    pub(crate) fn under(self, limits: &str) -> Self {
        Self {
            limits: limits.to_owned(),
            ..self
        }
    }

    fn about(folder: &str, plan: &str) -> Self {
        Self {
            folder: (!folder.is_empty()).then(|| folder.to_owned()),
            plan: toml::from_str(plan).unwrap_or_default(),
            is_unfinished: false,
            limits: String::new(),
        }
    }

    /// The same commands, about what the run lacks no trials of: resuming it would change nothing there.
    #[must_use]
    pub(crate) fn resuming_if(self, lacks_trials: bool) -> Self {
        Self {
            is_unfinished: self.is_unfinished && lacks_trials,
            ..self
        }
    }

    /// Measures the trials that the run lacks; none where it has all, or is not kept.
    pub(crate) fn resuming(&self) -> Option<String> {
        let folder = self.folder.as_deref().filter(|_| self.is_unfinished)?;
        let has_variants = self.own_plans().any(|plan| plan.get("variant").is_some());
        let command = if has_variants { "ab" } else { "run" };
        Some(format!("outcrop {command} --resume {}", quoted(folder)))
    }

    /// Whether another program measured what this folder holds.
    pub(crate) fn is_imported(&self) -> bool {
        self.folder.is_some() && !self.plan.contains_key("run")
    }

    /// The program whose results this folder holds, as its plan names it: `fio-3.33`; none where it does not.
    pub(crate) fn imported_from(&self) -> Option<&str> {
        let from = self.plan.get("imported")?.get("from")?.as_str()?;
        (self.is_imported() && !from.is_empty()).then_some(from)
    }

    /// What must be done before the same layers are measured again, as a parenthesis with a blank before it: data that came through a pipe
    /// are gone, and a command that waits for them would wait for ever. Empty where nothing must.
    pub(crate) fn before_again(&self, layers: &[&str]) -> &'static str {
        match self.saved_data(layers) {
            "" => "",
            _ => " (the run read its data from stdin: save them as DATA first)",
        }
    }

    /// How a command gets data that came through a pipe: from the file that they were saved in.
    fn saved_data(&self, layers: &[&str]) -> &'static str {
        let is_asked = |plan: &&Value| layers.contains(&layer_of(plan));
        let has_stdin = |plan: &Value| {
            let subject = plan.get("subject").and_then(Value::as_table);
            subject.is_some_and(|subject| subject.get(DATA.name).and_then(Value::as_str) == Some(STDIN))
        };
        match self.own_plans().filter(is_asked).any(has_stdin) {
            true => " < DATA",
            false => "",
        }
    }

    /// Runs shipped plans of these layers in the directory of the run, with its effort and, where the layers measured the user's data, those.
    pub(crate) fn plans(&self, names: &[&str], layers: &[&LayerSchema]) -> String {
        self.plans_from(names, LeastEffort::Quick, (self.data_of(layers), layers))
    }

    /// Measures what the run lacks; none where no plan would.
    pub(crate) fn filling(&self, missing: &Missing, layers: &[&LayerSchema]) -> Option<String> {
        // Plans that ship measure a file in a directory: of a device they would measure another disk, or only its filesystem.
        let is_of_device = layers.iter().any(|layer| layer.name == DEVICE.name) && self.is_of_block_device();
        if is_of_device && !missing.plan.is_empty() {
            return Some(format!("outcrop plans {0} > {0}.toml", missing.plan));
        }
        let has_plan = !missing.plan.is_empty();
        let data = self.data_of(layers).filter(|_| !missing.generates_data);
        has_plan.then(|| self.plans_from(&[missing.plan.as_str()], missing.effort, (data, layers)))
    }

    /// What is to be done with a plan that ships before it measures the same device, in a clause; none where it does as it stands.
    pub(crate) fn after_filling(&self, layers: &[&LayerSchema]) -> Option<String> {
        let is_of_device = layers.iter().any(|layer| layer.name == DEVICE.name) && self.is_of_block_device();
        let subject = self.device_subject().filter(|_| is_of_device)?;
        let lines = [&KIND as FactorRef, &PATH, &DESTROY]
            .into_iter()
            .filter_map(|factor| {
                let value = subject.get(factor.name)?.as_str()?;
                Some(format!("`{} = \"{value}\"`", factor.name))
            });
        Some(format!(
            ": replace its `[subject]` by that of this run ({}), and run it",
            lines.collect::<Vec<_>>().join(", ")
        ))
    }

    /// The subject of the run's plan of the device layer.
    fn device_subject(&self) -> Option<&Table> {
        let plan = self.own_plans().find(|plan| layer_of(plan) == DEVICE.name)?;
        plan.get("subject")?.as_table()
    }

    /// Whether it measured a device or a file that is there, and not a scratch file in its directory.
    fn is_of_block_device(&self) -> bool {
        let kind = self
            .device_subject()
            .and_then(|subject| subject.get(KIND.name)?.as_str());
        kind.is_some_and(|kind| kind != Kind::ScratchFile.name())
    }

    /// The same with at least this effort: where the run was shorter, its effort would give the same gap again.
    fn plans_from(
        &self,
        names: &[&str],
        least: LeastEffort,
        (data, layers): (Option<&str>, &[&LayerSchema]),
    ) -> String {
        let mut command = format!("outcrop run {}", names.join(" "));
        let effort = LeastEffort::stated(self.setting("effort")).max(least);
        let effort = Some(effort.name()).filter(|_| effort != LeastEffort::Default);
        let flags = [
            ("--effort", effort),
            ("--path", self.setting("directory")),
            ("--data", data),
        ];
        for (flag, value) in flags {
            if let Some(value) = value {
                command += &format!(" {flag} {}", quoted(value));
            }
        }
        if data.is_some() {
            command += &self.said_of_tables(layers);
        }
        command += &self.limit_of(layers);
        if data == Some(STDIN) {
            command += " < DATA";
        }
        command
    }

    /// What bounds what a command writes, where the run's user bounded that: a file of the run's size, and a limit that the reader has to fill in.
    /// What another plan writes is not known here, and the run's own limit would refuse most of them.
    fn limit_of(&self, layers: &[&LayerSchema]) -> String {
        let is_of = |one: &LayerSchema| layers.iter().any(|layer| layer.name == one.name);
        let is_writing = [&DEVICE, &FILESYSTEM, &KV].into_iter().any(is_of);
        if self.setting("max_written").is_none() || !is_writing {
            return String::new();
        }
        let is_of_device = is_of(&DEVICE);
        let size = self
            .size_of_device()
            .filter(|_| is_of_device && !self.is_of_block_device());
        let size = size.map_or_else(String::new, |size| format!(" --size {}", quoted(size)));
        size + NEW_LIMIT
    }

    /// The user's data that these layers measured: those that the run was given, or those that their own plans name.
    fn data_of(&self, layers: &[&LayerSchema]) -> Option<&str> {
        let measured = |data: &&str| layers.iter().any(|layer| self.has_measured(layer, data));
        let is_asked = |plan: &&Value| layers.iter().any(|layer| layer.name == layer_of(plan));
        let of_plans = || {
            let subjects = self.own_plans().filter(is_asked);
            let mut named = subjects.filter_map(|plan| plan.get("subject")?.get(DATA.name)?.as_str());
            named.find(|data| matches!(data.parse(), Ok(Data::Path(_) | Data::Stdin)))
        };
        self.setting("data").filter(measured).or_else(of_plans)
    }

    /// Writes the run's report under other limits; only the flags where the run is not kept.
    pub(crate) fn report(&self, more: &str) -> String {
        match &self.folder {
            Some(folder) => format!("outcrop report {} {more}", quoted(folder)),
            None => more.to_owned(),
        }
    }

    /// Measures other cells of the run's device in this direction; none where that would overwrite a device, or write to what was only read. With
    /// further drives, one is measured unless `more` says how many: without a number, the command takes all of them.
    pub(crate) fn device(&self, direction: Direction, more: &str) -> Option<String> {
        let plan = self.own_plans().find(|plan| layer_of(plan) == DEVICE.name)?;
        let of_subject = |name: &str| plan.get("subject")?.get(name)?.as_str();
        let mut limit = String::new();
        let target = match of_subject(KIND.name)?.parse().ok()? {
            Kind::ScratchFile => {
                let size = of_subject(SIZE.name)
                    .map_or_else(String::new, |size| format!(" --size {}", quoted(size)));
                // To read, it creates the file alone, as the run did within its limit.
                limit = match self.setting("max_written") {
                    Some(most) if direction == Direction::Read => format!(" --max-written {}", quoted(most)),
                    Some(_) => NEW_LIMIT.to_owned(),
                    None => String::new(),
                };
                format!("{}{size}", quoted(self.setting("directory")?))
            }
            Kind::ReadOnly if direction == Direction::Write => return None,
            Kind::ReadOnly => format!("--read-only {}", quoted(of_subject(PATH.name)?)),
            Kind::Destroyed => return None,
        };
        let further = of_subject(ALSO.name).unwrap_or_default().split(BETWEEN_DRIVES);
        let further = further.filter(|place| !place.is_empty());
        let mut further: String = further
            .map(|place| format!(" --also {}", quoted(place)))
            .collect();
        let factor: FactorRef = &DRIVES;
        let drives = format!(" --{}", factor.flag_name());
        if !further.is_empty() && !format!(" {more}").contains(&drives) {
            further += &format!("{drives} {}", factor.default.unwrap_or_default());
        }
        Some(format!("outcrop device {target}{further} {more}{limit}"))
    }

    /// The size of the scratch file that the run measured, as its plan spells it.
    pub(crate) fn size_of_device(&self) -> Option<&str> {
        self.device_subject()?.get(SIZE.name)?.as_str()
    }

    fn setting(&self, name: &str) -> Option<&str> {
        self.plan.get("run")?.get(name)?.as_str()
    }

    fn own_plans(&self) -> impl Iterator<Item = &Value> {
        let plans = self.plan.get("plan").and_then(Value::as_array);
        plans.into_iter().flatten()
    }

    /// What a layer was measured on instead of the data that the run was given: those were too small for it. None where they were measured,
    /// or none were given, or the layer has none.
    pub(crate) fn measured_instead(&self, layer: &str) -> Option<String> {
        let given = self.setting("data")?;
        let plans = self.own_plans().filter(|plan| layer_of(plan) == layer);
        let measured: Vec<&str> = plans
            .filter_map(|plan| plan.get("subject")?.get(DATA.name)?.as_str())
            .collect();
        let first = *measured.first().filter(|_| !measured.contains(&given))?;
        Some(match first {
            "sample" => "built-in sample".to_owned(),
            other => other.to_owned(),
        })
    }

    /// Whether the run measured a layer on these data.
    fn has_measured(&self, layer: &LayerSchema, data: &str) -> bool {
        let is_data = |value: &Value| value.as_str() == Some(data);
        let mut plans = self.own_plans().filter(|plan| layer_of(plan) == layer.name);
        plans.any(|plan| {
            let subject = plan.get("subject").and_then(Value::as_table);
            subject.is_some_and(|subject| subject.values().any(is_data))
        })
    }
}

/// The layer that a plan measures.
fn layer_of(plan: &Value) -> &str {
    plan.get("layer").and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests;
