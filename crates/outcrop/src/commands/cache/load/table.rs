//! What a load gave, as tables.

use outcrop_cache_load::{LoadReport, LoadSpec, RequestSource, Tally, Verdict};
use outcrop_measure::percentile;
use outcrop_measure::units::{format_bandwidth, format_count, format_nanoseconds, format_ratio};
use outcrop_schema::cache::DistinctValues;
use outcrop_schema::lateness;
use outcrop_workload::keyed::RequestKind;

use crate::output::{Cell, Format, Table};

pub(super) fn per_second(value: f64) -> Cell {
    Cell::number(value, format!("{}/s", format_count(value)))
}

pub(super) fn latency_cell(latency_ns: Option<u64>, count: u64) -> Cell {
    match latency_ns {
        Some(ns) => Cell::number(ns as f64, format_nanoseconds(ns as f64)),
        None => Cell::Absent(format!("{count} operations are too few for it")),
    }
}

/// Every figure as a row of name, value and unit.
pub(super) fn summary(spec: &LoadSpec, report: &LoadReport, format: Format) -> Table {
    let mut table = Table::new([("what", "what"), ("value", "value"), ("", "unit")]);
    let mut row =
        |what: &str, value: Cell, unit: &str| table.push(vec![Cell::text(what), value, Cell::text(unit)]);
    push_figures(spec, report, format, &mut row);
    table
}

/// Latencies of all requests, of each kind, and of hits and misses.
fn push_latencies(tally: &Tally, row: &mut impl FnMut(&str, Cell, &str)) {
    let all = tally.latency();
    for known in percentile::STANDARD {
        row(
            &format!("latency {}", known.name),
            latency_cell(all.percentile(known.quantile), all.count()),
            "ns",
        );
    }
    row("latency max", latency_cell(all.max(), all.count()), "ns");
    for kind in RequestKind::ALL {
        let of = tally.kind(kind);
        if of.operations > 0 {
            row(
                &format!("{}s", kind.name()),
                Cell::number(of.operations as f64, of.operations.to_string()),
                "count",
            );
            row(
                &format!("{} p99", kind.name()),
                latency_cell(of.latency.percentile(0.99), of.latency.count()),
                "ns",
            );
        }
    }
    for (what, latency) in [("hit", &tally.hit_latency), ("miss", &tally.miss_latency)] {
        for known in percentile::STANDARD.iter().filter(|_| latency.count() > 0) {
            row(
                &format!("get {what} {}", known.name),
                latency_cell(latency.percentile(known.quantile), latency.count()),
                "ns",
            );
        }
    }
}

/// By how much the driver itself was late: a part of every latency of an open loop.
fn push_lateness(tally: &Tally, row: &mut impl FnMut(&str, Cell, &str)) {
    for (metric, delay_ns) in lateness::figures(&tally.lateness) {
        let cell = match delay_ns {
            Ok(ns) => Cell::number(ns, format_nanoseconds(ns)),
            Err(why) => Cell::Absent(why.reason),
        };
        row(&metric.name.replace('_', " "), cell, "ns");
    }
}

/// Every figure, with what was asked for where programs read it.
pub(super) fn push_figures(
    spec: &LoadSpec,
    report: &LoadReport,
    format: Format,
    row: &mut impl FnMut(&str, Cell, &str),
) {
    let tally = &report.tally;
    if format != Format::Text {
        push_settings(spec, row);
    }
    row(
        "loop",
        Cell::text(if report.is_open_loop {
            "open loop"
        } else {
            "closed loop"
        }),
        "",
    );
    row("on a miss", Cell::text(on_miss(spec)), "");
    push_rates(report, format, row);
    // People see both at once, and must not take one for a correction of the other.
    let [of_gets, of_all] = match format {
        Format::Text => ["hit ratio, of gets", "hits / requests of all kinds"],
        Format::Json | Format::Csv => ["hit ratio", "hits / all requests"],
    };
    for (name, ratio) in [
        (of_gets, tally.hit_ratio()),
        (of_all, tally.hits_per_request()),
        ("byte hit ratio", tally.byte_hit_ratio()),
    ] {
        let none = || Cell::Absent("no get was answered".to_owned());
        row(
            name,
            ratio.map_or_else(none, |ratio| Cell::number(ratio, format!("{ratio:.4}"))),
            "ratio",
        );
    }
    let read = report.read_bytes_per_second();
    row("values read", Cell::number(read, format_bandwidth(read)), "B/s");
    push_latencies(tally, row);
    if report.is_open_loop {
        push_lateness(tally, row);
    }
    push_cost(report, row);
    let not_known =
        || Cell::Absent("the CPU time of the server is not known, or too little passed".to_owned());
    let others = report
        .others_cpu_share
        .map_or_else(not_known, |share| Cell::number(share, format!("{share:.3}")));
    row("CPUs used by others", others, "ratio");
}

