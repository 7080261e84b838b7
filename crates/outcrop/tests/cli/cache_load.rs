//! What `outcrop cache load` says and keeps: figures, and the distribution of the same requests.

use std::collections::BTreeMap;
use std::path::Path;

use crate::cache::Served;
use crate::harness::{Seen, names_in, outcrop, workplace};

/// 3,000 gets of 500 keys, all of them there.
fn load(dir: &Path, served: &Served, more: &[&str]) -> Seen {
    let target = format!("memcached://{}", served.memcached);
    let load = [
        "cache",
        "load",
        "--target",
        &target,
        "--requests",
        "3k",
        "--keys",
        "0.5k",
        "--connections",
        "2",
        "--mix",
        "1:0",
        "--no-set-on-miss",
    ];
    let seen = outcrop(dir, &[&load[..], more].concat());
    assert_eq!(seen.code, Some(0), "{seen:?}");
    seen
}

#[test]
fn people_see_the_figures_and_below_them_the_distribution_up_to_all_requests() {
    let dir = workplace();
    let served = Served::start(dir.path());
    let seen = load(dir.path(), &served, &[]);
    let (figures, picture) = seen.stdout.split_once("\n\n").unwrap();
    assert!(
        figures.contains("latency p50") && figures.contains("hit ratio"),
        "{figures}"
    );
    let rows: Vec<&str> = picture.lines().collect();
    assert!(
        rows[0].contains("answered within") && rows[0].contains("get hit") && !rows[0].contains("get miss"),
        "{picture}"
    );
    let last = rows.last().unwrap();
    // All, gets and hits; and the bar is at its end.
    assert_eq!(last.matches("100 %").count(), 3, "{picture}");
    assert_eq!(last.matches('█').count(), 40, "{picture}");
    let bars: Vec<usize> = rows[1..].iter().map(|row| row.matches('█').count()).collect();
    assert!(bars.is_sorted() && bars.len() >= 2, "{picture}");
    served.end();
}

#[test]
fn every_file_of_a_load_and_each_format_have_figures_and_distribution_of_the_same_requests() {
    let dir = workplace();
    let dir = dir.path();
    let served = Served::start(dir);
    let seen = load(dir, &served, &["--format", "csv", "--out", "kept"]);
    assert_eq!(
        names_in(&dir.join("kept")),
        ["latencies.csv", "latencies.svg", "load.csv", "load.json"]
    );
    let file = |name: &str| std::fs::read_to_string(dir.join("kept").join(name)).unwrap();
    assert_eq!(file("load.csv"), seen.stdout);
    assert!(file("latencies.svg").starts_with("<svg"));

    let mut reader = csv::Reader::from_reader(seen.stdout.as_bytes());
    let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    assert_eq!(header[..4], ["what", "value", "unit", "latency_ns"]);
    let (mut figures, mut shares) = (BTreeMap::new(), Vec::new());
    for row in reader.records().map(Result::unwrap) {
        match &row[0] {
            "get share at or below" => {
                shares.push((row[3].parse::<f64>().unwrap(), row[1].parse::<f64>().unwrap()));
            }
            what => drop(figures.insert(what.to_owned(), row[1].to_owned())),
        }
    }
    assert_eq!(figures["gets"], "3000");
    assert!(
        shares.is_sorted() && shares.last().unwrap().1 == 1.0,
        "{shares:?}"
    );
    // There are only gets: their distribution has the median at the latency that the figures say.
    let median: f64 = figures["latency p50"].parse().unwrap();
    let at = shares.iter().find(|(_, share)| *share >= 0.5).unwrap();
    assert!((at.0 / median - 1.0).abs() < 0.02, "{at:?} {median}");

    let kept = crate::json_shape::checked(&file("load.json"));
    let distribution = kept["details"]["distribution"].as_array().unwrap();
    let mut gets = distribution.iter().filter(|row| row["request"] == "get");
    assert_eq!(gets.clone().count(), shares.len());
    assert_eq!(gets.next_back().unwrap()["share_ratio"], 1.0);
    let rows = kept["rows"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["what"] == "hit ratio"));
    // The folder is never written over.
    let again = outcrop(dir, &["cache", "load", "--out", "kept"]);
    assert_eq!(again.code, Some(2), "{again:?}");
    served.end();
}

#[test]
fn an_open_loop_says_how_late_the_driver_itself_was() {
    let dir = workplace();
    let served = Served::start(dir.path());
    let of = |more: &[&str]| {
        let seen = load(dir.path(), &served, &[&["--format", "json"], more].concat());
        let document = crate::json_shape::checked(&seen.stdout);
        let rows = document["rows"].as_array().unwrap().clone();
        (rows, document["cells"][0]["metrics"].clone())
    };
    let (rows, figures) = of(&["--rate", "10k"]);
    let late = |statistic: &str| {
        let figure = &figures[format!("generator_lateness_{statistic}")];
        assert_eq!(figure["unit"], "ns", "{figures}");
        let what = format!("generator lateness {statistic}");
        let row = rows.iter().find(|row| row["what"] == what.as_str()).unwrap();
        assert_eq!(row["value"], figure["value"], "{row}");
        figure["value"].as_f64().unwrap()
    };
    let (p50, p99, max) = (late("p50"), late("p99"), late("max"));
    assert!(0.0 <= p50 && p50 <= p99 && p99 <= max, "{p50} {p99} {max}");
    // A closed loop has no schedule to be late for.
    let (rows, figures) = of(&[]);
    assert!(figures.get("generator_lateness_p99").is_none(), "{figures}");
    assert!(rows.iter().any(|row| row["value"] == "closed loop"), "{rows:?}");
    served.end();
}

#[test]
fn a_search_names_the_process_of_its_arrivals_and_the_steps_behind_each_bound() {
    let dir = workplace();
    let served = Served::start(dir.path());
    let target = format!("memcached://{}", served.memcached);
    let search = [
        "cache",
        "load",
        "--target",
        &target,
        "--keys",
        "100",
        "--connections",
        "2",
        "--duration",
        "100ms",
        "--search",
        "p50<20ms",
        "--arrival",
        "constant",
        "--format",
        "json",
    ];
    let seen = outcrop(dir.path(), &search);
    // On a busy machine it decides nothing, and says so.
    assert!(matches!(seen.code, Some(0 | 3)), "{seen:?}");
    let details = crate::json_shape::checked(&seen.stdout)["details"].clone();
    assert_eq!(details["arrival"], "constant", "{details}");
    for bound in ["highest_rate_kept", "lowest_rate_not_kept"] {
        let is_there = !details[format!("{bound}_1/s")].is_null();
        let steps = details[format!("{bound}_steps")].as_u64();
        assert_eq!(steps.is_some(), is_there, "{details}");
    }
    assert!(
        seen.stderr.contains("constant arrivals") || seen.code == Some(3),
        "{seen:?}"
    );
    // A plain load takes a rate, and a process alone is none.
    let plain = [
        "cache",
        "load",
        "--target",
        &target,
        "--keys",
        "100",
        "--arrival",
        "etc",
    ];
    let refused = outcrop(dir.path(), &plain);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.sentence().contains("etc:20k"), "{refused:?}");
    served.end();
}
