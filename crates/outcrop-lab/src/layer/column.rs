//! The column layer: string columns, made or the user's, in the dictionary codec and beside it.

mod bench;
mod data;
mod forecast;
mod parameters;
mod values;

use std::path::Path;

use outcrop_codec::CodecSpec;
use outcrop_column_bench::tabular::Table;
use outcrop_schema::column::{
    COLUMN, DISTINCT, FORMAT, Format, KIND, Kind, OPERATION, ORDER, PATH, SCHEMA, SKEW,
};
use outcrop_schema::{FactorRef, LayerSchema, Setting, Settings};
use outcrop_workload::column::Operation;

use crate::cell::{Cell, Subject, TrialOptions};
use crate::error::LabError;
use crate::estimate::Forecast;
use crate::layer::{Bench, DataSettings, EndsBy, Layer, Origin, Preparation, Profile, Refusal, absolute};

/// The layer as plans see it.
#[derive(Clone, Copy, Debug)]
pub struct Column;

/// What describes the rows of a generated column; a file has its own.
static OF_GENERATED: &[FactorRef] = &[&DISTINCT, &SKEW, &ORDER];

/// What is measured of the user's columns: the sizes of whole ones, and how soon rows are found in the first.
const PLANS_FOR_DATA: &[&str] = &["column-choice", "column-index"];

impl Layer for Column {
    fn schema(&self) -> &'static LayerSchema {
        &SCHEMA
    }

    fn profile(&self) -> Option<Profile> {
        Some(Profile {
            plans: &["column-size", "column-search", "column-encode"],
            plans_for_data: PLANS_FOR_DATA,
            quick_s: 8,
            default_s: 96,
        })
    }

    fn read(&self, factor: FactorRef, text: &str) -> Result<Setting, String> {
        if factor.name != FORMAT.name || text == Format::Ocol.to_string() {
            return factor.read(text);
        }
        match text.parse::<CodecSpec>() {
            Ok(codec) => factor.read(&codec.to_string()),
            Err(error) => Err(format!(
                "format {text:?}: expected \"{}\", or a codec for newline text such as \"zstd:19\": {error}",
                Format::Ocol
            )),
        }
    }

    fn take_data(&self, path: &str, form: &Settings) -> Result<Option<DataSettings>, String> {
        if path == "-" {
            return Err("needs a file, and reads none from stdin; `outcrop column encode -` does".to_owned());
        }
        let path = Path::new(path);
        let given = parameters::given(form);
        let table = Table::describe_as(path, &given).map_err(|error| format!("cannot read {error}"))?;
        let (columns, left_out) = data::chosen(&table, form);
        let shown = path.display();
        let flags = data::flags(form);
        if columns.is_empty() {
            let others = data::named(&table.other_columns());
            return Err(format!(
                "finds no column in {shown} that can be compared as text: {others}{}",
                data::others_compared(&table, form)
            ));
        }
        let file = if path.is_dir() {
            format!("{shown}/TABLE")
        } else {
            shown.to_string()
        };
        Ok(Some(DataSettings {
            subject: [
                (&KIND as FactorRef, Kind::File.to_string()),
                (&PATH, path.to_string_lossy().into_owned()),
            ]
            .into_iter()
            .chain(parameters::form_of(form))
            .collect(),
            decided: OF_GENERATED,
            left_out,
            otherwise: format!(
                "`outcrop column encode {file}{flags} --column NAME -o NAME.ocol` compares one, `outcrop run {} --data {shown}{flags}` compares these {}",
                PLANS_FOR_DATA.join(" "),
                columns.len()
            ),
            factor: Some((&COLUMN, columns)),
        }))
    }

    fn complete_subject(&self, mut settings: Settings) -> Result<Subject, Refusal> {
        match (*settings.value(&KIND), settings.get(&PATH).cloned()) {
            (Kind::Generated, Some(_)) => Err(Refusal::of(
                &PATH,
                "a generated column is made in memory and has no path; leave `path` out, or use kind = \"file\"",
            )),
            (Kind::Generated, None) if parameters::form_of(&settings).next().is_some() => Err(Refusal::of(
                &KIND,
                "a generated column is made in memory, and is not read from delimited text; leave out what describes that, or use kind = \"file\"",
            )),
            (Kind::Generated, None) => Ok(Subject {
                settings,
                label: "generated column".to_owned(),
            }),
            (Kind::File, None) => Err(Refusal::of(
                &KIND,
                "a subject of kind \"file\" needs `path`, the table to read",
            )),
            (Kind::File, Some(path)) => {
                let path = absolute(&PATH, &path)?;
                let given = parameters::given(&settings);
                Table::describe_as(Path::new(&path), &given)
                    .map_err(|error| Refusal::of(&PATH, error.to_string()))?;
                let name = Path::new(&path).file_name().map(std::ffi::OsStr::to_string_lossy);
                let kind = if Path::new(&path).is_dir() {
                    "folder"
                } else {
                    "file"
                };
                let label = format!("{kind} {}", name.unwrap_or_default());
                settings.set(&PATH, path);
                Ok(Subject { settings, label })
            }
        }
    }

    fn complete_factors(
        &self,
        subject: &Subject,
        mut factors: Settings,
        trial: &TrialOptions,
    ) -> Result<Settings, Refusal> {
        match subject.settings.get(&PATH) {
            None => parameters::complete_generated(&mut factors)?,
            Some(path) => {
                let given = parameters::given(&subject.settings);
                parameters::complete_file(Path::new(path), &given, &mut factors)?;
            }
        }
        parameters::check(&factors, trial)?;
        parameters::drop_meaningless(&mut factors);
        Ok(factors)
    }

    fn check_combinations(
        &self,
        subject: &Subject,
        combinations: &[Settings],
        origin: &dyn Fn(&str) -> Origin,
    ) -> Result<Vec<String>, (usize, Refusal)> {
        let is_generated = subject.settings.get(&PATH).is_none();
        parameters::check_used(is_generated, combinations, origin).map(|()| Vec::new())
    }

    /// Sizes are no speeds: a column is encoded once for them.
    fn warms_up(&self, factors: &Settings) -> bool {
        *factors.value(&OPERATION) != Operation::Size
    }

    fn ends_by(&self, factors: &Settings) -> Option<EndsBy> {
        (*factors.value(&OPERATION) == Operation::Size).then_some(EndsBy {
            what: "the column is encoded",
            or_by_time: false,
        })
    }

    fn forecast_trial(&self, cell: &Cell) -> Forecast {
        forecast::trial(cell)
    }

    fn prepare<'r>(
        &self,
        _: &[Subject],
        preparation: &mut Preparation<'r, '_>,
    ) -> Result<Box<dyn Bench + 'r>, LabError> {
        Ok(Box::new(bench::ColumnBench::new(preparation)))
    }
}
