//! Plans: what is to be measured, read from TOML, checked, and written back with every default filled in.

mod budget;
mod check;
mod chosen;
mod data_form;
mod data_taken;
mod design;
mod distinguish;
mod doubt;
mod draft;
mod expanded;
mod fit;
mod parse;
mod promise;
mod room;
mod source;
mod stop;
mod unused;
mod variants;
mod written;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use outcrop_measure::seed::Seed;
use outcrop_measure::units::{ByteSize, TimeSpan};
use outcrop_schema::kv::{Constraints, Prices};
use outcrop_schema::{Setting, Settings, Vocabulary};

use crate::cell::{Cell, Subject, TrialOptions, merge};
use crate::effort::Effort;
use crate::error::LabError;
use crate::estimate::{self, Estimate};
use crate::layer::LayerRef;
use crate::layers::Layers;
use crate::order::{self, Trial};

pub use check::fresh_seed;
pub use data_form::DataForm;
pub use design::Design;
pub use doubt::{BudgetUse, FollowDoubt};
pub use draft::{Draft, Located};
pub use source::PlanSource;
pub use variants::{VariantFactors, VariantName};

/// One plan, checked, with the values of one effort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Name, unique within a run.
    pub name: String,
    /// The question that it answers.
    pub question: String,
    /// The layer that it measures.
    pub layer: LayerRef,
    /// What is measured.
    pub subject: Subject,
    /// Factors that are the same for every cell.
    pub workload: Settings,
    /// Factors that vary, with their values.
    pub factors: BTreeMap<&'static str, Vec<Setting>>,
    /// Which combinations of them are cells.
    pub design: Design,
    /// What a time budget does to it.
    pub budget: BudgetUse,
    /// How often and for how long each cell is measured.
    pub trial: TrialOptions,
    /// Which of two variants it is, where a run compares two.
    pub variant: Option<VariantName>,
}

/// What a caller decides beside the plans; what is `None` is left as the plans say.
#[derive(Clone, Debug, Default)]
pub struct PlanOptions {
    /// The layers that plans may name; by default those that ship.
    pub layers: Layers,
    /// Which of a plan's values to take.
    pub effort: Option<Effort>,
    /// The run's seed; by default that of an expanded plan, else a fresh one.
    pub seed: Option<Seed>,
    /// Where files of our own are made; by default that of an expanded plan, else the working directory.
    pub directory: Option<PathBuf>,
    /// The user's data, for each plan that measures such: in place of what the plan names.
    pub data: Option<PathBuf>,
    /// How those data are read, for the layers that can be told.
    pub data_form: DataForm,
    /// URL of a server of the user's, for each plan that measures servers: in place of those that the plan starts.
    pub server: Option<String>,
    /// Size of the subject, for each plan that has one of a chosen size.
    pub size: Option<ByteSize>,
    /// How much is taken of data that are sampled, for each plan that does so.
    pub sample_size: Option<ByteSize>,
    /// Trials per cell.
    pub repetitions: Option<u32>,
    /// Time before measuring starts.
    pub warm_up: Option<TimeSpan>,
    /// Time measured per trial.
    pub duration: Option<TimeSpan>,
    /// What may be written to the subjects: more is refused, or stops the run.
    pub max_written: Option<ByteSize>,
    /// The time that the whole run may take: plans say whether trials are shortened evenly until it fits, or go where the answer is open.
    pub budget: Option<TimeSpan>,
    /// What the answer to where to compress has to meet; by default that of an expanded plan.
    pub constraints: Constraints,
    /// The prices that the answer is worked out at; by default those of an expanded plan.
    pub prices: Option<Prices>,
    /// The layers whose plans are run; all, where none is named.
    pub only_layers: Vec<String>,
    /// Whether the plan is that of a run which goes on.
    pub is_resumed: bool,
    /// The time that a profile promises: of the user's data as much is measured as fits.
    pub promised: Option<TimeSpan>,
}

/// Where the settings of a run were given: messages name what can be given there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GivenIn {
    /// In the flags of a one-off, which has one for each factor of its layer.
    Flags,
    /// In plans.
    Plans,
}

/// The plans of one run, checked, with everything that decides what is measured and in which order.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanSet {
    seed: Seed,
    effort: Effort,
    version: String,
    directory: PathBuf,
    plans: Vec<Plan>,
    cells: Vec<Cell>,
    data_refusals: Vec<String>,
    data_notes: Vec<String>,
    max_written: Option<ByteSize>,
    /// The time that the run promised to take.
    time_limit: Option<promise::TimeLimit>,
    /// What checking its plans took of that; zero where nothing was promised.
    checking_took: Duration,
    /// The user's data, as a plan may be run from anywhere.
    data: Option<String>,
    constraints: Constraints,
    prices: Option<Prices>,
    doubt: Option<FollowDoubt>,
    vocabulary: Vocabulary,
}

