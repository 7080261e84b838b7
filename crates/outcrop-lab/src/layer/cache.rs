//! The cache layer: our server, another program, or a server at a URL, under a load of requests by key.
//!
//! What is measured and by which names: `docs/design/0006-cache-lab.md`.

mod arrival;
mod bench;
mod forecast;
pub mod metrics;
mod parameters;
mod values;

use outcrop_cache_load::{Protocol, Target};

use crate::cell::Cell;
use crate::error::LabError;
use crate::estimate::Forecast;
use crate::layer::{Bench, Layer, Preparation};
use crate::parameter::{Parameter, Refusal, Settings};
use crate::plan::{Subject, TrialOptions};

/// The layer as plans see it.
#[derive(Clone, Copy, Debug)]
pub struct Cache;

/// The value of `target` that stands for servers that the plan starts.
const LOOPBACK: &str = "loopback";

impl Layer for Cache {
    fn name(&self) -> &'static str {
        "cache"
    }

    fn subject_parameters(&self) -> &'static [Parameter] {
        parameters::SUBJECT
    }

    fn workload_parameters(&self) -> &'static [Parameter] {
        parameters::WORKLOAD
    }

    fn server_settings(&self, url: &str) -> Vec<(&'static str, String)> {
        vec![("target", url.to_owned())]
    }

    fn complete_subject(&self, settings: Settings) -> Result<Subject, Refusal> {
        let label = match settings["target"].as_str() {
            LOOPBACK => "servers on the loopback interface".to_owned(),
            url => url.to_owned(),
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
    match subject.settings["target"].as_str() {
        LOOPBACK => None,
        url => Some(super::parsed(url)),
    }
}

/// The protocol that a cell's requests go by; all that matters of it before a server has its port.
fn protocol_of(subject: &Subject, factors: &Settings) -> Protocol {
    match (url_of(subject), factors.get("server").map(String::as_str)) {
        (Some(target), _) => target.protocol,
        (None, Some("redis")) => Protocol::Redis,
        (None, _) if factors.get("protocol").is_some_and(|protocol| protocol == "http") => Protocol::Http,
        (None, _) => Protocol::Memcached,
    }
}
