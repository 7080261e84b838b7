//! What `outcrop cache simulate` recommends.

use crate::cache::Served;
use crate::harness::{outcrop, workplace};
use crate::printed_commands::in_shell;

#[test]
fn where_everything_fits_the_policies_miss_alike_and_the_one_that_refuses_to_store_is_never_recommended() {
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
        roomy.starts_with(
            "Memory: 16 KiB, where everything fits (all objects take 14.4 kB, 88 % of it, which leaves little for what a server adds): only the first request of a key misses"
        ),
        "{roomy}"
    );
    assert!(
        roomy.contains("\nPolicy: fifo, lru, sieve, s3-fifo, w-tinylfu and none miss equally there.\n"),
        "{roomy}"
    );
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
fn where_nothing_is_ever_evicted_the_answer_says_that_less_may_do_and_of_a_single_policy_not_that_any_would()
{
    let dir = workplace();
    crate::cache::write_trace(dir.path());
    let simulate = |args: &[&str]| outcrop(dir.path(), &[&["cache", "simulate"], args].concat());
    let roomy = simulate(&["trace.csv", "--memory", "64KiB,128KiB"]);
    assert!(
        roomy.stdout.starts_with("Memory: 64 KiB, where everything fits")
            && roomy
                .stdout
                .contains("; less was not simulated and may do (--memory).\n"),
        "{roomy:?}"
    );
    assert!(
        roomy
            .stdout
            .contains("\nPolicy: fifo, lru, sieve, s3-fifo, w-tinylfu and none miss equally there.\n"),
        "{roomy:?}"
    );
    let default = simulate(&["trace.csv", "--policy", "lru"]);
    assert!(
        default.stdout.contains("16 KiB") && !default.stdout.contains("MiB"),
        "{default:?}"
    );
    assert!(
        default
            .stdout
            .contains("\nPolicy: lru; no other was simulated.\n"),
        "{default:?}"
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

/// Gets of keys whose logarithms are drawn evenly, by a generator of its own.
fn drawn(seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    // Each doubling of the memory holds as many requests more.
    let key = |unit: f64| 10_000_f64.powf(unit) as u64;
    (0..60_000)
        .map(|number| format!("{number},k{},100\n", key(next())))
        .collect()
}

#[test]
fn a_curve_that_is_a_straight_line_has_no_knee_whatever_the_seed_and_a_loop_has_one() {
    let dir = workplace();
    let dir = dir.path();
    let simulate = |text: &str, memory: &str| {
        std::fs::write(dir.join("trace.csv"), text).unwrap();
        let args = [
            "cache",
            "simulate",
            "trace.csv",
            "--policy",
            "lru",
            "--memory",
            memory,
        ];
        let seen = outcrop(dir, &args);
        assert_eq!(seen.code, Some(0), "{seen:?}");
        seen.stdout
    };
    for seed in 1..=5 {
        let line = simulate(&drawn(seed), "16KiB..512KiB");
        assert!(
            line.contains("\nNo single knee with lru from 16 KiB to 512 KiB: "),
            "seed {seed}: {line}"
        );
        assert!(!line.contains("\nKnee with"), "seed {seed}: {line}");
    }
    // 300 keys of some 136 bytes, again and again: with LRU none hits before all fit, in 64 KiB.
    let repeated: String = (0..6000)
        .map(|number| format!("{number},k{},100\n", number % 300))
        .collect();
    let seen = simulate(&repeated, "8KiB..128KiB");
    assert!(
        seen.contains(
            "\nKnee with lru: from 32 KiB to 64 KiB the misses fall from 100.0 % to 5.0 % of gets, which is all of the 95.0 percentage points by \
             which they fall from 8 KiB to 128 KiB.\nA server may hold fewer items in as much memory, and then miss more: "
        ),
        "{seen}"
    );
}

#[test]
fn whether_the_first_step_is_a_knee_is_not_said_before_the_memory_that_the_answer_names_is_simulated() {
    let dir = workplace();
    let dir = dir.path();
    std::fs::write(dir.join("trace.csv"), drawn(1)).unwrap();
    let simulate = |memory: &str| {
        let args = ["cache", "simulate", "trace.csv", "--policy", "lru"];
        let seen = outcrop(dir, &[&args[..], &["--memory", memory]].concat());
        assert_eq!(seen.code, Some(0), "{seen:?}");
        seen.stdout
    };
    // Every step falls about as much as the one before, but the one in which everything fits.
    let first = simulate("512KiB..2MiB");
    assert!(
        first.contains("\nWith lru, from 512 KiB to 1 MiB the misses fall from ")
            && first.contains("too little smaller memory was simulated"),
        "{first}"
    );
    let mut seen = first;
    let mut named = Vec::new();
    while let Some((limits, _)) = seen
        .split_once("; --memory ")
        .and_then(|(_, limits)| limits.split_once(", or a "))
    {
        assert!(!seen.contains("nee with"), "{seen}");
        named.push(limits.to_owned());
        seen = simulate(limits);
    }
    assert_eq!(named[0], "256KiB..2MiB");
    assert!(!seen.contains("\nKnee with"), "{named:?}: {seen}");
}

#[test]
fn a_compressed_trace_is_read_as_what_is_inside_and_a_file_of_another_format_is_refused_by_its_name() {
    let dir = workplace();
    let dir = dir.path();
    crate::cache::write_trace(dir);
    let args = ["--memory", "16KiB", "--policy", "lru", "--format", "csv"];
    let simulate = |trace: &str| outcrop(dir, &[&["cache", "simulate", trace], &args[..]].concat());
    let plain = simulate("trace.csv");
    assert_eq!(plain.code, Some(0), "{plain:?}");
    let text = std::fs::read(dir.join("trace.csv")).unwrap();
    let packed = zstd::encode_all(text.as_slice(), 3).unwrap();
    std::fs::write(dir.join("trace.csv.zst"), &packed).unwrap();
    let seen = simulate("trace.csv.zst");
    assert_eq!((seen.code, &seen.stdout), (plain.code, &plain.stdout), "{seen:?}");
    assert!(
        seen.stderr
            .contains("trace.csv.zst: zstd, decompressed on reading"),
        "{seen:?}"
    );
    std::fs::write(dir.join("cut.csv.zst"), &packed[..packed.len() / 2]).unwrap();
    let cut = simulate("cut.csv.zst");
    assert!(
        cut.code == Some(2) && cut.sentence().contains("cut.csv.zst is truncated"),
        "{cut:?}"
    );
    std::fs::write(dir.join("trace.parquet"), b"PAR1 and more").unwrap();
    let refused = simulate("trace.parquet");
    assert!(
        refused.code == Some(2)
            && refused
                .sentence()
                .contains("trace.parquet: this is a Parquet file, and a trace is lines of text"),
        "{refused:?}"
    );
}

#[test]
fn the_command_that_is_printed_replays_the_trace_and_where_none_would_none_is_printed() {
    let dir = workplace();
    let dir = dir.path();
    // 106 keys, each of which misses once.
    crate::cache::write_trace(dir);
    std::fs::rename(dir.join("trace.csv"), dir.join("my trace.csv")).unwrap();
    let command = |args: &[&str]| {
        let seen = outcrop(dir, &[&["cache", "simulate"], args].concat());
        assert_eq!(seen.code, Some(0), "{seen:?}");
        let commands = seen.stdout.split('`').skip(1).step_by(2).map(str::to_owned);
        commands.last()
    };
    let printed = command(&["my trace.csv"]).expect("the trace can be replayed");
    assert_eq!(printed, "outcrop cache load --trace 'my trace.csv' --set-on-miss");
    let served = Served::start(dir);
    let target = format!("memcached://{}", served.memcached);
    let seen = in_shell(
        dir,
        &format!("{printed} --target {target} --connections 1 --flush --format csv"),
    );
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(seen.stdout.contains("hit ratio,0.9735,"), "{seen:?}");
    served.end();

    let lines: String = (0..2_000_u32)
        .map(|number| {
            let operation = if number % 4 == 0 { "set" } else { "get" };
            format!("{number},k{},{operation},3,100,0\n", number % 51)
        })
        .collect();
    std::fs::write(dir.join("own sets.csv"), lines).unwrap();
    let own_sets = command(&["own sets.csv", "--no-set-on-miss"]);
    assert_eq!(
        own_sets.as_deref(),
        Some("outcrop cache load --trace 'own sets.csv'")
    );
    assert_eq!(command(&["my trace.csv", "--requests", "2000"]), None);
    let text = std::fs::read(dir.join("my trace.csv")).unwrap();
    std::fs::write(
        dir.join("t.csv.zst"),
        zstd::encode_all(text.as_slice(), 3).unwrap(),
    )
    .unwrap();
    assert_eq!(command(&["t.csv.zst"]), None);
    std::fs::write(dir.join("keys.txt"), "rock\nsand\nrock\n").unwrap();
    assert_eq!(command(&["keys.txt", "--value-size", "100B"]), None);
    let lines: String = (0..200)
        .map(|number| format!("{number},k{},get,3,100,60\n", number % 51))
        .collect();
    std::fs::write(dir.join("ttl.csv"), lines).unwrap();
    assert_eq!(command(&["ttl.csv"]), None);
    let seen = outcrop(dir, &["cache", "simulate", "ttl.csv"]);
    assert!(
        seen.stdout
            .contains(" miss more. The trace has a ttl, so no replay is suggested: "),
        "{seen:?}"
    );
}

#[test]
fn a_share_of_gets_is_not_nothing_where_some_miss_and_the_advice_is_where_that_of_every_command_is() {
    let dir = workplace();
    let dir = dir.path();
    // Twelve keys of some 135 bytes, each of which misses once.
    let lines: String = (0..60_000_u32)
        .map(|number| format!("{number},k{},100\n", number % 12))
        .collect();
    std::fs::write(dir.join("trace.csv"), lines).unwrap();
    let simulate = |args: &[&str]| {
        let seen = outcrop(
            dir,
            &[
                &["cache", "simulate", "trace.csv", "--memory", "1KiB..4KiB"],
                args,
            ]
            .concat(),
        );
        assert_eq!(seen.code, Some(0), "{seen:?}");
        seen
    };
    let text = simulate(&["--policy", "lru"]);
    assert!(
        text.stdout
            .contains("only the first request of a key misses (0.02 % of gets)"),
        "{text:?}"
    );
    assert!(
        text.stdout
            .contains("the misses fall from 100.0 % to 0.02 % of gets"),
        "{text:?}"
    );
    assert!(
        text.stderr.contains("(first request of a key): 0.02 % of gets"),
        "{text:?}"
    );
    let json: serde_json::Value = serde_json::from_str(&simulate(&["--format", "json"]).stdout).unwrap();
    assert_eq!(json["subjects"], serde_json::json!(["trace.csv"]));
    let advice = json["advice"].as_array().unwrap();
    assert_eq!(
        (advice[0]["layer"].as_str(), advice[0]["topic"].as_str()),
        (Some("cache"), Some("Memory"))
    );
    let said = advice[0]["text"].as_str().unwrap();
    assert!(said.starts_with("2 KiB, where everything fits"), "{said}");
    assert!(json["details"].get("advice").is_none());
}

#[test]
fn where_nothing_is_stored_or_read_it_is_refused_with_what_to_leave_out() {
    let dir = workplace();
    let dir = dir.path();
    std::fs::write(dir.join("gets.csv"), "0,a,10\n1,b,10\n2,a,10\n").unwrap();
    std::fs::write(dir.join("ms.csv"), "1795332180000,a,10\n1795332180500,b,10\n").unwrap();
    for (args, words) in [
        (
            &["gets.csv", "--no-set-on-miss"][..],
            "so with --no-set-on-miss nothing is ever stored",
        ),
        (&["gets.csv", "--requests", "0"], "expected a whole number from 1"),
        (&["ms.csv"], "is too late for seconds since 1970"),
    ] {
        let seen = outcrop(dir, &[&["cache", "simulate"], args].concat());
        assert_eq!(seen.code, Some(2), "{args:?}: {seen:?}");
        assert!(seen.stderr.contains(words), "{args:?}: {seen:?}");
    }
}

#[test]
fn keys_that_nothing_stores_take_no_memory() {
    let dir = workplace();
    let dir = dir.path();
    let lines: String = (0..1000)
        .map(|number| match number % 10 {
            0 => format!("{number},s{},set,4,100,0\n", number % 40),
            _ => format!("{number},g{number},get,4,1000000,0\n"),
        })
        .collect();
    std::fs::write(dir.join("trace.csv"), lines).unwrap();
    let args = [
        "cache",
        "simulate",
        "trace.csv",
        "--no-set-on-miss",
        "--policy",
        "lru",
    ];
    let seen = outcrop(dir, &args);
    // Four keys of 136 bytes.
    assert!(seen.stderr.contains("all objects take 544 B,"), "{seen:?}");
    let lines = "0,s,set,1,100,0\n1,s,get,1,0,0\n2,g,get,1,0,0\n";
    std::fs::write(dir.join("trace.csv"), lines).unwrap();
    let sized = [&args[..], &["--value-size", "1000000"]].concat();
    let seen = outcrop(dir, &sized);
    let said = "no value size for 1 key; they count as 1.00 MB each in the byte miss ratio, and in memory where they are set\n";
    assert!(seen.stderr.contains(said), "{seen:?}");
}
