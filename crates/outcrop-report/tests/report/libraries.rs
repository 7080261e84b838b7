//! A store is predicted from the codec that is its own library, and it is said where the two sides had different ones.

use outcrop_report::{MeasuredSystem, Report};
use outcrop_results::RunView;
use outcrop_schema::compression::{self, Library};
use outcrop_schema::kv;

use crate::compression_fixture::{Builder, Codec, codec};
use crate::kv_fixture;
use crate::placement::stored;

const OF_SYSTEM: Codec = codec("lz4@system", 2.0, 6e8, 2e9);
const OF_PROGRAM: Codec = codec("lz4", 2.0, 7e8, 3e9);
const LZ4: &str = "/usr/lib/liblz4.so.1.9.4";

/// A store with and without lz4, and these codecs, each with the file of its library.
fn run_of(codecs: &[(Codec, Option<Library<'_>>)], linked: &[&str]) -> RunView {
    let mut run = kv_fixture::of(&[
        stored("none", "as-is", 100e3, 110e6),
        stored("lz4", "as-is", 80e3, 60e6),
    ]);
    for trial in &mut run.trials {
        trial.notes.extend(kv::libraries_remark(linked));
    }
    for (codec, library) in codecs {
        let mut trials = Builder::new(3)
            .speed(*codec, 16, 1, "compressible:2", 1.0)
            .build()
            .trials;
        for trial in &mut trials {
            trial.notes.extend(library.map(|library| library.remark()));
        }
        run.trials.extend(trials);
    }
    run
}

const SYSTEMS: Option<Library<'_>> = Some(Library {
    name: "liblz4 1.9.4",
    file: Some(LZ4),
});
const PROGRAMS: Option<Library<'_>> = Some(Library {
    name: "liblz4 1.10.0",
    file: None,
});

/// From which codec the store with lz4 is predicted, and what is said of the libraries.
fn predicted_from(run: &RunView) -> (String, String) {
    let system = MeasuredSystem::of(run).expect("both layers were measured");
    let components: Vec<&str> = system
        .measured
        .iter()
        .map(|pair| pair.component.as_str())
        .collect();
    assert_eq!(components.len(), 1, "{components:?}");
    (components[0].to_owned(), system.libraries.join(" "))
}

#[test]
fn the_systems_library_is_preferred_to_that_of_this_program() {
    let run = run_of(&[(OF_PROGRAM, PROGRAMS), (OF_SYSTEM, SYSTEMS)], &[LZ4]);
    let (component, said) = predicted_from(&run);
    assert_eq!(component, "lz4@system");
    assert_eq!(
        said,
        "Store and codec used the same library file: lz4 (liblz4 1.9.4)."
    );
    let system = MeasuredSystem::of(&run).unwrap();
    let sources: Vec<&str> = system
        .components
        .iter()
        .filter_map(|own| own.source.as_deref())
        .collect();
    assert_eq!(
        sources,
        [
            "measured with liblz4 1.10.0 of this program",
            "measured with liblz4 1.9.4 (/usr/lib/liblz4.so.1.9.4)"
        ]
    );
}

#[test]
fn libraries_that_differ_are_both_named_with_what_that_means() {
    let of_program = run_of(&[(OF_PROGRAM, PROGRAMS)], &[LZ4]);
    let (component, said) = predicted_from(&of_program);
    assert_eq!(component, "lz4");
    assert_eq!(
        said,
        "lz4 was measured with liblz4 1.10.0 of this program, but rocksdb compresses with /usr/lib/liblz4.so.1.9.4: the error of its \
         predictions includes the difference between the two."
    );
    let elsewhere = run_of(&[(OF_SYSTEM, SYSTEMS)], &["/opt/lib/liblz4.so.1.10.0"]);
    let (_, said) = predicted_from(&elsewhere);
    assert!(
        said.starts_with("lz4 was measured with liblz4 1.9.4 (/usr/lib/liblz4.so.1.9.4), but rocksdb"),
        "{said}"
    );
    let report = Report::of(&elsewhere);
    let mut findings = report.layers.iter().flat_map(|layer| &layer.findings);
    let finding = findings
        .find(|finding| finding.id == "kv-prediction-holds")
        .expect("a prediction was checked");
    assert!(finding.tested.contains(&said), "{}", finding.tested);
}

#[test]
fn a_run_that_did_not_record_the_libraries_says_so() {
    let unknown = "It is unknown whether store and codec used the same library file: lz4.";
    for run in [
        run_of(&[(OF_SYSTEM, SYSTEMS)], &[]),
        run_of(&[(OF_SYSTEM, None)], &[LZ4]),
        // It has a codec of its own inside.
        run_of(&[(OF_SYSTEM, SYSTEMS)], &["/usr/lib/libz.so.1.2.13"]),
    ] {
        assert_eq!(predicted_from(&run).1, unknown);
    }
}

#[test]
fn a_codec_that_could_not_be_measured_does_not_stand_for_one_that_was() {
    let mut run = run_of(&[(OF_SYSTEM, SYSTEMS), (OF_PROGRAM, PROGRAMS)], &[LZ4]);
    let of_system = run
        .trials
        .iter_mut()
        .filter(|trial| trial.factors.values().any(|value| value == OF_SYSTEM.name));
    for trial in of_system {
        trial.values.clear();
        trial
            .notes
            .push(compression::ABSENT.remark("not measured: the system has no liblz4.so.1"));
    }
    assert_eq!(predicted_from(&run).0, "lz4");
}
