//! What a figure promises: the same bytes every time, text of a readable size, nothing outside its frame.

use super::*;

mod kinds;

fn points(values: &[(f64, f64)]) -> Vec<Point> {
    let point = |&(x, y): &(f64, f64)| Point {
        x,
        y,
        interval: Some((y * 0.93, y * 1.1)),
        support: Support {
            n: Some(5),
            confidence: Some(0.9375),
            ..Support::default()
        },
        cell: format!("QD {x}"),
        note: format!("QD {x}: {y}"),
    };
    values.iter().map(point).collect()
}

/// Depth against IOPS, measured and published.
fn depth_chart() -> LineChart {
    let curve = |limit: f64, latency_s: f64| -> Vec<(f64, f64)> {
        [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 256.0, 1024.0]
            .map(|depth: f64| (depth, 1.0 / (1.0 / limit + latency_s / depth)))
            .to_vec()
    };
    LineChart {
        x: axis("Queue depth", Quantity::QueueDepth, Scale::Log2),
        y: axis("IOPS", Quantity::Iops, Scale::Linear),
        series: vec![
            Series {
                name: "read 4 KiB".into(),
                hue: 0,
                points: points(&curve(412_000.0, 62e-6)),
                kind: SeriesKind::Measured,
            },
            Series {
                name: "write 4 KiB".into(),
                hue: 1,
                points: points(&curve(280_000.0, 18e-6)),
                kind: SeriesKind::Measured,
            },
            Series {
                name: "published: Toshiba KXG60ZNV256G read".into(),
                hue: 0,
                points: points(&curve(353_000.0, 119e-6)),
                kind: SeriesKind::Published,
            },
        ],
    }
}

fn drawn() -> Figure {
    depth_chart()
        .draw("iops-by-depth", "IOPS by queue depth", "Caption.".into())
        .unwrap()
}

#[test]
fn a_figure_is_the_same_bytes_every_time() {
    assert!(drawn() == drawn());
    insta::assert_snapshot!("iops_by_depth", drawn().to_page_svg().replace("><", ">\n<"));
}

#[test]
fn no_text_is_smaller_than_twelve_pixels() {
    for width_mm in [60.0, 84.0, 150.0] {
        let svg = file(&drawn(), FileFormat::Svg, width_mm);
        let svg = String::from_utf8(svg).unwrap();
        let sizes: Vec<u32> = svg
            .split("font-size=\"")
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap().parse().unwrap())
            .collect();
        assert!(svg.matches("<text").count() > 10 && !sizes.is_empty());
        assert!(sizes.iter().all(|size| *size >= 12), "{sizes:?}");
    }
}

fn file(figure: &Figure, format: FileFormat, width_mm: f64) -> Vec<u8> {
    let label = Label {
        subject: "a drive, 1 GiB of it".into(),
        origin: "2026-11-22 · a run".into(),
    };
    figure.to_file(format, width_mm, &label).unwrap()
}

#[test]
fn a_figure_that_stands_alone_says_what_it_shows_of_what_and_when() {
    let svg = String::from_utf8(file(&drawn(), FileFormat::Svg, 84.0)).unwrap();
    for part in [
        ">IOPS by queue depth</text>",
        ">a drive, 1 GiB of it</text>",
        "n = 5 per value",
        "2026-11-22",
    ] {
        assert!(svg.contains(part), "{part}");
    }
    assert!(!svg.contains("prefers-color-scheme"), "print is light");
}

#[test]
fn a_file_has_no_control_characters_though_its_data_have_them() {
    let label = Label {
        subject: "a\u{1b}[2J drive".into(),
        origin: "a\u{9b}\u{ffff}run".into(),
    };
    let svg = drawn().to_file(FileFormat::Svg, 84.0, &label).unwrap();
    let svg = String::from_utf8(svg).unwrap();
    assert!(svg.contains(">a\u{fffd}[2J drive</text>"), "{svg}");
    assert!(!svg.contains(|letter: char| letter.is_control() || letter == '\u{ffff}'));
}

#[test]
fn a_png_has_300_dots_in_an_inch_and_ink_on_white() {
    let png = file(&drawn(), FileFormat::Png, 84.0);
    let image = tiny_skia::Pixmap::decode_png(&png).unwrap();
    assert_eq!(image.width(), (84.0 / 25.4 * 300.0_f64).ceil() as u32);
    let white = image
        .pixels()
        .iter()
        .filter(|pixel| pixel.red() == 255 && pixel.green() == 255);
    let share = white.count() as f64 / f64::from(image.width() * image.height());
    assert!((0.6..0.97).contains(&share), "{share}");
    // The title's line has ink: letters come from the font in the program.
    let row = image.width() * 60..image.width() * 66;
    let is_dark = |pixel: &tiny_skia::PremultipliedColorU8| pixel.red() < 80;
    assert!(
        image.pixels()[row.start as usize..row.end as usize]
            .iter()
            .any(is_dark)
    );
}

