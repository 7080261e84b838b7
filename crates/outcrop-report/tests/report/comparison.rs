//! What `outcrop compare` prints.

use outcrop_report::comparison::{Detail, comparison_csv, comparison_in_envelope, comparison_text};
use outcrop_results::{Envelope, compare, references};

use crate::fixture::{RunBuilder, complete};

#[test]
fn a_slower_run_is_worse_row_by_row() {
    let fast = RunBuilder::new(5).cells(&[4096], &[1, 8], &[100]).build();
    let mut slow = fast.clone();
    slow.name = "slow".into();
    for value in slow.trials.iter_mut().flat_map(|trial| &mut trial.values) {
        if value.metric == "iops" {
            value.value = value.value.map(|iops| iops * 0.5);
        }
    }
    let comparison = compare(&fast, &slow);
    insta::assert_snapshot!("slower", comparison_text(&comparison, &Detail::default()));
    let csv = comparison_csv(&comparison);
    let mut lines = csv.lines();
    let columns = lines.next().unwrap().split(',').count();
    assert_eq!(columns, 15);
    assert!(csv.contains(",iops,1/s,") && csv.contains(",worse,"));
    assert_eq!(lines.count(), comparison.rows.len());
    let document = comparison_in_envelope(&comparison, Envelope::of("compare")).unwrap();
    assert_eq!(document.details["candidate"], "slow");
    assert_eq!(document.rows.len(), comparison.rows.len());
}

#[test]
fn cells_are_in_the_order_of_their_values() {
    let run = RunBuilder::new(5).cells(&[4096], &[2, 16, 128], &[100]).build();
    let text = comparison_text(&compare(&run, &run), &Detail::default());
    let places = ["  QD 2 ", "  QD 16 ", "  QD 128 "].map(|label| text.find(label));
    assert!(places.is_sorted() && places[0].is_some(), "{text}");
}

#[test]
fn reasons_without_a_ratio_are_folded_unless_they_are_the_answer() {
    let run = complete();
    let text = |is_all| {
        let detail = Detail {
            is_all,
            ..Detail::default()
        };
        comparison_text(&compare(&run, &run), &detail)
    };
    let (short, full) = (text(false), text(true));
    assert!(short.contains("unavailable in a run. --all gives"), "{short}");
    assert!(!short.contains("too few operations in this test"), "{short}");
    assert!(full.contains("too few operations in this test"), "{full}");
}

#[test]
fn a_reference_that_states_too_little_is_not_compared_and_the_reasons_are_told() {
    let reference = references::load("toshiba-kxg60znv256g-fio").unwrap();
    let text = comparison_text(&compare(&reference, &complete()), &Detail::default());
    assert!(text.contains("not comparable:"), "{text}");
    assert!(text.contains("state"), "{text}");
}
