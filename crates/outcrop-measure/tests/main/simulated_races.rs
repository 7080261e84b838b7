//! Races of contenders whose true figures are known, under noise of several kinds: how often a clear answer is wrong.

use outcrop_measure::Seed;
use outcrop_measure::race::{Contender, MOST_ROUNDS, Rules, Standing};
use outcrop_measure::seed::Generator;
use rand::Rng;

/// True throughput and bytes stored; the first ones are plain.
pub(crate) type Truth = &'static [(f64, f64)];

/// Most that a p99 may be, in nanoseconds.
const LIMIT: f64 = 1e6;

/// How trials differ from the truth; sizes are of the logarithm.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Noise {
    /// Normal.
    Normal(f64),
    /// Student's t with three degrees of freedom, and one trial in ten loses a third to a neighbour.
    HeavyTailed(f64),
    /// Normal, on a level that wanders from trial to trial and falls by a quarter in the middle of the run.
    Drifting(f64),
    /// Normal; the last contender has four times the noise of the first.
    Uneven(f64),
}

/// One case of the simulation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scenario {
    /// What is true.
    pub(crate) name: &'static str,
    /// Of each contender.
    pub(crate) truth: Truth,
    /// How many of them, from the first on, are plain: the fastest is the base.
    pub(crate) plain: usize,
    /// Least ratio.
    pub(crate) least_saving: Option<f64>,
    /// True p99 of each contender as shares of the limit on it, where there is one.
    pub(crate) limited: Option<&'static [f64]>,
}

/// All equal, close to a margin, far apart, and the shape of the answer on a usual machine.
pub(crate) const SCENARIOS: [Scenario; 11] = [
    Scenario {
        name: "all equal",
        truth: &[
            (100.0, 100.0),
            (100.0, 50.0),
            (100.0, 45.0),
            (100.0, 40.0),
            (100.0, 35.0),
            (100.0, 30.0),
        ],
        plain: 1,
        least_saving: None,
        limited: None,
    },
    Scenario {
        name: "all at the margin",
        truth: &[
            (100.0, 100.0),
            (95.0, 50.0),
            (95.0, 45.0),
            (95.0, 40.0),
            (95.0, 35.0),
            (95.0, 30.0),
        ],
        plain: 1,
        least_saving: None,
        limited: None,
    },
    Scenario {
        name: "just beyond it",
        truth: &[
            (100.0, 100.0),
            (94.9, 50.0),
            (94.9, 45.0),
            (94.9, 40.0),
            (94.9, 35.0),
            (94.9, 30.0),
        ],
        plain: 1,
        least_saving: None,
        limited: None,
    },
    Scenario {
        name: "half at the margin",
        truth: &[
            (100.0, 100.0),
            (100.0, 99.0),
            (100.0, 50.0),
            (95.0, 45.0),
            (95.0, 40.0),
            (95.0, 30.0),
        ],
        plain: 1,
        least_saving: None,
        limited: None,
    },
    Scenario {
        name: "two close, others far",
        truth: &[
            (100.0, 100.0),
            (97.0, 50.0),
            (90.0, 45.0),
            (70.0, 48.0),
            (60.0, 40.0),
            (50.0, 30.0),
        ],
        plain: 1,
        least_saving: None,
        limited: None,
    },
    Scenario {
        name: "far apart",
        truth: &[
            (100.0, 100.0),
            (85.0, 60.0),
            (75.0, 55.0),
            (60.0, 50.0),
            (50.0, 40.0),
            (30.0, 30.0),
        ],
        plain: 1,
        least_saving: None,
        limited: None,
    },
    Scenario {
        name: "ratio of 2 wanted",
        truth: &[
            (100.0, 100.0),
            (98.0, 70.0),
            (90.0, 50.0),
            (88.0, 45.0),
            (70.0, 40.0),
            (40.0, 30.0),
        ],
        plain: 1,
        least_saving: Some(2.0),
        limited: None,
    },
    Scenario {
        name: "two plain, base decides",
        truth: &[
            (97.0, 100.0),
            (100.0, 80.0),
            (95.0, 45.0),
            (80.0, 38.0),
            (60.0, 30.0),
        ],
        plain: 2,
        least_saving: Some(2.0),
        limited: None,
    },
    Scenario {
        name: "two plain that tie",
        truth: &[
            (100.0, 100.0),
            (100.0, 80.0),
            (95.0, 45.0),
            (80.0, 38.0),
            (60.0, 30.0),
        ],
        plain: 2,
        least_saving: Some(2.0),
        limited: None,
    },
    Scenario {
        name: "the best just breaks a limit",
        truth: &[
            (100.0, 100.0),
            (98.0, 50.0),
            (99.0, 40.0),
            (80.0, 35.0),
            (60.0, 30.0),
        ],
        plain: 1,
        least_saving: None,
        limited: Some(&[0.7, 0.8, 1.02, 0.8, 1.2]),
    },
    Scenario {
        name: "a limit decides the base",
        truth: &[
            (100.0, 100.0),
            (90.0, 80.0),
            (88.0, 45.0),
            (80.0, 38.0),
            (60.0, 30.0),
        ],
        plain: 2,
        least_saving: Some(2.0),
        limited: Some(&[1.03, 0.8, 0.9, 0.9, 1.03]),
    },
];

