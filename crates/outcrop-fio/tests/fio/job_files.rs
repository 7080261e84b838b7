//! Job files: what they ask for in our words, or each option that stands in the way, with its line.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use outcrop_fio::job_file::{AtOnce, Target, read};
use outcrop_fio::{FioError, JobFile};
use outcrop_measure::{ByteSize, TimeSpan};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/jobs")
}

fn parse(path: &Path) -> Result<JobFile, Vec<String>> {
    parse_with(path, AtOnce::Refused)
}

fn parse_with(path: &Path, at_once: AtOnce) -> Result<JobFile, Vec<String>> {
    let file = read(path, at_once, &|name| (name == "SIZE").then(|| "64m".to_owned()));
    file.map_err(|error| match error {
        FioError::JobFile { problems } => problems,
        other => vec![other.to_string()],
    })
}

fn of_text(text: &str) -> Result<JobFile, Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.fio");
    fs::write(&path, text).unwrap();
    parse(&path)
}

/// `random 4KiB QD 4`: what the tests ask of a job.
fn words(file: &JobFile, index: usize) -> String {
    let job = &file.jobs[index];
    let value = |name: &str| {
        let found = job.workload.iter().find(|(factor, ..)| factor.name == name);
        found.map_or("", |(_, value, _)| value.as_str()).to_owned()
    };
    [
        "access_pattern",
        "read_write_mix",
        "io_block_size",
        "queue_depth",
        "engine",
    ]
    .map(value)
    .join(" ")
}

#[test]
fn sections_take_what_is_global_before_them_and_say_where_they_stand() {
    let file = parse(&fixtures().join("ssd-test.fio")).unwrap();
    let names: Vec<&str> = file.jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["seq-read", "rand-read", "seq-write", "rand-write"]);
    assert_eq!(words(&file, 1), "random 100:0 4KiB 4 io_uring");
    assert_eq!(words(&file, 2), "sequential 0:100 4KiB 4 io_uring");
    let job = &file.jobs[3];
    assert_eq!(job.duration, Some(TimeSpan(Duration::from_secs(60))));
    assert!(job.at.ends_with("ssd-test.fio:24"), "{}", job.at);
    assert_eq!(
        job.target,
        Target::Scratch {
            directory: Some("/mount-point-of-ssd".into()),
            size: Some(ByteSize::gib(10))
        }
    );
    let (_, _, at) = job
        .workload
        .iter()
        .find(|(factor, ..)| factor.name == "queue_depth")
        .unwrap();
    assert!(at.ends_with("ssd-test.fio:6"), "{at}");
}

#[test]
fn each_file_is_accepted_or_says_every_option_that_it_cannot_have() {
    for (name, expected) in [
        ("ssd-test.fio", Ok(4)),
        ("included.fio", Ok(1)),
        ("mix-open-loop.fio", Ok(2)),
        ("variables.fio", Ok(1)),
        ("buffered.fio", Ok(1)),
        ("one-size.fio", Ok(2)),
        (
            "at-once.fio",
            Err(vec![":9: [two] runs at the same time as [one]"]),
        ),
        (
            "refused.fio",
            Err(vec![
                ":4: bssplit=4k/60:64k/40: the size of requests is fixed",
                ":5: verify=crc32c: ",
                ":8: colour=blue: Outcrop does not know this option",
                ":9: thinktime=10: ",
                ":6: random_distribution: `pareto:0.9` is not one of",
            ]),
        ),
        (
            "form.fio",
            Err(vec![
                ":1: `bs=4k` comes before the first section",
                ":2: `[open` opens a section",
                ":4: the environment has no NOWHERE",
                ":5: cannot include ",
            ]),
        ),
        ("empty.fio", Err(vec![": there is no job in it"])),
    ] {
        match (parse(&fixtures().join(name)), expected) {
            (Ok(file), Ok(jobs)) => assert_eq!(file.jobs.len(), jobs, "{name}"),
            (Err(problems), Err(expected)) => {
                for says in &expected {
                    let found = problems
                        .iter()
                        .any(|problem| problem.contains(&format!("{name}{says}")));
                    assert!(found, "{name}{says} is not in {problems:#?}");
                }
                if name != "form.fio" {
                    assert_eq!(problems.len(), expected.len(), "{problems:#?}");
                }
            }
            (seen, expected) => panic!("{name}: {seen:?}, expected {expected:?}"),
        }
    }
}

#[test]
fn an_option_whose_zero_is_a_value_is_refused_with_zero_and_one_that_zero_turns_off_is_not() {
    let job = |option: &str| of_text(&format!("[a]\nrw=read\ndirect=1\nsize=1m\n{option}\n"));
    for option in [
        "cpus_allowed=0",
        "cpus_allowed=0-1",
        "cpumask=0",
        "buffer_pattern=0",
        "verify_pattern=0",
        "sqthread_poll_cpu=0",
        "percentage_random=0",
        "prio=0",
    ] {
        let problems = job(option).expect_err(option);
        assert!(problems[0].contains(&format!(":5: {option}: ")), "{problems:?}");
    }
    for option in ["offset=0", "thinktime=0", "verify=0", "dedupe_percentage=0"] {
        assert!(job(option).is_ok(), "{option}");
    }
}

