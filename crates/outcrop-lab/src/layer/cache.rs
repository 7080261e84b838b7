//! The cache layer: our server, another program, or a server at a URL, under a load of requests by key.
//!
//! What is measured and how: `docs/design/0006-cache-lab.md`.

mod bench;
mod forecast;
mod lacking;
mod parameters;
mod values;

use outcrop_cache_load::Target;
use outcrop_schema::cache::{FILL, Fill, REQUESTS, SCHEMA, ServedBy, TARGET};
use outcrop_schema::{FactorRef, LayerSchema, Setting, Settings};

use crate::cell::{Cell, Subject, TrialOptions};
use crate::error::LabError;
use crate::estimate::Forecast;
use crate::layer::{Bench, EndsBy, Layer, Origin, Preparation, Profile, Refusal};

/// The layer as plans see it.
#[derive(Clone, Copy, Debug)]
pub struct Cache;

impl Layer for Cache {
    fn schema(&self) -> &'static LayerSchema {
        &SCHEMA
    }

    fn profile(&self) -> Option<Profile> {
        Some(Profile {
            plans: &["cache-etc"],
            plans_for_data: &["cache-etc"],
            quick_s: 8,
            default_s: 59,
        })
    }

    fn read(&self, factor: FactorRef, text: &str) -> Result<Setting, String> {
        let setting = factor.read(text)?;
        if factor.name != TARGET.name || text == ServedBy::Loopback.to_string() {
            return Ok(setting);
        }
        let url = text.parse::<Target>();
        url.map(|url| Setting::of(ServedBy::Url(url.to_string())))
            .map_err(|error| {
                format!(
                    "{error}; or \"{}\" for servers that the plan starts",
                    ServedBy::Loopback
                )
            })
    }

    fn complete_subject(&self, settings: Settings) -> Result<Subject, Refusal> {
        let label = match settings.value(&TARGET) {
            ServedBy::Loopback => "servers on the loopback interface".to_owned(),
            ServedBy::Url(url) => url.clone(),
        };
        Ok(Subject { settings, label })
    }

    fn complete_factors(
        &self,
        subject: &Subject,
        mut factors: Settings,
        trial: &TrialOptions,
    ) -> Result<Settings, Refusal> {
        parameters::complete(subject, &mut factors);
        parameters::check(subject, &factors, trial)?;
        Ok(factors)
    }

    fn ends_by(&self, factors: &Settings) -> Option<EndsBy> {
        factors.get(&REQUESTS)?.0.map(|_| EndsBy {
            what: "its requests are answered",
            or_by_time: false,
        })
    }

    fn check_combinations(
        &self,
        subject: &Subject,
        combinations: &[Settings],
        origin: &dyn Fn(&str) -> Origin,
    ) -> Result<Vec<String>, (usize, Refusal)> {
        lacking::check(subject, combinations, origin)
    }

    /// A number of sets is the whole warm-up of a cache that is filled by them.
    fn warms_up(&self, factors: &Settings) -> bool {
        !matches!(factors.value(&FILL), Fill::Sets(_))
    }

    fn forecast_trial(&self, cell: &Cell) -> Forecast {
        forecast::trial(cell)
    }

    fn prepare<'r>(
        &self,
        subjects: &[Subject],
        preparation: &mut Preparation<'r, '_>,
    ) -> Result<Box<dyn Bench + 'r>, LabError> {
        Ok(Box::new(bench::CacheBench::prepare(subjects, preparation)?))
    }
}

/// The server of a subject that runs already.
fn url_of(subject: &Subject) -> Option<Target> {
    match subject.settings.value(&TARGET) {
        ServedBy::Loopback => None,
        // It was read as one.
        ServedBy::Url(url) => url.parse().ok(),
    }
}
