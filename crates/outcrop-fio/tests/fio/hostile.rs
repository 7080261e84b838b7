//! Results that somebody else made, in which a job asks fio for more than reads and writes, or has numbers that no machine gives.

use std::fs;

use outcrop_fio::{FioError, ImportOptions, export_jobs, import};

use crate::real_fio::{fio, workplace};
use crate::samples::{imported, older, run_of};

#[test]
fn a_job_file_of_imported_results_runs_no_program_when_fio_runs_it() {
    let folder = workplace();
    let options = ["--rw=randread", "--time_based", "--runtime=100ms"];
    let path = fio(folder.path(), "result.json", &options);
    let text = fs::read_to_string(&path).unwrap();
    let mut report: serde_json::Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    let usual = report["jobs"][0]["job options"].as_object().unwrap().clone();
    let started = folder.path().join("started");
    let touch = format!("touch {}", started.display());
    let injected = format!("$ncpus'; touch {}; echo '", started.display());
    let hostile = [
        (
            "exec",
            vec![
                ("program", "/usr/bin/touch"),
                ("arguments", started.to_str().unwrap()),
            ],
        ),
        ("external:/x.so", vec![]),
        (
            "psync",
            vec![
                ("exec_prerun", touch.as_str()),
                ("exec_pre", touch.as_str()),
                ("program", "/usr/bin/touch"),
                ("include", "other.fio"),
                ("write_lat_log", started.to_str().unwrap()),
                ("thinktime", injected.as_str()),
            ],
        ),
        ("psync", vec![("filename", injected.as_str())]),
    ];
    let results = folder.path().join("results");
    fs::create_dir(&results).unwrap();
    for (index, (engine, options)) in hostile.iter().enumerate() {
        let mut of_job = usual.clone();
        of_job.insert("ioengine".to_owned(), (*engine).into());
        for (name, value) in options {
            of_job.insert((*name).to_owned(), (*value).into());
        }
        report["jobs"][0]["job options"] = of_job.into();
        report["global options"] = serde_json::json!({});
        fs::write(results.join(format!("{index}.json")), report.to_string()).unwrap();
    }
    let run = run_of(&imported(&[&results]), folder.path());
    let exported = export_jobs(&run).unwrap();
    assert_eq!(exported.left_out.len(), 2, "{:?}", exported.left_out);
    for engine in ["ioengine=exec", "ioengine=external:/x.so"] {
        let mut told = exported.left_out.iter();
        assert!(told.any(|why| why.contains(engine)), "{:?}", exported.left_out);
    }
    let lines = exported.text.lines();
    let given: Vec<&str> = lines.filter(|line| !line.starts_with(';')).collect();
    for word in ["exec", "program", "include", "_log", "$", "touch"] {
        assert!(
            given.iter().all(|line| !line.contains(word)),
            "{word}: {}",
            exported.text
        );
    }
    fs::write(folder.path().join("run.fio"), &exported.text).unwrap();
    let ran = std::process::Command::new("fio")
        .current_dir(folder.path())
        .args(["--output-format=json", "run.fio"])
        .output()
        .expect("CI's set-up installs fio");
    assert!(ran.status.success(), "{ran:?}\n{}", exported.text);
    assert!(!started.exists(), "{}", exported.text);
}

/// Pointers to all numbers of a document.
fn numbers(value: &serde_json::Value, at: &str, found: &mut Vec<String>) {
    use serde_json::Value::{Array, Number, Object};
    match value {
        Number(_) => found.push(at.to_owned()),
        Array(items) => (0..)
            .zip(items)
            .for_each(|(index, item)| numbers(item, &format!("{at}/{index}"), found)),
        Object(fields) => fields
            .iter()
            .for_each(|(name, field)| numbers(field, &format!("{at}/{name}"), found)),
        _ => {}
    }
}

