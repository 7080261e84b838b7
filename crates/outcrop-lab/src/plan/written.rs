//! A limit on the bytes written, held against a run before it begins.

use outcrop_filesystem::image_bytes;
use outcrop_measure::units::{format_bytes, format_data};
use outcrop_schema::{LayerSchema, filesystem, kv};

use super::check::bad;
use super::{GivenIn, PlanSet};
use crate::cell::Cell;
use crate::error::LabError;
use crate::estimate::Estimate;

impl PlanSet {
    /// Refuses a run that would write more than allowed even to a slow device. Of a run that would only on faster ones, it is said that it may
    /// end early: what is written is counted while it is measured, and no request goes beyond the limit.
    pub(super) fn check_max_written(&mut self, given_in: GivenIn) -> Result<(), LabError> {
        let Some(limit) = self.max_written else {
            return Ok(());
        };
        let estimate = self.estimate_here();
        let [least, likely] = [estimate.least_bytes_written(), estimate.likely_bytes_written()]
            .map(|bytes| format_data(bytes as f64));
        let preparing = format_bytes(estimate.bytes_written_preparing);
        if estimate.bytes_written_preparing > limit.0 {
            let smaller = match estimate.bytes_written_preparing <= image_bytes(0) {
                true => self.without_image(given_in),
                false => self.smaller(given_in),
            };
            let message = format!(
                "only {limit} may be written, and creating the run's files alone writes {preparing}; {}",
                or_more(&smaller)
            );
            return Err(bad("--max-written", message));
        }
        let slow = format!("{}{}", Estimate::SLOW, self.fewest_in_words());
        if estimate.least_bytes_written() > limit.0 {
            // What does not depend on a rate needs none.
            let assuming = match estimate.least_bytes_written() == estimate.bytes_written() {
                true => String::new(),
                false => {
                    format!(" even at {slow}; nothing is measured before a run, so this rate is assumed")
                }
            };
            let message = format!(
                "only {limit} may be written, but this run would write about {least} ({preparing} to create its files){assuming}; {}",
                or_more(&[self.smaller(given_in), vec![FEWER_CELLS, SHORTER_TRIALS]].concat())
            );
            return Err(bad("--max-written", message));
        }
        if estimate.likely_bytes_written() > limit.0 {
            let usual = Estimate::USUAL;
            let kept = match (estimate.trials, self.cells.iter().any(Cell::takes_duration)) {
                (1, true) => "its only trial is then not kept, and a shorter one (--duration) writes less",
                (1, false) => "its only trial is then not kept",
                _ => "it keeps the trials that are complete by then",
            };
            self.data_notes.push(format!(
                "only {limit} may be written (--max-written): the run would write about {least} at {slow}, and about {likely} at {usual}; \
                 bytes are counted as they are written, and the run ends before it exceeds the limit; {kept}"
            ));
        }
        Ok(())
    }

    /// Which trials the least that a run writes is of, where there may be more: a clause.
    fn fewest_in_words(&self) -> String {
        let may_stop = self.cells.iter().any(|cell| cell.trial.stops_when_steady);
        let fewest = [
            (
                may_stop,
                "the rounds of plans that stop when steady are only five",
            ),
            (
                self.doubt.is_some(),
                "each cell that may be the answer gets only one trial",
            ),
        ];
        let fewest = fewest.into_iter().filter_map(|(may, text)| may.then_some(text));
        let fewest: Vec<&str> = fewest.collect();
        match fewest.is_empty() {
            true => String::new(),
            false => format!(" if {}", fewest.join(" and ")),
        }
    }

    /// What avoids the smallest image of a filesystem, which less data do not make smaller; for several layers, what makes their data smaller.
    fn without_image(&self, given_in: GivenIn) -> Vec<&'static str> {
        let is_only = |schema: &LayerSchema| {
            let mut layers = self.plans.iter().map(|plan| plan.layer.schema());
            layers.all(|layer| layer.name == schema.name)
        };
        match given_in {
            GivenIn::Flags if is_only(&filesystem::SCHEMA) => {
                vec!["measure the filesystem of a directory, without an image (--directory)"]
            }
            GivenIn::Plans if is_only(&filesystem::SCHEMA) => Vec::new(),
            GivenIn::Flags if is_only(&kv::SCHEMA) => {
                vec!["measure in the directory's own filesystem, without an image (leave out --filesystem)"]
            }
            GivenIn::Plans if is_only(&kv::SCHEMA) => vec![
                "measure in the directory's own filesystem, without an image (leave out `filesystem` in a plan of your own)",
            ],
            _ => self.smaller(given_in),
        }
    }

    /// What makes the data of this run smaller.
    fn smaller(&self, given_in: GivenIn) -> Vec<&'static str> {
        let has =
            |is_so: &dyn Fn(&LayerSchema) -> bool| self.plans.iter().any(|plan| is_so(plan.layer.schema()));
        let first = self.plans.first().map(|plan| plan.layer.schema().name);
        let options = [
            (
                has(&|schema| Some(schema.name) != first),
                "measure fewer layers (--layer)",
            ),
            (
                has(&|schema| schema.size.is_some()),
                "make the file smaller (--size)",
            ),
            (
                has(&|schema| schema.name == filesystem::SCHEMA.name),
                match given_in {
                    GivenIn::Flags => "fill the files with less data (--sample-size)",
                    GivenIn::Plans => "fill the files with less data (`sample_size` in a plan of your own)",
                },
            ),
            (
                has(&|schema| schema.factor(kv::RECORDS.name).is_some()),
                match given_in {
                    GivenIn::Flags => "load fewer records (--records)",
                    GivenIn::Plans => {
                        "load fewer records (`records` in a plan of your own; `outcrop plans NAME` prints a shipped one)"
                    }
                },
            ),
        ];
        options
            .into_iter()
            .filter_map(|(has, text)| has.then_some(text))
            .collect()
    }
}

const FEWER_CELLS: &str = "measure fewer cells that write";
const SHORTER_TRIALS: &str = "shorten trials (--duration, --repetitions)";
const MORE: &str = "allow more (--max-written)";

/// Things to do instead of allowing more, and that: one of them is enough.
fn or_more(options: &[&str]) -> String {
    match options {
        [] => MORE.to_owned(),
        options => format!("{}, or {MORE}", options.join(", ")),
    }
}