/// Sizes that the noise of short trials has on a shared machine.
pub(crate) const NOISES: [Noise; 5] = [
    Noise::Normal(0.03),
    Noise::Normal(0.15),
    Noise::HeavyTailed(0.03),
    Noise::Drifting(0.03),
    Noise::Uneven(0.02),
];

/// How a run ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ended {
    /// Whether an answer was clear.
    pub(crate) is_clear: bool,
    /// Whether it was, and is not true.
    pub(crate) is_wrong: bool,
    /// Trials that it took.
    pub(crate) trials: usize,
}

impl Scenario {
    /// The rules.
    pub(crate) fn rules(&self) -> Rules {
        Rules {
            margin: 0.05,
            same_saving: 0.02,
            least_saving: self.least_saving,
            limits: self.limited.map(|_| LIMIT).into_iter().collect(),
        }
    }

    /// A run whose effort follows doubt, until it is decided or so many trials are spent.
    pub(crate) fn race(&self, noise: Noise, seed: Seed, most_trials: usize) -> Ended {
        let (mut machine, mut contenders) = self.begin(noise, seed);
        let mut trials = 0;
        let mut rounds = 0;
        let standing = loop {
            let standing = Standing::after(rounds, false, &contenders, &self.rules());
            let next = standing.in_doubt();
            if next.is_empty() || rounds == MOST_ROUNDS {
                break standing;
            }
            if trials + next.len() > most_trials {
                break Standing::after(rounds, true, &contenders, &self.rules());
            }
            machine.round(self, &mut contenders, &next);
            (trials, rounds) = (trials + next.len(), rounds + 1);
        };
        self.ended(&standing, trials)
    }

    /// A run that measures all of them equally often, by the best rule for that.
    pub(crate) fn equal_effort(&self, noise: Noise, seed: Seed, most_trials: usize) -> Ended {
        let (mut machine, mut contenders) = self.begin(noise, seed);
        let all: Vec<usize> = (0..self.truth.len()).collect();
        let rounds = most_trials / all.len();
        for _ in 0..rounds {
            machine.round(self, &mut contenders, &all);
        }
        let standing = Standing::of_equal_effort(rounds, &contenders, &self.rules());
        self.ended(&standing, rounds * all.len())
    }

    fn begin(&self, noise: Noise, seed: Seed) -> (Machine, Vec<Contender>) {
        let machine = Machine {
            noise,
            rng: seed.rng(),
            level: 0.0,
            trials: 0,
        };
        let plain = |index: usize| Contender {
            is_plain: index < self.plain,
            limited: self.limited.map(|_| Vec::new()).into_iter().collect(),
            ..Contender::default()
        };
        (machine, (0..self.truth.len()).map(plain).collect())
    }

    fn ended(&self, standing: &Standing, trials: usize) -> Ended {
        // What one has otherwise keeps the limit too.
        let plain: Vec<(f64, f64)> = (0..self.plain)
            .filter(|index| self.keeps(*index))
            .map(|index| self.truth[index])
            .collect();
        let fastest = plain.iter().map(|one| one.0).fold(0.0, f64::max);
        let bases: Vec<f64> = plain
            .iter()
            .filter(|one| one.0 == fastest)
            .map(|one| one.1)
            .collect();
        // Where two tie, either may be called the base: what is clear has to be true against both.
        let is_true = |best: usize| bases.iter().all(|base| self.is_true(best, *base));
        Ended {
            is_clear: !standing.clear.is_empty(),
            is_wrong: standing.clear.iter().any(|best| !is_true(*best)),
            trials,
        }
    }
}

