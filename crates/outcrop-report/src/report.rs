//! The report: everything worked out once, ready to be spelled as HTML, JSON or a screen.

mod origin;

use std::collections::BTreeSet;

use outcrop_results::{CellView, Envelope, Outcome, RunView};
use outcrop_schema::{column, kv};
use serde::Serialize;
use serde_json::Value;

use crate::answer::{Answer, Doubtful};
use crate::cell_table::Grid;
use crate::chart::Figure;
use crate::comparison::{Detail, comparison_text, of_variants};
use crate::environment::Fact;
use crate::error::ReportError;
use crate::finding::Finding;
use crate::layer::{self, ReportedLayer};
use crate::layers::LAYERS;
use crate::number::counted;
use crate::placement::{Bounds, Constraints, Limits, MeasuredSystem, Placement, Predictions, Prices};
use crate::section::{FigureSlot, Matrix, Method, Missing, ReferenceSection};
use crate::{environment, html, screen};

/// A run, worked out.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Which run, when and with what.
    pub run: RunSummary,
    /// How the trials ended.
    pub trials: TrialCounts,
    /// Where to compress, where the run can tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// One section per layer that the run measured.
    pub layers: Vec<LayerSection>,
    /// The machine, as facts in reading order.
    pub environment: Vec<Fact>,
    /// How busy the machine was with other work, where it was.
    #[serde(skip)]
    pub(crate) other_load: Option<String>,
    /// The verdicts of a run of two variants, as `outcrop ab` printed them.
    #[serde(skip)]
    pub(crate) verdicts: Option<String>,
    /// What tells it from the report of the run as it was measured: `min-ratio-2.5`; empty where nothing does.
    #[serde(skip)]
    pub(crate) slug: String,
}

/// Which run, when, and with what.
#[derive(Clone, Debug, Serialize)]
pub struct RunSummary {
    /// Name of the run folder.
    pub name: String,
    /// Path of the run folder as it was given.
    pub folder: String,
    /// Start of the first trial, RFC 3339; empty without trials.
    pub started_at: String,
    /// Version of outcrop that wrote this report.
    pub software: String,
    /// The program that measured, with its version, where that was another one.
    #[serde(skip)]
    pub(crate) imported_from: Option<String>,
    /// The expanded plan, TOML.
    pub plan: String,
    /// Effort, if the plan states it.
    pub effort: Option<String>,
    /// The run's seed, if the plan states it.
    pub seed: Option<String>,
    /// Whether trials of its plan are missing, which resuming it measures.
    #[serde(skip)]
    pub is_unfinished: bool,
    /// Whether trials of stores are among those.
    #[serde(skip)]
    pub lacks_trials_of_stores: bool,
    /// The flags of the report's limits, where the plan has others.
    #[serde(skip)]
    pub(crate) limits: String,
}

/// How many trials there were and how they ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TrialCounts {
    /// Trials that count and have a figure.
    pub completed: usize,
    /// Trials that were stopped from outside.
    pub interrupted: usize,
    /// Trials that could not be measured.
    pub failed: usize,
    /// What the failed ones said, each message once.
    pub failures: BTreeSet<String>,
    /// Cells with at least one of these.
    pub cells: usize,
    /// Cells whose completed trials only say why nothing could be measured.
    pub unmeasured_cells: usize,
    /// Bytes of a torn last line of the journal: the run was killed, or is still being written.
    pub torn_bytes: u64,
}

