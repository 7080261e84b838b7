//! Steady state by the rule that vendors' figures are held to.
//!
//! *Source*: SNIA, "Solid State Storage (SSS) Performance Test Specification (PTS)", version 2.0.1, 2018,
//! definition of steady state: over the last five rounds the tracked value y satisfies
//! max(y) − min(y) ≤ 20 % of its average, and the ends of its least-squares line differ by ≤ 10 % of that average.
//!
//! SNIA's procedure *stops* at the first steady window. A trial goes on, and its figure is the mean of all of it, so
//! here the last five rounds are judged, and a series whose level shifted is not steady, whatever its end looks like.

use serde::{Deserialize, Serialize};

use crate::change_point::{Shift, level_shift};

/// Rounds in the measurement window.
pub const WINDOW_ROUNDS: usize = 5;
/// Largest data excursion: max − min as a fraction of the mean.
pub const MAX_EXCURSION: f64 = 0.20;
/// Largest slope excursion: what the fitted line changes across the window, as a fraction of the mean.
pub const MAX_DRIFT: f64 = 0.10;

/// The verdict on a series of rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum SteadyState {
    /// The last five rounds are steady, and no level shifted before them.
    Steady {
        /// The last five rounds.
        last: Window,
    },
    /// They are not, or a level shifted.
    NotSteady {
        /// The last five rounds.
        last: Window,
        /// Where the level shifted, if it did.
        shift: Option<Shift>,
    },
    /// There are fewer than five rounds.
    TooFewRounds {
        /// Rounds given.
        rounds: usize,
    },
}

impl SteadyState {
    /// Whether the series is steady.
    pub const fn is_steady(&self) -> bool {
        matches!(self, Self::Steady { .. })
    }

    /// The last five rounds.
    pub const fn last(&self) -> Option<Window> {
        match self {
            Self::Steady { last } | Self::NotSteady { last, .. } => Some(*last),
            Self::TooFewRounds { .. } => None,
        }
    }
}

/// Five consecutive rounds, judged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Mean of the rounds, in the unit of the series.
    pub mean: f64,
    /// (max − min) ÷ mean.
    pub excursion: f64,
    /// Slope of the least-squares line, in the unit of the series per round.
    pub slope: f64,
    /// |slope| × 4 ÷ mean: what the line changes from the first to the last round of the window.
    pub drift: f64,
}

impl Window {
    fn over(values: &[f64]) -> Self {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let min = values.iter().copied().fold(f64::INFINITY, f64::min);
        // Least squares with the rounds' positions centred, so that the intercept drops out.
        let centre = (values.len() - 1) as f64 / 2.0;
        let offsets = (0..values.len()).map(|position| position as f64 - centre);
        let products: f64 = values
            .iter()
            .zip(offsets.clone())
            .map(|(value, offset)| value * offset)
            .sum();
        let squares: f64 = offsets.map(|offset| offset * offset).sum();
        let slope = products / squares;
        let drift = slope.abs() * (values.len() - 1) as f64 / mean;
        Self {
            mean,
            excursion: (max - min) / mean,
            slope,
            drift,
        }
    }

    /// Whether both limits hold. A mean that is zero, negative or not a number is never steady: nothing was done.
    pub fn is_steady(&self) -> bool {
        self.mean > 0.0 && self.excursion <= MAX_EXCURSION && self.drift <= MAX_DRIFT
    }
}

/// Judges the value of each round (IOPS, bandwidth or latency) by the last five, and by whether its level shifted.
pub fn steady_state(rounds: &[f64]) -> SteadyState {
    let Some(start) = rounds.len().checked_sub(WINDOW_ROUNDS) else {
        return SteadyState::TooFewRounds { rounds: rounds.len() };
    };
    let last = Window::over(&rounds[start..]);
    match level_shift(rounds) {
        None if last.is_steady() => SteadyState::Steady { last },
        shift => SteadyState::NotSteady { last, shift },
    }
}
