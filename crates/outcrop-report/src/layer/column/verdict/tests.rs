//! Which form is advised of a column, and in which words.

use super::*;

fn comment() -> ColumnSizes {
    ColumnSizes {
        name: "o_comment".to_owned(),
        ocol_bytes: 21_160_000.0,
        ocol_index: OcolIndex::None,
        may_be_smaller: false,
        text_bytes: 73_000_000.0,
        stored: Some((34_620_000.0, "in this file (dictionary→plain, Snappy)".to_owned())),
        compressed_file_bytes: None,
        is_stored_in_parquet: true,
        parquet_zstd_bytes: Some(22_000_000.0),
        parquet_encoding: None,
        parquet_usual_bytes: None,
        parquet_as: None,
        row_count: 1_500_000.0,
        table_rows: Some(1_500_000.0),
        text_of: None,
    }
}

/// A column of a text file.
fn of_text(base: f64, ocol: f64, parquet: f64) -> ColumnSizes {
    ColumnSizes {
        ocol_bytes: ocol,
        text_bytes: base,
        stored: Some((base, "in this file (text)".to_owned())),
        is_stored_in_parquet: false,
        parquet_zstd_bytes: Some(parquet),
        ..comment()
    }
}

#[test]
fn a_verdict_names_the_three_sizes_and_begins_with_the_smallest() {
    assert_eq!(
        comment().verdict(),
        "o_comment: 21.2 MB as .ocol, 34.6 MB in this file (dictionary→plain, Snappy): 39 % smaller; Parquet with zstd:3 \
         would take 22.0 MB"
    );
    let beaten = ColumnSizes {
        parquet_zstd_bytes: Some(15_000_000.0),
        table_rows: Some(6_000_000.0),
        ..comment()
    };
    assert_eq!(
        beaten.verdict(),
        "o_comment: 15.0 MB in Parquet with zstd:3, 34.6 MB in this file (dictionary→plain, Snappy): 57 % smaller; .ocol would \
         take 21.2 MB (Parquet is 29 % smaller) (first 1,500,000 of 6,000,000 rows)"
    );
    assert_eq!(
        (comment().smallest_form(), beaten.smallest_form()),
        (SmallestForm::Ocol, SmallestForm::ParquetZstd)
    );
}

#[test]
fn a_verdict_against_a_column_file_says_that_the_smaller_profile_may_change_it() {
    let beaten = ColumnSizes {
        parquet_zstd_bytes: Some(20_000_000.0),
        may_be_smaller: true,
        ..comment()
    };
    let words = "; .ocol would take 21.2 MB, perhaps less with column encode --profile smallest (Parquet is 5 % smaller)";
    assert!(beaten.verdict().ends_with(words), "{}", beaten.verdict());
    let as_it_is = ColumnSizes {
        stored: Some((19_000_000.0, "in this file (dictionary, zstd)".to_owned())),
        ..beaten
    };
    let words =
        ": .ocol would take 21.2 MB, perhaps less with column encode --profile smallest (11 % larger), ";
    assert!(as_it_is.verdict().contains(words), "{}", as_it_is.verdict());
    let smallest = ColumnSizes {
        may_be_smaller: true,
        ..comment()
    };
    assert_eq!(smallest.verdict(), comment().verdict());
}

/// No other form has an index, so that what it takes must not decide which of them is smallest.
#[test]
fn a_column_file_with_an_index_is_compared_without_it_and_the_verdict_says_so() {
    let left_out = ColumnSizes {
        ocol_index: OcolIndex::LeftOut {
            file_bytes: 42_000_000.0,
        },
        ..comment()
    };
    assert_eq!(
        left_out.verdict(),
        "o_comment: 21.2 MB as .ocol without an index, 34.6 MB in this file (dictionary→plain, Snappy): 39 % smaller; Parquet \
         with zstd:3 would take 22.0 MB"
    );
    let beaten = ColumnSizes {
        parquet_zstd_bytes: Some(15_000_000.0),
        ..left_out.clone()
    };
    let words = "; .ocol would take 21.2 MB without an index (Parquet is 29 % smaller)";
    assert!(beaten.verdict().ends_with(words), "{}", beaten.verdict());
    let no_gain = ColumnSizes {
        stored: Some((21_100_000.0, "in this file (plain, zstd)".to_owned())),
        ..left_out
    };
    let words = "in this file (plain, zstd): .ocol would take 21.2 MB without an index (the same size), ";
    assert!(no_gain.verdict().contains(words), "{}", no_gain.verdict());
    let counted = ColumnSizes {
        ocol_index: OcolIndex::Counted,
        ..comment()
    };
    let words = "o_comment: 21.2 MB as .ocol with an index, ";
    assert!(counted.verdict().starts_with(words), "{}", counted.verdict());
}