/// What one layer contributes.
#[derive(Clone, Debug, Serialize)]
pub struct LayerSection {
    /// The layer (`device`).
    pub layer: String,
    /// What it was measured on instead of the data that the run was given, which were too small for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured_instead: Option<String>,
    /// What the reader came for.
    pub answer: Answer,
    /// Sentences checked against records.
    pub findings: Vec<Finding>,
    /// Every cell, in the tables of the page; programs have them as cells of their own.
    #[serde(skip)]
    pub(crate) cells: Vec<Grid>,
    /// Figures, or what is missing for them.
    pub figures: Vec<FigureSlot>,
    /// Matrices that could be filled.
    pub matrices: Vec<Matrix>,
    /// Matrices that could not.
    pub missing_matrices: Vec<Missing>,
    /// Published figures beside ours.
    pub references: Vec<ReferenceSection>,
    /// How each quantity was obtained.
    pub methods: Vec<Method>,
    /// What the engine reported, each remark once.
    pub notes: Vec<Note>,
}

/// A remark that trials made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// The remark.
    pub text: String,
    /// On how many of the trials: `all 420 trials`.
    pub trials: String,
}

/// Figures of the answers that are known too badly to decide anything.
#[derive(Clone, Debug)]
pub(crate) struct WideFigures {
    pub(crate) total: Doubtful,
    /// The same of each layer.
    pub(crate) of_layers: Vec<(String, Doubtful)>,
}

impl Report {
    /// Works a run out. Never fails: what the run cannot support is listed as missing, with the reason.
    ///
    /// *Cost*: decodes every histogram of the cells that figures need once.
    pub fn of(run: &RunView) -> Self {
        Self::of_layers(run, LAYERS)
    }

    /// The same with published figures in the charts: those of the references with these names.
    pub fn beside(run: &RunView, references: &[String]) -> Self {
        Self::under(run, references, &Constraints::default(), None)
    }

    /// The same with other layers than those that ship.
    pub fn of_layers(run: &RunView, layers: &[&ReportedLayer]) -> Self {
        Self::worked_out(run, layers, &[], &Constraints::default(), None)
    }

    /// The same with an answer to where to compress that meets these constraints, and its cost at these prices.
    pub fn under(
        run: &RunView,
        references: &[String],
        constraints: &Constraints,
        prices: Option<&Prices>,
    ) -> Self {
        Self::worked_out(run, LAYERS, references, constraints, prices)
    }

    fn worked_out(
        run: &RunView,
        layers: &[&ReportedLayer],
        references: &[String],
        constraints: &Constraints,
        prices: Option<&Prices>,
    ) -> Self {
        let cells = run.cells();
        let limits = Limits::of(run, constraints, prices);
        let (constraints, slug, flags) = (limits.constraints.clone(), limits.slug(), limits.flags());
        let has_prices = limits.prices.is_some();
        let system = MeasuredSystem::of(run).ok();
        let predictions = system.as_ref().and_then(|system| system.predictions().ok());
        let placement = Placement::within(run, limits, predictions.as_ref());
        let cpus = environment::cpus(&run.environment);
        let bounds = Bounds::new(&constraints, placement.as_ref(), cpus)
            .with_prices(has_prices)
            .with_flags(&flags);
        let mut sections = layer::sections(layers, run, &cells, references, &bounds);
        let has_columns = sections
            .iter()
            .any(|section| section.layer == column::SCHEMA.name);
        let placement = match has_columns {
            true => placement.map(Placement::beside_columns),
            false => placement,
        };
        // Predictions need the codec layer's figures too.
        let checked = predictions.iter().flat_map(Predictions::findings);
        let stores = sections
            .iter_mut()
            .find(|section| section.layer == kv::SCHEMA.name);
        if let Some(stores) = stores {
            stores.findings.extend(checked);
        }
        Self {
            run: RunSummary::of(run, flags),
            trials: TrialCounts::of(run, &cells),
            layers: sections,
            placement,
            environment: environment::facts(&run.environment),
            other_load: environment::other_load(&run.environment),
            verdicts: of_variants(run).map(|both| comparison_text(&both, &Detail::default())),
            slug,
        }
    }

    /// What a page of it is called: `report.html`, or `report-min-ratio-2.5.html` under limits that are not those of the run, whose own page
    /// it does not replace.
    pub fn page_name(&self, stem: &str) -> String {
        match self.slug.as_str() {
            "" => format!("{stem}.html"),
            slug => format!("{stem}-{slug}.html"),
        }
    }

