//! Bars, points with a front, distributions, and published series beside measured ones.

use outcrop_measure::histogram::LatencyHistogram;
use outcrop_measure::metric::Better;

use super::super::*;
use super::{file, points};

/// Shares of three stages, ours above the published ones, over three chunk sizes.
fn shares() -> BarChart {
    let part = |name: &str, hue| Part {
        name: name.into(),
        hue,
    };
    let bar = |kind, shares: [f64; 3]| Bar {
        kind,
        segments: shares
            .into_iter()
            .enumerate()
            .map(|(part, value)| Segment::bare(part, value))
            .collect(),
        note: String::new(),
    };
    let group = |(index, label): (usize, &str)| {
        let lz = 40.0 + 8.0 * index as f64;
        BarGroup {
            label: label.into(),
            bars: vec![
                bar(SeriesKind::Measured, [lz, 70.0 - lz, 30.0]),
                bar(SeriesKind::Published, [lz + 3.0, 65.0 - lz, 32.0]),
            ],
        }
    };
    let facet = |title: &str| Facet {
        title: title.into(),
        groups: ["level 1, 1 bit", "level 1, 7 bit", "level 10, 1 bit"]
            .into_iter()
            .enumerate()
            .map(group)
            .collect(),
    };
    BarChart {
        value: axis("Share of compression time", Quantity::Percent, Scale::Linear),
        parts: vec![
            part("match finding", 0),
            part("literals", 1),
            part("sequences", 2),
        ],
        facets: ["4 KiB", "16 KiB", "128 KiB"].map(facet).into(),
    }
}

/// Throughput over decades, one colour per thread count, with intervals.
fn throughput() -> BarChart {
    let bar = |part, value: f64, kind| {
        let segment = Segment {
            part,
            kind: None,
            value,
            interval: Some((value * 0.9, value * 1.15)),
            support: Support::default(),
        };
        Bar::single(kind, segment, format!("{value}"))
    };
    let groups = [("snappy", 5e8), ("zstd:1", 3e8), ("zstd:19", 2e6)];
    BarChart {
        value: axis("Compress throughput", Quantity::Bandwidth, Scale::Log10),
        parts: vec![
            Part {
                name: "1 thread".into(),
                hue: 0,
            },
            Part {
                name: "2 threads".into(),
                hue: 1,
            },
        ],
        facets: vec![Facet {
            title: String::new(),
            groups: groups
                .map(|(label, value)| BarGroup {
                    label: label.into(),
                    bars: vec![
                        bar(0, value, SeriesKind::Measured),
                        bar(1, 1.8 * value, SeriesKind::Measured),
                        bar(0, 9.0 * value, SeriesKind::Modelled),
                    ],
                })
                .into(),
        }],
    }
}

/// Ratio against speed of codecs that crowd in one corner.
fn scatter() -> ScatterChart {
    let codecs = [
        ("none", 1.0, 9e9),
        ("lz4:1", 1.62, 7.1e8),
        ("snappy", 1.60, 7.0e8),
        ("zstd:-5", 1.71, 5.5e8),
        ("zstd:1", 2.31, 3.1e8),
        ("zstd:3", 2.35, 2.6e8),
        ("deflate:1", 2.32, 2.0e8),
        ("deflate:6", 2.44, 0.9e8),
        ("zstd:19", 2.61, 4e6),
        ("brotli:11", 2.80, 6e5),
    ];
    let front = pareto_front(
        &codecs.map(|(_, ratio, speed)| (speed, ratio)),
        Better::Higher,
        Better::Higher,
    );
    let groups = codecs
        .iter()
        .zip(front)
        .enumerate()
        .map(|(index, (&(label, ratio, speed), on_front))| ScatterGroup {
            name: label.split(':').next().unwrap().into(),
            hue: index / 2,
            kind: SeriesKind::Measured,
            is_beside_front: !on_front,
            points: vec![ScatterPoint {
                x: speed,
                y: ratio,
                x_interval: None,
                y_interval: None,
                y_confidence: None,
                support: Support::default(),
                cell: label.into(),
                label: label.into(),
                on_front,
                note: String::new(),
            }],
        });
    ScatterChart {
        x: axis("Compress speed", Quantity::Bandwidth, Scale::Log10),
        y: axis("Compression ratio", Quantity::Ratio, Scale::Fitted),
        x_better: Better::Higher,
        groups: groups.collect(),
        front_name: Some("Pareto front".into()),
    }
}