impl Scenario {
    /// Whether a contender keeps the limit, where there is one.
    fn keeps(&self, index: usize) -> bool {
        self.limited.is_none_or(|shares| shares[index] <= 1.0)
    }

    /// Whether a contender is the best if this is the space without compression.
    fn is_true(&self, best: usize, base: f64) -> bool {
        let saving = |index: usize| match index < self.plain {
            true => 1.0,
            false => base / self.truth[index].1,
        };
        let allowed: Vec<usize> = (0..self.truth.len())
            .filter(|index| self.least_saving.is_none_or(|least| saving(*index) >= least))
            .filter(|index| self.keeps(*index))
            .collect();
        let top = allowed
            .iter()
            .map(|index| self.truth[*index].0)
            .fold(0.0, f64::max);
        // A contender at the margin itself belongs to those within it.
        let ties = |index: usize| self.truth[index].0 >= top * 0.95 * (1.0 - 1e-12);
        let mut others = allowed.iter();
        let saves_more = |other: usize| saving(other) > saving(best) * 1.02;
        allowed.contains(&best) && ties(best) && !others.any(|other| saves_more(*other) && ties(*other))
    }
}

struct Machine {
    noise: Noise,
    rng: Generator,
    level: f64,
    trials: u32,
}

impl Machine {
    fn round(&mut self, scenario: &Scenario, contenders: &mut [Contender], next: &[usize]) {
        let truth = scenario.truth;
        let rounds = contenders
            .iter()
            .map(|one| one.throughput.len())
            .max()
            .unwrap_or(0)
            + 1;
        let mut order = next.to_vec();
        for last in (1..order.len()).rev() {
            order.swap(last, (self.uniform() * (last + 1) as f64) as usize);
        }
        for index in order {
            let share = index as f64 / truth.len().max(2) as f64;
            let factor = self.trial(share).exp();
            let contender = &mut contenders[index];
            contender.throughput.resize(rounds - 1, None);
            contender.throughput.push(Some(truth[index].0 * factor));
            contender.stored.resize(rounds - 1, None);
            contender.stored.push(Some(truth[index].1));
            if let Some(shares) = scenario.limited {
                let value = LIMIT * shares[index] * self.limited(share).exp();
                let contender = &mut contenders[index].limited[0];
                contender.resize(rounds - 1, None);
                contender.push(Some(value));
            }
        }
    }

    /// The logarithm of what the p99 of a trial has over the truth. It keeps its level: a limit on what wanders would have no truth.
    fn limited(&mut self, share: f64) -> f64 {
        match self.noise {
            Noise::Drifting(size) => size * self.normal(),
            // A neighbour makes it longer.
            _ => -self.trial(share),
        }
    }

    /// The logarithm of what a trial has over the truth.
    fn trial(&mut self, share: f64) -> f64 {
        self.trials += 1;
        match self.noise {
            Noise::Normal(size) => size * self.normal(),
            Noise::Uneven(size) => size * (1.0 + 3.6 * share) * self.normal(),
            Noise::HeavyTailed(size) => {
                let squares: f64 = (0..3).map(|_| self.normal().powi(2)).sum();
                let t = self.normal() / (squares / 3.0).sqrt();
                let neighbour = if self.uniform() < 0.1 { -0.4 } else { 0.0 };
                size * t + neighbour
            }
            Noise::Drifting(size) => {
                self.level += 0.02 * self.normal();
                let fallen = if self.trials > 60 { -0.29 } else { 0.0 };
                self.level + fallen + size * self.normal()
            }
        }
    }

    fn uniform(&mut self) -> f64 {
        (self.rng.next_u64() >> 11) as f64 / 2f64.powi(53)
    }

    fn normal(&mut self) -> f64 {
        let (radius, angle) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }
}

/// Of so many runs of one case: clear ones, wrong ones, and the mean number of trials.
pub(crate) fn counts(runs: u64, seed: Seed, run: impl Fn(Seed) -> Ended) -> (usize, usize, f64) {
    let ended: Vec<Ended> = (0..runs).map(|index| run(seed.derive_index(index))).collect();
    let clear = ended.iter().filter(|one| one.is_clear).count();
    let wrong = ended.iter().filter(|one| one.is_wrong).count();
    let trials: usize = ended.iter().map(|one| one.trials).sum();
    (clear, wrong, trials as f64 / runs as f64)
}