    /// Whether it is under limits, or at prices, that are not those of the run.
    pub fn is_under_other_limits(&self) -> bool {
        !self.slug.is_empty()
    }

    /// The page: one self-contained HTML document.
    pub fn to_html(&self) -> String {
        html::page(self)
    }

    /// The answers and the first figures of each layer, for one or two sheets of paper.
    pub fn to_one_page_html(&self) -> String {
        html::one_page(self)
    }

    /// What comparing the two variants of the run gives, in 80 columns; none of a run that did not measure two.
    pub fn verdicts(&self) -> Option<&str> {
        self.verdicts.as_deref()
    }

    /// A summary of a screen, with room for the report's path, for a terminal of `width` columns, with colour codes only if `colour`: at most 22
    /// lines for one layer, and at most 3 for each of several with a head and 6 lines below.
    pub fn screen(&self, width: usize, colour: bool) -> String {
        screen::render(self, width, colour)
    }

    /// Every figure that could be drawn, in the order of the page.
    pub fn figures(&self) -> Vec<&Figure> {
        let slots = self.layers.iter().flat_map(|layer| &layer.figures);
        let of_layers = slots.filter_map(|slot| match slot {
            FigureSlot::Drawn(figure) => Some(figure),
            FigureSlot::Missing(_) => None,
        });
        let placement = self.placement.as_ref();
        let across = placement.and_then(|placement| placement.figure.as_ref());
        across.into_iter().chain(of_layers).collect()
    }

    /// Findings and advice in the JSON shape that all commands share; the rest of the report is its details.
    ///
    /// # Errors
    /// [`ReportError::Json`] if a value cannot be written, which no value of a report should be.
    pub fn in_envelope(&self, mut envelope: Envelope) -> Result<Envelope, ReportError> {
        if let Some(placement) = &self.placement {
            let claim = with_layer(serde_json::to_value(placement.as_claim())?, kv::SCHEMA.name);
            envelope.advice.push(claim);
        }
        for section in &self.layers {
            let named = |value: Value| with_layer(value, &section.layer);
            for finding in &section.findings {
                let finding = flat_verdict(serde_json::to_value(finding)?);
                envelope.findings.push(named(finding));
            }
            for claim in &section.answer.advice {
                envelope.advice.push(named(serde_json::to_value(claim)?));
            }
        }
        if let Value::Object(report) = self.to_json()? {
            envelope.details = report;
        }
        Ok(envelope)
    }

    /// How many figures of the answers are known to no better than ± 30 % or by one trial, by layer and in all; none where every one is known
    /// better.
    pub(crate) fn wide_figures(&self) -> Option<WideFigures> {
        let layers = self.layers.iter();
        let of_layers = layers.map(|layer| (layer.layer.clone(), layer.answer.doubtful_figures()));
        let of_layers: Vec<_> = of_layers.collect();
        let counts = of_layers.iter().map(|(_, counts)| *counts);
        let total = counts.fold(Doubtful::default(), Doubtful::and);
        (total.count() > 0).then_some(WideFigures { total, of_layers })
    }

    /// Answer, findings, matrices, references and the values of all figures as JSON.
    ///
    /// # Errors
    /// [`ReportError::Json`] if a value cannot be written, which no value of a report should be.
    pub fn to_json(&self) -> Result<Value, ReportError> {
        Ok(serde_json::to_value(self)?)
    }
}

/// A finding with its verdict as a word, and the reason of that beside it.
fn flat_verdict(mut finding: Value) -> Value {
    if let Value::Object(fields) = &mut finding
        && let Some(Value::Object(verdict)) = fields.remove("verdict")
    {
        fields.extend(verdict);
    }
    finding
}

