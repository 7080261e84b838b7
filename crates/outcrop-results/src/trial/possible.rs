//! What no trial can have: times, counts and figures that are damage, and on which a reader would spend its memory and time.

use outcrop_measure::metric::Unit;

use super::{HistogramEntry, TrialEntry, Value};

/// No figure of a machine is larger, in whatever unit: what a journal or a reference has beyond is damage.
pub(crate) const LARGEST: f64 = 1e30;
/// Ten years: no trial takes longer.
const LONGEST_S: f64 = 10.0 * 365.25 * 86_400.0;
/// No run has as many trials, repetitions or intervals.
const MOST: u32 = 100_000_000;
/// Operations that no interval has (2⁵³, 285 years at a million a second).
const MOST_OPERATIONS: u64 = 1 << 53;
/// Clocks differ, and threads whose times are added up wait for each other: an interval may seem to end so much later than its trial.
const MARGIN: (f64, f64) = (10.0, 60.0);

/// Checks a figure of a machine.
pub(super) fn figure(value: f64) -> Result<(), String> {
    match value.abs() <= LARGEST {
        true => Ok(()),
        false => Err(format!(
            "a figure of {value:e} is impossible; expected at most {LARGEST:e}"
        )),
    }
}

fn within(what: &str, value: f64, limit: f64, unit: &str) -> Result<(), String> {
    // What is not a number is within nothing.
    match (0.0..=limit).contains(&value) {
        true => Ok(()),
        false => Err(format!(
            "{what} of {value:e}{unit} is impossible; expected 0 to {limit:e}{unit}"
        )),
    }
}

/// More figures than any layer has, by far. A table of cells looks for each of them in every trial.
const MOST_VALUES: usize = 1000;

impl TrialEntry {
    /// Checks that its times, counts and figures can be those of a trial.
    ///
    /// # Errors
    /// A clause that says which of them cannot, and what is expected.
    pub fn check(&self) -> Result<(), String> {
        within("a trial number", self.trial.into(), MOST.into(), "")?;
        within("a repetition number", self.repetition.into(), MOST.into(), "")?;
        within("a duration", self.duration_s, LONGEST_S, " s")?;
        let took_s = self.took_s.unwrap_or(0.0);
        within("a time in all", took_s, LONGEST_S, " s")?;
        within(
            "a share of CPUs",
            self.others_cpu_share.unwrap_or(0.0),
            1.0 + 1e-9,
            "",
        )?;
        let count = self.values.len();
        if count > MOST_VALUES {
            return Err(format!(
                "{count} figures are impossible; expected at most {MOST_VALUES}"
            ));
        }
        self.values.iter().try_for_each(Value::check)?;
        // Under an open loop, what is answered late has intervals behind the duration, but none behind all that the trial took.
        let (factor, least_s) = MARGIN;
        let end_s = (factor * self.duration_s.max(took_s) + least_s).min(LONGEST_S);
        self.histograms.iter().try_for_each(|entry| entry.check(end_s))
    }
}

impl Value {
    /// Checks that it can be the figure of a trial: of all units, only a ratio is ever negative, where compressed blocks grew.
    fn check(&self) -> Result<(), String> {
        let Some(value) = self.value else {
            return Ok(());
        };
        figure(value)?;
        match value < 0.0 && self.unit != Unit::Ratio {
            true => Err(format!(
                "{} of {value:e} {} is impossible; expected 0 or more",
                self.metric,
                self.unit.symbol()
            )),
            false => Ok(()),
        }
    }
}

impl HistogramEntry {
    fn check(&self, trial_end_s: f64) -> Result<(), String> {
        within("an interval number", self.interval_index.into(), MOST.into(), "")?;
        within("the start of an interval", self.start_s, trial_end_s, " s")?;
        within("the length of an interval", self.duration_s, trial_end_s, " s")?;
        within(
            "a count of operations",
            self.count as f64,
            MOST_OPERATIONS as f64,
            "",
        )
    }
}

#[cfg(test)]
mod tests {
    use outcrop_schema::device::IOPS;

    use super::*;

    #[test]
    fn a_trial_has_at_most_a_thousand_figures() {
        let mut trial: TrialEntry = serde_json::from_str(
            r#"{"trial":0,"cell":"c","layer":"device","subject":"s","plans":[],"repetition":0,"seed":1,"factors":{},
                "started_at":"2026-11-27T07:00:00Z","duration_s":1.0,"outcome":"completed","values":[]}"#,
        )
        .unwrap();
        trial.values = vec![Value::measured(IOPS.both, 1.0); 1000];
        assert_eq!(trial.check(), Ok(()));
        trial.values.push(Value::measured(IOPS.both, 1.0));
        let refused = "1001 figures are impossible; expected at most 1000";
        assert_eq!(trial.check(), Err(refused.to_owned()));
    }
}
