//! What a caller chooses: the layers of the plans, the data and the directory.

use std::path::{Path, PathBuf};

use outcrop_workload::word::hint;

use super::PlanOptions;
use super::check::bad;
use super::draft::Draft;
use crate::error::LabError;

/// The user's data as a plan may be run from anywhere; `-`, which is stdin, stays.
pub(super) fn data(data: &Path) -> String {
    let path = match data.as_os_str() == "-" {
        true => data.to_owned(),
        false => std::path::absolute(data).unwrap_or_else(|_| data.to_owned()),
    };
    path.to_string_lossy().into_owned()
}

/// Drops the plans of layers that were not asked for.
pub(super) fn keep_layers(drafts: &mut Vec<Draft>, options: &PlanOptions) -> Result<(), LabError> {
    let wanted = &options.only_layers;
    let known: Vec<String> = drafts.iter().map(|draft| draft.layer.value.clone()).collect();
    if let Some(unknown) = wanted.iter().find(|name| !known.contains(name)) {
        let mut known: Vec<&str> = known.iter().map(String::as_str).collect();
        known.sort_unstable();
        known.dedup();
        let message = format!(
            "none of these plans is of the layer {unknown:?}; {}",
            hint(unknown, &known)
        );
        return Err(bad("--layer", message));
    }
    drafts.retain(|draft| wanted.is_empty() || wanted.contains(&draft.layer.value));
    Ok(())
}

/// Where files of our own are made.
pub(super) fn directory(options: &PlanOptions, expanded: Option<PathBuf>) -> Result<PathBuf, LabError> {
    let given = options
        .directory
        .clone()
        .or(expanded)
        .unwrap_or_else(|| PathBuf::from("."));
    let refuse = |why: &dyn std::fmt::Display| Err(bad("directory", format!("{}: {why}", given.display())));
    match std::path::absolute(&given) {
        Ok(directory) if directory.to_str().is_some() => Ok(directory),
        Ok(_) => refuse(&"not UTF-8, so a plan cannot contain it; choose a directory with another name"),
        Err(error) => refuse(&error),
    }
}
