//! A limit on the bytes written, before a run.

use std::path::Path;

use outcrop_lab::{Draft, LabError, PlanOptions, PlanSet, PlanSource};
use outcrop_measure::units::ByteSize;

use crate::runs::writing_plan;
use crate::scene::directory;

fn planned(text: &str, data: &Path, max_written: Option<ByteSize>) -> Result<PlanSet, LabError> {
    let options = PlanOptions {
        directory: Some(data.to_owned()),
        max_written,
        ..PlanOptions::default()
    };
    let source = PlanSource {
        name: "plan.toml".to_owned(),
        text: text.to_owned(),
    };
    PlanSet::from_sources(&[source], &options)
}

#[test]
fn a_run_that_only_a_faster_device_would_take_too_far_begins_and_says_that_it_may_end_at_the_limit() {
    let data = directory();
    let with = |max_written| planned(&writing_plan(), data.path(), max_written).unwrap();
    let estimate = with(None).estimate();
    let (least, likely) = (estimate.least_bytes_written(), estimate.likely_bytes_written());
    assert!(4 << 20 < least && least < likely, "{estimate:?}");
    let between = with(Some(ByteSize(least.midpoint(likely))));
    let [note] = between.data_notes() else {
        panic!("{:?}", between.data_notes());
    };
    for part in [
        "125 MB/s",
        "500 MB/s",
        "the run ends before it exceeds the limit; it keeps the trials that are complete by then",
    ] {
        assert!(note.contains(part), "{note}");
    }
    assert!(with(Some(ByteSize(likely))).data_notes().is_empty());
}

#[test]
fn a_run_of_one_trial_that_may_end_at_the_limit_is_not_said_to_keep_any() {
    let data = directory();
    let one = writing_plan()
        .replace("repetitions = 2", "repetitions = 1")
        .replace("queue_depth = [1, 4]", "queue_depth = [4]");
    let estimate = planned(&one, data.path(), None).unwrap().estimate();
    assert_eq!(estimate.trials, 1, "{one}");
    let (least, likely) = (estimate.least_bytes_written(), estimate.likely_bytes_written());
    let limited = planned(&one, data.path(), Some(ByteSize(least.midpoint(likely)))).unwrap();
    let [note] = limited.data_notes() else {
        panic!("{:?}", limited.data_notes());
    };
    assert!(
        note.ends_with("; its only trial is then not kept, and a shorter one (--duration) writes less"),
        "{note}"
    );
}

#[test]
fn rounds_that_end_when_they_are_steady_are_refused_only_for_what_five_of_them_write() {
    let data = directory();
    let of = |repetitions: &str| writing_plan().replace("repetitions = 2", repetitions);
    let least = |plan: &str, max_written| {
        let estimate = planned(plan, data.path(), max_written).unwrap().estimate();
        estimate.least_bytes_written_measuring
    };
    let (five, all) = (of("repetitions = 5"), of("repetitions = 25"));
    let rounds = of("repetitions = 25\nstop = \"when-steady\"");
    assert_eq!(least(&rounds, None), least(&five, None));
    assert_eq!(
        least(&of("repetitions = 5\nstop = \"when-steady\""), None),
        least(&five, None)
    );
    let limit = planned(&five, data.path(), None).unwrap().estimate();
    let limit = Some(ByteSize(limit.least_bytes_written()));
    assert!(planned(&all, data.path(), limit).is_err());
    let set = planned(&rounds, data.path(), limit).unwrap();
    let [note] = set.data_notes() else {
        panic!("{:?}", set.data_notes());
    };
    assert!(note.contains("are only five, and about"), "{note}");
}

/// fjall has no zstd, so that most of these cells are of no run, and of no limit either.
#[test]
fn a_limit_counts_only_what_can_be_measured_on_this_machine() {
    let data = directory();
    let plan = "name = \"kv\"\nquestion = \"How fast?\"\nlayer = \"kv\"\n\
                [workload]\nrecords = 20000\n\
                [factors]\nengine = [\"fjall\", \"rocksdb\"]\ncompression = [\"none\", \"zstd:1\", \"zstd:3\", \"zstd:5\"]\n\
                [trial]\nrepetitions = 1\nwarm_up = \"10ms\"\nduration = \"100ms\"\n";
    let set = planned(plan, data.path(), None).unwrap();
    assert!(set.hindered().len() >= 3, "{:?}", set.hindered());
    let likely = set.estimate_here().likely_bytes_written();
    assert!(likely < set.estimate().least_bytes_written(), "{likely}");
    let limited = planned(plan, data.path(), Some(ByteSize(likely))).unwrap();
    assert!(limited.data_notes().is_empty(), "{:?}", limited.data_notes());
}

#[test]
fn a_refusal_says_what_makes_the_data_of_this_run_smaller() {
    let data = directory();
    let refused = |text: &str| {
        let error = planned(text, data.path(), Some(ByteSize(1 << 10))).unwrap_err();
        error.to_string()
    };
    let filesystem = "name = \"fs\"\nquestion = \"How fast?\"\nlayer = \"filesystem\"\n";
    let set = planned(filesystem, data.path(), None).unwrap();
    match set.hindered().first() {
        Some((_, why)) if set.hindered().len() == set.cells().len() => {
            println!("skipped: the limit of a run of filesystems: {why}");
        }
        _ => {
            let message = refused(filesystem);
            let smaller = "; fill the files with less data (`sample_size` in a plan of your own), ";
            let rest = message.split_once(smaller).map(|(_, rest)| rest);
            assert!(
                rest.is_some_and(|rest| {
                    rest.starts_with("or allow more (--max-written)")
                        || rest.starts_with("measure fewer cells that write, ")
                }),
                "{message}"
            );
        }
    }
    let message = refused("name = \"kv\"\nquestion = \"How fast?\"\nlayer = \"kv\"\n");
    assert!(
        message.contains("; load fewer records (`records` in a plan of your own; ")
            && !message.contains("--records"),
        "{message}"
    );
    // The flags of a one-off name every factor.
    let one_off = Draft::new("kv", "How fast?", "kv", "outcrop kv");
    let options = PlanOptions {
        directory: Some(data.path().to_owned()),
        max_written: Some(ByteSize(1 << 10)),
        ..PlanOptions::default()
    };
    let message = PlanSet::from_drafts(vec![one_off], &options)
        .unwrap_err()
        .to_string();
    assert!(message.contains("; load fewer records (--records)"), "{message}");
    let message = refused(&writing_plan());
    assert!(
        !message.contains("--sample-size") && message.contains("; make the file smaller (--size), "),
        "{message}"
    );
}
