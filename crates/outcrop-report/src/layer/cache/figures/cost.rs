//! What an answer costs, by pipelining and by connections.

use super::{OF_PEERS, point};
use crate::chart::{
    Bar, BarChart, BarGroup, Facet, LineChart, Part, Quantity, Scale, Segment, Series, SeriesKind, axis,
};
use crate::layer::cache::cell::{Cell, largest_family, typical_first};
use crate::section::FigureSlot;

const PLAN: &str = "cache-peers";

/// CPU time per answer of server and driver, closed loop, by server and pipeline.
pub(super) fn by_pipeline(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "CPU time per request";
    let mut along = OF_PEERS.to_vec();
    along.push("pipeline");
    let mut closed = typical_first(cells);
    closed.retain(|cell| cell.is_closed_loop() && cell.number("server_cpu_per_request").is_some());
    let family = largest_family(closed.iter().copied(), &along);
    let mut pipelines: Vec<&str> = family.iter().map(|cell| cell.factor("pipeline")).collect();
    pipelines.sort_by_key(|pipeline| pipeline.parse::<u32>().unwrap_or(0));
    pipelines.dedup();
    let facet = |pipeline: &&str| Facet {
        title: if *pipeline == "1" {
            "no pipeline".to_owned()
        } else {
            format!("pipeline {pipeline}")
        },
        groups: family
            .iter()
            .filter(|cell| cell.factor("pipeline") == *pipeline)
            .map(|cell| group(cell))
            .collect(),
    };
    let chart = BarChart {
        value: axis("CPU time per answer", Quantity::Latency, Scale::Linear),
        parts: ["server", "driver"]
            .into_iter()
            .enumerate()
            .map(|(hue, name)| Part {
                name: name.to_owned(),
                hue,
            })
            .collect(),
        facets: pipelines.iter().map(facet).collect(),
    };
    let held = family.first().map_or_else(String::new, |cell| {
        format!("{} connections, closed loop", cell.factor("connections"))
    });
    let caption = format!(
        "User and kernel time of the server's threads, and of the driver's, per answer; {held}. Where the driver takes more than \
         the server, throughput is the driver's limit and not the server's."
    );
    FigureSlot::of(chart.draw("cache-cpu-per-request", TITLE, caption), TITLE, PLAN)
}

fn group(cell: &Cell<'_>) -> BarGroup {
    let bar = |(part, metric): (usize, &str)| {
        let number = cell.number(metric)?;
        let segment = Segment {
            part,
            value: number.value,
            interval: number.interval.map(|interval| (interval.low, interval.high)),
        };
        let note = format!("{}: {number}; {}", cell.words(), number.certainty());
        Some(Bar::single(SeriesKind::Measured, segment, note))
    };
    let metrics = ["server_cpu_per_request", "driver_cpu_per_request"];
    BarGroup {
        label: cell.server(),
        bars: metrics.into_iter().enumerate().filter_map(bar).collect(),
    }
}

/// Throughput by connections, closed loop, without a pipeline or with the least.
pub(super) fn by_connections(cells: &[Cell<'_>]) -> FigureSlot {
    const TITLE: &str = "Throughput by connections";
    let mut along = OF_PEERS.to_vec();
    along.push("connections");
    let mut closed = typical_first(cells);
    closed.retain(|cell| cell.is_closed_loop() && cell.number("throughput").is_some());
    // Without a pipeline where there is a choice.
    closed.sort_by_key(|cell| cell.parsed::<u32>("pipeline"));
    let mut family = largest_family(closed.iter().copied(), &along);
    family.sort_by(|left, right| left.compare(right));
    let mut servers: Vec<(usize, String)> = family.iter().map(|cell| (cell.rank(), cell.server())).collect();
    servers.dedup();
    let series: Vec<Series> = servers
        .into_iter()
        .map(|(hue, server)| {
            let of_server = family.iter().copied().filter(|cell| cell.server() == server);
            let points = of_server
                .filter_map(|cell| {
                    Some(point(
                        cell.parsed("connections")?,
                        cell.number("throughput")?,
                        cell,
                    ))
                })
                .collect();
            Series {
                name: format!("{server}, closed loop"),
                hue,
                points,
                kind: SeriesKind::Measured,
            }
        })
        .collect();
    let is_curve = |line: &Series| line.points.iter().any(|point| point.x != line.points[0].x);
    if !series.iter().any(is_curve) {
        return FigureSlot::missing(
            TITLE,
            "no server was asked by two or more numbers of connections.",
            PLAN,
        );
    }
    let pipeline = family.first().map_or("", |cell| cell.factor("pipeline"));
    let chart = LineChart {
        x: axis("Connections", Quantity::QueueDepth, Scale::Log2),
        y: axis("Requests answered per second", Quantity::Iops, Scale::Linear),
        series,
    };
    let caption = format!(
        "Pipeline {pipeline}, closed loop, server and driver on CPUs of their own where there are two. Shaded: confidence \
         interval of the median."
    );
    FigureSlot::of(chart.draw("cache-connections", TITLE, caption), TITLE, PLAN)
}
