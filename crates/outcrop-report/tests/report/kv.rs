//! What the report says of key-value engines whose truth is known.

use outcrop_report::section::FigureSlot;
use outcrop_report::{Report, Verdict};
use outcrop_schema::kv::{LOAD_WRITES_DEVICE, MISMATCHES};

use crate::kv_fixture::codecs;

fn verdict(report: &Report, id: &str) -> Verdict {
    let findings = report.layers[0].findings.iter();
    let found = findings.clone().find(|finding| finding.id == id);
    found.map_or_else(|| panic!("no finding {id}"), |finding| finding.verdict.clone())
}

#[test]
fn the_advice_says_what_compressing_costs_and_saves() {
    let run = codecs();
    let report = Report::of(&run);
    let advice = &report.layers[0].answer.advice;
    let of = |topic: &str| {
        let claim = advice.iter().find(|claim| claim.topic == topic);
        claim.unwrap_or_else(|| panic!("no advice on {topic}"))
    };
    let blocks = of("Compress blocks");
    assert!(blocks.brief.contains("lz4 4KiB"), "{}", blocks.brief);
    assert!(
        blocks.brief.contains("takes 50 % of the space"),
        "{}",
        blocks.brief
    );
    assert!(blocks.brief.contains("throughput −10 %"), "{}", blocks.brief);
    let size = of("Block size");
    assert!(size.brief.starts_with("4KiB"), "{}", size.brief);
    let action = advice.iter().find_map(|claim| claim.action.as_deref());
    let action = action.expect("one instruction for the first screen");
    assert!(
        action.starts_with(
            "Compress blocks with rocksdb lz4 4KiB where space matters: takes 50 % of the space; throughput −10 %"
        ),
        "{action}"
    );
    assert!(of("Block cache").brief.contains("75 %"));
}

#[test]
fn figures_of_cost_space_and_time_are_drawn_and_others_name_their_plan() {
    let run = codecs();
    let report = Report::of(&run);
    let mut drawn = Vec::new();
    let mut missing = Vec::new();
    for slot in &report.layers[0].figures {
        match slot {
            FigureSlot::Drawn(figure) => drawn.push(figure.id.as_str()),
            FigureSlot::Missing(figure) => missing.push(figure.plan.as_str()),
        }
    }
    assert_eq!(drawn, ["kv-codec-throughput", "kv-space", "kv-over-time"]);
    assert_eq!(missing, ["kv-scaling", "kv-scaling", "kv-ycsb"]);
}

#[test]
fn findings_hold_on_a_sound_run_and_not_on_a_broken_one() {
    let run = codecs();
    let report = Report::of(&run);
    for id in [
        "kv-values-verified",
        "kv-settled",
        "kv-load-writes-agree",
        "kv-codecs-save-space",
        "kv-littles-law",
    ] {
        assert_eq!(verdict(&report, id), Verdict::Holds, "{id}");
    }
    assert!(matches!(
        verdict(&report, "kv-reads-agree"),
        Verdict::NotTestable(_)
    ));
    let mut broken = run.clone();
    for value in broken.trials.iter_mut().flat_map(|trial| &mut trial.values) {
        if value.metric == MISMATCHES.name {
            value.value = Some(1.0);
        }
        if value.metric == LOAD_WRITES_DEVICE.name {
            value.value = Some(3.0);
        }
    }
    let report = Report::of(&broken);
    for id in ["kv-values-verified", "kv-load-writes-agree"] {
        assert_eq!(verdict(&report, id), Verdict::DoesNotHold, "{id}");
    }
}