#[test]
fn each_kind_is_the_same_bytes_every_time() {
    let bars = || shares().draw("shares", "Shares", "Caption.".into()).unwrap();
    assert!(bars() == bars());
    insta::assert_snapshot!("stage_shares", bars().to_page_svg().replace("><", ">\n<"));
    let points = || scatter().draw("front", "Front", "Caption.".into()).unwrap();
    assert!(points() == points());
    insta::assert_snapshot!(
        "ratio_against_speed",
        points().to_page_svg().replace("><", ">\n<")
    );
}

/// The place of a number behind a word in an element.
fn number_after(element: &str, word: &str) -> Option<f64> {
    let rest = element.split_once(word)?.1;
    let end = rest.find(|c: char| c != '-' && c != '.' && !c.is_ascii_digit());
    rest[..end.unwrap_or(rest.len())].parse().ok()
}

#[test]
fn no_name_of_a_point_is_struck_through_by_the_line_of_an_interval() {
    let mut chart = scatter();
    for one in chart.groups.iter_mut().flat_map(|group| &mut group.points) {
        one.x_interval = Some((one.x * 0.5, one.x * 2.0));
    }
    let figure = chart.draw("front", "Front", String::new()).unwrap();
    let svg = String::from_utf8(file(&figure, FileFormat::Svg, 150.0)).unwrap();
    // Lines that lie, each with its left end, its length and its height.
    let lying: Vec<(f64, f64, f64)> = svg
        .split("<path ")
        .skip(1)
        .filter_map(|path| {
            let line = path.split("d=\"M").nth(1)?.split('"').next()?;
            let (start, length) = line.split_once('h')?;
            let (x, y) = start.split_once(',')?;
            Some((x.parse().ok()?, length.parse().ok()?, y.parse().ok()?))
        })
        .collect();
    assert!(lying.len() >= 10, "{lying:?}: {svg}");
    let mut count = 0;
    for text in svg.split("<text ").skip(1).filter(|text| text.contains(":")) {
        let (Some(x), Some(y)) = (number_after(text, "x=\""), number_after(text, " y=\"")) else {
            continue;
        };
        count += 1;
        // The middle of letters is four pixels above the line that they stand on.
        let is_struck = |(left, length, height): &&(f64, f64, f64)| {
            (y - 4.0 - height).abs() < 4.0 && (*left..=left + length).contains(&x)
        };
        assert_eq!(lying.iter().find(is_struck), None, "{text}");
    }
    assert!(count > 3, "{svg}");
}

#[test]
fn the_words_of_bars_say_which_ones_were_not_measured() {
    let text = shares().draw("shares", "Shares", String::new()).unwrap().alt_text;
    let expected = "16 KiB, level 1, 7 bit: match finding 48 %, literals 22 %, sequences 30 %; published match finding 51 %";
    assert!(text.contains(expected), "{text}");
    let text = throughput().draw("t", "T", String::new()).unwrap().alt_text;
    assert!(text.contains("modelled 1 thread 4.5 GB/s"), "{text}");
}

