//! Drafts to checked plans: every value in its canonical spelling, every default filled in, every cell possible.

use std::time::Duration;

use outcrop_measure::seed::Seed;
use outcrop_measure::units::TimeSpan;
use outcrop_probe::Stopwatch;

use outcrop_schema::kv::Constraints;
use outcrop_schema::{FactorRef, Setting, Settings};
use outcrop_workload::word::hint;

use super::data_taken::DataTaken;
use super::design::Factors;
use super::distinguish::distinguish;
use super::draft::{Draft, Given, Located, TrialDraft};
use super::parse::RunHeader;
use super::unused::refuse_unused;
use super::{GivenIn, Plan, PlanOptions, PlanSet, chosen, doubt, promise, stop, variants};
use crate::cell::{Cell, Subject, TrialOptions};
use crate::error::LabError;
use crate::layer::{DataSettings, LayerRef, Origin, Refusal};

/// More cells than this are a typing error: at a tenth of a second each, one repetition takes a quarter of an hour.
const MAX_CELLS: usize = 10_000;
/// Trials shorter than this measure little but their own start.
const SHORTEST_DURATION: Duration = Duration::from_millis(10);

impl PlanSet {
    pub(super) fn check(
        header: RunHeader,
        drafts: Vec<Draft>,
        options: &PlanOptions,
        given_in: GivenIn,
    ) -> Result<Self, LabError> {
        let stopwatch = Stopwatch::start();
        if drafts.is_empty() {
            return Err(bad("plans", "none was given; name at least one"));
        }
        let mut plans: Vec<Plan> = Vec::new();
        let mut data = DataTaken::default();
        for draft in drafts {
            if plans.iter().any(|plan| plan.name == draft.name.value) {
                let message = format!("there is already a plan named {:?} in this run", draft.name.value);
                return Err(bad(&draft.name.at, message));
            }
            plans.push(plan(draft, options, &mut data)?);
        }
        options
            .data_form
            .check_told(options.data.is_some(), data.is_told)?;
        if options.data.is_some() && !data.is_taken {
            let nobody = || "none of these plans uses your own data; leave it out".to_owned();
            return Err(bad("--data", data.refusals.pop().unwrap_or_else(nobody)));
        }
        refuse_unused(options, &plans, given_in)?;
        distinguish(&mut plans);
        data.refusals.dedup();
        data.notes.dedup();
        let mut set = Self {
            seed: options.seed.or(header.seed).unwrap_or_else(fresh_seed),
            effort: options.effort.or(header.effort).unwrap_or_default(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            directory: chosen::directory(options, header.directory)?,
            plans,
            cells: Vec::new(),
            data_refusals: data.refusals,
            data_notes: data.notes,
            max_written: options.max_written.or(header.limits.max_written),
            time_limit: None,
            checking_took: Duration::ZERO,
            data: options
                .data
                .as_deref()
                .filter(|_| data.is_taken)
                .map(chosen::data)
                .or(header.data),
            constraints: match options.constraints == Constraints::default() {
                true => header.limits.constraints,
                false => options.constraints.clone(),
            },
            prices: options.prices.clone().or(header.prices),
            doubt: None,
            vocabulary: options.layers.vocabulary(),
        };
        set.recount();
        if let Some(promised) = options.promised.into_iter().chain(options.budget).min() {
            set.fit_data(promised, &data.factors);
        }
        set.keep_to_budget(options, header.limits.budget)?;
        set.time_limit = promise::time_limit(options, set.doubt.is_some());
        // A run that is resumed has written a part before.
        if !options.is_resumed {
            set.check_max_written(given_in)?;
        }
        Ok(set.checked_in(Duration::from_nanos(stopwatch.elapsed_ns())))
    }
}

/// A seed where nobody gives one. Any number does, as it is recorded: the nanoseconds of now, mixed.
pub fn fresh_seed() -> Seed {
    let now = outcrop_probe::clock::unix_now();
    Seed(now.as_secs()).derive_index(u64::from(now.subsec_nanos()))
}

fn plan(mut draft: Draft, options: &PlanOptions, data_taken: &mut DataTaken) -> Result<Plan, LabError> {
    if !is_name(&draft.name.value) {
        let message = format!(
            "the name {:?} cannot be used; use letters, digits, `-`, `_` and `.`, at most 64 of them",
            draft.name.value
        );
        return Err(bad(&draft.name.at, message));
    }
    let seen = &draft.layer.value;
    let Some(layer) = options.layers.named(seen) else {
        let message = format!(
            "unknown layer {seen:?}; {}",
            options.layers.vocabulary().hint(seen)
        );
        return Err(bad(&draft.layer.at, message));
    };
    apply(options, &mut draft, layer);
    if let Some(data) = &options.data {
        data_taken.is_told |= options.data_form.of_layer(layer)? != Settings::default();
        let form = options.data_form.over(&draft, layer)?;
        match layer.take_data(&data.to_string_lossy(), &form) {
            Ok(Some(mut settings)) => {
                let left_out = settings.left_out.take();
                let note = left_out.map(|what| format!("the {} layer {what}", layer.name()));
                data_taken.notes.extend(note);
                data_taken.take_factor(layer, &settings, &draft);
                put_data(settings, &mut draft)?;
                data_taken.is_taken = true;
            }
            Ok(None) => {}
            // Whoever says how they are read wants these measured, and nothing in their place.
            Err(why) if form != Settings::default() => {
                let at = options.data_form.place(&draft, layer);
                return Err(bad(at, format!("the {} layer {why}", layer.name())));
            }
            Err(why) => data_taken
                .refusals
                .push(format!("the {} layer {why}", layer.name())),
        }
    }
    let subject = subject(&draft, layer)?;
    doubt::check(&draft, layer)?;
    let trial = trial(&draft.trial, layer)?;
    let (workload, factors) = workload(&draft, layer)?;
    let plan = Plan {
        name: draft.name.value.clone(),
        question: draft.question.clone(),
        layer,
        subject,
        workload,
        factors,
        design: draft.design,
        budget: draft.budget,
        trial,
        variant: draft.variant,
    };
    let cell_count = plan.design.count(&plan.factors);
    if cell_count.is_none_or(|count| count > MAX_CELLS) {
        let message = format!("the factors make more than {MAX_CELLS} combinations; give fewer values");
        return Err(bad(&draft.name.at, message));
    }
    let combinations = plan.design.combinations(&plan.workload, &plan.factors);
    for factors in &combinations {
        let completed = layer.complete_factors(&plan.subject, factors.clone(), &plan.trial);
        completed.map_err(|refusal| refused(&draft, layer, factors, &refusal))?;
    }
    stop::check(&draft, layer, &combinations)?;
    let origin = |name: &str| Origin::of(draft.workload.get(name).map(|given| &*given.at));
    let checked = layer.check_combinations(&plan.subject, &combinations, &origin);
    let notes = checked.map_err(|(at, refusal)| refused(&draft, layer, &combinations[at], &refusal))?;
    data_taken.notes.extend(notes);
    Ok(plan)
}

/// Writes the caller's choices over the plan's.
fn apply(options: &PlanOptions, draft: &mut Draft, layer: LayerRef) {
    let (schema, sampling) = (layer.schema(), layer.schema().sampling);
    let [size, sample_size] = [options.size, options.sample_size].map(|size| Some(size?.to_string()));
    let chosen = [
        ("--size", schema.size, size),
        ("--sample-size", sampling.map(|one| one.size), sample_size),
        ("--server", schema.server, options.server.clone()),
    ];
    for (flag, factor, value) in chosen {
        if let (Some(factor), Some(value)) = (factor, value) {
            draft.set_subject(factor.name, value, flag);
        }
    }
    let trial = &mut draft.trial;
    if let Some(repetitions) = options.repetitions {
        trial.repetitions = Some(Located::new(repetitions, "--repetitions"));
    }
    if let Some(warm_up) = options.warm_up.filter(|_| layer.has_warm_up()) {
        trial.warm_up = Some(Located::new(warm_up, "--warm-up"));
    }
    if let Some(duration) = options.duration {
        trial.duration = Some(Located::new(duration, "--duration"));
        trial.interval = None;
    }
}

/// Writes the user's data over what the plan says of its subject. What a plan says of generated data does not apply to them; a flag that says it
/// is refused, because it would have no effect.
fn put_data(settings: DataSettings, draft: &mut Draft) -> Result<(), LabError> {
    const AT: &str = "--data";
    for (factor, value) in settings.subject {
        draft.set_subject(factor.name, value, AT);
    }
    for factor in settings.decided {
        if let Some(given) = draft.workload.remove(factor.name)
            && given.at.starts_with("--")
        {
            let message = format!(
                "this describes generated data, and the data of {AT} are taken as they are; leave out one of the two"
            );
            return Err(bad(&given.at, message));
        }
    }
    if let Some((factor, values)) = settings.factor {
        let given = || Given {
            at: AT.to_owned(),
            values: values.into_iter().map(|value| Located::new(value, AT)).collect(),
            is_factor: true,
        };
        draft.workload.entry(factor.name.to_owned()).or_insert_with(given);
    }
    Ok(())
}

fn subject(draft: &Draft, layer: LayerRef) -> Result<Subject, LabError> {
    let known = layer.schema().subject;
    let mut settings = Settings::defaults(known);
    for (name, (at, value)) in &draft.subject {
        let factor = find(known, name, at, &format!("the subject of layer {}", layer.name()))?;
        settings.insert(factor.name, read(layer, factor, value)?);
    }
    layer
        .complete_subject(settings)
        .map_err(|refusal| refused(draft, layer, &Settings::default(), &refusal))
}

fn trial(draft: &TrialDraft, layer: LayerRef) -> Result<TrialOptions, LabError> {
    let repetitions = match &draft.repetitions {
        Some(given) if given.value == 0 || given.value > 1000 => {
            return Err(bad(
                &given.at,
                format!("repetitions is {}; expected 1 to 1000", given.value),
            ));
        }
        Some(given) => given.value,
        None => 5,
    };
    let duration = match &draft.duration {
        Some(given) if given.value.0 < SHORTEST_DURATION => {
            return Err(bad(
                &given.at,
                format!("duration is {}; expected 10ms or more", given.value),
            ));
        }
        Some(given) => given.value,
        None => TimeSpan::seconds(3),
    };
    let interval = match &draft.interval {
        Some(given) if given.value.0.is_zero() || given.value > duration => {
            let message = format!(
                "interval is {}; expected more than 0s and at most the duration, {duration}",
                given.value
            );
            return Err(bad(&given.at, message));
        }
        Some(given) => given.value,
        None => default_interval(duration),
    };
    let warm_up = match &draft.warm_up {
        Some(given) if !given.value.0.is_zero() && !layer.has_warm_up() && !draft.is_of_a_run => {
            let message = format!(
                "trials of the {} layer have no warm-up; leave it out",
                layer.name()
            );
            return Err(bad(&given.at, message));
        }
        Some(given) if layer.has_warm_up() => given.value,
        None if layer.has_warm_up() => TimeSpan::milliseconds(500),
        // Older versions wrote one into the plans of runs, which never had it.
        _ => TimeSpan::milliseconds(0),
    };
    Ok(TrialOptions {
        repetitions,
        warm_up,
        duration,
        interval,
        stops_when_steady: stop::is_when_steady(draft.stop.as_ref())?,
    })
}

/// One second, as time series are drawn, and a fifth of short trials: steady state is judged over five rounds.
pub(super) fn default_interval(duration: TimeSpan) -> TimeSpan {
    TimeSpan((duration.0 / 5).min(Duration::from_secs(1)))
}

fn workload(draft: &Draft, layer: LayerRef) -> Result<(Settings, Factors), LabError> {
    let known = layer.schema().workload;
    let mut fixed = Settings::defaults(known);
    let mut factors = Factors::new();
    for (
        name,
        Given {
            at,
            values,
            is_factor,
        },
    ) in &draft.workload
    {
        let part = if *is_factor { "factors" } else { "workload" };
        let place = format!("the {part} of layer {}", layer.name());
        let factor = find(known, name, at, &place)?;
        let mut settings: Vec<Setting> = Vec::new();
        for value in values {
            let setting = read(layer, factor, value)?;
            if settings.contains(&setting) {
                let spelling = setting.spelling();
                return Err(bad(
                    &value.at,
                    format!("`{name}` has the value {spelling} twice; keep one of the two"),
                ));
            }
            settings.push(setting);
        }
        match settings.as_slice() {
            [] => {
                return Err(bad(
                    at,
                    format!(
                        "`{name}` has no values; give at least one, such as {name} = [{}]",
                        example(factor)
                    ),
                ));
            }
            [value] if !is_factor => {
                fixed.insert(factor.name, value.clone());
            }
            _ => {
                fixed.remove(factor.about());
                factors.insert(factor.name, settings);
            }
        }
    }
    Ok((fixed, factors))
}

fn example(factor: FactorRef) -> String {
    let value = factor.default.unwrap_or("…");
    if value.bytes().all(|byte| byte.is_ascii_digit()) {
        value.to_owned()
    } else {
        format!("{value:?}")
    }
}

/// The cells of a checked plan.
pub(super) fn cells_of(plan: &Plan) -> Vec<Cell> {
    plan.design
        .combinations(&plan.workload, &plan.factors)
        .into_iter()
        .enumerate()
        .map(|(index, factors)| {
            let factors = plan
                .layer
                .complete_factors(&plan.subject, factors, &plan.trial)
                .expect("every combination was completed when the plan was checked, and shorter trials change nothing");
            let follows_doubt = doubt::is_for(plan, &factors);
            let mut trial = plan.trial;
            if !plan.layer.warms_up(&factors) {
                trial.warm_up = TimeSpan(Duration::ZERO);
            }
            let cell = Cell {
                follows_doubt,
                ..Cell::new(plan.layer, &plan.subject, factors, &plan.name, trial)
            };
            match plan.variant {
                // Both variants have the same combinations of the other factors, in the same order.
                Some(variant) => cell.of_variant(variant, &plan.name, index),
                None => cell,
            }
        })
        .collect()
}

fn find(known: &[FactorRef], name: &str, at: &str, place: &str) -> Result<FactorRef, LabError> {
    let found = known.iter().copied().find(|factor| factor.name == name);
    found.ok_or_else(|| {
        let names: Vec<_> = known.iter().map(|factor| factor.name).collect();
        bad(
            at,
            format!("unknown key `{name}` in {place}; {}", hint(name, &names)),
        )
    })
}

pub(super) fn read(layer: LayerRef, factor: FactorRef, value: &Located<String>) -> Result<Setting, LabError> {
    layer.read(factor, &value.value).map_err(|message| {
        if value.at.starts_with("--") {
            bad(&value.at, variants::named(&value.at, factor.name, message))
        } else {
            bad(&value.at, format!("{}: {message}", factor.name))
        }
    })
}

/// Points at the value that was refused, or at the plan where the value is a default.
fn refused(draft: &Draft, layer: LayerRef, combination: &Settings, refusal: &Refusal) -> LabError {
    let name = refusal.factor;
    let in_subject = draft.subject.get(name).map(|(_, value)| &value.at);
    let factor = layer.schema().factor(name);
    let is_refused = |value: &&Located<String>| {
        let setting = factor.and_then(|factor| layer.read(factor, &value.value).ok());
        setting.as_ref() == combination.setting(name)
    };
    let in_workload = draft.workload.get(name).map(|given| {
        given
            .values
            .iter()
            .find(is_refused)
            .map_or(&given.at, |value| &value.at)
    });
    let at = in_workload.or(in_subject).unwrap_or(&draft.name.at);
    bad(at, variants::named(at, name, refusal.message.clone()))
}

fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    !name.is_empty() && name.len() <= 64 && name.bytes().all(is_plain) && !name.starts_with('.')
}

pub(super) fn bad(at: &str, message: impl Into<String>) -> LabError {
    LabError::BadPlan {
        at: at.to_owned(),
        message: message.into(),
    }
}
