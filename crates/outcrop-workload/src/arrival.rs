//! When operations start: `closed` (when another ends), `constant:RATE`, `poisson:RATE`, `etc:RATE`, `sine:RATE:SWING:PERIOD`.

use std::f64::consts::TAU;
use std::fmt;
use std::str::FromStr;

use outcrop_measure::seed::{Generator, Seed};
use outcrop_measure::units::{Rate, TimeSpan};
use rand::Rng;
use rand_distr::{Distribution, Exp1};
use serde::{Deserialize, Serialize};

use crate::error::WorkloadError;
use crate::keyed::distribution::ETC_INTER_ARRIVAL_US;
use crate::spelling::{Spelling, form_and_argument, spelled_as_string};
use crate::uniform::uniform_unit;

/// The process by which operations arrive. Rates are those of all jobs together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Arrival {
    /// Closed loop: a new operation starts when one completes.
    Closed,
    /// Open loop at equal distances.
    Constant {
        /// Arrivals per second.
        per_second: Rate,
    },
    /// Open loop with exponential distances (independent users).
    Poisson {
        /// Mean arrivals per second.
        per_second: Rate,
    },
    /// Open loop with the bursts of ETC: generalised Pareto distances, rescaled to the rate.
    Etc {
        /// Mean arrivals per second.
        per_second: Rate,
    },
    /// Open loop whose rate rises and falls, as over a day: `per_second + swing · sin(2π·t/period)`.
    Sine {
        /// Mean arrivals per second.
        per_second: Rate,
        /// How far the rate rises above its mean, and falls below it.
        swing: Rate,
        /// Time from one peak to the next.
        period: TimeSpan,
    },
}

const ACCEPTED: &str = "`closed`, `constant:RATE`, `poisson:RATE`, `etc:RATE` or `sine:RATE:SWING:PERIOD` with rates in operations \
     per second (poisson:10k, sine:4500:1000:1h)";

impl Arrival {
    /// Whether starts follow a schedule rather than completions.
    pub const fn is_open_loop(&self) -> bool {
        !matches!(self, Self::Closed)
    }

    /// Its name without a rate, as it begins in its spelling: `poisson`.
    pub const fn process(&self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Constant { .. } => "constant",
            Self::Poisson { .. } => "poisson",
            Self::Etc { .. } => "etc",
            Self::Sine { .. } => "sine",
        }
    }

    /// Mean arrivals per second over all jobs; `None` for a closed loop.
    pub const fn per_second(&self) -> Option<Rate> {
        match *self {
            Self::Closed => None,
            Self::Constant { per_second }
            | Self::Poisson { per_second }
            | Self::Etc { per_second }
            | Self::Sine { per_second, .. } => Some(per_second),
        }
    }

    /// The same process at another rate; a closed loop stays one, and a sine keeps its swing relative to its mean.
    #[must_use]
    pub fn at(self, per_second: Rate) -> Self {
        match self {
            Self::Closed => Self::Closed,
            Self::Constant { .. } => Self::Constant { per_second },
            Self::Poisson { .. } => Self::Poisson { per_second },
            Self::Etc { .. } => Self::Etc { per_second },
            Self::Sine {
                per_second: mean,
                swing,
                period,
            } => Self::Sine {
                per_second,
                swing: Rate::new(swing.per_second() * per_second.per_second() / mean.per_second())
                    .unwrap_or(swing),
                period,
            },
        }
    }

    /// The schedule of a single job; `None` for a closed loop.
    pub fn schedule(&self, seed: Seed) -> Option<Schedule> {
        self.schedule_of_job(0, 1, seed)
    }

    /// The part of the schedule that job `job_index` of `job_count` serves; `None` for a closed loop.
    ///
    /// Give every job the same seed. Constant: the jobs take turns, so that their union is exactly the
    /// single-job schedule. Poisson: independent processes of rate `1/job_count` each, whose union is
    /// a Poisson process of the whole rate. ETC: the jobs take turns at one sequence of distances, since the union of
    /// independent ones would lose its bursts. Sine: they take turns likewise. A `job_count` of 0 counts as 1.
    pub fn schedule_of_job(&self, job_index: u32, job_count: u32, seed: Seed) -> Option<Schedule> {
        let job_count = job_count.max(1);
        match *self {
            Self::Closed => None,
            Self::Constant { per_second } => Some(Schedule(Clockwork::Constant {
                next_index: u64::from(job_index),
                step: u64::from(job_count),
                per_second: per_second.per_second(),
            })),
            Self::Poisson { per_second } => Some(Schedule(Clockwork::Poisson {
                draws: seed
                    .derive("arrivals of job")
                    .derive_index(u64::from(job_index))
                    .rng(),
                mean_gap_ns: 1e9 * f64::from(job_count) / per_second.per_second(),
                whole_ns: 0,
                part_ns: 0.0,
            })),
            Self::Etc { per_second } => Some(Schedule(Clockwork::Etc {
                draws: seed.derive("arrivals of ETC").rng(),
                scale_ns: 1e9 / (per_second.per_second() * ETC_INTER_ARRIVAL_US.mean()),
                gaps_to_next: job_index.saturating_add(1),
                step: job_count,
                whole_ns: 0,
                part_ns: 0.0,
            })),
            Self::Sine {
                per_second,
                swing,
                period,
            } => Some(Schedule(Clockwork::Sine {
                next_index: u64::from(job_index),
                step: u64::from(job_count),
                rate: SineRate {
                    mean: per_second.per_second(),
                    swing: swing.per_second(),
                    radians_per_s: TAU / period.duration().as_secs_f64(),
                },
                at_s: 0.0,
            })),
        }
    }
}