/// The horizontal places of the corners of a path: commands of one letter, `h`, `v`, `l` and `m` relative to the corner before, `Z` back
/// to the first of a piece.
fn columns_of(path: &str) -> Vec<f64> {
    let is_command = |symbol: char| symbol.is_ascii_alphabetic();
    let starts: Vec<usize> = path.match_indices(is_command).map(|(at, _)| at).collect();
    let (mut x, mut first_x) = (0.0, 0.0);
    let mut columns = Vec::new();
    for (index, start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(path.len());
        // Where a sign separates two numbers, no comma does.
        let first = path[start + 1..end].split(',').next().unwrap_or_default();
        let length = first[1.min(first.len())..]
            .find('-')
            .map_or(first.len(), |at| at + 1);
        let number = || first[..length].parse::<f64>().unwrap();
        match path.as_bytes()[*start] {
            b'M' => x = number(),
            b'h' | b'l' | b'm' => x += number(),
            b'Z' => x = first_x,
            _ => {}
        }
        if path.as_bytes()[*start].eq_ignore_ascii_case(&b'm') {
            first_x = x;
        }
        columns.push(x);
    }
    columns
}

#[test]
fn bars_stay_inside_the_frame_and_text_is_readable() {
    for chart in [shares(), throughput()] {
        let figure = chart.draw("bars", "Bars", String::new()).unwrap();
        let svg = figure.to_page_svg();
        for rest in svg.split(" d=\"M").skip(1) {
            let path = rest.split('"').next().unwrap();
            for x in columns_of(&format!("M{path}")) {
                assert!((-0.01..=PAGE_WIDTH_PX).contains(&x), "{x}");
            }
        }
        assert!(svg.contains("font-size=\"12\"") && !svg.contains("font-size=\"11\""));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}

#[test]
fn a_sum_has_no_bar_on_a_logarithmic_axis() {
    let mut chart = shares();
    chart.value.scale = Scale::Log10;
    assert_eq!(chart.draw("shares", "Shares", String::new()), None);
}

#[test]
fn the_front_is_what_no_other_point_beats() {
    let points = [(1.0, 5.0), (2.0, 4.0), (2.0, 4.0), (1.5, 3.0), (3.0, f64::NAN)];
    let front = pareto_front(&points, Better::Higher, Better::Higher);
    assert_eq!(front, [true, true, true, false, false]);
    let front = pareto_front(&points, Better::Lower, Better::Lower);
    assert_eq!(front, [true, false, false, true, false]);
}

#[test]
fn a_published_series_beside_ours_shares_its_legend_entry() {
    let series = |name: &str, hue, kind| Series {
        name: name.into(),
        hue,
        points: points(&[(1.0, 2.0), (2.0, 3.0)]),
        kind,
    };
    let chart = LineChart {
        x: axis("Blocks", Quantity::Percent, Scale::Linear),
        y: axis("Compression ratio", Quantity::Ratio, Scale::Log10),
        series: vec![
            series("zstd:1", 0, SeriesKind::Measured),
            series("zstd:1", 0, SeriesKind::Published),
            series("QAT 8970", 1, SeriesKind::Published),
        ],
    };
    let figure = chart.draw("p", "P", String::new()).unwrap();
    let svg = figure.to_page_svg();
    let is_entry = |text: &str| svg.matches(&format!(">{text}</text>")).count();
    assert_eq!(
        (is_entry("zstd:1"), is_entry("QAT 8970"), is_entry("published")),
        (1, 1, 1)
    );
    assert!(
        figure.alt_text.contains("zstd:1 (published): from 2 at 1 %"),
        "{}",
        figure.alt_text
    );
    assert!(
        svg.contains("fill=\"none\" stroke=\"#0065a8\" stroke-width=\"1.5\""),
        "published markers are hollow"
    );
}

#[test]
fn a_distribution_ends_at_all_of_it_and_is_thin_enough_to_draw() {
    let mut histogram = LatencyHistogram::new();
    for value in 1..=10_000_u64 {
        histogram.record(value * 37);
    }
    let points = cdf_of_latencies(&histogram);
    assert!(points.len() <= 162, "{}", points.len());
    assert!((points.last().unwrap().y - 100.0).abs() < 1e-9);
    assert!(
        points
            .windows(2)
            .all(|pair| pair[0].y <= pair[1].y && pair[0].x <= pair[1].x)
    );
    assert!(cdf_of_latencies(&LatencyHistogram::new()).is_empty());
}

#[test]
fn a_fitted_axis_does_not_start_at_zero() {
    let chart = LineChart {
        x: axis("Percentile", Quantity::Percent, Scale::Linear),
        y: axis("dpzip / zstd", Quantity::Ratio, Scale::Fitted),
        series: vec![Series {
            name: "dpzip".into(),
            hue: 0,
            points: points(&[(1.0, 1.35), (50.0, 1.04), (99.0, 1.0)]),
            kind: SeriesKind::Dense,
        }],
    };
    let svg = chart.draw("f", "F", String::new()).unwrap().to_page_svg();
    assert!(svg.contains(">1.0<") && !svg.contains(">0.0<"), "{svg}");
}

#[test]
fn a_value_without_an_interval_interrupts_the_band_and_the_file_says_so() {
    let drawn = |without: &[usize]| {
        let mut values = points(&[(1.0, 5.0), (2.0, 6.0), (4.0, 7.0), (8.0, 8.0), (16.0, 9.0)]);
        for index in without {
            values[*index].interval = None;
            values[*index].support.confidence = None;
        }
        let chart = LineChart {
            x: axis("Queue depth", Quantity::QueueDepth, Scale::Log2),
            y: axis("IOPS", Quantity::Iops, Scale::Linear),
            series: vec![Series::new("read", 0, SeriesKind::Measured, values)],
        };
        let figure = chart.draw("iops-by-depth", "IOPS", String::new()).unwrap();
        let svg = String::from_utf8(file(&figure, FileFormat::Svg, 200.0)).unwrap();
        let bands = svg.matches("opacity=\"0.18\"").count();
        let says = |words: &&&str| svg.contains(**words);
        let said = [
            "shaded: 94 % interval of the median; values without shading have no interval",
            "shaded or as bars: 94 % interval of the median; values with neither have no interval",
            "bars: 94 % interval of the median; values without a bar have no interval",
        ];
        let said = said.iter().find(says).and_then(|words| words.split(':').next());
        (bands, said)
    };
    assert_eq!(drawn(&[]), (1, None));
    assert_eq!(drawn(&[2]), (2, Some("shaded")));
    assert_eq!(drawn(&[0, 4]), (1, Some("shaded")));
    // Intervals without a neighbour are bars.
    assert_eq!(drawn(&[1]), (1, Some("shaded or as bars")));
    assert_eq!(drawn(&[1, 3]), (0, Some("bars")));
    assert_eq!(drawn(&[0, 1, 2, 3, 4]), (0, None));
}

#[test]
fn a_figure_of_ratios_one_of_which_has_no_interval_says_whose_the_others_are() {
    let mut values = points(&[(65_536.0, 4.6), (262_144.0, 4.8)]);
    values[0].support.is_of_sample = true;
    values[0].support.n = Some(24);
    values[1].interval = None;
    values[1].support = Support {
        n: Some(1),
        ..Support::default()
    };
    let chart = LineChart {
        x: axis("Block size", Quantity::AccessSize, Scale::Log2),
        y: axis("Compression ratio", Quantity::Ratio, Scale::Linear),
        series: vec![Series::new("zstd:1", 0, SeriesKind::Measured, values)],
    };
    let figure = chart.draw("ratio-by-block-size", "Ratio", String::new()).unwrap();
    let label = Label {
        subject: "data".to_owned(),
        origin: "a run".to_owned(),
    };
    assert_eq!(
        figure.rests_on(&label),
        "n = 24 parts of the data per value · bars: 94 % interval for all the data, estimated from the sample; \
         values without a bar have no interval · a run"
    );
}
