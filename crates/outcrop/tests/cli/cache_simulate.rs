//! What `outcrop cache simulate` recommends.

use crate::harness::{outcrop, workplace};

#[test]
fn where_everything_fits_any_policy_will_do_and_the_one_that_refuses_to_store_is_never_recommended() {
    let dir = workplace();
    let dir = dir.path();
    // 106 keys of some 135 bytes: all of them fit in 16 KiB, and half of them in 8 KiB.
    let lines: String = (0..4000_u32)
        .map(|number| format!("{number},k{},100\n", number * number % 211))
        .collect();
    std::fs::write(dir.join("trace.csv"), lines).unwrap();
    let simulate = |args: &[&str]| {
        let seen = outcrop(dir, &[&["cache", "simulate", "trace.csv"], args].concat());
        assert_eq!(seen.code, Some(0), "{seen:?}");
        seen.stdout
    };
    let roomy = simulate(&["--memory", "4KiB,16KiB,64KiB"]);
    assert!(
        roomy.starts_with("Memory: 16 KiB, where everything fits: only the first request of each key misses"),
        "{roomy}"
    );
    assert!(roomy.contains("\nPolicy: any, because "), "{roomy}");
    assert!(
        roomy.contains("\nWith less memory the policy matters, most at 4 KiB: "),
        "{roomy}"
    );
    let tied = simulate(&["--memory", "4KiB,16KiB", "--policy", "none,lru"]);
    assert!(
        !tied.contains("Policy: none") && !tied.contains(" with none, where"),
        "{tied}"
    );
}

#[test]
fn a_miss_ratio_curve_as_csv_counts_the_requests_that_missed() {
    let dir = workplace();
    crate::cache::write_trace(dir.path());
    let args = [
        "trace.csv",
        "--memory",
        "64KiB",
        "--policy",
        "lru",
        "--format",
        "csv",
    ];
    let csv = outcrop(dir.path(), &[&["cache", "simulate"], &args[..]].concat());
    // 106 keys, each of which misses once and no more in so much memory.
    let ratio = 106.0 / 4000.0;
    assert!(
        csv.stdout
            .contains(&format!("lru,65536,{ratio},{ratio},4000,3894,106")),
        "{csv:?}"
    );
}
