//! Axis domains, tick steps and the spelling of ticks.

use std::sync::Arc;

use super::{Axis, Quantity, Scale};

/// An axis made ready for drawing: values are mapped by `place`, ticks fall on multiples of `step` (decades
/// and their halves where there is none), and `spell` turns a tick back into words.
pub(super) struct AxisPlan {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) step: Option<f64>,
    pub(super) label: String,
    pub(super) spell: Arc<dyn Fn(f64) -> String + Send + Sync>,
    scale: Scale,
}

impl AxisPlan {
    /// Plans an axis over values that [`Scale::can_show`], with at most about `most_ticks` ticks.
    pub(super) fn over(axis: &Axis, values: impl Iterator<Item = f64>, most_ticks: usize) -> Self {
        let (low, high) = values
            .filter(|value| axis.scale.can_show(*value))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        match axis.scale {
            Scale::Linear if axis.quantity == Quantity::Percent => Self::percent(axis),
            Scale::Linear if axis.quantity == Quantity::Bits => Self::bits_of_a_byte(axis),
            Scale::Linear => Self::linear(axis, high.max(0.0), most_ticks),
            Scale::Fitted => Self::fitted(axis, low, high, most_ticks),
            Scale::Log2 => Self::doublings(axis, low, high, most_ticks),
            Scale::Log10 => Self::decades(axis, low, high, most_ticks),
        }
    }

    /// Plans the axis of bars: from zero, or from below the shortest one where it is logarithmic.
    pub(super) fn of_bars(axis: &Axis, values: impl Iterator<Item = f64>, most_ticks: usize) -> Self {
        let shown: Vec<f64> = values.filter(|value| axis.scale.can_show(*value)).collect();
        let low = shown.iter().copied().fold(f64::INFINITY, f64::min);
        let high = shown.iter().copied().fold(0.0, f64::max);
        match axis.scale {
            Scale::Log10 | Scale::Log2 => Self::decades(axis, low / 1.6, high, most_ticks),
            Scale::Linear | Scale::Fitted if axis.quantity == Quantity::Percent => Self {
                low: 0.0,
                high: 100.0,
                step: Some(if most_ticks > 4 { 20.0 } else { 50.0 }),
                ..Self::percent(axis)
            },
            Scale::Linear | Scale::Fitted => Self::linear(axis, high, most_ticks),
        }
    }

