//! What `outcrop predict` reads: files of applications, components and measurements, and a run.

use super::Args;
use crate::exit::bad_input;
use crate::output;
use anyhow::Context as _;
use outcrop_measure::units::given_twice;
use outcrop_predict::{Application, Case, Component, Measured, PUBLISHED, Study};
use outcrop_report::MeasuredSystem;
use outcrop_results::RunView;
use std::path::Path;

use outcrop_probe::user_file;

/// Files larger than this are not lists of figures.
const MOST_BYTES: u64 = 16 << 20;

/// What there is to predict: the files' applications, else those of a run. With both, the run is what the model was checked on, and comes second.
pub(super) fn systems(args: &Args) -> anyhow::Result<(MeasuredSystem, Option<MeasuredSystem>)> {
    let is_alone = args.application.is_empty();
    let needs_application = [
        ("--clients", !args.clients.is_empty()),
        ("--measured", args.measured.is_some()),
    ];
    if let Some((flag, _)) = needs_application
        .iter()
        .find(|(_, is_given)| is_alone && *is_given)
    {
        return Err(bad_input(anyhow::anyhow!(
            "{flag} needs --application: the stores of a run are predicted for the number of clients they were measured with, and checked against the run"
        )));
    }
    let of_run = args.run.as_deref().map(checked_system).transpose()?;
    match of_run {
        Some(mut system) if is_alone => {
            system.components.extend(components(&args.components)?);
            Ok((system, None))
        }
        of_run => {
            let own = MeasuredSystem {
                applications: applications(args)?,
                components: components(&args.components)?,
                measured: measured(args.measured.as_deref())?,
                ..MeasuredSystem::default()
            };
            Ok((own, of_run))
        }
    }
}

/// What a run measured of stores and codecs.
fn checked_system(run: &Path) -> anyhow::Result<MeasuredSystem> {
    let view = RunView::load(run).map_err(bad_input)?;
    MeasuredSystem::of(&view).map_err(|reason| bad_input(anyhow::anyhow!(reason)))
}

fn applications(args: &Args) -> anyhow::Result<Vec<Application>> {
    let mut applications = Vec::new();
    for path in &args.application {
        let own = outcrop_predict::applications(&text_of(path)?);
        applications.extend(
            own.with_context(|| format!("cannot read applications from {path}"))
                .map_err(bad_input)?,
        );
    }
    if let Some(clients) = given_twice(&args.clients) {
        return Err(bad_input(anyhow::anyhow!(
            "--clients {clients} is given twice; keep one"
        )));
    }
    if !args.clients.is_empty() {
        for application in &mut applications {
            application.predict_clients.clone_from(&args.clients);
        }
    }
    Ok(applications)
}

/// Refuses two entries of one name and load: the rows of one could not be told from those of the other.
pub(super) fn refuse_twice(study: &Study<'_>) -> anyhow::Result<()> {
    let is_alike = |one: &Case<'_>, other: &Case<'_>| {
        let is_load = one.load().is_some() && one.load() == other.load();
        is_load && one.application.name == other.application.name
    };
    let plain: Vec<&Case<'_>> = study
        .cases
        .iter()
        .filter(|case| case.component.is_none())
        .collect();
    let before = |place: usize| plain[..place].iter().find(|one| is_alike(one, plain[place]));
    let Some((one, other)) = (1..plain.len()).find_map(|place| Some((before(place)?, plain[place]))) else {
        return Ok(());
    };
    let (name, clients) = (&other.application.name, other.load().unwrap_or_default());
    Err(bad_input(
        match one.application.clients == other.application.clients {
            true => anyhow::anyhow!(
                "{name:?} with {clients} clients is given twice; give each application and load once, or each its own name"
            ),
            // Loads that were measured apart, and are to be predicted for one number.
            false => anyhow::anyhow!(
                "{name:?} with {clients} clients would be predicted from two of its entries; leave out --clients or predict_clients, or give each \
             entry its own name"
            ),
        },
    ))
}

fn components(paths: &[String]) -> anyhow::Result<Vec<Component>> {
    let mut components: Vec<Component> = Vec::new();
    for path in paths {
        let published = PUBLISHED.iter().find(|(name, ..)| name == path);
        let text = published.map_or_else(|| text_of(path), |(_, _, text)| Ok((*text).to_owned()))?;
        let read = outcrop_predict::components(&text);
        let (own, notes) = read
            .with_context(|| format!("cannot read components from {path}"))
            .map_err(bad_input)?;
        for note in notes {
            output::note(&format!("note: {note}"));
        }
        if let Some(twice) = own
            .iter()
            .find(|own| components.iter().any(|known| known.name == own.name))
        {
            return Err(bad_input(anyhow::anyhow!(
                "two files have a component named {:?}; give each its own name",
                twice.name
            )));
        }
        components.extend(own);
    }
    Ok(components)
}

fn measured(path: Option<&str>) -> anyhow::Result<Vec<Measured>> {
    let Some(path) = path else {
        return Ok(Vec::new());
    };
    let measured = outcrop_predict::measured(&text_of(path)?);
    measured
        .with_context(|| format!("cannot read measurements from {path}"))
        .map_err(bad_input)
}

/// The text of a file, or of stdin.
fn text_of(path: &str) -> anyhow::Result<String> {
    const WHAT: &str = "a list of figures";
    let read = match path {
        "-" => user_file::read_all(std::io::stdin().lock(), MOST_BYTES, WHAT).and_then(user_file::text),
        path => user_file::read_text(Path::new(path), MOST_BYTES, WHAT),
    };
    let name = if path == "-" { "stdin" } else { path };
    read.with_context(|| format!("cannot read {name}"))
        .map_err(bad_input)
}
