//! [`Curve`]: a figure by block size, as a line or as the points that somebody published.

use outcrop_measure::units::ByteSize;
use std::fmt;

/// A latency or a throughput by block size.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    shape: Shape,
    /// How far the figure may be off, as a fraction: 0.1 for ± 10 %.
    relative_error: f64,
}

#[derive(Clone, Debug, PartialEq)]
enum Shape {
    /// The same at every block size.
    Constant(f64),
    /// `base + per_byte · bytes`.
    Line { base: f64, per_byte: f64 },
    /// Value at a block size, by rising size.
    Points(Vec<(f64, f64)>),
}

/// What is read off a [`Curve`] at one block size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Read {
    pub(crate) value: f64,
    /// How far it may be off, as a fraction.
    pub(crate) relative_error: f64,
    /// Whether the block size lies beyond every published point.
    pub(crate) is_extrapolated: bool,
}

/// Why figures make no curve.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CurveError {
    /// A figure is not a positive number.
    #[error("{0} is not accepted; expected a number above 0")]
    NotPositive(f64),
    /// Two figures for one block size.
    #[error("two figures at {}; keep one", ByteSize(*size_bytes as u64))]
    Twice {
        /// The block size.
        size_bytes: f64,
    },
}

impl Curve {
    /// The same figure at every block size.
    ///
    /// # Errors
    /// [`CurveError::NotPositive`].
    pub fn constant(value: f64) -> Result<Self, CurveError> {
        positive(value)?;
        Ok(Self::of(Shape::Constant(value)))
    }

    /// `base + per_byte · bytes`; one of the two may be 0.
    ///
    /// # Errors
    /// [`CurveError::NotPositive`].
    pub fn line(base: f64, per_byte: f64) -> Result<Self, CurveError> {
        for part in [base, per_byte] {
            if !(part.is_finite() && part >= 0.0) {
                return Err(CurveError::NotPositive(part));
            }
        }
        positive(base + per_byte)?;
        Ok(Self::of(Shape::Line { base, per_byte }))
    }

    /// Figures as (bytes, value), in any order.
    ///
    /// # Errors
    /// [`CurveError`] for a figure that is not positive, or two at one size.
    pub fn points(mut points: Vec<(f64, f64)>) -> Result<Self, CurveError> {
        for (size_bytes, value) in &points {
            positive(*size_bytes)?;
            positive(*value)?;
        }
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        points.dedup();
        if let Some(pair) = points.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(CurveError::Twice {
                size_bytes: pair[0].0,
            });
        }
        if points.is_empty() {
            return Err(CurveError::NotPositive(0.0));
        }
        Ok(Self::of(Shape::Points(points)))
    }

    const fn of(shape: Shape) -> Self {
        Self {
            shape,
            relative_error: 0.0,
        }
    }

    /// The same curve, whose figures may be off by this fraction.
    #[must_use]
    pub fn give_or_take(mut self, relative_error: f64) -> Self {
        self.relative_error = relative_error.abs();
        self
    }

    /// The points of this curve and of another one; none where either is not made of points.
    pub(crate) fn joined(&self, other: &Self) -> Option<Result<Self, CurveError>> {
        match (&self.shape, &other.shape) {
            (Shape::Points(one), Shape::Points(two)) => {
                let error = self.relative_error.max(other.relative_error);
                let joined = Self::points([one.as_slice(), two.as_slice()].concat());
                Some(joined.map(|curve| curve.give_or_take(error)))
            }
            _ => None,
        }
    }

    /// The same figures as if they had been given at this block size, where no size was given.
    pub(crate) fn at_size(self, size_bytes: f64) -> Self {
        match self.shape {
            Shape::Constant(value) => Self {
                shape: Shape::Points(vec![(size_bytes, value)]),
                ..self
            },
            _ => self,
        }
    }

    /// A time at a block size. Between points it is on the straight line; beyond them on that of the two nearest.
    /// One point alone is scaled by the size, and the open question (how much of it is constant) is in the error.
    pub(crate) fn time_at(&self, bytes: f64) -> Read {
        let straight = |value: f64, is_extrapolated: bool| Read {
            value,
            relative_error: self.relative_error,
            is_extrapolated,
        };
        match &self.shape {
            Shape::Constant(value) => straight(*value, false),
            Shape::Line { base, per_byte } => straight(base + per_byte * bytes, false),
            Shape::Points(points) if points.len() == 1 => {
                let (size, value) = points[0];
                let scaled = value * bytes / size;
                let spread = (scaled - value).abs() / scaled.max(value);
                Read {
                    value: scaled,
                    relative_error: self.relative_error + spread,
                    is_extrapolated: spread > 0.01,
                }
            }
            Shape::Points(points) => {
                let (first, last) = (points[0].0, points[points.len() - 1].0);
                let is_outside = bytes < first * 0.5 || bytes > last * 2.0;
                straight(interpolate(points, bytes), is_outside)
            }
        }
    }

    /// A figure that does not grow with the block, such as a ratio: between points on the straight line, beyond them the nearest one.
    pub fn level_at(&self, bytes: f64) -> f64 {
        match &self.shape {
            Shape::Points(points) if points.len() > 1 => {
                interpolate(points, bytes.clamp(points[0].0, points[points.len() - 1].0))
            }
            Shape::Points(points) => points[0].1,
            Shape::Constant(value) => *value,
            Shape::Line { base, per_byte } => base + per_byte * bytes,
        }
    }

    /// The time per block of a throughput in bytes per second, in nanoseconds.
    pub(crate) fn block_time_at(&self, bytes: f64) -> Read {
        let in_time = |(size, rate): (f64, f64)| (size, size / rate * 1e9);
        match &self.shape {
            Shape::Points(points) if points.len() > 1 => {
                let times: Vec<(f64, f64)> = points.iter().copied().map(in_time).collect();
                Self {
                    shape: Shape::Points(times),
                    ..self.clone()
                }
                .time_at(bytes)
            }
            _ => Read {
                value: bytes / self.level_at(bytes) * 1e9,
                relative_error: self.relative_error,
                is_extrapolated: matches!(&self.shape, Shape::Points(points) if points[0].0 != bytes),
            },
        }
    }
}

impl fmt::Display for Curve {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.shape {
            Shape::Constant(value) => write!(formatter, "{value}"),
            Shape::Line { base, per_byte } => write!(formatter, "{base} + {per_byte}·bytes"),
            Shape::Points(points) => {
                let points = points
                    .iter()
                    .map(|(size, value)| format!("{value} at {}", ByteSize(*size as u64)));
                formatter.write_str(&points.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// On the straight line through the two points around `bytes`, or the two nearest; never below the smallest value where it would
/// become negative.
fn interpolate(points: &[(f64, f64)], bytes: f64) -> f64 {
    let above = points.partition_point(|(size, _)| *size < bytes);
    let right = above.clamp(1, points.len() - 1);
    let ((x0, y0), (x1, y1)) = (points[right - 1], points[right]);
    let value = y0 + (y1 - y0) * (bytes - x0) / (x1 - x0);
    if value > 0.0 {
        value
    } else {
        points
            .iter()
            .map(|(_, value)| *value)
            .fold(f64::INFINITY, f64::min)
    }
}

fn positive(value: f64) -> Result<(), CurveError> {
    if value.is_finite() && value > 0.0 {
        Ok(())
    } else {
        Err(CurveError::NotPositive(value))
    }
}
