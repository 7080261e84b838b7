//! Steady state by the rule that vendors' figures are held to.
//!
//! *Source*: SNIA, "Solid State Storage (SSS) Performance Test Specification (PTS)", version 2.0.1, 2018,
//! definition of steady state: over the last five rounds the tracked value y satisfies
//! max(y) − min(y) ≤ 20 % of its average, and the ends of its least-squares line differ by ≤ 10 % of that average; a test
//! runs for at most 25 rounds.

use serde::{Deserialize, Serialize};

/// Rounds in the measurement window.
pub const WINDOW_ROUNDS: usize = 5;
/// Rounds after which a device counts as not reaching steady state.
pub const MAX_ROUNDS: usize = 25;
/// Largest data excursion: max − min as a fraction of the mean.
pub const MAX_EXCURSION: f64 = 0.20;
/// Largest slope excursion: what the fitted line changes across the window, as a fraction of the mean.
pub const MAX_DRIFT: f64 = 0.10;

/// The verdict on a series of rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum SteadyState {
    /// The window that ends with this round is steady; it is the first that is.
    Reached(Window),
    /// No window is, in the rounds given or the 25 that count; this is the last one.
    NotReached(Window),
    /// There are fewer than five rounds.
    TooFewRounds {
        /// Rounds given.
        rounds: usize,
    },
}

impl SteadyState {
    /// Whether steady state was reached.
    pub const fn is_reached(&self) -> bool {
        matches!(self, Self::Reached(_))
    }
}

/// Five consecutive rounds, judged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// The last round of the window, counted from 1.
    pub round: usize,
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
    /// Judges the window that ends with `round`.
    fn over(values: &[f64], round: usize) -> Self {
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
            round,
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

/// Finds the first steady window in the value of each round (IOPS, bandwidth or latency), of which at most
/// the first 25 count.
pub fn steady_state(rounds: &[f64]) -> SteadyState {
    let counted = &rounds[..rounds.len().min(MAX_ROUNDS)];
    let mut last = None;
    for (start, values) in counted.windows(WINDOW_ROUNDS).enumerate() {
        let window = Window::over(values, start + WINDOW_ROUNDS);
        if window.is_steady() {
            return SteadyState::Reached(window);
        }
        last = Some(window);
    }
    last.map_or(
        SteadyState::TooFewRounds { rounds: rounds.len() },
        SteadyState::NotReached,
    )
}
