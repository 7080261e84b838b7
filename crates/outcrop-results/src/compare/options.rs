//! What somebody may ask of a comparison: its margin, how much drift to allow for, and what to assume of publications.

use std::collections::{BTreeMap, BTreeSet};

use outcrop_schema::{FactorRef, LayerSchema, Vocabulary};

use super::verdict::{DEFAULT_DRIFT, DEFAULT_MARGIN};
use super::{Comparand, SideCell};
use crate::error::ResultsError;
use crate::factors;

/// How two sides are compared.
#[derive(Clone, Debug, PartialEq)]
pub struct CompareOptions {
    /// What counts as the same: 0.05 for ± 5 %.
    pub margin: f64,
    /// What two separate runs may differ by with nothing changed: 0.05 for ± 5 %. Sides that were measured in pairs are judged without.
    pub drift: f64,
    /// Full names of the metrics that `--fail-if` asks for: they are a family, so that their verdicts are those of the conditions.
    pub asked: BTreeSet<String>,
    /// Conditions that a publication does not state, by name, and what is assumed of them.
    pub assumed: BTreeMap<String, String>,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            margin: DEFAULT_MARGIN,
            drift: DEFAULT_DRIFT,
            asked: BTreeSet::new(),
            assumed: BTreeMap::new(),
        }
    }
}

impl CompareOptions {
    /// The same, every assumption in the spelling of its factor.
    pub(super) fn checked(&self) -> Result<Self, ResultsError> {
        let bad = |assumption: String, reason: String| ResultsError::BadAssumption { assumption, reason };
        let mut assumed = BTreeMap::new();
        for (name, value) in &self.assumed {
            let known = assumable();
            let Some((layer, _)) = known.iter().find(|(_, factor)| factor.name == name) else {
                let mut names: Vec<&str> = known.iter().map(|(_, factor)| factor.name).collect();
                names.sort_unstable();
                names.dedup();
                let reason = format!(
                    "it is not a condition that publications leave out; expected one of {}",
                    names.join(", ")
                );
                return Err(bad(format!("{name}={value}"), reason));
            };
            let spelled = factors::canonical(Vocabulary::default().layer(layer), name, value)
                .map_err(|reason| bad(format!("{name}={value}"), reason))?;
            assumed.extend([spelled]);
        }
        Ok(Self {
            assumed,
            ..self.clone()
        })
    }
}

/// Why an assumption that no cell took is refused: somebody would believe that it was made.
pub(super) fn unused((name, value): (&String, &String), sides: [Comparand<'_>; 2]) -> ResultsError {
    let is_published = |side: &Comparand<'_>| matches!(side, Comparand::Reference(_));
    let known = assumable();
    let layers = || {
        known
            .iter()
            .filter(|(_, factor)| factor.name == name)
            .map(|(layer, _)| *layer)
    };
    let has_it = |side: &Comparand<'_>| {
        let cells = SideCell::all_of(*side);
        is_published(side) && cells.iter().any(|cell| layers().any(|layer| layer == cell.layer))
    };
    let words = name.replace('_', " ");
    let reason = match sides.iter().any(is_published) {
        true if sides.iter().any(has_it) => format!("the publication states its {words} in each cell that has one"),
        true => format!("the publication has no cells with a {words}; leave it out"),
        false => "neither side is a publication, and a run states what it measured; for a fio result, give it to `outcrop import fio FILE --assume`"
            .to_owned(),
    };
    ResultsError::BadAssumption {
        assumption: format!("{name}={value}"),
        reason,
    }
}

/// What a publication has to state, with the layer whose publications have to.
fn assumable() -> Vec<(&'static str, FactorRef)> {
    let layers = Vocabulary::default();
    let of_layer = |layer: &&'static LayerSchema| {
        to_state(layer)
            .map(|factor| (layer.name, factor))
            .collect::<Vec<_>>()
    };
    layers.layers().iter().flat_map(of_layer).collect()
}

/// What publications of a layer have to state, for all of their figures or for some.
pub(super) fn to_state(layer: &'static LayerSchema) -> impl Iterator<Item = FactorRef> {
    let of_metrics = layer
        .all_metrics()
        .flat_map(|metric| (layer.rests_on)(metric.name).iter().copied().flatten());
    layer.to_state.iter().chain(of_metrics).copied()
}