#[test]
fn counts_and_means_below_zero_falling_percentiles_and_more_operations_than_bytes_are_left_out_with_the_number()
 {
    let whole: serde_json::Value = serde_json::from_str(&older(5_000.0, 4, 0.7)).unwrap();
    for (pointer, number, says) in [
        ("read/total_ios", -3, "read: total_ios of -3 is impossible"),
        (
            "read/total_ios",
            1_000_000_000_000_i64,
            "read: total_ios of 1000000000000 with io_bytes of ",
        ),
        ("write/io_bytes", -1, "write: io_bytes of -1 is impossible"),
        ("read/clat/mean", -5, "read: clat.mean of -5 is impossible"),
        ("read/lat/max", -5, "read: lat.max of -5 is impossible"),
        (
            "read/clat/mean",
            1_000_000_000,
            "clat.mean (1000000000) is above clat.max (",
        ),
        ("read/iops", -7, "read: iops of -7 is impossible"),
        (
            "read/clat/percentile/1.000000",
            -2,
            "p1 of clat of -2 is impossible",
        ),
        (
            "read/clat/percentile/50.000000",
            5_000_000,
            "p90 of clat (514) is below p50 (5000000), which is impossible",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut changed = whole.clone();
        *changed.pointer_mut(&format!("/jobs/0/{pointer}")).unwrap() = number.into();
        fs::write(folder.path().join("depth8.json"), changed.to_string()).unwrap();
        let refused = import(&[folder.path().to_owned()], &ImportOptions::default()).unwrap_err();
        assert!(refused.to_string().contains(says), "{pointer}: {refused}");
    }
    // As fio 3 has them; a list in which neighbours are equal is none that falls.
    let three = r#"{"fio version": "fio-3.33", "jobs": [{"jobname": "j", "read": {"total_ios": 9, "iops": 9.0, "runtime": 1000, "bw_bytes": 36864,
        "io_bytes": 36864, "clat_ns": {"mean": 7.0, "max": 9, "N": 9, "percentile": {"9.000000": 7, "50.000000": 7, "99.000000": LAST}}}}]}"#;
    for (changed, is_imported) in [
        (three.replace("LAST", "7"), true),
        (three.replace("LAST", "6"), false),
        (three.replace("LAST", "7").replace("9.0,", "36864.0,"), true),
        (three.replace("LAST", "7").replace("9.0,", "1e29,"), false),
    ] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("depth8.json"), &changed).unwrap();
        let imported = import(&[folder.path().to_owned()], &ImportOptions::default());
        assert_eq!(imported.is_ok(), is_imported, "{changed}: {imported:?}");
    }
}

#[test]
fn a_number_of_a_result_that_no_machine_gives_is_left_out_or_can_be_read_back() {
    let whole: serde_json::Value = serde_json::from_str(&older(5_000.0, 4, 0.7)).unwrap();
    let mut pointers = Vec::new();
    numbers(&whole, "", &mut pointers);
    let (mut left_out, mut read_back) = (Vec::new(), 0);
    for pointer in pointers {
        for number in ["1e6", "1e9", "1e15", "18446744073709551615", "1e308", "-1", "0"] {
            let folder = tempfile::tempdir().unwrap();
            let mut changed = whole.clone();
            *changed.pointer_mut(&pointer).unwrap() = serde_json::from_str(number).unwrap();
            fs::write(folder.path().join("depth8.json"), changed.to_string()).unwrap();
            match import(&[folder.path().to_owned()], &ImportOptions::default()) {
                Ok(imported) => {
                    assert_eq!(imported.trials.len(), 1, "{pointer} {number}");
                    assert_eq!(run_of(&imported, folder.path()).trials.len(), 1);
                    read_back += 1;
                }
                Err(FioError::NothingToImport { left_out: why }) => left_out.extend(why),
                Err(error) => panic!("{pointer} {number}: {error}"),
            }
        }
    }
    assert!(read_back > 100, "{read_back}");
    let runtime = left_out.iter().find(|why| why.contains("a duration of"));
    assert!(
        runtime.is_some_and(|why| why.contains("depth8.json")),
        "{left_out:#?}"
    );
}

#[test]
fn a_result_with_more_jobs_than_fio_starts_is_refused_before_they_are_held() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = vec!["{}"; 10_001].join(",");
    fs::write(
        folder.path().join("depth8.json"),
        format!(r#"{{"fio version": "fio-3.33", "jobs": [{jobs}]}}"#),
    )
    .unwrap();
    let refused = import(&[folder.path().to_owned()], &ImportOptions::default()).unwrap_err();
    assert!(refused.to_string().contains("more than 10000 jobs"), "{refused}");
}
