//! The lab: plans become cells, cells become trials in an interleaved order, trials become a journal.
//!
//! It knows plans, repetitions, order, time and resuming; what a layer measures is behind the
//! [`layer::Layer`] trait, and how results are stored is `outcrop-results`. What it is not: it renders
//! nothing, and it has no engine of its own.
//!
//! # Example
//!
//! ```
//! use outcrop_lab::{Effort, PlanOptions, PlanSet, shipped_plans};
//!
//! let plan = shipped_plans().iter().find(|plan| plan.name == "ssd-queue-depth").expect("it ships");
//! let options = PlanOptions { effort: Some(Effort::Quick), ..PlanOptions::default() };
//! let set = PlanSet::from_sources(&[plan.source()], &options)?;
//! assert_eq!(set.trials().len(), set.cells().len() * 3);
//! println!("{} cells, {:?}", set.cells().len(), set.estimate().total());
//! # Ok::<(), outcrop_lab::LabError>(())
//! ```

pub mod cell;
mod deadline;
mod doubt;
pub mod effort;
pub mod error;
pub mod estimate;
mod eta;
pub mod execute;
mod failures;
pub mod layer;
pub mod layers;
pub mod observer;
pub mod one_off;
pub mod order;
mod outcome;
pub mod plan;
pub mod profile;
mod rounds;
pub mod run;
mod same_data;

pub use cell::{Cell, Subject, TrialOptions};
pub use effort::Effort;
pub use error::{LabError, what_is_kept};
pub use estimate::Estimate;
pub use execute::execute;
pub use layer::{LayerRef, Profile};
pub use layers::Layers;
pub use observer::{Event, Observer};
pub use order::Trial;
pub use outcome::RunOutcome;
pub use plan::{
    BudgetUse, DataForm, Design, Draft, FollowDoubt, Plan, PlanOptions, PlanSet, PlanSource, VariantFactors,
    VariantName, fresh_seed,
};
pub use profile::{
    ProfilePlans, ShippedPlan, plan_source, profile_layers, profile_options, profile_plans,
    profile_plans_for, shipped_hint, shipped_plans,
};
pub use run::{ResumedRun, new_run, resume};