impl PlanSet {
    /// Reads and checks plans.
    ///
    /// # Errors
    /// One sentence with file, line and column for the first thing wrong.
    pub fn from_sources(sources: &[PlanSource], options: &PlanOptions) -> Result<Self, LabError> {
        let mut header = parse::RunHeader::default();
        let mut drafts = Vec::new();
        for source in sources {
            let document = parse::document(source, options.effort)?;
            if document.is_expanded && sources.len() > 1 {
                let message = "an expanded plan (with [run]) repeats a whole run; run it without other plans";
                return Err(source.error(&(0..0), message));
            }
            header = document.header;
            drafts.extend(document.drafts);
        }
        chosen::keep_layers(&mut drafts, options)?;
        Self::check(header, drafts, options, GivenIn::Plans)
    }

    /// Checks a plan that was put together from flags.
    ///
    /// # Errors
    /// One sentence with the flag for the first thing wrong.
    pub fn from_drafts(drafts: Vec<Draft>, options: &PlanOptions) -> Result<Self, LabError> {
        Self::check(parse::RunHeader::default(), drafts, options, GivenIn::Flags)
    }

    /// The seed that every random choice of the run comes from.
    pub const fn seed(&self) -> Seed {
        self.seed
    }

    /// Which of the plans' values were taken.
    pub const fn effort(&self) -> Effort {
        self.effort
    }

    /// Version of Outcrop that expanded the plans.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Where files of our own are made; absolute.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The plans.
    pub fn plans(&self) -> &[Plan] {
        &self.plans
    }

    /// What a run of these plans is called: as its plan, as both of two, or as the first and how many more there are.
    pub fn name(&self) -> String {
        /// Letters that a listing of run folders has room for.
        const MOST_LETTERS: usize = 48;
        match self.plans() {
            [] => "plans".to_owned(),
            [only] => only.name.clone(),
            [first, second] if first.name.len() + second.name.len() <= MOST_LETTERS => {
                format!("{}-and-{}", first.name, second.name)
            }
            [first, others @ ..] => format!("{}-and-{}-more", first.name, others.len()),
        }
    }

    /// Every cell once, however many plans ask for it.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// For each layer that measures what its plans name although data of the user's were given: why.
    pub fn data_refusals(&self) -> &[String] {
        &self.data_refusals
    }

    /// What to know before the run: for each layer that measures data of the user's but not all of them, what it leaves out; and whether the
    /// run may end at the limit on the bytes written.
    pub fn data_notes(&self) -> &[String] {
        &self.data_notes
    }

    /// What a session may write to the subjects.
    pub const fn max_written(&self) -> Option<ByteSize> {
        self.max_written
    }

    /// The same plans with another limit on what a session may write.
    #[must_use]
    pub fn with_max_written(self, max_written: Option<ByteSize>) -> Self {
        Self { max_written, ..self }
    }

    /// The trials in the order they run: the same for the same plans and seed.
    pub fn trials(&self) -> Vec<Trial> {
        order::order(&self.cells, self.seed)
    }

    /// How long the run will take and what it will write.
    pub fn estimate(&self) -> Estimate {
        self.estimate_of(&self.cells)
    }

    fn estimate_of(&self, cells: &[Cell]) -> Estimate {
        match &self.doubt {
            Some(doubt) => doubt.estimate(cells),
            None => estimate::estimate(cells),
        }
    }

    /// The cells that cannot be measured on this machine, with the reasons.
    pub fn hindered(&self) -> Vec<(&Cell, String)> {
        let hindrance = |cell: &'_ Cell| cell.layer.hindrance(cell);
        let cells = self.cells.iter();
        cells.filter_map(|cell| Some((cell, hindrance(cell)?))).collect()
    }

    /// The estimate without the cells that cannot be measured on this machine.
    pub fn estimate_here(&self) -> Estimate {
        self.estimate_of(&self.measurable())
    }

    /// The cells that can be measured on this machine, with as many trials as are likely where effort follows doubt.
    pub fn cells_here(&self) -> Vec<Cell> {
        let here = self.measurable();
        match &self.doubt {
            Some(doubt) => doubt.likely_cells(&here),
            None => here,
        }
    }

    fn measurable(&self) -> Vec<Cell> {
        let mut here = self.cells.clone();
        here.retain(|cell| cell.layer.hindrance(cell).is_none());
        here
    }

    /// What the answer to where to compress has to meet, and the prices that it is worked out at.
    pub const fn limits(&self) -> (&Constraints, Option<&Prices>) {
        (&self.constraints, self.prices.as_ref())
    }

    /// The budget within which effort follows doubt, and what the answer has to meet; none where all trials are planned.
    pub const fn follows_doubt(&self) -> Option<&FollowDoubt> {
        self.doubt.as_ref()
    }

    /// The vocabulary of the layers that its plans may name.
    pub const fn vocabulary(&self) -> Vocabulary {
        self.vocabulary
    }

    /// The plans in TOML with every default written out; reading it again gives the same run.
    pub fn to_toml(&self) -> String {
        expanded::to_toml(self)
    }

    fn recount(&mut self) {
        self.cells = merge(self.plans.iter().flat_map(check::cells_of));
        if self.doubt.is_some() {
            self.cells.iter_mut().for_each(doubt::let_go_on);
        }
    }
}