#[test]
fn jobs_that_fio_runs_at_once_are_jobs_in_turn_where_that_is_asked_for_and_it_is_noted() {
    let file = parse_with(&fixtures().join("at-once.fio"), AtOnce::InTurn).unwrap();
    assert_eq!(words(&file, 0), "random 100:0 4KiB 1 psync");
    assert_eq!(file.jobs.len(), 2);
    let note = "at-once.fio:9: [two] runs at the same time as [one] in fio, but is measured alone here";
    assert!(
        file.notes.iter().any(|said| said.ends_with(note)),
        "{:?}",
        file.notes
    );
}

#[test]
fn a_distance_between_requests_in_sequence_is_a_stride() {
    let job = |rw: &str| of_text(&format!("[a]\ndirect=1\nsize=1m\nbs=4k\nrw={rw}\n"));
    assert_eq!(
        words(&job("read:60k").unwrap(), 0),
        "strided:64KiB 100:0 4KiB 1 psync"
    );
    assert_eq!(
        words(&job("write:4k").unwrap(), 0),
        "strided:8KiB 0:100 4KiB 1 psync"
    );
    assert_eq!(words(&job("rw:0").unwrap(), 0), "sequential 50:50 4KiB 1 psync");
    for (rw, says) in [
        ("read:-8k", "goes backwards"),
        ("read:5k", "not a multiple of the request's 4KiB"),
        ("randread:8", "draws a place once for several requests"),
        ("read:x", "`x`"),
    ] {
        let problems = job(rw).unwrap_err();
        assert!(problems[0].contains(says), "{rw}: {problems:?}");
    }
}

#[test]
fn options_that_ask_for_what_is_so_are_noted_once_with_their_line() {
    let file = parse(&fixtures().join("included.fio")).unwrap();
    assert!(
        file.notes
            .iter()
            .any(|note| note.contains("common.fio:3: thread has no effect: jobs are threads")),
        "{:?}",
        file.notes
    );
}

#[test]
fn the_cache_is_emptied_before_each_trial_and_a_job_that_wants_it_warm_is_refused() {
    let job = |options: &str| of_text(&format!("[a]\nrw=read\nsize=1m\n{options}\n"));
    for (options, why) in [
        ("direct=1\ninvalidate=0", "requests bypass the page cache"),
        (
            "direct=0\ninvalidate=1",
            "none of the file's pages in the page cache",
        ),
    ] {
        let notes = job(options).unwrap().notes;
        assert!(notes.iter().any(|note| note.contains(why)), "{notes:?}");
    }
    let refused = job("direct=0\ninvalidate=0").unwrap_err();
    assert!(
        refused[0].contains(":5: invalidate=0: every trial begins with none of"),
        "{refused:?}"
    );
}

#[test]
fn the_submission_is_timed_apart_where_its_percentiles_are_asked_for() {
    let job = |engine: &str| {
        let text = format!("[a]\nrw=read\ndirect=1\nsize=1m\nioengine={engine}\nslat_percentiles=1\n");
        of_text(&text).unwrap()
    };
    let is_apart = |file: &JobFile| {
        let mut said = file.jobs[0].workload.iter();
        said.any(|(factor, value, _)| factor.name == "latency_parts" && value == "apart")
    };
    assert!(is_apart(&job("io_uring")));
    let psync = job("psync");
    assert!(!is_apart(&psync));
    let why = ":6: slat_percentiles=1 has no effect: this engine returns when a request is complete";
    assert!(
        psync.notes.iter().any(|note| note.contains(why)),
        "{:?}",
        psync.notes
    );
}

#[test]
fn a_depth_that_the_engine_ignores_is_noted_with_its_line() {
    let job = |options: &str| of_text(&format!("[a]\nrw=randread\ndirect=1\nsize=4m\n{options}\n")).unwrap();
    for (options, engine) in [
        ("iodepth=16", "ioengine=psync, fio's default, waits"),
        ("ioengine=sync\niodepth=16", "ioengine=sync waits"),
    ] {
        let file = job(options);
        let said = |note: &&String| note.contains(":5: iodepth=16") || note.contains(":6: iodepth=16");
        let note = file.notes.iter().find(said).unwrap();
        assert!(
            note.contains(engine) && note.contains("io_uring or libaio for 16"),
            "{note}"
        );
    }
    for options in ["ioengine=libaio\niodepth=16", "iodepth=1", "ioengine=psync"] {
        let file = job(options);
        assert!(
            file.notes.iter().all(|note| !note.contains("iodepth")),
            "{:?}",
            file.notes
        );
    }
}

