//! What a figure promises: the same bytes every time, text of a readable size, nothing outside its frame.

use super::*;

mod kinds;

fn points(values: &[(f64, f64)]) -> Vec<Point> {
    let point = |&(x, y): &(f64, f64)| Point {
        x,
        y,
        interval: Some((y * 0.93, y * 1.1)),
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
    insta::assert_snapshot!("iops_by_depth", drawn().svg.replace("><", ">\n<"));
}

#[test]
fn no_text_is_smaller_than_twelve_pixels() {
    let Figure { svg, narrow_svg, .. } = drawn();
    for svg in [svg, narrow_svg] {
        let sizes: Vec<u32> = svg
            .split("font-size=\"")
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap().parse().unwrap())
            .collect();
        assert!(sizes.len() > 10);
        assert!(sizes.iter().all(|size| *size >= 12), "{sizes:?}");
    }
}

#[test]
fn identifiers_of_drawings_on_one_page_differ() {
    let Figure { svg, narrow_svg, .. } = drawn();
    let ids = |svg: &str| -> Vec<String> {
        svg.split(" id=\"")
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap().to_owned())
            .collect()
    };
    let (wide, narrow) = (ids(&svg), ids(&narrow_svg));
    assert!(
        wide.len() >= 3 && wide.iter().all(|id| !narrow.contains(id)),
        "{wide:?} {narrow:?}"
    );
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

#[test]
fn a_file_of_its_own_follows_a_dark_scheme() {
    assert!(drawn().to_svg_file().contains("prefers-color-scheme:dark"));
    assert!(!drawn().svg.contains("<style>"));
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
        let svg = chart.draw("any", "Any", String::new()).unwrap().svg;
        for rest in svg.split("<circle cx=\"").skip(1) {
            let x: f64 = rest.split('"').next().unwrap().parse().unwrap();
            proptest::prop_assert!((0.0..=560.0).contains(&x), "{}", x);
        }
        proptest::prop_assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}
