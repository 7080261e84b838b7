//! Figures of a run that measured more than they draw: each says which part it draws, or which it leaves out.

use outcrop_report::Report;
use outcrop_results::RunView;
use outcrop_schema::{FactorRef, device};

use crate::other_values::{names_in, others_of, runs, with_other};

/// That each figure of a run names the value of a factor that it draws or the one that it leaves out.
fn names_it(run: &RunView, factor: FactorRef) {
    let names = names_in(run, factor);
    let report = Report::of(run);
    let figures = report.figures();
    assert!(!figures.is_empty(), "{}", factor.name);
    for figure in figures {
        let csv = figure.to_csv().expect("a figure has data");
        let text = format!("{} {} {} {csv}", figure.title, figure.caption, figure.alt_text).replace(' ', "");
        // A figure over a factor has its values as places and says in its title what they are.
        let is_over_it = figure.title.contains(&factor.words().to_lowercase());
        let is_named = names.iter().any(|name| text.contains(name));
        assert!(is_named || is_over_it, "{}: {names:?} in {figure:?}", factor.name);
    }
}

#[test]
fn a_figure_names_the_value_that_it_draws_or_the_one_that_it_leaves_out_whichever_factor_cells_differ_in() {
    for (schema, run) in runs() {
        for (factor, value) in others_of(schema) {
            names_it(&with_other(run.clone(), factor, value), factor);
        }
    }
}

#[test]
fn so_does_a_figure_of_writes_that_differ_in_their_sync_and_their_content_too() {
    let [(schema, run), ..] = runs();
    for (first, other) in [(&device::SYNC as FactorRef, "each"), (&device::CONTENT, "zeros")] {
        let run = with_other(run.clone(), first, other);
        for (factor, value) in others_of(schema).filter(|(factor, _)| factor.name != first.name) {
            names_it(&with_other(run.clone(), factor, value), factor);
        }
    }
}