    /// The place of a value on the axis, from 0 at its low end to 1 at its high end.
    pub(super) fn fraction(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Log10 => (value / self.low).log10() / (self.high / self.low).log10(),
            _ => (self.place(value) - self.low) / (self.high - self.low),
        }
    }

    /// The same of a tick, which is a place of the drawn axis.
    pub(super) fn tick_fraction(&self, tick: f64) -> f64 {
        match self.scale {
            Scale::Log10 => self.fraction(tick),
            _ => (tick - self.low) / (self.high - self.low),
        }
    }

    /// The ticks, as places of the drawn axis.
    pub(super) fn ticks(&self) -> Vec<f64> {
        match self.step {
            Some(step) => {
                let first = (self.low / step).ceil();
                let count = ((self.high / step + 1e-9).floor() - first).clamp(0.0, MOST_TICKS) as usize;
                (0..=count).map(|index| (first + index as f64) * step).collect()
            }
            None => {
                let decades = decade(self.low.log10().floor())..=decade(self.high.log10().ceil());
                let ticks =
                    decades.flat_map(|exponent| [1.0, 2.0, 5.0].map(|step| step * 10_f64.powi(exponent)));
                let range = self.low * (1.0 - 1e-9)..=self.high * (1.0 + 1e-9);
                ticks.filter(|tick| range.contains(tick)).collect()
            }
        }
    }

    /// The place of a value on the drawn axis.
    pub(super) fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Log2 => value.log2(),
            Scale::Linear | Scale::Fitted | Scale::Log10 => value,
        }
    }

    fn linear(axis: &Axis, high: f64, most_ticks: usize) -> Self {
        let high = if high > 0.0 { high } else { 1.0 };
        let step = round_up_to_1_2_5(high / most_ticks.max(1) as f64);
        let top = (high * 1.02 / step).ceil() * step;
        let prefix = axis.quantity.prefix_for(top);
        let decimals = prefix.decimals_for(step);
        let factor = prefix.factor;
        Self {
            low: 0.0,
            high: top,
            step: Some(step),
            label: labelled(&axis.label, prefix.unit),
            spell: Arc::new(move |tick| format!("{:.decimals$}", tick / factor)),
            scale: Scale::Linear,
        }
    }

    /// From the tick below the values to the tick above them.
    fn fitted(axis: &Axis, low: f64, high: f64, most_ticks: usize) -> Self {
        let span = if high > low {
            high - low
        } else {
            low.abs().max(1.0) * 0.1
        };
        let step = round_up_to_1_2_5(span * 1.1 / most_ticks.max(1) as f64);
        let prefix = axis.quantity.prefix_for(high.abs());
        let decimals = prefix.decimals_for(step);
        let factor = prefix.factor;
        let top = ((high + span * 0.04) / step).ceil() * step;
        // No share is above all: half a step is room for the markers, and has no tick.
        let top = match axis.quantity.whole() {
            Some(whole) if high <= whole => top.min(whole + step / 2.0),
            _ => top,
        };
        Self {
            low: ((low - span * 0.04) / step).floor() * step,
            high: top,
            step: Some(step),
            label: labelled(&axis.label, prefix.unit),
            spell: Arc::new(move |tick| format!("{:.decimals$}", tick / factor)),
            scale: Scale::Fitted,
        }
    }

    /// From 0 to 100, with room for the markers at both ends.
    fn percent(axis: &Axis) -> Self {
        Self {
            low: -3.0,
            high: 103.0,
            step: Some(20.0),
            label: labelled(&axis.label, "%"),
            spell: Arc::new(|tick| format!("{tick:.0}")),
            scale: Scale::Linear,
        }
    }

    /// From 0 to 8, with room for the markers at both ends.
    fn bits_of_a_byte(axis: &Axis) -> Self {
        Self {
            low: -0.24,
            high: 8.24,
            step: Some(2.0),
            label: labelled(&axis.label, "bit"),
            ..Self::percent(axis)
        }
    }

    fn doublings(axis: &Axis, low: f64, high: f64, most_ticks: usize) -> Self {
        let (low, high) = (low.log2().floor(), high.log2().ceil());
        let span = (high - low).max(1.0);
        let step = (span / most_ticks.max(1) as f64).ceil().max(1.0);
        let quantity = axis.quantity;
        let margin = span * 0.03;
        Self {
            low: low - margin,
            high: low + span + margin,
            step: Some(step),
            label: axis.label.clone(),
            spell: Arc::new(move |tick| quantity.spell(tick.exp2())),
            scale: Scale::Log2,
        }
    }

    fn decades(axis: &Axis, low: f64, high: f64, most_ticks: usize) -> Self {
        let quantity = axis.quantity;
        let (low, high) = (round_down_to_1_2_5(low / 1.05), round_up_to_1_2_5(high * 1.05));
        // Three ticks a decade. Where they would crowd, only the decades themselves are spelled; the page's script has the same bar.
        let crowded = 3.0 * (high / low).log10() > 1.5 * most_ticks as f64;
        let is_decade = |tick: f64| (tick.log10() - tick.log10().round()).abs() < 1e-6;
        Self {
            low,
            high,
            step: None,
            label: axis.label.clone(),
            spell: Arc::new(move |tick| match crowded && !is_decade(tick) {
                true => String::new(),
                false => quantity.spell(tick),
            }),
            scale: Scale::Log10,
        }
    }
}

/// A unit of an axis and what its values are divided by.
struct Prefix {
    factor: f64,
    unit: &'static str,
}

/// An exponent of ten that a number can have.
fn decade(exponent: f64) -> i32 {
    exponent.clamp(-400.0, 400.0) as i32
}

/// No axis has room for more.
const MOST_TICKS: f64 = 100.0;
/// No number has more that mean anything.
const MOST_DECIMALS: f64 = 17.0;

