//! The compression layer: codecs on the user's data, on the embedded sample, or on generated content.
//!
//! What is measured and how: `docs/design/0004-compression.md`.

mod bench;
mod forecast;
mod parameters;
mod values;

use std::path::Path;

use outcrop_codec::{CodecErrorKind, CodecSpec, families};
use outcrop_compress::Source;
use outcrop_measure::units::{ByteSize, format_bytes, format_data};
use outcrop_schema::compression::{CODEC, DATA, Data, LIBRARY_MARK, SAMPLE_SIZE, SCHEMA};
use outcrop_schema::{FactorRef, LayerSchema, Setting, Settings};
use outcrop_workload::word::hint;

use crate::cell::{Cell, Subject, TrialOptions};
use crate::error::LabError;
use crate::estimate::Forecast;
use crate::layer::{Bench, DataSettings, Layer, Origin, Preparation, Profile, Refusal, absolute};

/// The layer as plans see it.
#[derive(Clone, Copy, Debug)]
pub struct Compression;

/// What to take for a file format that is known by another name than the codec in it.
fn of_format(seen: &str, names: &[&str]) -> Option<String> {
    let codec = match seen {
        "gzip" | "gz" | "zip" | "deflate" => "deflate",
        _ => return None,
    };
    let libraries: Vec<_> = names
        .iter()
        .filter(|name| name.contains(codec) || name.starts_with("zlib"))
        .filter(|name| !name.contains(LIBRARY_MARK))
        .map(|name| format!("`{name}`"))
        .collect();
    let what = if seen == codec {
        format!("{seen} is a format that several libraries write")
    } else {
        format!("{seen} uses {codec}")
    };
    (!libraries.is_empty()).then(|| {
        format!(
            "{what}; this build has {}, each with a level (`{}:6`)",
            libraries.join(", "),
            libraries[0].trim_matches('`')
        )
    })
}

impl Layer for Compression {
    fn schema(&self) -> &'static LayerSchema {
        &SCHEMA
    }

    fn profile(&self) -> Option<Profile> {
        Some(Profile {
            plans: &["codec-choice"],
            plans_for_data: &["codec-choice"],
            quick_s: 12,
            default_s: 75,
        })
    }

    fn read(&self, factor: FactorRef, text: &str) -> Result<Setting, String> {
        if factor.name != CODEC.name {
            return factor.read(text);
        }
        match text.parse::<CodecSpec>() {
            Ok(spec) => factor.read(&spec.to_string()),
            Err(error) => Err(match error.kind() {
                CodecErrorKind::UnknownCodec { seen, .. } => {
                    let names: Vec<_> = families().iter().map(|family| family.name).collect();
                    let hint = of_format(seen, &names).unwrap_or_else(|| hint(seen, &names));
                    format!("there is no codec `{seen}`; {hint}")
                }
                _ => error.to_string(),
            }),
        }
    }

    fn take_data(&self, path: &str, _: &Settings) -> Result<Option<DataSettings>, String> {
        Ok(Some(DataSettings {
            subject: vec![(&DATA, path.to_owned())],
            ..DataSettings::default()
        }))
    }

    fn check_combinations(
        &self,
        subject: &Subject,
        combinations: &[Settings],
        _origin: &dyn Fn(&str) -> Origin,
    ) -> Result<Vec<String>, (usize, Refusal)> {
        parameters::check_use_of_data(subject, combinations)?;
        Ok(parameters::unfilled_blocks(subject, combinations)
            .into_iter()
            .collect())
    }

    fn complete_subject(&self, mut settings: Settings) -> Result<Subject, Refusal> {
        let wanted = settings.value(&SAMPLE_SIZE).0;
        let data = settings.value(&DATA).clone();
        let (name, total) = match &data {
            Data::Sample => (data.to_string(), Source::embedded_bytes()),
            Data::Generated => (data.to_string(), wanted),
            // How much will come, nobody knows.
            Data::Stdin => ("stdin".to_owned(), u64::MAX),
            Data::Path(path) => {
                let path = absolute(&DATA, path)?;
                let source =
                    Source::open(Path::new(&path)).map_err(|error| Refusal::of(&DATA, error.to_string()))?;
                let name = Path::new(&path).file_name();
                let name = name.map_or_else(|| path.clone(), |name| name.to_string_lossy().into_owned());
                settings.set(&DATA, Data::Path(path));
                match source.compression() {
                    // How long they are decompressed, nobody knows before they were read.
                    Some(compression) => (format!("{name} decompressed from {compression}"), u64::MAX),
                    None => (name, source.bytes().unwrap_or(u64::MAX)),
                }
            }
        };
        let taken = wanted.min(total);
        let is_generated = *settings.value(&DATA) == Data::Generated;
        settings.set(&SAMPLE_SIZE, ByteSize(taken));
        let label = match total {
            u64::MAX => name,
            total if is_generated => format!("{name} {}", format_bytes(total)),
            total if total > taken => {
                let [taken, total] = [taken, total].map(|bytes| format_data(bytes as f64));
                format!("{name} {taken} of {total}")
            }
            total => format!("{name} {}", format_data(total as f64)),
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

    fn hindrance(&self, cell: &Cell) -> Option<String> {
        let library = parameters::codec_of(cell.factors.value(&CODEC))
            .family()
            .library();
        library.err().map(|absent| absent.to_string())
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
