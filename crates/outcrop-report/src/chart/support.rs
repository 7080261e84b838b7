//! What a value of a figure rests on: its samples, the confidence of its interval, and where it comes from.

use outcrop_measure::metric::Provenance;
use serde::Serialize;

use super::SeriesKind;
use crate::number::Number;

/// What a value rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Support {
    /// Samples of the value; none where it is computed from others or published without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) n: Option<usize>,
    /// Confidence that the interval has.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "super::significant::option"
    )]
    pub(crate) confidence: Option<f64>,
    /// Whether the samples are parts of the data, and the interval is that of all of them.
    #[serde(skip)]
    pub(crate) is_of_sample: bool,
    /// Where the value comes from, if its series does not say so: a line of another program's results is drawn as one of ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) provenance: Option<Provenance>,
}

impl Support {
    /// That of a number.
    pub(crate) fn of(number: &Number) -> Self {
        Self {
            n: (number.provenance != Provenance::Published).then_some(number.n),
            confidence: number.interval.map(|interval| interval.confidence),
            is_of_sample: number.is_of_sample,
            provenance: Some(number.provenance),
        }
    }

    /// That of a value computed from others, with the samples of the one that has the fewest, where that is known.
    pub(crate) fn derived(n: Option<usize>) -> Self {
        Self {
            n,
            provenance: Some(Provenance::Derived),
            ..Self::default()
        }
    }

    /// Leaves out what the series says of all its values.
    pub(super) fn within(&mut self, kind: SeriesKind) {
        self.provenance = self.provenance.filter(|own| *own != kind.provenance());
    }
}