#[test]
fn parquet_is_advised_where_it_saves_more_than_its_footer_and_two_per_cent() {
    for (ocol, parquet, form, words) in [
        (79_200.0, 78_900.0, SmallestForm::Either, "78.9 kB, the same size"),
        (
            2_400.0,
            2_230.0,
            SmallestForm::Either,
            "2.23 kB, 7 % smaller than .ocol, which is less than its footer may take",
        ),
        (
            98_500.0,
            100_000.0,
            SmallestForm::Either,
            "100 kB, 2 % larger than .ocol",
        ),
        (
            97_000.0,
            100_000.0,
            SmallestForm::Ocol,
            "; Parquet with zstd:3 would take 100 kB",
        ),
        (
            19_600.0,
            18_500.0,
            SmallestForm::ParquetZstd,
            "19.6 kB (Parquet is 6 % smaller)",
        ),
        (
            127_000.0,
            14_000.0,
            SmallestForm::ParquetZstd,
            "127 kB (Parquet is 89 % smaller)",
        ),
    ] {
        let sizes = ColumnSizes {
            ocol_bytes: ocol,
            parquet_zstd_bytes: Some(parquet),
            ..comment()
        };
        assert_eq!(sizes.smallest_form(), form, "{ocol} {parquet}");
        assert!(sizes.in_words().ends_with(words), "{}", sizes.in_words());
    }
}

#[test]
fn a_file_that_is_smaller_than_parquet_with_zstd_3_is_left_as_it_is_and_the_larger_size_is_that_of_outcrops_writer()
 {
    let in_file = |ocol: f64| ColumnSizes {
        ocol_bytes: ocol,
        stored: Some((27_743.0, "in this file (dictionary, Brotli)".to_owned())),
        parquet_zstd_bytes: Some(30_000.0),
        ..comment()
    };
    let as_it_is = in_file(31_000.0);
    assert_eq!(as_it_is.smallest_form(), SmallestForm::AsItIs);
    assert!((as_it_is.smallest_bytes() - 27_743.0).abs() < 1.0);
    assert_eq!(
        as_it_is.in_words(),
        "27.7 kB in this file (dictionary, Brotli): .ocol would take 31.0 kB (12 % larger), Parquet with zstd:3 as Outcrop writes it \
         30.0 kB (8 % larger)"
    );
    assert_eq!(
        in_file(20_000.0).in_words(),
        "20.0 kB as .ocol, 27.7 kB in this file (dictionary, Brotli): 28 % smaller; Parquet with zstd:3 as Outcrop writes it would \
         take 30.0 kB"
    );
}

#[test]
fn what_saves_less_than_a_block_of_a_disk_is_left_as_it_is_and_the_smaller_size_is_named() {
    let small = ColumnSizes {
        ocol_bytes: 368.0,
        stored: Some((376.0, "in this file (dictionary, zstd)".to_owned())),
        may_be_smaller: true,
        parquet_zstd_bytes: Some(188.0),
        ..comment()
    };
    assert_eq!(small.smallest_form(), SmallestForm::AsItIs);
    assert_eq!(
        small.in_words(),
        "376 B in this file (dictionary, zstd): .ocol would take 368 B (2 % smaller), Parquet with zstd:3 188 B (50 % smaller); that \
         saves less than a disk block of 4 KiB"
    );
    let large = |saved: f64| ColumnSizes {
        ocol_bytes: 34_620_000.0 - saved,
        parquet_zstd_bytes: Some(34_700_000.0),
        ..comment()
    };
    assert_eq!(large(600_000.0).smallest_form(), SmallestForm::AsItIs);
    assert!(
        large(600_000.0)
            .in_words()
            .ends_with("; that saves less than 2 %")
    );
    assert_eq!(large(700_000.0).smallest_form(), SmallestForm::Ocol);
    assert_eq!(
        of_text(20_000.0, 16_000.0, 17_000.0).smallest_form(),
        SmallestForm::AsItIs
    );
    assert_eq!(
        of_text(20_000.0, 15_000.0, 17_000.0).smallest_form(),
        SmallestForm::Ocol
    );
}

