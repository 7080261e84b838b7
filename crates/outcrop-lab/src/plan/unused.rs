//! Choices that no plan of a run has a use for.

use outcrop_schema::LayerSchema;

use super::check::bad;
use super::{GivenIn, Plan, PlanOptions};
use crate::error::LabError;

/// Refuses a choice that no plan has a use for.
pub(super) fn refuse_unused(
    options: &PlanOptions,
    plans: &[Plan],
    given_in: GivenIn,
) -> Result<(), LabError> {
    // Commands of one layer have a place by default, and refuse two of them.
    let is_path_given = options.directory.is_some() && given_in == GivenIn::Plans;
    let is_in_directory = |plan: &Plan| plan.layer.is_in_directory(&plan.subject);
    if is_path_given && !plans.iter().any(is_in_directory) {
        return Err(bad(
            "--path",
            "what is measured is at the place that the plan names; change `path` there, or leave --path out",
        ));
    }
    let any = |takes: fn(&LayerSchema) -> bool| plans.iter().any(|plan| takes(plan.layer.schema()));
    let warms_up = |plan: &Plan| {
        let combinations = plan.design.combinations(&plan.workload, &plan.factors);
        combinations.iter().any(|factors| plan.layer.warms_up(factors))
    };
    let choices = [
        (
            "--warm-up",
            options.warm_up.is_some_and(|time| !time.0.is_zero()),
            plans.iter().any(warms_up),
            "has a warm-up that takes a given time",
        ),
        (
            "--server",
            options.server.is_some(),
            any(|schema| schema.server.is_some()),
            "measures a server",
        ),
        (
            "--size",
            options.size.is_some(),
            any(|schema| schema.size.is_some()),
            "has a file whose size can be chosen",
        ),
        (
            "--sample-size",
            options.sample_size.is_some(),
            any(|schema| schema.sampling.is_some()),
            "takes a sample of data for codecs",
        ),
    ];
    let unused = choices
        .iter()
        .find(|(_, is_given, is_used, _)| *is_given && !is_used);
    unused.map_or(Ok(()), |(flag, _, _, what)| {
        Err(bad(flag, format!("none of these plans {what}; leave it out")))
    })
}
