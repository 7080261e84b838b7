//! How wrong predictions were where they could be checked, and the interval that follows for others.

use outcrop_measure::Interval;

/// A prediction and the measurement that it was checked by.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// The application.
    pub application: String,
    /// The component.
    pub component: String,
    /// What is left out when it is predicted itself: [`Component::left_out_with`](crate::Component::left_out_with).
    pub left_out_with: String,
    /// Predicted throughput.
    pub predicted: f64,
    /// Measured throughput.
    pub measured: f64,
}

impl Checked {
    /// Predicted over measured, less 1.
    pub fn error(&self) -> f64 {
        self.predicted / self.measured - 1.0
    }

    /// The ratio's logarithm: too high by half and too low by half weigh the same.
    fn log_error(&self) -> f64 {
        (self.predicted / self.measured).ln().abs()
    }
}

/// The model's own error.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelError {
    checked: Vec<Checked>,
}

/// How well predictions choose between components.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ranking {
    /// Pairs of components, for one application, whose measurements differ by more than 10 %.
    pub pairs: usize,
    /// Those whose order was predicted.
    pub right: usize,
    /// Applications with several components, of which one is the predicted best.
    pub choices: usize,
    /// Mean loss of throughput by taking the predicted best, as a fraction.
    pub regret: f64,
    /// The worst.
    pub worst_regret: f64,
}

/// Share of measurements that an interval is meant to hold.
pub(crate) const COVERAGE: f64 = 0.9;
/// Measurements that differ by less are not ordered.
const PAIR_MARGIN: f64 = 0.10;

impl ModelError {
    /// The error that these pairs show. Pairs without a positive finite figure on both sides are left out.
    pub fn of(checked: impl IntoIterator<Item = Checked>) -> Self {
        let is_usable = |pair: &Checked| pair.log_error().is_finite();
        Self {
            checked: checked.into_iter().filter(is_usable).collect(),
        }
    }

    /// All pairs.
    pub fn checked(&self) -> &[Checked] {
        &self.checked
    }

    /// The same without all pairs of a codec or component: what is known of the model before it was measured.
    #[must_use]
    pub fn without(&self, left_out: &str) -> Self {
        let others = self.checked.iter().filter(|pair| pair.left_out_with != left_out);
        Self {
            checked: others.cloned().collect(),
        }
    }

    /// Mean of the errors' magnitudes.
    pub fn mean(&self) -> Option<f64> {
        let sum: f64 = self.checked.iter().map(|pair| pair.error().abs()).sum();
        (!self.checked.is_empty()).then(|| sum / self.checked.len() as f64)
    }

    /// The largest magnitude.
    pub fn worst(&self) -> Option<f64> {
        self.checked
            .iter()
            .map(|pair| pair.error().abs())
            .reduce(f64::max)
    }

    /// The factor that 90 % of the predictions were within, by the conformal rule: with fewer than ten pairs the largest.
    pub fn factor(&self) -> Option<f64> {
        let mut errors: Vec<f64> = self.checked.iter().map(Checked::log_error).collect();
        errors.sort_by(f64::total_cmp);
        let rank = ((errors.len() + 1) as f64 * COVERAGE).ceil() as usize;
        errors
            .get(rank.clamp(1, errors.len().max(1)) - 1)
            .map(|error| error.exp())
    }

    /// This one or another one, whichever gives wider intervals.
    #[must_use]
    pub fn or_larger(self, other: Self) -> Self {
        match (self.factor(), other.factor()) {
            (Some(own), Some(more)) if more > own => other,
            (None, Some(_)) => other,
            _ => self,
        }
    }

    /// The interval of a prediction: the model's error and what the figures leave open, added as variances; none where nothing was checked. The
    /// conformal rule promises n ÷ (n + 1) of n pairs, where that is less than 90 %.
    pub fn interval(&self, throughput: f64, from_figures: (f64, f64)) -> Option<Interval> {
        let own = self.factor()?.ln();
        let widened = |end: f64| (own.powi(2) + (end / throughput).ln().powi(2)).sqrt().exp();
        let (low, high) = from_figures;
        let n = self.checked.len();
        Some(Interval {
            estimate: throughput,
            low: throughput / widened(low),
            high: throughput * widened(high),
            confidence: COVERAGE.min(n as f64 / (n + 1) as f64),
            n,
        })
    }

    /// Order of pairs, and regret.
    pub fn ranking(&self) -> Ranking {
        let mut ranking = Ranking::default();
        let mut names: Vec<&str> = self
            .checked
            .iter()
            .map(|pair| pair.application.as_str())
            .collect();
        names.sort_unstable();
        names.dedup();
        let mut regrets = Vec::new();
        for name in names {
            let own: Vec<&Checked> = self
                .checked
                .iter()
                .filter(|pair| pair.application == name)
                .collect();
            for (index, one) in own.iter().enumerate() {
                for other in &own[index + 1..] {
                    let high = one.measured.max(other.measured);
                    if high / one.measured.min(other.measured) <= 1.0 + PAIR_MARGIN {
                        continue;
                    }
                    ranking.pairs += 1;
                    let is_right = (one.measured > other.measured) == (one.predicted > other.predicted);
                    ranking.right += usize::from(is_right && one.predicted != other.predicted);
                }
            }
            let best = own.iter().map(|pair| pair.measured).fold(0.0, f64::max);
            let chosen = own
                .iter()
                .max_by(|one, other| one.predicted.total_cmp(&other.predicted));
            if let Some(chosen) = chosen.filter(|_| own.len() > 1) {
                regrets.push(1.0 - chosen.measured / best);
            }
        }
        ranking.choices = regrets.len();
        ranking.worst_regret = regrets.iter().copied().fold(0.0, f64::max);
        // A sum of no floats is −0.
        ranking.regret = regrets.iter().fold(0.0, |sum, regret| sum + regret) / regrets.len().max(1) as f64;
        ranking
    }
}
