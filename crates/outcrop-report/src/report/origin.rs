//! What a figure or a table says about its origin where it stands alone.

use super::{LayerSection, Report};
use crate::chart::Label;
use crate::section::FigureSlot;

impl Report {
    /// What a figure says about its origin where it stands alone.
    pub fn label_of(&self, figure: &str) -> Label {
        let is_there = |layer: &&LayerSection| {
            let mut slots = layer.figures.iter();
            slots.any(|slot| matches!(slot, FigureSlot::Drawn(other) if other.id == figure))
        };
        let layer = self.layers.iter().find(is_there);
        Label {
            subject: match (layer, &self.placement) {
                (Some(layer), _) => layer.answer.subject.clone(),
                (None, Some(placement)) => placement.subject.clone(),
                (None, None) => String::new(),
            },
            origin: self.origin(),
        }
    }

    /// When, in which run, on which CPU and by which version it was measured: what a table or a figure says that stands alone.
    pub fn origin(&self) -> String {
        let date = self.run.started_at.split('T').next().unwrap_or_default();
        let ours = format!("outcrop {}", self.run.software);
        let version = match &self.run.imported_from {
            Some(from) => format!("imported from {from} by {ours}"),
            None => ours,
        };
        let mut parts = vec![date, &self.run.name, self.machine(), &version];
        parts.retain(|part| !part.is_empty());
        parts.join(" · ")
    }

    /// The model of the CPU; empty where it is unknown.
    fn machine(&self) -> &str {
        let mut facts = self.environment.iter();
        let model = facts.find(|fact| fact.section == "cpu" && fact.name == "model");
        let known = model.map(|fact| fact.value.as_str());
        known
            .filter(|model| !model.starts_with("unavailable"))
            .unwrap_or_default()
    }
}