/// Intended start times of the operations of one job, without end and never decreasing.
#[derive(Clone, Debug)]
pub struct Schedule(Clockwork);

#[derive(Clone, Debug)]
enum Clockwork {
    Constant {
        next_index: u64,
        step: u64,
        per_second: f64,
    },
    /// The time is kept as whole nanoseconds and a part below one, so that it stays exact over days.
    Poisson {
        draws: Generator,
        mean_gap_ns: f64,
        whole_ns: u64,
        part_ns: f64,
    },
    /// Every `step`-th time of one sequence, kept likewise; `scale_ns` stretches the model's microseconds.
    Etc {
        draws: Generator,
        scale_ns: f64,
        gaps_to_next: u32,
        step: u32,
        whole_ns: u64,
        part_ns: f64,
    },
    /// The arrival of an index is where the integral of the rate reaches it.
    Sine {
        next_index: u64,
        step: u64,
        rate: SineRate,
        /// The arrival before, from which the next is searched.
        at_s: f64,
    },
}

/// `mean + swing · sin(radians_per_s · t)` arrivals per second.
#[derive(Clone, Copy, Debug)]
struct SineRate {
    mean: f64,
    swing: f64,
    radians_per_s: f64,
}

impl SineRate {
    fn per_second(&self, at_s: f64) -> f64 {
        self.mean + self.swing * (self.radians_per_s * at_s).sin()
    }

    /// Arrivals from 0 until then.
    fn arrivals(&self, at_s: f64) -> f64 {
        let turned = 1.0 - (self.radians_per_s * at_s).cos();
        self.mean * at_s + self.swing / self.radians_per_s * turned
    }

    /// When this many have arrived, searched from a time before: Newton's method within bounds that always hold.
    fn time_of(&self, arrivals: f64, from_s: f64) -> f64 {
        // More than to a tenth of a nanosecond a double does not tell after a day.
        const PRECISION_S: f64 = 1e-10;
        const MOST_STEPS: u32 = 64;
        let (mut least, mut most) = (from_s, arrivals / self.mean);
        let mut at_s = from_s;
        for _ in 0..MOST_STEPS {
            let missing = arrivals - self.arrivals(at_s);
            if missing > 0.0 {
                least = at_s;
            } else {
                most = at_s;
            }
            let next = at_s + missing / self.per_second(at_s);
            let next = if (least..=most).contains(&next) {
                next
            } else {
                f64::midpoint(least, most)
            };
            if (next - at_s).abs() < PRECISION_S {
                return next;
            }
            at_s = next;
        }
        at_s
    }
}