/// What was asked for, so that a file says by itself what it is about. People see it on their command line.
fn push_settings(spec: &LoadSpec, row: &mut impl FnMut(&str, Cell, &str)) {
    let number = |value: u64| Cell::number(value as f64, value.to_string());
    row("target", Cell::text(spec.target.to_string()), "");
    // As text: JavaScript holds no 64 bits.
    row("seed", Cell::text(spec.seed.to_string()), "");
    match &spec.source {
        RequestSource::Generated { workload, key_count } => {
            row("keys", number(*key_count), "count");
            let values = DistinctValues(spec.value_count);
            row("value pool", Cell::text(values.to_string()), "");
            row("popularity", Cell::text(workload.popularity.to_string()), "");
            row("key size", Cell::text(workload.key_size.to_string()), "");
            row("value size", Cell::text(workload.value_size.to_string()), "");
            row("request mix", Cell::text(workload.mix.to_string()), "");
        }
        RequestSource::Trace {
            trace, keeps_times, ..
        } => {
            row(
                "requests of the trace",
                number(trace.entries().len() as u64),
                "count",
            );
            row("keys", number(trace.key_count()), "count");
            row(
                "times of the trace",
                Cell::text(if *keeps_times { "kept" } else { "not kept" }),
                "",
            );
        }
    }
    row("content", Cell::text(spec.content.to_string()), "");
    let arrival = match spec.has_own_times() {
        true => "trace".to_owned(),
        false => spec.arrival.to_string(),
    };
    row("arrival", Cell::text(arrival), "");
    row("connections", number(spec.connections.into()), "count");
    row("pipeline", number(spec.pipeline.into()), "count");
    row("threads", number(spec.threads.into()), "count");
    row("asked warm-up", Cell::text(spec.warm_up.to_string()), "");
    match spec.requests {
        Some(requests) => row("asked requests", number(requests.get()), "count"),
        None if !spec.is_timed() => row(
            "asked requests",
            number(spec.trace_requests().unwrap_or_default()),
            "count",
        ),
        None => {
            let seconds = spec.duration.as_secs_f64();
            row("asked duration", Cell::number(seconds, seconds.to_string()), "s");
        }
    }
}

/// What follows a get that misses.
fn on_miss(spec: &LoadSpec) -> &'static str {
    match (spec.sets_on_miss, &spec.source) {
        (true, _) => "the key is set",
        (false, RequestSource::Trace { .. }) => "nothing (a trace has its own sets; --set-on-miss adds them)",
        (false, RequestSource::Generated { .. }) => "nothing",
    }
}

/// What was asked for and what came back, per second, and whether that kept the objective.
fn push_rates(report: &LoadReport, format: Format, row: &mut impl FnMut(&str, Cell, &str)) {
    let tally = &report.tally;
    if let Some(rate) = report.requested_per_second {
        row("offered", per_second(rate), "1/s");
    }
    if report.is_open_loop {
        row(
            "due",
            Cell::number(tally.due as f64, tally.due.to_string()),
            "count",
        );
    }
    row("answered", per_second(report.answered_per_second()), "1/s");
    let throughput = match format {
        Format::Text if tally.fills_in_time > 0 => "throughput, sets on miss included",
        _ => "throughput",
    };
    row(throughput, per_second(report.throughput_per_second()), "1/s");
    if let Some(share) = tally.refused_share().filter(|share| *share > 0.0) {
        row(
            "refused",
            Cell::number(share, format!("{:.2} %", share * 100.0)),
            "ratio",
        );
    }
    if let (Some(goodput), Some(objective)) = (report.goodput_per_second(), report.objective) {
        row(&format!("goodput ({objective})"), per_second(goodput), "1/s");
    }
    if let (Some(verdict), Some(objective)) = (report.verdict(), report.objective) {
        row(&format!("{objective} kept"), Cell::text(answer(verdict)), "");
        if let Some(why) = why(verdict) {
            row("why", Cell::text(why), "");
        }
    }
}

/// `yes`, `no`, or `undecided`.
pub(super) const fn answer(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Kept => "yes",
        Verdict::NotKept(_) => "no",
        Verdict::Undecided(_) => "undecided",
    }
}

/// Why it was not kept, or what was missing.
pub(super) fn why(verdict: Verdict) -> Option<String> {
    match verdict {
        Verdict::Kept => None,
        Verdict::NotKept(failure) => Some(failure.to_string()),
        Verdict::Undecided(shortage) => Some(shortage.to_string()),
    }
}

/// What driver, server and warm-up took.
fn push_cost(report: &LoadReport, row: &mut impl FnMut(&str, Cell, &str)) {
    let nanoseconds = |ns: f64| Cell::number(ns, format!("{}/op", format_nanoseconds(ns)));
    let none = || Cell::Absent("nothing was answered".to_owned());
    row(
        "driver CPU",
        report
            .driver_cpu_per_operation_ns()
            .map_or_else(none, nanoseconds),
        "ns/op",
    );
    let share = report.driver_cpu.busiest_share;
    row(
        "driver CPU share",
        Cell::number(share, format_ratio(share)),
        "ratio",
    );
    match report.server_cpu_per_operation_ns() {
        Ok(ns) => row("server CPU", nanoseconds(ns), "ns/op"),
        Err(why) => row("server CPU", Cell::Absent(why.reason), "ns/op"),
    }
    let warm_up = &report.warm_up;
    row(
        "warm-up sets",
        Cell::number(warm_up.sets as f64, warm_up.sets.to_string()),
        "count",
    );
    let warm_up_s = warm_up.duration.as_secs_f64();
    row(
        "warm-up",
        Cell::number(warm_up_s, format!("{warm_up_s:.2} s")),
        "s",
    );
}
