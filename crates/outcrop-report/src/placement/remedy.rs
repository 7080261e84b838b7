//! What would decide where to compress, where more trials would not.

use outcrop_schema::kv::{RECORDS, SCHEMA};

use super::words::Measured;

/// So many times as many records leave a log of the same size little of the space.
const MORE: f64 = 10.0;

/// What would decide what is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// The store's log hides what its codecs save.
    MoreRecords,
    /// Percentiles are missing.
    LongerTrials,
}

impl Remedy {
    /// How to do it, of what was measured.
    pub(super) fn sentence(self, study: &Measured) -> String {
        match self {
            Self::MoreRecords => format!(
                "More records would decide it: the log's share of the space would fall. {}",
                more_records(study)
            ),
            Self::LongerTrials if !study.has_reads => {
                "This workload has no point reads, so --p99 cannot be checked.".to_owned()
            }
            Self::LongerTrials => "Longer trials (--duration) would give the missing percentiles.".to_owned(),
        }
    }
}

/// How to measure the same with more records: its plan has the data, the load and the limits.
fn more_records(study: &Measured) -> String {
    let layers = [SCHEMA.name];
    let (records, commands) = (RECORDS.name, &study.commands);
    let more = study.record_count.map(|count| count * MORE);
    let example = more.map_or_else(String::new, |more| format!(", for example to {more:.0}"));
    match commands.changed(&layers) {
        Some([copy, run]) => format!(
            "Copy the plan of this run (`{copy}`), raise `{records}` in the copy{example}, and measure it: `{run}`{}.",
            commands.before_again(&layers)
        ),
        None => format!("Measure again with a larger number of records{example}."),
    }
}
