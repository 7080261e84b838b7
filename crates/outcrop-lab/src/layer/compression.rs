//! The compression layer: codecs on the user's data, on the embedded sample, or on generated content.
//!
//! What is measured and by which names: `docs/design/0004-compression.md`.

mod bench;
mod content;
mod forecast;
pub mod metrics;
mod parameters;
mod values;

use std::path::Path;

use outcrop_compress::Source;
use outcrop_measure::units::{ByteSize, format_bytes};

use crate::cell::Cell;
use crate::error::LabError;
use crate::estimate::Forecast;
use crate::layer::{Bench, DataSettings, Layer, Preparation, absolute, parsed};
use crate::parameter::{Parameter, Refusal, Settings};
use crate::plan::{Subject, TrialOptions};

/// The layer as plans see it.
#[derive(Clone, Copy, Debug)]
pub struct Compression;

/// The value of `data` that stands for the embedded sample.
const SAMPLE: &str = "sample";
/// The value of `data` that stands for content alone.
const GENERATED: &str = "generated";
/// The value of `data` that stands for stdin.
const STDIN: &str = "-";

impl Layer for Compression {
    fn name(&self) -> &'static str {
        "compression"
    }

    fn subject_parameters(&self) -> &'static [Parameter] {
        parameters::SUBJECT
    }

    fn workload_parameters(&self) -> &'static [Parameter] {
        parameters::WORKLOAD
    }

    fn take_data(&self, path: &str) -> Result<Option<DataSettings>, String> {
        Ok(Some(DataSettings {
            subject: vec![("data", path.to_owned())],
            ..DataSettings::default()
        }))
    }

    fn complete_subject(&self, mut settings: Settings) -> Result<Subject, Refusal> {
        let wanted = parsed::<ByteSize>(&settings["sample_size"]).0;
        let data = settings["data"].clone();
        let (name, total) = match data.as_str() {
            SAMPLE => (SAMPLE.to_owned(), Source::embedded_bytes()),
            GENERATED => (GENERATED.to_owned(), wanted),
            // How much will come, nobody knows.
            STDIN => ("stdin".to_owned(), u64::MAX),
            path => {
                let path = absolute(path)?;
                let source =
                    Source::open(Path::new(&path)).map_err(|error| Refusal::of("data", error.to_string()))?;
                settings.insert("data".to_owned(), path.clone());
                let name = Path::new(&path)
                    .file_name()
                    .map(|name| name.to_string_lossy().into_owned());
                (name.unwrap_or(path), source.bytes())
            }
        };
        let taken = wanted.min(total);
        settings.insert("sample_size".to_owned(), ByteSize(taken).to_string());
        let label = match total {
            u64::MAX => name,
            total if total > taken => {
                format!("{name} {} of {}", format_bytes(taken), format_bytes(total))
            }
            total => format!("{name} {}", format_bytes(total)),
        };
        Ok(Subject { settings, label })
    }

    fn complete_factors(
        &self,
        subject: &Subject,
        mut factors: Settings,
        trial: &TrialOptions,
    ) -> Result<Settings, Refusal> {
        parameters::complete(subject, &mut factors, trial)?;
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
        Ok(Box::new(bench::CompressionBench::prepare(subjects, preparation)?))
    }
}
