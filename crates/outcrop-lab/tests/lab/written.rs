//! A limit on the bytes written, before a run.

use outcrop_lab::{PlanOptions, PlanSet, PlanSource};
use outcrop_measure::units::ByteSize;

use crate::runs::writing_plan;
use crate::scene::directory;

#[test]
fn a_run_that_only_a_faster_device_would_take_too_far_begins_and_says_that_it_may_end_at_the_limit() {
    let data = directory();
    let with = |max_written| {
        let options = PlanOptions {
            directory: Some(data.path().to_owned()),
            max_written,
            ..PlanOptions::default()
        };
        let source = PlanSource {
            name: "plan.toml".to_owned(),
            text: writing_plan(),
        };
        PlanSet::from_sources(&[source], &options).unwrap()
    };
    let estimate = with(None).estimate();
    let (least, likely) = (estimate.least_bytes_written(), estimate.likely_bytes_written());
    assert!(4 << 20 < least && least < likely, "{estimate:?}");
    let between = with(Some(ByteSize(least.midpoint(likely))));
    let [note] = between.data_notes() else {
        panic!("{:?}", between.data_notes());
    };
    for part in ["125 MB/s", "500 MB/s", "the run ends at the limit"] {
        assert!(note.contains(part), "{note}");
    }
    assert!(with(Some(ByteSize(likely))).data_notes().is_empty());
}
