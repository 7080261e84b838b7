//! When a cache is compared with the simulation of its policy.

use outcrop_report::{Report, Verdict};
use outcrop_results::Value;
use outcrop_schema::cache::{ITEMS, MEMORY, POLICY, WARM_UP_REQUESTS};

use crate::cache_fixture::{Builder, Factors, policies};

#[test]
fn w_tiny_lfu_is_compared_with_its_simulation_only_after_a_long_warm_up_and_with_many_items() {
    let of = |items: f64, requests: f64| {
        let changes: Factors<'_> = &[(&MEMORY, "4MiB"), (&POLICY, "w-tinylfu")];
        let mut run = policies()
            .cell("cache-policies", changes, (0.985, 0.965), 1e5, 6000.0)
            .run;
        for trial in run
            .trials
            .iter_mut()
            .filter(|trial| trial.factors[POLICY.name] == "w-tinylfu")
        {
            trial.values.push(Value::measured(ITEMS, items));
            trial.values.push(Value::measured(WARM_UP_REQUESTS, requests));
        }
        let findings = Report::of(&run).layers.remove(0).findings;
        let found = findings
            .into_iter()
            .find(|finding| finding.id == "cache-hits-as-simulated");
        found.expect("the finding is there")
    };
    assert_eq!(
        of(15_000.0, 400_000.0).verdict,
        Verdict::DoesNotHold,
        "it can be judged"
    );
    for (items, requests) in [(15_000.0, 100_000.0), (3_600.0, 400_000.0)] {
        let simulated = of(items, requests);
        assert_eq!(
            simulated.verdict,
            Verdict::Holds,
            "the other policies are as simulated"
        );
        assert!(
            simulated.tested.contains("W-TinyLFU is not judged in "),
            "{}",
            simulated.tested
        );
    }
}

#[test]
fn memory_that_is_not_decided_names_in_its_line_what_decides_it() {
    for (hits, said) in [
        (0.9, "not decided: the hit ratio still rises at 16 MiB; "),
        (1.0, "not decided: every get hits at 16 MiB, and not at 8 MiB; "),
    ] {
        let mut builder = Builder::new();
        for (memory, hits) in [("8MiB", 0.8), ("16MiB", hits)] {
            let changes: Factors<'_> = &[(&MEMORY, memory), (&POLICY, "s3-fifo")];
            builder = builder.cell("cache-policies", changes, (hits, hits), 1e5, 6000.0);
        }
        let answer = Report::of(&builder.run).layers.remove(0).answer;
        let memory = answer
            .advice
            .iter()
            .find(|claim| claim.topic == "Memory")
            .unwrap();
        assert_eq!(
            memory.brief,
            format!("{said}`outcrop cache simulate TRACE` decides it")
        );
    }
}
