//! Figures of the compression layer on runs whose truth is known: nothing here was measured.

use outcrop_report::{Report, Verdict};

use crate::compression_fixture::{Builder, CODECS, codec, complete};

#[test]
fn no_published_figure_is_in_a_chart_unless_it_was_asked_for() {
    let run = complete();
    let is_published = |report: &Report| {
        let figures = report.figures().into_iter();
        figures
            .filter(|figure| figure.to_csv().unwrap().contains(",published,"))
            .count()
    };
    assert_eq!(is_published(&Report::of(&run)), 0);
    assert!(is_published(&Report::beside(&run, &["asic-throughput".to_owned()])) > 0);
    let captions = Report::of(&run)
        .figures()
        .iter()
        .map(|figure| figure.caption.clone())
        .collect::<String>();
    assert!(!captions.contains("arXiv"), "{captions}");
}

#[test]
fn figures_by_entropy_say_that_an_lz_coder_gains_too_where_bits_are_few() {
    let run = complete();
    let report = Report::of(&run);
    let figures = report.figures();
    let by_entropy = figures
        .iter()
        .filter(|figure| figure.id.ends_with("-by-target-entropy"));
    let captions: Vec<&str> = by_entropy.map(|figure| figure.caption.as_str()).collect();
    assert!(!captions.is_empty());
    // `compress::jobs::an_lz_coder_gains_little_from_independent_bytes_of_4_bits_and_halves_those_of_0_8` measures it.
    for caption in captions {
        assert!(
            caption.contains("little from 4 bits up") && caption.contains("at 0.8 bits more than half"),
            "{caption}"
        );
    }
}

#[test]
fn published_figures_stand_beside_ours_with_their_caveats() {
    let run = complete();
    let names: Vec<String> = Report::of(&run).layers[0]
        .references
        .iter()
        .map(|section| section.name.clone())
        .collect();
    let report = Report::beside(&run, &names);
    let layer = &report.layers[0];
    let caption = |id: &str| {
        let figures = report.figures();
        let figure = figures.iter().find(|figure| figure.id == id).unwrap();
        format!("{} {}", figure.caption, figure.alt_text)
    };
    assert!(
        caption("compress-throughput").contains("sums over processes that did not start or end together")
    );
    assert!(caption("compress-throughput").contains("QAT 8970: published device or processor 4.86 GB/s"));
    assert!(caption("compress-throughput").contains("modelled 1 thread 5.5 GB/s"));
    assert!(caption("ratio-percentiles-64k").contains("the 4 KiB one times 16"));
    assert!(caption("stage-shares").contains("only the building of the tables"));
    assert!(
        caption("dpzip-over-zstd-4k").contains("dpzip ÷ zstd (published): from 1.35 at 1 % to 1 at 99 %")
    );
    for reference in &layer.references {
        assert!(
            !reference.caveats.is_empty() && !reference.table.rows.is_empty(),
            "{}",
            reference.name
        );
    }
    let stages = &layer.references[0];
    assert_eq!(stages.findings.len(), 2);
    assert!(
        stages
            .findings
            .iter()
            .all(|finding| finding.verdict == Verdict::Holds),
        "{:?}",
        stages.findings
    );
}