/// What a layer says, with the layer's name.
fn with_layer(mut value: Value, layer: &str) -> Value {
    if let Value::Object(fields) = &mut value {
        fields.insert("layer".to_owned(), layer.into());
    }
    value
}

impl RunSummary {
    fn of(run: &RunView, limits: String) -> Self {
        let started_at = run.trials.iter().map(|trial| trial.started_at.as_str()).min();
        Self {
            name: run.name.clone(),
            folder: run.dir.display().to_string(),
            started_at: started_at.unwrap_or_default().to_owned(),
            software: env!("CARGO_PKG_VERSION").to_owned(),
            imported_from: environment::imported_from(&run.environment).map(str::to_owned),
            plan: run.plan.clone(),
            effort: plan_setting(&run.plan, "effort"),
            seed: plan_setting(&run.plan, "seed"),
            is_unfinished: run.is_unfinished(),
            lacks_trials_of_stores: run.lacks_trials(kv::SCHEMA.name, 0),
            limits,
        }
    }

    /// When, how thorough, with which seed.
    pub(crate) fn one_line(&self) -> String {
        let mut parts = Vec::new();
        if !self.started_at.is_empty() {
            let seconds = self.started_at.split('.').next().unwrap_or_default();
            parts.push(format!("started {}Z", seconds.trim_end_matches('Z')));
        }
        parts.extend(self.effort.iter().map(|effort| format!("effort {effort}")));
        parts.extend(self.seed.iter().map(|seed| format!("seed {seed}")));
        parts.push(format!("outcrop {}", self.software));
        parts.join(" · ")
    }
}

/// A setting of the plan's `[run]` table, as text.
pub(crate) fn plan_setting(plan: &str, name: &str) -> Option<String> {
    let plan: toml::Table = toml::from_str(plan).ok()?;
    match plan.get("run")?.get(name)? {
        toml::Value::String(text) => Some(text.clone()),
        value => Some(value.to_string()),
    }
}

/// A table below the plan's `[run]`.
pub(crate) fn plan_table(plan: &str, name: &str) -> Option<toml::Table> {
    let plan: toml::Table = toml::from_str(plan).ok()?;
    plan.get("run")?.get(name)?.as_table().cloned()
}

impl TrialCounts {
    fn of(run: &RunView, cells: &[CellView<'_>]) -> Self {
        let is_measured = |cell: &&CellView<'_>| cell.completed.iter().any(|trial| trial.is_measured());
        let measured = cells.iter().filter(is_measured).count();
        let completed = cells.iter().filter(|cell| !cell.completed.is_empty()).count();
        let mut counts = Self {
            cells: measured,
            unmeasured_cells: completed - measured,
            torn_bytes: run.torn_bytes,
            ..Self::default()
        };
        for trial in &run.trials {
            match &trial.outcome {
                Outcome::Completed => counts.completed += usize::from(trial.is_measured()),
                Outcome::Interrupted => counts.interrupted += 1,
                Outcome::Failed { message } => {
                    counts.failed += 1;
                    counts.failures.insert(message.clone());
                }
            }
        }
        counts
    }

    /// `2 cells not measured`, where there are any.
    pub(crate) fn unmeasured(&self) -> Option<String> {
        (self.unmeasured_cells > 0)
            .then(|| format!("{} not measured", counted(self.unmeasured_cells, "cell")))
    }

    /// How the trials ended, in a sentence.
    pub(crate) fn sentence(&self) -> String {
        let Self {
            completed,
            cells,
            interrupted,
            failed,
            ..
        } = self;
        let mut text = format!(
            "Trials: {completed} completed over {cells} cells, {interrupted} interrupted, {failed} failed."
        );
        if let Some(unmeasured) = self.unmeasured() {
            text.push_str(&format!(" {unmeasured}."));
        }
        if self.torn_bytes > 0 {
            text.push_str(
                " The journal ends in the middle of a line: the run was killed or is still running.",
            );
        }
        text
    }
}
