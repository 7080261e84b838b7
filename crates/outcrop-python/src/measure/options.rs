//! Keywords of `run`, `profile` and `codec` as options of plans.

use outcrop_lab::PlanOptions;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::words;

/// What a caller decides in addition to the plans.
pub(super) struct PlanArguments {
    pub(super) options: PlanOptions,
}

impl PlanArguments {
    /// Reads keywords; those that are `None` are left as the plans say.
    pub(super) fn of(arguments: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut options = PlanOptions::default();
        for (name, value) in arguments.into_iter().flatten() {
            if value.is_none() {
                continue;
            }
            let name: String = name.extract()?;
            match name.as_str() {
                "effort" => options.effort = Some(words::effort(&value.extract::<String>()?)?),
                "path" => options.directory = Some(value.extract()?),
                "data" => options.data = Some(value.extract()?),
                "server" => options.server = Some(value.extract()?),
                "size" => options.size = Some(words::bytes(&name, &value)?),
                "repetitions" => options.repetitions = Some(value.extract()?),
                "warm_up" => options.warm_up = Some(words::time(&name, &value)?),
                "duration" => options.duration = Some(words::time(&name, &value)?),
                "budget" => options.budget = Some(words::time(&name, &value)?),
                "max_written" => options.max_written = Some(words::bytes(&name, &value)?),
                "seed" => options.seed = Some(words::parsed(&name, &value.str()?.to_string_lossy())?),
                _ => {
                    return Err(PyTypeError::new_err(format!(
                        "unexpected keyword argument {name:?}"
                    )));
                }
            }
        }
        Ok(Self { options })
    }
}