impl Prefix {
    fn decimals_for(&self, step: f64) -> usize {
        let exponent = (step / self.factor).log10().floor();
        // A step that is zero or not a number cannot be shown anywhere.
        if exponent < 0.0 {
            (-exponent).min(MOST_DECIMALS) as usize
        } else {
            0
        }
    }
}

impl Quantity {
    /// What a share is a share of.
    const fn whole(self) -> Option<f64> {
        match self {
            Self::Share => Some(1.0),
            Self::Percent => Some(100.0),
            _ => None,
        }
    }

    /// The number with its unit, short enough for a tick: `4 KiB`, `32`, `1.2 GB/s`, `10 µs`, `0.1 %`.
    pub(crate) fn spell(self, value: f64) -> String {
        match self {
            Self::AccessSize => spell_binary(value),
            Self::QueueDepth | Self::Ratio => short(value),
            Self::Bits => format!("{} bit", short(value)),
            Self::Share => format!("{} %", short(value * 100.0)),
            Self::Percent => format!("{} %", short(value)),
            Self::Bandwidth | Self::Iops | Self::Latency | Self::Seconds | Self::Count => {
                let prefix = self.prefix_for(value);
                format!("{} {}", short(value / prefix.factor), prefix.unit)
                    .trim_end()
                    .to_owned()
            }
        }
    }

    /// The unit of its values in data.
    pub(crate) const fn base_unit(self) -> &'static str {
        match self {
            Self::AccessSize => "B",
            Self::Bandwidth => "B/s",
            Self::Iops => "1/s",
            Self::Latency => "ns",
            Self::Seconds => "s",
            Self::Percent => "%",
            Self::Bits => "bit",
            Self::QueueDepth | Self::Share | Self::Ratio | Self::Count => "",
        }
    }

    fn prefix_for(self, value: f64) -> Prefix {
        let steps: &[(f64, &str)] = match self {
            Self::Bandwidth => &[(1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")],
            Self::Iops | Self::Count => &[(1e6, "M"), (1e3, "k"), (1.0, "")],
            Self::Bits => &[(1.0, "bit")],
            Self::Latency => &[(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")],
            Self::Seconds => &[(1.0, "s")],
            Self::Share => &[(0.01, "%")],
            Self::Percent => &[(1.0, "%")],
            Self::AccessSize | Self::QueueDepth | Self::Ratio => &[(1.0, "")],
        };
        let chosen = steps.iter().find(|(factor, _)| value >= factor * (1.0 - 1e-9));
        let (factor, unit) = chosen.or(steps.last()).copied().unwrap_or((1.0, ""));
        Prefix { factor, unit }
    }
}

fn spell_binary(bytes: f64) -> String {
    for (exponent, unit) in [(30, "GiB"), (20, "MiB"), (10, "KiB")] {
        let factor = f64::from(1_u32 << exponent);
        if bytes >= factor {
            return format!("{} {unit}", short(bytes / factor));
        }
    }
    format!("{} B", short(bytes))
}

/// Three significant digits, without trailing zeros.
fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    let decimals = (2 - value.abs().log10().floor() as i32).clamp(0, 8) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

fn labelled(label: &str, unit: &str) -> String {
    if unit.is_empty() {
        label.to_owned()
    } else {
        format!("{label} ({unit})")
    }
}

fn round_up_to_1_2_5(value: f64) -> f64 {
    let decade = 10_f64.powf(value.log10().floor());
    let fits = |step: &&f64| *step * decade >= value * (1.0 - 1e-9);
    [1.0, 2.0, 5.0]
        .iter()
        .find(fits)
        .map_or(10.0 * decade, |step| step * decade)
}

fn round_down_to_1_2_5(value: f64) -> f64 {
    let decade = 10_f64.powf(value.log10().floor());
    let fits = |step: &&f64| *step * decade <= value * (1.0 + 1e-9);
    [5.0, 2.0, 1.0]
        .iter()
        .find(fits)
        .map_or(decade, |step| step * decade)
}
