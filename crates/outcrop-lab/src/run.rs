//! Starting a run folder, and opening one to go on with it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use outcrop_probe::clock;
use outcrop_probe::environment::Environment;
use outcrop_results::RunFolder;
use outcrop_results::layout::{ENVIRONMENT_FILE, TRIAL_LENGTHS};
use outcrop_schema::Remark;
use outcrop_schema::remark::RESUMED_ELSEWHERE;
use serde_json::Value;

use crate::cell::Cell;
use crate::error::LabError;
use crate::observer::{Event, Observer};
use crate::plan::{Plan, PlanOptions, PlanSet, PlanSource};

/// Creates `parent/<UTC time>-<name>/` with the expanded plan and this machine's environment.
///
/// # Errors
/// When the folder cannot be made.
pub fn new_run(parent: &Path, name: &str, set: &PlanSet) -> Result<RunFolder, LabError> {
    let environment = environment(set);
    let folder = RunFolder::create(
        parent,
        name,
        &clock::utc_compact_timestamp(),
        &set.to_toml(),
        &environment,
    )?;
    Ok(folder.speaking(set.vocabulary()))
}

/// A run folder with the plans that it was started with.
#[derive(Debug)]
pub struct ResumedRun {
    /// The plans, as expanded when the run began.
    pub set: PlanSet,
    /// The folder, open and locked.
    pub folder: RunFolder,
}

/// Opens a run to go on with it; [`crate::execute()`] then skips what is finished.
///
/// # Errors
/// When the folder is not a run or is in use, or when its plan does not parse or does not hold the cells that the
/// journal names.
pub fn resume(dir: &Path) -> Result<ResumedRun, LabError> {
    let folder = RunFolder::open(dir)?;
    let name = dir.join("plan.toml").display().to_string();
    let text = folder.plan_toml()?;
    if text
        .parse::<toml::Table>()
        .is_ok_and(|plan| plan.contains_key("imported"))
    {
        return Err(LabError::CannotResume {
            path: dir.to_owned(),
            reason: "its results were imported from another program, and no plan can measure more of them"
                .to_owned(),
        });
    }
    let source = PlanSource { name, text };
    let options = PlanOptions {
        is_resumed: true,
        ..PlanOptions::default()
    };
    let set = PlanSet::from_sources(&[source], &options)?;
    let is_known = |(cell, repetition): &&(String, u32)| {
        set.cells()
            .iter()
            .any(|known| known.id == *cell && *repetition < known.trial.repetitions)
    };
    let unknown = folder.finished().iter().filter(|trial| !is_known(trial)).count();
    if unknown > 0 {
        let reason = format!(
            "its plan.toml does not contain {unknown} of its {} finished trials: that file or the data were changed, or another version of Outcrop expanded it (this is {}); undo the change, or start a new run",
            folder.finished().len(),
            env!("CARGO_PKG_VERSION")
        );
        return Err(LabError::CannotResume {
            path: dir.to_owned(),
            reason,
        });
    }
    Ok(ResumedRun { set, folder })
}

/// What of the environment decides whether two sessions of one run belong together.
const DECISIVE: [(&str, &str); 8] = [
    ("/trial_lengths", "the length of trials"),
    ("/outcrop_version", "the version of Outcrop"),
    ("/cpu/model", "the CPU"),
    ("/cpu/online_cpu_count", "the number of CPUs"),
    ("/kernel/release", "the kernel"),
    ("/storage/filesystem/type", "the filesystem"),
    ("/storage/device/name", "the block device"),
    ("/storage/device/model", "the device's model"),
];

/// Says what a resume found; the sentences also go into the notes of the first trial.
pub(crate) fn opening_notes(set: &PlanSet, folder: &RunFolder, observer: &mut dyn Observer) -> Vec<Remark> {
    let mut notes = Vec::new();
    if folder.torn_bytes() > 0 {
        observer.observe(Event::Note(
            "the journal ended in an incomplete line, which was removed; its trial is measured again",
        ));
    }
    if !folder.finished().is_empty() {
        notes = drift(set, folder);
        for note in &notes {
            observer.observe(Event::Warning(&note.text));
        }
    }
    notes
}

