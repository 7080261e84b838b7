//! What a figure or a table says about its origin where it stands alone.

use super::{LayerSection, Report};
use crate::chart::Label;
use crate::section::FigureSlot;

impl Report {
    /// What a figure says about its origin where it stands alone.
    pub fn label_of(&self, figure: &str) -> Label {
        let of_layer = |layer: &LayerSection| {
            let drawn = layer.figures.iter().find_map(|slot| match slot {
                FigureSlot::Drawn(other) if other.id == figure => Some(other),
                _ => None,
            })?;
            Some(
                drawn
                    .subject
                    .clone()
                    .map_or_else(|| layer.answer.subject.clone(), String::from),
            )
        };
        let known = self.layers.iter().find_map(of_layer);
        Label {
            subject: match (known, &self.placement) {
                (Some(subject), _) => subject,
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