#[test]
fn the_offsets_in_a_pdf_are_those_of_its_objects() {
    let pdf = file(&drawn(), FileFormat::Pdf, 84.0);
    assert!(pdf.starts_with(b"%PDF-1.7") && pdf.ends_with(b"%%EOF\n"));
    let text = String::from_utf8_lossy(&pdf);
    let start = text.lines().rev().nth(1).unwrap().parse::<usize>().unwrap();
    assert!(pdf[start..].starts_with(b"xref"));
    let table = String::from_utf8(pdf[start..].to_vec()).unwrap();
    for (index, line) in table.lines().skip(3).take(5).enumerate() {
        let offset: usize = line.split(' ').next().unwrap().parse().unwrap();
        let object = format!("{} 0 obj", index + 1);
        assert!(pdf[offset..].starts_with(object.as_bytes()), "{line}");
    }
}

#[test]
fn a_width_that_no_figure_can_have_is_refused() {
    let label = Label {
        subject: String::new(),
        origin: String::new(),
    };
    for width in [1.0, 5000.0, f64::NAN] {
        let error = drawn().to_file(FileFormat::Png, width, &label).unwrap_err();
        assert!(error.to_string().contains("60 mm to 420 mm"), "{error}");
    }
}

#[test]
fn the_csv_has_every_value_with_its_interval_confidence_and_count() {
    let csv = drawn().to_csv().unwrap();
    let mut lines = csv.lines();
    assert_eq!(
        lines.next().unwrap(),
        "series,provenance,Queue depth,IOPS (1/s),low,high,confidence,n,cell"
    );
    assert_eq!(
        lines.next().unwrap(),
        "read 4 KiB,measured,1,15521.4,14434.9,17073.5,0.9375,5,QD 1"
    );
    assert_eq!(csv.lines().count(), 1 + 27);
    assert_eq!(csv.matches(",published,").count(), 9);
}

/// What the axes of the chart say when the published values are so many times as high.
fn ticks(scale: Scale, factor: f64) -> Vec<String> {
    let mut chart = depth_chart();
    chart.y.scale = scale;
    for point in &mut chart.series[2].points {
        point.y *= factor;
    }
    let figure = chart.draw("iops-by-depth", "IOPS by queue depth", "Caption.".into());
    let svg = figure.unwrap().to_page_svg();
    let texts = svg.split("<text").skip(1);
    texts
        .map(|rest| rest.split('<').next().unwrap().to_owned())
        .collect()
}

#[test]
fn published_values_set_a_scale_as_far_as_ours_can_be_read_next_to_them() {
    for scale in [Scale::Linear, Scale::Log10] {
        assert_ne!(ticks(scale, 1.0), ticks(scale, 8.0));
        assert_ne!(ticks(scale, 8.0), ticks(scale, 1e3));
        assert_eq!(ticks(scale, 1e3), ticks(scale, 1e6));
    }
}

#[test]
fn a_published_line_that_the_axis_cuts_off_is_said_to_go_on() {
    let caption = |factor: f64| {
        let mut chart = depth_chart();
        for point in &mut chart.series[2].points {
            point.y *= factor;
        }
        chart
            .draw("iops-by-depth", "IOPS", "Caption.".into())
            .unwrap()
            .caption
    };
    assert_eq!(caption(8.0), "Caption.");
    let cut = caption(1e3);
    assert!(
        cut.starts_with("Caption. Published values reach 3")
            && cut.ends_with("above the axis are not shown."),
        "{cut}"
    );
}

#[test]
fn an_axis_of_two_decades_names_more_than_its_decades() {
    let latency = axis("Latency", Quantity::Latency, Scale::Log10);
    let plan = scale::AxisPlan::over(&latency, [3e4, 5e6].into_iter(), 6);
    let names: Vec<String> = plan.ticks().iter().map(|tick| (plan.spell)(*tick)).collect();
    for name in ["50 µs", "100 µs", "200 µs", "500 µs", "1 ms", "2 ms", "5 ms"] {
        assert!(names.iter().any(|known| known == name), "{name}: {names:?}");
    }
}