#[test]
fn speeds_are_drawn_at_every_measured_block_size_or_the_caption_says_how_many_are_not() {
    const NAMES: [&str; 4] = [
        "compress-throughput",
        "decompress-throughput",
        "compress-latency",
        "decompress-latency",
    ];
    let all = ["4 KiB", "8 KiB", "16 KiB", "32 KiB", "64 KiB", "128 KiB"];
    let drawn = |sizes_kib: &[u64], name: &str, beside: &[String]| {
        let run = Builder::new(3).speeds(&CODECS[1..3], sizes_kib, &[1]).build();
        let report = Report::beside(&run, beside);
        let figures = report.figures();
        let figure = figures.iter().find(|figure| figure.id == name);
        let figure = figure.unwrap_or_else(|| panic!("no figure {name}"));
        let page = figure.to_page_svg();
        let shown = all.into_iter().filter(|size| page.contains(&format!(">{size}<")));
        (shown.collect::<Vec<_>>(), figure.caption.clone())
    };
    for name in NAMES {
        let (shown, caption) = drawn(&[4, 16, 64], name, &[]);
        assert_eq!(shown, ["4 KiB", "16 KiB", "64 KiB"], "{name}");
        assert!(!caption.contains("block sizes"), "{caption}");
        let (shown, caption) = drawn(&[8, 32], name, &["asic-throughput".to_owned()]);
        assert_eq!(shown, ["8 KiB", "32 KiB"], "{name}");
        assert!(
            caption.ends_with("No published figure is of these block sizes."),
            "{caption}"
        );
        let (shown, caption) = drawn(&[4, 8, 16, 32, 64, 128], name, &[]);
        assert_eq!(shown, ["4 KiB", "8 KiB", "64 KiB", "128 KiB"], "{name}");
        assert!(
            caption
                .contains("4 of 6 measured block sizes are shown; `outcrop figure --csv` writes all of them"),
            "{caption}"
        );
        let run = Builder::new(3)
            .speeds(&CODECS[1..3], &[4, 8, 16, 32, 64, 128], &[1])
            .build();
        let report = Report::of(&run);
        let figures = report.figures();
        let csv = figures
            .iter()
            .find(|figure| figure.id == name)
            .unwrap()
            .to_csv()
            .unwrap();
        let rows_of = |size: &str| {
            csv.lines()
                .filter(|row| row.starts_with(&format!("{size},")))
                .count()
        };
        assert_eq!(all.map(rows_of), [2; 6], "{name}: {csv}");
    }
}

#[test]
fn speeds_by_block_size_have_a_line_for_each_codec_with_its_interval_where_there_are_two_sizes() {
    let of_sizes = |sizes_kib: &[u64]| Builder::new(5).speeds(&CODECS, sizes_kib, &[1]).build();
    for direction in ["compress", "decompress"] {
        let id = format!("{direction}-speed-by-block-size");
        let report = Report::of(&of_sizes(&[4, 16, 64]));
        let figures = report.figures();
        let figure = figures.iter().find(|figure| figure.id == id);
        let figure = figure.unwrap_or_else(|| panic!("no figure {id}"));
        let svg = figure.to_page_svg();
        for codec in CODECS.iter().filter(|codec| codec.name != "none") {
            assert!(svg.contains(&format!(">{}<", codec.name)), "{id}: {}", codec.name);
        }
        for size in ["4 KiB", "16 KiB", "64 KiB"] {
            assert!(svg.contains(&format!(">{size}<")), "{id}: {size}");
        }
        let csv = figure.to_csv().unwrap();
        let rows: Vec<Vec<&str>> = csv
            .lines()
            .skip(1)
            .map(|line| line.split(',').collect())
            .collect();
        assert_eq!(rows.len(), 3 * 6, "{csv}");
        for row in rows {
            let [value, low, high] = [3, 4, 5].map(|place| row[place].parse::<f64>().unwrap());
            assert!(low <= value && value <= high, "{row:?}");
        }
        assert!(figure.caption.contains("1 thread"), "{}", figure.caption);
        let html = report.to_html();
        assert!(
            html.contains(&format!("figure-{id}")),
            "{id} is on the page, which has room for it"
        );
        let one_size = Report::of(&of_sizes(&[16]));
        assert!(one_size.figures().iter().all(|figure| figure.id != id), "{id}");
    }
}

#[test]
fn every_point_of_ratio_against_speed_has_a_name_in_the_text_for_who_cannot_see_it() {
    let run = complete();
    let report = Report::of(&run);
    let figures = report.figures();
    let figure = figures
        .iter()
        .find(|figure| figure.id == "ratio-against-compress-speed")
        .unwrap();
    let text = &figure.alt_text;
    assert!(text.contains(" deflate-zlib:1, 4 KiB: "), "{text}");
    assert!(!text.contains(" : "), "{text}");
}

#[test]
fn codecs_of_one_library_keep_names_of_their_own_in_short() {
    let alike = [
        codec("deflate-zlib:1", 2.1, 8e7, 3e8),
        codec("zlib:1", 2.0, 7e7, 2e8),
        codec("deflate-zlib-rs:1", 1.9, 9e7, 4e8),
    ];
    let report = Report::of(&Builder::new(3).speeds(&alike, &[4], &[1]).build());
    let figures = report.figures();
    let throughput = figures.iter().find(|figure| figure.id == "compress-throughput");
    let drawn = throughput.unwrap().to_page_svg();
    for label in [">deflate-zlib:1<", ">zlib:1<", ">zlib-rs:1<"] {
        assert!(drawn.contains(label), "{label}: {drawn}");
    }
}