/// One sentence for each decisive difference between the machine that the run began on and this one.
fn drift(set: &PlanSet, folder: &RunFolder) -> Vec<Remark> {
    let Ok(began) = folder.environment() else {
        let path = folder.dir().join(ENVIRONMENT_FILE);
        let path = path.display();
        return vec![RESUMED_ELSEWHERE.remark(format!(
            "{path} cannot be read, so it is unknown whether this is still the same machine"
        ))];
    };
    differences(&began, &environment(set))
        .into_iter()
        .map(|difference| RESUMED_ELSEWHERE.remark(difference))
        .collect()
}

fn differences(began: &Value, now: &Value) -> Vec<String> {
    let text = |environment: &Value, pointer: &str| match environment.pointer(pointer)? {
        Value::Object(_) | Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    DECISIVE
        .iter()
        .filter_map(|(pointer, what)| {
            let (began, now) = (text(began, pointer)?, text(now, pointer)?);
            (began != now).then(|| format!("resumed after {what} changed from {began} to {now}: trials before and after may not be comparable"))
        })
        .collect()
}

/// The environment of the storage that the run measures, and how long its trials take: no cell has that, so the journal cannot tell when the
/// plan is edited.
fn environment(set: &PlanSet) -> Value {
    let mut environment = environment_of(set);
    environment[TRIAL_LENGTHS] = lengths(set).into();
    environment
}

/// `250ms after 50ms`, of each plan; without the duration where it ends no trial.
fn lengths(set: &PlanSet) -> String {
    let of_cell = |cell: &Cell| match cell.takes_duration() {
        true => format!("{} after {}", cell.trial.duration, cell.trial.warm_up),
        false => format!("a fixed amount of work after {}", cell.trial.warm_up),
    };
    let of_plan = |plan: &Plan| {
        let cells = set.cells().iter().filter(|cell| cell.plans.contains(&plan.name));
        let lengths: BTreeSet<String> = cells.map(of_cell).collect();
        Vec::from_iter(lengths).join(" or ")
    };
    let lengths: Vec<String> = set.plans().iter().map(of_plan).collect();
    lengths.join(", ")
}

fn environment_of(set: &PlanSet) -> Value {
    let path_of = |plan: &Plan| {
        let path = plan.layer.schema().path?;
        plan.subject.settings.spelling(path.about()).map(PathBuf::from)
    };
    let given = set.plans().iter().find_map(path_of);
    let path = given.unwrap_or_else(|| set.directory().to_owned());
    serde_json::to_value(Environment::read(&path)).unwrap_or_else(|error| {
        serde_json::json!({ "unavailable": format!("the environment cannot be written as JSON: {error}") })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_of_this_machine_has_every_decisive_field() {
        let mut here = serde_json::to_value(Environment::read(Path::new("."))).unwrap();
        here[TRIAL_LENGTHS] = "of its plan".into();
        for (pointer, what) in DECISIVE {
            assert!(here.pointer(pointer).is_some(), "{what} is not at {pointer}");
        }
    }

    #[test]
    fn the_length_of_trials_has_their_duration_only_where_it_ends_one() {
        let of = |requests: &str, duration: &str| {
            let text = format!(
                "name = \"a\"\nquestion = \"How fast?\"\nlayer = \"cache\"\n[factors]\nrequests = {requests}\n[trial]\nwarm_up = \"100ms\"\nduration = \"{duration}\"\n"
            );
            let source = PlanSource {
                name: "a.toml".to_owned(),
                text,
            };
            lengths(&PlanSet::from_sources(&[source], &PlanOptions::default()).unwrap())
        };
        assert_eq!(of("[500]", "3s"), of("[500]", "9s"));
        assert_eq!(of("[500]", "3s"), "a fixed amount of work after 100ms");
        assert_eq!(
            of("[500, \"unlimited\"]", "3s"),
            "3s after 100ms or a fixed amount of work after 100ms"
        );
    }

    #[test]
    fn only_decisive_differences_that_both_sides_know_are_told() {
        let began = serde_json::json!({"outcrop_version": "0.0.9", "kernel": {"release": "6.1"}, "cpu": {"model": "A"}, "load": {"one": 1.0}});
        let now = serde_json::json!({"outcrop_version": "0.1.0", "kernel": {"release": "6.2"}, "cpu": {"model": {"unavailable": "?"}}, "load": {"one": 2.0}});
        let told = differences(&began, &now);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].contains("the version of Outcrop changed"), "{told:?}");
        assert!(
            told[1].contains("the kernel changed from 6.1 to 6.2:"),
            "{told:?}"
        );
    }
}
