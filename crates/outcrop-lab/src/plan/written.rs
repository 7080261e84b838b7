//! A limit on the bytes written, held against a run before it begins.

use outcrop_measure::units::{format_bytes, format_data};
use outcrop_schema::kv;

use super::PlanSet;
use super::check::bad;
use crate::error::LabError;
use crate::estimate::Estimate;

impl PlanSet {
    /// Refuses a run that would write more than allowed even to a slow device. Of a run that would only on faster ones, it is said that it may
    /// end early: what is written is counted while it is measured, and no request goes beyond the limit.
    pub(super) fn check_max_written(&mut self) -> Result<(), LabError> {
        let Some(limit) = self.max_written else {
            return Ok(());
        };
        let estimate = self.estimate();
        let [least, likely] = [estimate.least_bytes_written(), estimate.likely_bytes_written()]
            .map(|bytes| format_data(bytes as f64));
        let preparing = format_bytes(estimate.bytes_written_preparing);
        if estimate.bytes_written_preparing > limit.0 {
            let message = format!(
                "only {limit} may be written, and creating the run's files alone writes {preparing}; {}or allow more (--max-written)",
                self.smaller()
            );
            return Err(bad("--max-written", message));
        }
        let may_stop = self.cells.iter().any(|cell| cell.trial.stops_when_steady);
        let slow = match may_stop {
            true => format!(
                "{} if the rounds of plans that stop when steady are only five",
                Estimate::SLOW
            ),
            false => Estimate::SLOW.to_owned(),
        };
        if estimate.least_bytes_written() > limit.0 {
            // What does not depend on a rate needs none.
            let assuming = match estimate.least_bytes_written() == estimate.bytes_written() {
                true => String::new(),
                false => {
                    format!(" even at {slow}; nothing is measured before a run, so this rate is assumed")
                }
            };
            let message = format!(
                "only {limit} may be written, but this run would write about {least} ({preparing} to create its files){assuming}; {}measure \
                 fewer cells that write, shorten trials (--duration, --repetitions), or allow more (--max-written)",
                self.smaller()
            );
            return Err(bad("--max-written", message));
        }
        if estimate.likely_bytes_written() > limit.0 {
            let usual = Estimate::USUAL;
            self.data_notes.push(format!(
                "only {limit} may be written (--max-written): the run would write about {least} at {slow}, and about {likely} at {usual}; \
                 bytes are counted, and the run ends at the limit with the trials that it has completed by then, if any"
            ));
        }
        Ok(())
    }

    /// What makes the data of this run smaller, as the beginning of a list.
    fn smaller(&self) -> String {
        let schemas: Vec<_> = self.plans.iter().map(|plan| plan.layer.schema()).collect();
        let has_size = schemas.iter().any(|schema| schema.size.is_some());
        let has_records = schemas
            .iter()
            .any(|schema| schema.factor(kv::RECORDS.name).is_some());
        let options = [
            (has_size, "make the file smaller (--size), "),
            (has_records, "load fewer records (--records), "),
        ];
        options
            .into_iter()
            .filter_map(|(has, text)| has.then_some(text))
            .collect()
    }
}
