//! The toy's vocabulary: two factors, three metrics and a remark.

use outcrop_schema::parse::{count, spelled};
use outcrop_schema::{Factor, Label, LayerSchema, RemarkKind, Value};

pub(super) static SCHEMA: LayerSchema = LayerSchema {
    workload: &[&TOSSES, &BIAS],
    metrics: &[METRICS],
    headline: &[HEADS],
    remarks: &[IS_LOADED],
    ..LayerSchema::named("coin")
};

outcrop_workload::words! {
    /// Whether the coin is fair.
    pub enum Bias: "bias" {
        /// Half heads.
        Fair = "fair",
        /// Nine in ten.
        Loaded = "loaded",
    }
}

impl Value for Bias {}

pub(super) static TOSSES: Factor<u64> = Factor::new("tosses", "Tosses of a trial", count::<1_000_000>)
    .default("100")
    .label(Label::Always("{} tosses"));
pub(super) static BIAS: Factor<Bias> = Factor::new("bias", "Whether the coin is fair", spelled)
    .default("fair")
    .label(Label::Unusual("{}"));

outcrop_schema::metrics! { METRICS:
    HEADS = "heads_share", Ratio, Higher, Trial, "heads over tosses";
    RATE = "toss_rate", PerSecond, Higher, Trial, "tosses per second";
    SIDES = "sides", Count, Neither, Run, "sides that the coin has";
}

pub(super) const IS_LOADED: RemarkKind = RemarkKind::new("loaded", "the coin is not fair", "");