#[test]
fn a_file_says_once_what_its_shading_is() {
    let chart = depth_chart();
    let caption = "The knee is at 8.".to_owned();
    let figure = chart.draw("iops-by-depth", "IOPS", caption).unwrap();
    let on_page = figure.caption_on_page();
    assert!(
        on_page.starts_with("The knee is at 8. Shaded: ") && on_page.ends_with('.'),
        "{on_page}"
    );
    let label = Label {
        subject: "a device".to_owned(),
        origin: "a run".to_owned(),
    };
    let file = figure.to_file(FileFormat::Svg, 200.0, &label).unwrap();
    let words: String = String::from_utf8(file).unwrap();
    let drawn: Vec<&str> = words
        .split("<text")
        .skip(1)
        .filter_map(|rest| rest.split('>').nth(1))
        .collect();
    let drawn = drawn.join(" ");
    assert_eq!(drawn.matches("haded:").count(), 1, "{drawn}");
    assert!(drawn.contains("The knee is at 8."), "{drawn}");
}

#[test]
fn a_file_of_ratios_says_that_its_samples_are_parts_of_the_data() {
    let mut chart = depth_chart();
    let points = chart.series.iter_mut().flat_map(|series| &mut series.points);
    points.for_each(|point| point.support.is_of_sample = true);
    let figure = chart.draw("ratio-by-block-size", "Ratio", String::new()).unwrap();
    let label = Label {
        subject: "a device".to_owned(),
        origin: "a run".to_owned(),
    };
    let file = figure.to_file(FileFormat::Svg, 200.0, &label).unwrap();
    let words = String::from_utf8(file).unwrap();
    assert!(words.contains("n = 5 parts of the data per value"), "{words}");
    assert!(
        words.contains("interval for all the data") && !words.contains("of the median"),
        "{words}"
    );
}

#[test]
fn each_of_eight_series_has_a_marker_and_a_hatching_of_its_own() {
    let shapes: std::collections::BTreeSet<String> =
        (0..8).map(|hue| format!("{:?}", MARKERS[hue])).collect();
    assert_eq!(shapes.len(), 8);
}

#[test]
fn what_a_scale_cannot_show_is_left_out_and_nothing_is_drawn_of_nothing() {
    let mut chart = depth_chart();
    chart.y.scale = Scale::Log10;
    for series in &mut chart.series {
        for point in &mut series.points {
            point.y = 0.0;
        }
    }
    assert_eq!(chart.draw("empty", "Empty", String::new()), None);
}

#[test]
fn the_words_for_a_screen_reader_name_every_series_with_units() {
    let text = drawn().alt_text;
    for part in [
        "read 4 KiB: from 15.5 k at 1 to 402 k at 1024",
        "write 4 KiB",
        "published: Toshiba",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

proptest::proptest! {
    #[test]
    fn any_values_draw_inside_the_frame(
        values in proptest::collection::vec((1e-3_f64..1e12, 1e-3_f64..1e12), 1..20),
        log in proptest::bool::ANY,
    ) {
        let scale = if log { Scale::Log10 } else { Scale::Linear };
        let chart = LineChart {
            x: axis("x", Quantity::Latency, scale),
            y: axis("y", Quantity::Bandwidth, scale),
            series: vec![Series {
                name: "any".into(),
                hue: 7,
                points: points(&values),
                kind: SeriesKind::Measured,
            }],
        };
        let svg = chart.draw("any", "Any", String::new()).unwrap().to_page_svg();
        for rest in svg.split("<circle cx=\"").skip(1) {
            let x: f64 = rest.split('"').next().unwrap().parse().unwrap();
            proptest::prop_assert!((0.0..=PAGE_WIDTH_PX).contains(&x), "{}", x);
        }
        proptest::prop_assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}

#[test]
fn no_figure_however_large_or_small_makes_an_axis_endless() {
    let extremes = [
        0.0,
        5e-324,
        1e-300,
        1.0,
        1.0 + f64::EPSILON,
        1e30,
        1e308,
        f64::MAX,
    ];
    for scale in [Scale::Linear, Scale::Fitted, Scale::Log2, Scale::Log10] {
        for quantity in [
            Quantity::Latency,
            Quantity::Bandwidth,
            Quantity::Ratio,
            Quantity::Share,
        ] {
            for (low, high) in extremes.iter().flat_map(|low| extremes.map(|high| (*low, high))) {
                let axis = Axis {
                    label: "x".to_owned(),
                    quantity,
                    unit: "",
                    scale,
                };
                for plan in [
                    scale::AxisPlan::over(&axis, [low, high].into_iter(), 6),
                    scale::AxisPlan::of_bars(&axis, [low, high].into_iter(), 6),
                ] {
                    let ticks = plan.ticks();
                    assert!(ticks.len() < 3000, "{} ticks from {low} to {high}", ticks.len());
                    ticks
                        .iter()
                        .for_each(|&tick| assert!((plan.spell)(tick).len() < 400));
                }
            }
        }
    }
}
