//! Zipf ranks by Gray's method, as YCSB has it: approximate, with its own probabilities.

/// Draws ranks `0..items` with probability about ∝ `1/(rank+1)^theta`.
///
/// Ranks 0 and 1 are exact; the others follow the inverse of a power law. A rank is a function of one uniform draw.
///
/// *Cost*: a power for a draw. *Source*: Gray et al., "Quickly generating billion-record synthetic databases", SIGMOD 1994.
#[derive(Clone, Debug)]
pub struct GrayZipfian {
    items: u64,
    theta: f64,
    alpha: f64,
    zeta: f64,
    /// `1 + 0.5^theta`: the sum over two items.
    zeta_of_two: f64,
    /// `1 − (2 ÷ items)^(1 − theta)`, of the first number of items: YCSB never renews it.
    span: f64,
    eta: f64,
    /// The sum over many items less what [`tail`] says of it, once it was needed.
    constant: Option<f64>,
}

impl GrayZipfian {
    /// Ranks `0..items`; a count of 0 is taken as 1. `theta` must lie above 0 and below 1.
    pub fn new(items: u64, theta: f64) -> Self {
        let mut made = Self::with_zeta(items, theta, 0.0);
        made.set_zeta();
        made
    }

    /// The same, where the sum of `1/k^theta` over the items is known.
    pub(super) fn with_zeta(items: u64, theta: f64, zeta: f64) -> Self {
        let items = items.max(1);
        let mut made = Self {
            items,
            theta,
            alpha: 1.0 / (1.0 - theta),
            zeta,
            zeta_of_two: 1.0 + 0.5_f64.powf(theta),
            span: 1.0 - (2.0 / items as f64).powf(1.0 - theta),
            eta: 0.0,
            constant: None,
        };
        made.set_eta();
        made
    }

    /// Draws from more items from now on; a smaller count changes nothing.
    #[inline]
    pub fn grow(&mut self, items: u64) {
        if items > self.items {
            self.items = items;
            self.set_zeta();
        }
    }

    /// The rank of a uniform draw from 0 to below 1.
    #[inline]
    pub fn rank(&self, draw: f64) -> u64 {
        let share = draw * self.zeta;
        if share < 1.0 {
            return 0;
        }
        if share < self.zeta_of_two {
            return 1;
        }
        let rank = self.items as f64 * (self.eta * draw - self.eta + 1.0).powf(self.alpha);
        (rank as u64).min(self.items - 1)
    }

    fn set_zeta(&mut self) {
        self.zeta = if self.items <= SUMMED {
            sum(self.items, self.theta)
        } else {
            let constant = *self
                .constant
                .get_or_insert_with(|| sum(SUMMED, self.theta) - tail(SUMMED, self.theta));
            constant + tail(self.items, self.theta)
        };
        self.set_eta();
    }

    fn set_eta(&mut self) {
        self.eta = self.span / (1.0 - self.zeta_of_two / self.zeta);
    }
}

/// So many terms are added up; from there on the sum is continued by Euler and Maclaurin's formula.
const SUMMED: u64 = 1024;

fn sum(items: u64, theta: f64) -> f64 {
    (1..=items).map(|item| (item as f64).powf(-theta)).sum()
}

/// What Euler and Maclaurin's formula says of the sum up to `items`, a constant apart; from 1024 items on its error is
/// below the rounding of a sum. YCSB adds up term by term, which takes minutes for 10⁹ records.
fn tail(items: u64, theta: f64) -> f64 {
    let items = items as f64;
    let power = items.powf(-theta);
    power
        * (items / (1.0 - theta) + 0.5 - theta / (12.0 * items)
            + theta * (theta + 1.0) * (theta + 2.0) / (720.0 * items.powi(3)))
}
