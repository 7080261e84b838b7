//! The toy's engine and its place in the lab.

use std::time::Duration;

use outcrop_lab::estimate::Forecast;
use outcrop_lab::layer::{Bench, Layer, Preparation, Refusal, TrialFailure, TrialReport};
use outcrop_lab::{Cell, LabError, Subject, Trial};
use outcrop_results::{Outcome, Value};
use outcrop_schema::{LayerSchema, Settings};

use super::schema::{BIAS, Bias, HEADS, IS_LOADED, RATE, SCHEMA, SIDES, TOSSES};

pub(super) struct Coin;

impl Layer for Coin {
    fn schema(&self) -> &'static LayerSchema {
        &SCHEMA
    }

    fn complete_subject(&self, settings: Settings) -> Result<Subject, Refusal> {
        Ok(Subject {
            settings,
            label: "a coin".to_owned(),
        })
    }

    fn forecast_trial(&self, _: &Cell) -> Forecast {
        Forecast {
            time: Duration::from_millis(1),
            ..Forecast::default()
        }
    }

    fn prepare<'r>(
        &self,
        _: &[Subject],
        _: &mut Preparation<'r, '_>,
    ) -> Result<Box<dyn Bench + 'r>, LabError> {
        Ok(Box::new(Toss))
    }
}

struct Toss;

impl Bench for Toss {
    fn run(&mut self, cell: &Cell, trial: &Trial) -> Result<TrialReport, TrialFailure> {
        let is_loaded = *cell.factors.value(&BIAS) == Bias::Loaded;
        let heads = if is_loaded { 0.9 } else { 0.5 };
        let rate = *cell.factors.value(&TOSSES) as f64 + f64::from(trial.repetition);
        let values = [(HEADS, heads), (RATE, rate), (SIDES, 2.0)];
        let remark = is_loaded.then(|| IS_LOADED.remark("it always falls on one side"));
        Ok(TrialReport {
            duration_s: 0.001,
            values: values
                .map(|(metric, value)| Value::measured(metric, value))
                .into(),
            notes: remark.into_iter().collect(),
            ..TrialReport::empty(Outcome::Completed)
        })
    }
}
