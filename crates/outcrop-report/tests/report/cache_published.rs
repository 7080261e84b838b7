//! Published figures of caches beside those of a run: only what `compare` compares, and with the name of the cell.

use outcrop_report::Report;
use outcrop_report::section::ReferenceSection;
use outcrop_results::{RunView, compare, references};
use outcrop_schema::cache::{
    ITEM_MEMORY, KEYS, LOAD_FACTOR, POLICY, REQUEST_MIX, REQUESTS, VALUE_POOL, WORKLOAD,
};

use crate::cache_fixture::{Builder, Factors, policies};

fn section(run: &RunView, name: &str) -> ReferenceSection {
    let layers = Report::of(run).layers;
    let mut all = layers.into_iter().flat_map(|layer| layer.references);
    all.find(|section| section.name == name).expect(name)
}

/// A run of the load of the study with each of these policies.
fn of_study(policies: &[&str]) -> RunView {
    let mut builder = Builder::new();
    for policy in policies {
        let changes: Factors<'_> = &[
            (&WORKLOAD, "etc-lite"),
            (&REQUEST_MIX, "50:22:1"),
            (&REQUESTS, "15000"),
            (&KEYS, "100"),
            (&VALUE_POOL, "100"),
            (&ITEM_MEMORY, "1MB"),
            (&LOAD_FACTOR, "0.75"),
            (&POLICY, policy),
        ];
        builder = builder.cell("mine", changes, (0.953, 0.95), 20_000.0, 6000.0);
    }
    builder.run
}

#[test]
fn nothing_that_compare_refuses_stands_beside_a_published_figure_and_one_sentence_says_why() {
    let run = policies().run;
    let published = references::load("etc-published").unwrap();
    assert_eq!(compare(&published, &run).comparable().count(), 0);
    let table = section(&run, "etc-published").table;
    assert_eq!(
        table.caption,
        "No cell of this run can be compared with these figures: the publication does not state its memory and keys."
    );
    assert_eq!(table.head, ["load", "what", "published (etc-published)"]);
    assert!(table.rows[0][0].contains("pool ETC"), "{:?}", table.rows[0]);
    let other = section(&run, "etc-lite-study").table;
    assert!(
        other.caption.ends_with("none has a load of the publication."),
        "{other:?}"
    );
}

#[test]
fn a_figure_beside_a_published_one_names_its_cell_and_each_cell_that_compare_compares_is_there() {
    let study = references::load("etc-lite-study").unwrap();
    for policies in [&["lru"][..], &["fifo", "lru", "none"]] {
        let run = of_study(policies);
        let comparison = compare(&study, &run);
        let compared = comparison.comparable().filter(|row| row.metric == "latency_p95");
        assert_eq!(compared.count(), policies.len());
        let section = section(&run, "etc-lite-study");
        let ours = |row: &&Vec<String>| row[1] == "latency p95" && row[3] != "–";
        let rows = || section.table.rows.iter().filter(ours);
        for policy in policies {
            let name = format!("policy {policy}");
            assert!(
                rows().any(|row| row[2].contains(&name)),
                "{name}: {:?}",
                section.table
            );
        }
        // Several cells for one place make no table of the publication's own.
        assert_eq!(section.tables.is_empty(), policies.len() > 1);
        for table in &section.tables {
            assert!(
                table.caption.contains("policy lru, 50 connections, closed loop"),
                "{}",
                table.caption
            );
        }
    }
}
