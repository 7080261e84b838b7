//! One-off questions, asked by flags or keywords instead of a plan: what they measure and for how long where nobody says.

use outcrop_measure::units::TimeSpan;
use outcrop_schema::{FactorRef, LayerSchema, compression};

use crate::plan::{Draft, PlanOptions};

/// A question about one layer that is asked without a plan.
#[derive(Clone, Copy, Debug)]
pub struct OneOff {
    /// The name of its runs.
    pub name: &'static str,
    /// The question that it answers.
    pub question: &'static str,
    /// The layer's vocabulary.
    pub schema: &'static LayerSchema,
    /// Values where a factor is left out, instead of the one that a plan would take.
    pub defaults: &'static [(FactorRef, &'static [&'static str])],
    /// Time measured per trial: a one-off answers soon.
    pub duration: TimeSpan,
    /// Time before measuring starts.
    pub warm_up: TimeSpan,
}

/// Codecs, on the user's data or the built-in sample.
pub const CODEC: OneOff = OneOff {
    name: "codec",
    question: "How do these codecs perform on these data?",
    schema: &compression::SCHEMA,
    // One candidate would be no choice.
    defaults: &[(&compression::CODEC, &["lz4", "zstd:1", "zstd:3", "zstd:9"])],
    duration: TimeSpan::milliseconds(500),
    warm_up: TimeSpan::milliseconds(50),
};

impl OneOff {
    /// A plan in which every factor has the layer's default; `at` is what messages about the plan as a whole point to.
    pub fn draft(&self, at: &str) -> Draft {
        Draft::new(self.name, self.question, self.schema.name, at)
    }

    /// The options with the one-off's times where none were given.
    #[must_use]
    pub fn timed(&self, options: PlanOptions) -> PlanOptions {
        PlanOptions {
            duration: options.duration.or(Some(self.duration)),
            warm_up: options.warm_up.or(Some(self.warm_up)),
            ..options
        }
    }
}