/// The distance to the next arrival of ETC.
fn etc_gap_ns(draws: &mut Generator, scale_ns: f64) -> f64 {
    ETC_INTER_ARRIVAL_US.quantile(uniform_unit(draws.next_u64())) * scale_ns
}

impl Schedule {
    /// The next intended start, in nanoseconds from the start of the schedule.
    ///
    /// A constant schedule starts at 0 and is computed from the operation's index, so it does not drift.
    /// Saturates at `u64::MAX` (584 years).
    #[inline]
    pub fn next_ns(&mut self) -> u64 {
        match &mut self.0 {
            Clockwork::Constant {
                next_index,
                step,
                per_second,
            } => {
                let index = *next_index;
                *next_index = index.saturating_add(*step);
                (index as f64 * 1e9 / *per_second) as u64
            }
            Clockwork::Poisson {
                draws,
                mean_gap_ns,
                whole_ns,
                part_ns,
            } => {
                let gap: f64 = Exp1.sample(draws);
                advance(whole_ns, part_ns, gap * *mean_gap_ns);
                *whole_ns
            }
            Clockwork::Etc {
                draws,
                scale_ns,
                gaps_to_next,
                step,
                whole_ns,
                part_ns,
            } => {
                for _ in 0..*gaps_to_next {
                    advance(whole_ns, part_ns, etc_gap_ns(draws, *scale_ns));
                }
                *gaps_to_next = *step;
                *whole_ns
            }
            Clockwork::Sine {
                next_index,
                step,
                rate,
                at_s,
            } => {
                *at_s = rate.time_of(*next_index as f64, *at_s);
                *next_index = next_index.saturating_add(*step);
                (*at_s * 1e9) as u64
            }
        }
    }
}

#[inline]
fn advance(whole_ns: &mut u64, part_ns: &mut f64, gap_ns: f64) {
    let ahead = *part_ns + gap_ns;
    *whole_ns = whole_ns.saturating_add(ahead as u64);
    *part_ns = ahead.fract();
}

impl Iterator for Schedule {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        Some(self.next_ns())
    }
}

impl FromStr for Arrival {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let spelling = Spelling {
            what: "arrival",
            accepted: ACCEPTED,
            seen: text,
        };
        let rate = |argument: &str| -> Result<Rate, WorkloadError> {
            let rate: Rate = argument.parse().map_err(|_| spelling.not_understood())?;
            if rate.per_second().is_finite() && rate.per_second() > 0.0 {
                Ok(rate)
            } else {
                Err(spelling.out_of_range("RATE must be above 0 operations per second"))
            }
        };
        match form_and_argument(text) {
            ("closed", None) => Ok(Self::Closed),
            ("constant", Some(argument)) => Ok(Self::Constant {
                per_second: rate(argument)?,
            }),
            ("poisson", Some(argument)) => Ok(Self::Poisson {
                per_second: rate(argument)?,
            }),
            ("etc", Some(argument)) => Ok(Self::Etc {
                per_second: rate(argument)?,
            }),
            ("sine", Some(argument)) => {
                let mut parts = argument.splitn(3, ':');
                let mut part = || parts.next().ok_or_else(|| spelling.not_understood());
                let (per_second, swing, period) = (rate(part()?)?, rate(part()?)?, part()?);
                let period: TimeSpan = period.parse().map_err(|_| spelling.not_understood())?;
                if swing.per_second() >= per_second.per_second() {
                    return Err(
                        spelling.out_of_range("SWING must be below RATE: there are no negative rates")
                    );
                }
                if period.duration().is_zero() {
                    return Err(spelling.out_of_range("PERIOD must be above 0"));
                }
                Ok(Self::Sine {
                    per_second,
                    swing,
                    period,
                })
            }
            _ => Err(spelling.not_understood()),
        }
    }
}

impl fmt::Display for Arrival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("closed"),
            Self::Constant { per_second } => write!(f, "constant:{per_second}"),
            Self::Poisson { per_second } => write!(f, "poisson:{per_second}"),
            Self::Etc { per_second } => write!(f, "etc:{per_second}"),
            Self::Sine {
                per_second,
                swing,
                period,
            } => write!(f, "sine:{per_second}:{swing}:{period}"),
        }
    }
}

spelled_as_string!(Arrival);