#[test]
fn a_sync_for_all_jobs_is_noted_to_have_no_effect_on_those_that_only_read() {
    let text = "[global]\ndirect=1\nsize=4m\nfsync=8\nrwmixread=70\n[reader]\nrw=randread\n[mixer]\nstonewall\nrw=randrw\n";
    let file = of_text(text).unwrap();
    let sync = |index: usize| {
        let mut said = file.jobs[index].workload.iter();
        let (_, value, _) = said.find(|(factor, ..)| factor.name == "sync").unwrap();
        value.as_str()
    };
    assert_eq!((sync(0), sync(1)), ("none", "every:8:fsync"));
    let notes: Vec<&String> = file.notes.iter().filter(|note| note.contains("fsync")).collect();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(
        notes[0].contains("x.fio:4: fsync=8 has no effect on [reader], as in fio: it only reads"),
        "{notes:?}"
    );
    // What means nothing is refused all the same.
    let refused = of_text("[reader]\nrw=read\ndirect=1\nsize=1m\nfsync=often\n").unwrap_err();
    assert!(
        refused[0].contains(":5: fsync: `often` is not a number of writes"),
        "{refused:?}"
    );
}

#[test]
fn one_size_one_rate_and_one_file_are_read_in_whichever_option_they_stand() {
    let file = parse(&fixtures().join("one-size.fio")).unwrap();
    assert_eq!(words(&file, 0), "sequential 100:0 4KiB 1 libaio");
    assert_eq!(words(&file, 1), "random 0:100 4KiB 1 libaio");
    let arrival = file.jobs[0]
        .workload
        .iter()
        .find(|(factor, ..)| factor.name == "arrival");
    assert_eq!(arrival.unwrap().1, "constant:2048");
    for (job, mebibytes) in file.jobs.iter().zip([128, 64]) {
        let Target::Scratch { size, .. } = &job.target else {
            panic!("{:?}", job.target)
        };
        assert_eq!(*size, Some(ByteSize::mib(mebibytes)), "{}", job.name);
    }
    let refused = of_text("[a]\ndirect=1\nsize=1m\nfilesize=2m\n").unwrap_err();
    assert!(
        refused[0].contains("filesize: size has another value"),
        "{refused:?}"
    );
}

#[test]
fn an_open_loop_counts_the_rate_of_all_jobs() {
    let file = parse(&fixtures().join("mix-open-loop.fio")).unwrap();
    let arrival = |index: usize| {
        let found = file.jobs[index]
            .workload
            .iter()
            .find(|(factor, ..)| factor.name == "arrival");
        found.unwrap().1.clone()
    };
    assert_eq!(
        (arrival(0).as_str(), arrival(1).as_str()),
        ("poisson:2000", "closed")
    );
    assert_eq!(words(&file, 1), "random 70:30 16KiB 16 io_uring");
    assert_eq!(file.jobs[0].warm_up, Some(TimeSpan::seconds(2)));
    assert_eq!(file.jobs[1].repetitions, Some(7));
}

#[test]
fn what_is_there_is_only_read() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::write(&data, "x").unwrap();
    let job = |rw: &str, file: &Path| {
        of_text(&format!(
            "[job]\nrw={rw}\ndirect=1\nsize=1m\nfilename={}\n",
            file.display()
        ))
    };
    assert_eq!(
        job("randread", &data).unwrap().jobs[0].target,
        Target::Existing { path: data.clone() }
    );
    let refused = job("randwrite", &data).unwrap_err();
    assert!(
        refused[0].contains("x.fio:5: filename: ")
            && refused[0].contains("does not write to files that it did not create"),
        "{refused:?}"
    );
    let made = job("randwrite", &folder.path().join("new")).unwrap();
    assert!(
        matches!(&made.jobs[0].target, Target::Scratch { directory: Some(directory), .. } if directory == folder.path())
    );
    let missing = job("randread", Path::new("/dev/no-such-device")).unwrap_err();
    assert!(
        missing[0].contains("there is no /dev/no-such-device"),
        "{missing:?}"
    );
}

#[test]
fn a_file_that_includes_itself_ends() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("self.fio");
    fs::write(&path, "include self.fio\n[job]\nrw=read\ndirect=1\n").unwrap();
    let problems = parse(&path).unwrap_err();
    assert!(problems[0].contains("include each other"), "{problems:?}");
}

proptest::proptest! {
    #[test]
    fn any_text_is_jobs_or_problems_and_never_a_panic(text in "(\\[[a-z]*\\]?\n|[a-z_]{1,10}=[0-9a-z:/%.,$\\{\\}]{0,8}\n|\\PC{0,20}\n){0,12}") {
        if let Err(problems) = of_text(&text) {
            proptest::prop_assert!(!problems.is_empty());
        }
    }
}

#[test]
fn what_a_job_says_overrides_what_is_global_in_whichever_word_it_is_said() {
    let text = "[global]\ndirect=1\nrw=randrw\nrwmixread=80\n[kept]\n[overridden]\nstonewall\nbuffered=1\nrwmixwrite=50\n";
    let file = of_text(text).unwrap();
    let access = |index: usize| {
        let mut factors = file.jobs[index].workload.iter();
        factors
            .find(|(factor, ..)| factor.name == "access")
            .map(|(_, value, _)| value.as_str())
    };
    assert_eq!((access(0), access(1)), (Some("direct"), Some("buffered")));
    assert_eq!(words(&file, 0), "random 80:20 4KiB 1 psync");
    assert_eq!(words(&file, 1), "random 50:50 4KiB 1 psync");
}