#[test]
fn the_encoding_and_the_type_that_a_size_in_parquet_needs_are_named() {
    let delta = ColumnSizes {
        ocol_bytes: 127_000.0,
        parquet_zstd_bytes: Some(14_000.0),
        parquet_usual_bytes: Some(199_000.0),
        ..comment()
    };
    assert!(
        delta.in_words().starts_with(
            "14.0 kB in Parquet with zstd:3 with delta encoding (199 kB as Arrow writes by default), 34.6 MB in this file"
        ),
        "{}",
        delta.in_words()
    );
    assert_eq!(delta.parquet_to_write(), "Parquet with zstd and delta encoding");
    let split = ColumnSizes {
        parquet_encoding: Some("BYTE_STREAM_SPLIT encoding".to_owned()),
        ..delta.clone()
    };
    assert_eq!(
        split.parquet_to_write(),
        "Parquet with zstd and BYTE_STREAM_SPLIT encoding"
    );
    assert!(
        split.in_words().contains(
            "14.0 kB in Parquet with zstd:3 with BYTE_STREAM_SPLIT encoding (199 kB as Arrow writes by default)"
        ),
        "{}",
        split.in_words()
    );
    assert_eq!(
        delta.change_in(SmallestForm::ParquetZstd),
        "89 % smaller than .ocol with delta encoding"
    );
    let integers = ColumnSizes {
        parquet_as: Some("integers".to_owned()),
        ..of_text(138_000.0, 60_600.0, 43_900.0)
    };
    assert_eq!(
        integers.in_words(),
        "43.9 kB in Parquet with zstd:3 as integers and a footer of about 0.5 kB, 138 kB in this file (text): 68 % smaller; .ocol \
         would take 60.6 kB (Parquet is 28 % smaller)"
    );
}

#[test]
fn a_column_of_numbers_is_said_to_become_text() {
    let numbers = ColumnSizes {
        text_of: Some("Int64".to_owned()),
        ..comment()
    };
    assert!(
        numbers
            .verdict()
            .ends_with("would take 22.0 MB; .ocol has the values of type Int64 as text"),
        "{}",
        numbers.verdict()
    );
}

#[test]
fn beside_a_file_that_is_not_parquet_its_footer_counts_and_is_said() {
    // 97 kB and the footer are no less than 98.0 kB of text.
    let sizes = of_text(98_000.0, 120_000.0, 97_000.0);
    assert_eq!(sizes.smallest_form(), SmallestForm::AsItIs);
    assert!(sizes.gain_bytes() < 0.0, "{}", sizes.gain_bytes());
    let small = of_text(10_000.0, 12_000.0, 9_700.0);
    assert!(
        small
            .in_words()
            .contains("Parquet with zstd:3 9.70 kB and a footer of about 0.5 kB (3 % smaller)"),
        "{}",
        small.in_words()
    );
    // What is smaller by itself is not with the footer.
    let with_footer = of_text(100_000.0, 120_000.0, 95_500.0);
    assert_eq!(with_footer.smallest_form(), SmallestForm::AsItIs);
    let in_parquet = ColumnSizes {
        is_stored_in_parquet: true,
        ..with_footer
    };
    assert_eq!(in_parquet.smallest_form(), SmallestForm::ParquetZstd);
    assert!(
        !in_parquet.in_words().contains("footer"),
        "{}",
        in_parquet.in_words()
    );
    // Of a large column it is nothing.
    let large = of_text(34e6, 24e6, 22e6);
    assert!(!large.in_words().contains("footer"), "{}", large.in_words());
}

#[test]
fn an_unknown_size_is_compared_as_text() {
    let unknown = ColumnSizes {
        stored: None,
        parquet_zstd_bytes: None,
        table_rows: None,
        ..comment()
    };
    assert_eq!(
        unknown.verdict(),
        "o_comment: 21.2 MB as .ocol, 73.0 MB as lines of text: 71 % smaller (first 1,500,000 rows)"
    );
    let compressed = ColumnSizes {
        compressed_file_bytes: Some(24e6),
        ..unknown
    };
    assert_eq!(
        compressed.in_words(),
        "21.2 MB as .ocol, 73.0 MB as lines of text (the compressed file takes 24.0 MB with all its columns): 71 % smaller \
         (first 1,500,000 rows)"
    );
    let larger = ColumnSizes {
        ocol_bytes: 34_620_000.0 * 2.5,
        ..comment()
    };
    assert_eq!(larger.change(), "2.5 times as large");
}
