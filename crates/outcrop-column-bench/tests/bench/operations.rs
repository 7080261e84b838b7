//! Every operation on small columns of every shape.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use outcrop_column::{Index, Kernels, Profile, Technique};
use outcrop_column_bench::{
    BenchError, BenchReport, BenchSpec, ColumnInput, Operation, SearchMode, Site, run,
};
use outcrop_measure::seed::Seed;
use outcrop_workload::column::{ColumnSpec, RowOrder};
use proptest::prelude::*;

fn measure(input: &ColumnInput, spec: &BenchSpec) -> Result<BenchReport, BenchError> {
    let (clock, directory) = (outcrop_probe::Clock::new(), std::env::temp_dir());
    let site = Site {
        directory: &directory,
        clock: &clock,
        stop: &AtomicBool::new(false),
    };
    run(input, spec, &site)
}

fn spec(operation: Operation, index: Index, mode: SearchMode) -> BenchSpec {
    BenchSpec {
        operation,
        index,
        mode,
        duration: Duration::from_millis(1),
        ..BenchSpec::default()
    }
}

fn generated(order: RowOrder, skew: f64) -> ColumnInput {
    ColumnInput::generate(&ColumnSpec {
        row_count: 70_000,
        distinct: 500,
        skew,
        order,
        seed: Seed(7),
    })
}

const INDEXES: [Index; 3] = [Index::None, Index::Postings, Index::Only];

#[test]
fn every_operation_that_is_not_refused_counts_what_it_does() {
    let input = generated(RowOrder::Random, 1.0);
    let mut measured = 0;
    // The size of a whole column is taken once, from its file.
    let repeated = Operation::ALL
        .into_iter()
        .filter(|operation| *operation != Operation::Size);
    for operation in repeated {
        for index in INDEXES {
            for mode in SearchMode::ALL {
                let spec = spec(operation, index, mode);
                if spec.validate().is_err() {
                    assert!(measure(&input, &spec).is_err());
                    continue;
                }
                let report = measure(&input, &spec).unwrap();
                measured += 1;
                assert!(report.operations > 0 && report.elapsed_ns > 0, "{spec:?}");
                assert_eq!(report.latency.count(), report.operations);
                assert!(u128::from(report.elapsed_ns) >= report.latency.sum(), "{spec:?}");
                match operation {
                    Operation::Encode | Operation::Decode | Operation::Scan => {
                        assert_eq!(report.rows, report.operations * 70_000, "{spec:?}");
                    }
                    _ => assert!(report.rows >= report.operations, "{spec:?}"),
                }
                let is_query_on_disk =
                    mode == SearchMode::OnDisk && (operation.is_search() || operation == Operation::Get);
                assert_eq!(report.cold_reads.is_some(), is_query_on_disk, "{spec:?}");
                let is_encode = operation == Operation::Encode;
                assert_eq!(report.encode_peak_memory_bytes.is_some(), is_encode);
                assert_eq!(report.open_ns.is_some_and(|ns| ns > 0), is_encode);
            }
        }
    }
    assert!(measured >= 24, "{measured} combinations");
}

#[test]
fn sizes_add_up_and_stand_above_the_floor_on_random_rows() {
    for skew in [0.0, 1.0] {
        let input = generated(RowOrder::Random, skew);
        for index in INDEXES {
            let size = measure(&input, &spec(Operation::Encode, index, SearchMode::InMemory))
                .unwrap()
                .size;
            let parts = size.parts.clone().unwrap();
            let sum = parts.dictionary_bytes + parts.codes_bytes + parts.postings_bytes;
            // Header, footer and section tables are the rest.
            assert!(sum < size.file_bytes && size.file_bytes < sum + 4096, "{size:?}");
            assert_eq!(parts.codes_bytes == 0, index == Index::Only);
            assert_eq!(parts.postings_bytes == 0, index == Index::None);
            assert!(size.file_bytes >= size.floor_bytes().unwrap(), "{size:?}");
            assert_eq!(size.value_count, Some(500));
            assert_eq!(size.text_bytes, input.text().len() as u64);
        }
    }
}

#[test]
fn a_lookup_on_disk_reads_at_most_three_times() {
    let input = generated(RowOrder::Random, 0.0);
    let spec = spec(Operation::Equality, Index::Postings, SearchMode::OnDisk);
    let reads = measure(&input, &spec).unwrap().cold_reads.unwrap();
    assert_eq!(reads.queries, 64);
    assert!((1..=3).contains(&reads.most_reads), "{reads:?}");
    assert!(reads.bytes <= reads.reads * 4096, "{reads:?}");
}

#[test]
fn text_under_a_codec_is_measured_beside_and_shrinks() {
    let input = generated(RowOrder::Sorted, 0.0);
    for operation in [Operation::Encode, Operation::Decode] {
        let spec = BenchSpec {
            format: "zstd:3".parse().unwrap(),
            ..spec(operation, Index::None, SearchMode::InMemory)
        };
        let report = measure(&input, &spec).unwrap();
        assert!(report.size.file_bytes * 10 < report.size.text_bytes);
        assert_eq!(report.size.value_count, None);
    }
    let scan = BenchSpec {
        format: "zstd:3".parse().unwrap(),
        ..spec(Operation::Scan, Index::None, SearchMode::InMemory)
    };
    let message = measure(&input, &scan).unwrap_err().to_string();
    assert!(message.contains("no dictionary codes to scan"), "{message}");
}

