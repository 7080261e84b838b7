//! The plans that ship, and which of them make up `outcrop profile`.

use crate::plan::PlanSource;

/// A plan that is part of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShippedPlan {
    /// Its name: `outcrop run NAME`.
    pub name: &'static str,
    /// The question that it answers.
    pub question: &'static str,
    /// TOML, as in `plans/`.
    pub text: &'static str,
}

impl ShippedPlan {
    /// The plan as a source that messages call `plans/NAME.toml`.
    pub fn source(&self) -> PlanSource {
        PlanSource {
            name: format!("plans/{}.toml", self.name),
            text: self.text.to_owned(),
        }
    }
}

macro_rules! shipped {
    ($($name:literal: $question:literal),* $(,)?) => {
        &[$(ShippedPlan {
            name: $name,
            question: $question,
            text: include_str!(concat!("../../../plans/", $name, ".toml")),
        }),*]
    };
}

/// Name and question stand here as well as in the files, so that listing them parses nothing; a test compares them.
static SHIPPED: &[ShippedPlan] = shipped! {
    "ssd-access-size": "How do bandwidth and latency change with the access size, for reads and for writes?",
    "ssd-read-write-mix": "What does a true mix of reads and writes give, beside pure reads and pure writes?",
    "ssd-queue-depth": "How do IOPS and latency change with queue depth, and where is the knee?",
    "ssd-max": "What are the highest bandwidth and IOPS that the device gives, beside its datasheet?",
    "ssd-matrix": "What do access size, queue depth and mix give in every combination?",
    "column-size": "How large is a dictionary column by cardinality and skew, beside the least that it could be?",
    "column-search": "How fast are rows found by value, prefix and range, in memory, on disk and by a scan?",
    "column-encode": "How fast is a column encoded, by threads, cardinality, skew and order of the rows?",
};

/// Every plan that ships.
pub fn shipped_plans() -> &'static [ShippedPlan] {
    SHIPPED
}

/// The plans that `outcrop profile` runs: all of the device layer, as they share most of their cells.
pub fn profile_plans() -> Vec<PlanSource> {
    let of_device = SHIPPED.iter().filter(|plan| plan.name.starts_with("ssd-"));
    of_device.map(ShippedPlan::source).collect()
}
