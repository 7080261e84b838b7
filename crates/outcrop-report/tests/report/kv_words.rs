//! How the report words what key-value engines gave.

use outcrop_report::Report;
use outcrop_schema::kv::{REQUESTS, WORKLOAD};

use crate::kv_fixture::codecs;

#[test]
fn where_no_value_differed_the_page_says_zero_and_not_minus_zero() {
    let page = Report::of(&codecs()).to_html();
    assert!(page.contains("values that differed") && !page.contains(">-0<"));
}

#[test]
fn requests_that_have_the_name_of_their_workload_are_named_once() {
    let mut run = codecs();
    for trial in &mut run.trials {
        for factor in [WORKLOAD.name, REQUESTS.name] {
            trial.factors.insert(factor.to_owned(), "mixgraph".to_owned());
        }
    }
    let page = Report::of(&run).to_html();
    assert!(page.contains("mixgraph") && !page.contains("mixgraph mixgraph"));
}