#[test]
fn searches_of_plain_and_of_compressed_text_find_as_many_rows_as_those_of_a_column_file() {
    let input = generated(RowOrder::Random, 1.0);
    for operation in [
        Operation::Equality,
        Operation::Prefix,
        Operation::Range,
        Operation::Get,
    ] {
        let once = |format: &str| {
            let spec = BenchSpec {
                format: format.parse().unwrap(),
                duration: Duration::ZERO,
                ..spec(operation, Index::None, SearchMode::InMemory)
            };
            let report = measure(&input, &spec).unwrap();
            assert_eq!(report.operations, 1);
            (report.rows, report.size.file_bytes)
        };
        let (of_file, of_text, of_frame) = (once("ocol"), once("none"), once("zstd:3"));
        assert_eq!((of_text.0, of_frame.0), (of_file.0, of_file.0), "{operation}");
        assert_eq!(of_text.1, input.text().len() as u64);
        assert!(of_frame.1 < of_text.1);
    }
}

#[test]
fn text_that_is_ambiguous_is_not_searched_and_says_why() {
    let rows = [Some(&b"a"[..]), None, Some(b"b")];
    let spec = BenchSpec {
        format: "none".parse().unwrap(),
        ..spec(Operation::Equality, Index::None, SearchMode::InMemory)
    };
    for input in [
        ColumnInput::from_values(rows),
        ColumnInput::from_values([Some(b"a\nb")]),
    ] {
        let refused = measure(&input, &spec).unwrap_err();
        assert!(
            matches!(&refused, BenchError::Unavailable(why) if why.contains("null")),
            "{refused}"
        );
    }
}

#[test]
fn a_trial_runs_with_the_kernels_that_it_asks_for_and_says_so() {
    let input = generated(RowOrder::Random, 1.0);
    for kernels in Kernels::ALL {
        for operation in [Operation::Encode, Operation::Decode, Operation::Equality] {
            let spec = BenchSpec {
                kernels: Some(kernels),
                ..spec(operation, Index::None, SearchMode::InMemory)
            };
            match (kernels.check(), measure(&input, &spec)) {
                (Ok(()), Ok(report)) => assert_eq!(report.kernels, Some(kernels)),
                (Err(lacks), Err(BenchError::Unavailable(why))) => assert_eq!(why, lacks.to_string()),
                (checked, measured) => panic!("{checked:?}, {measured:?}"),
            }
        }
    }
}

#[test]
fn what_is_left_out_makes_its_section_larger_and_no_other_smaller() {
    let input = generated(RowOrder::Random, 1.2);
    let parts = |left_out| {
        let spec = BenchSpec {
            left_out,
            ..spec(Operation::Encode, Index::Postings, SearchMode::InMemory)
        };
        measure(&input, &spec).unwrap().size.parts.unwrap()
    };
    let (whole, plain) = (parts(&[]), parts(&[Technique::FrontCoding, Technique::Classes]));
    assert!(plain.dictionary_bytes > whole.dictionary_bytes, "{plain:?}");
    assert!(plain.codes_bytes > whole.codes_bytes, "{plain:?}");
    assert_eq!(plain.postings_bytes, whole.postings_bytes);
    // 70,000 rows have numbers of 17 bits.
    assert_eq!(whole.plain_postings_bytes, 70_000 * 17 / 8);
}

#[test]
fn a_column_without_values_is_refused_where_something_is_looked_for() {
    let nulls = ColumnInput::from_values([None::<&[u8]>, None]);
    for input in [ColumnInput::default(), nulls] {
        let report = measure(
            &input,
            &spec(Operation::Encode, Index::None, SearchMode::InMemory),
        )
        .unwrap();
        assert_eq!(report.size.row_count, input.row_count());
        let equality = spec(Operation::Equality, Index::Postings, SearchMode::InMemory);
        let message = measure(&input, &equality).unwrap_err().to_string();
        assert!(message.contains("no values to search for"), "{message}");
    }
}

#[test]
fn a_raised_stop_ends_a_trial() {
    let (clock, directory) = (outcrop_probe::Clock::new(), std::env::temp_dir());
    let site = Site {
        directory: &directory,
        clock: &clock,
        stop: &AtomicBool::new(true),
    };
    let spec = BenchSpec {
        duration: Duration::from_secs(3600),
        ..spec(Operation::Decode, Index::None, SearchMode::InMemory)
    };
    let ended = run(&generated(RowOrder::Sorted, 0.0), &spec, &site);
    assert!(matches!(ended, Err(BenchError::Interrupted)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The engine checks content and a search itself before it measures: any column must pass.
    #[test]
    fn any_rows_pass_the_checks_before_measuring(
        rows in prop::collection::vec(prop::option::weighted(0.9, prop::collection::vec(0_u8..16, 0..4)), 1..300),
        profile in prop::sample::select(vec![Profile::Smallest, Profile::Balanced, Profile::Fastest]),
    ) {
        let input = ColumnInput::from_values(rows.iter().map(Option::as_deref));
        let back: Vec<Option<Vec<u8>>> = input.rows().map(|row| row.map(<[u8]>::to_vec)).collect();
        prop_assert_eq!(&back, &rows);
        prop_assume!(rows.iter().any(Option::is_some));
        for operation in [Operation::Decode, Operation::Equality, Operation::Prefix, Operation::Range, Operation::Get] {
            let spec = BenchSpec { profile, ..spec(operation, Index::Postings, SearchMode::OnDisk) };
            measure(&input, &spec).map_err(|error| TestCaseError::fail(error.to_string()))?;
        }
    }
}
