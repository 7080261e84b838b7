//! Settings that have no effect on any cell of a plan are refused, and those that have none on some are noted.

use outcrop_lab::{LabError, PlanOptions, PlanSet, PlanSource};
use outcrop_measure::units::TimeSpan;

use crate::scene::{directory, try_plan_set};

fn plan(layer: &str, settings: &str) -> String {
    format!("name = \"x\"\nquestion = \"?\"\nlayer = \"{layer}\"\n{settings}\n[trial]\nwarm_up = \"20s\"\n")
}

fn message_of(result: Result<PlanSet, LabError>) -> String {
    match result {
        Err(error @ LabError::BadPlan { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_setting_that_no_server_of_a_plan_has_is_refused_and_one_that_some_lack_is_noted() {
    let here = directory();
    let of = |settings: &str| try_plan_set(&plan("cache", settings), here.path());
    for (server, setting) in [
        ("memcached", "item_memory = [\"1MiB\", \"2MiB\"]"),
        ("memcached", "policy = [\"lru\"]"),
        ("redis", "server_threads = [1, 4]"),
    ] {
        let message = message_of(of(&format!("[factors]\nserver = [\"{server}\"]\n{setting}")));
        let expected = format!("{server} has no such setting; leave it out, or use the server outcrop");
        assert!(message.contains(&expected), "{message}");
    }
    let both = of("[factors]\nserver = [\"outcrop\", \"memcached\"]\npolicy = [\"lru\", \"fifo\"]").unwrap();
    assert_eq!(both.cells().len(), 3);
    assert_eq!(
        both.data_notes(),
        ["memcached has no policy: its cells are measured without"]
    );
    let elsewhere =
        of("[subject]\ntarget = \"memcached://127.0.0.1:9\"\n[factors]\nmemory = [\"8MiB\", \"64MiB\"]")
            .unwrap();
    let notes = elsewhere.data_notes().join(" ");
    assert!(
        notes.contains("127.0.0.1:9") && notes.contains("of memory is left out"),
        "{notes}"
    );
    // What a run wrote down of itself is read again.
    let again = both.to_toml();
    assert_eq!(try_plan_set(&again, here.path()).unwrap().cells(), both.cells());
}

#[test]
fn a_setting_without_effect_on_any_cell_of_a_column_plan_is_refused() {
    let here = directory();
    for (operation, setting) in [
        ("size", "threads = [1, 2]"),
        ("size", "search_mode = [\"on-disk\"]"),
        ("equality", "threads = [2]"),
    ] {
        let settings = format!("[factors]\noperation = [\"{operation}\"]\n{setting}");
        let message = message_of(try_plan_set(&plan("column", &settings), here.path()));
        let expected = format!("has no effect on {operation} with format ocol; leave it out");
        assert!(message.contains(&expected), "{message}");
    }
    let settings = "[factors]\noperation = [\"encode\", \"equality\"]\nthreads = [1, 2]";
    let set = try_plan_set(&plan("column", settings), here.path()).unwrap();
    assert_eq!(set.cells().len(), 3);
}

#[test]
fn cells_that_no_time_warms_up_have_no_warm_up_and_a_flag_for_them_alone_is_refused() {
    let here = directory();
    for (layer, settings) in [
        ("cache", "[workload]\nfill = \"sets:10\""),
        ("column", "[workload]\noperation = \"size\""),
    ] {
        let text = plan(layer, settings);
        let set = try_plan_set(&text, here.path()).unwrap();
        assert!(set.cells().iter().all(|cell| cell.trial.warm_up.0.is_zero()));
        let source = || PlanSource {
            name: "plan.toml".to_owned(),
            text: text.clone(),
        };
        let options = PlanOptions {
            directory: Some(here.path().to_owned()),
            warm_up: Some(TimeSpan::seconds(5)),
            ..PlanOptions::default()
        };
        let message = message_of(PlanSet::from_sources(&[source()], &options));
        assert!(
            message.contains("--warm-up") && message.contains("none of these plans"),
            "{message}"
        );
    }
    let both = plan("cache", "[factors]\nfill = [\"sets:10\", \"every-key\"]");
    let set = try_plan_set(&both, here.path()).unwrap();
    let zero = set.cells().iter().filter(|cell| cell.trial.warm_up.0.is_zero());
    assert_eq!((set.cells().len(), zero.count()), (2, 1));
}
