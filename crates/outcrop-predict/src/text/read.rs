//! Entries into applications, components and measurements.

use super::entry::Entry;
use super::quantity;
use super::{FileError, Measured, MeasuredFigure};
use crate::application::{Application, Bandwidth, Device, Opening, Power, Split};
use crate::component::{Component, Direction, Place};
use crate::curve::Curve;
use outcrop_measure::Unit;

/// Most that any count, time or size in a file may be: beyond it sums would overflow to infinity.
const MOST: f64 = 1e18;

impl Entry {
    fn parsed<T>(
        &mut self,
        names: &[&'static str],
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, FileError> {
        let Some(text) = self.take(names) else {
            return Ok(None);
        };
        match parse(&text) {
            Ok(value) => Ok(Some(value)),
            Err(problem) => {
                self.refuse(names[0], problem)?;
                Ok(None)
            }
        }
    }

    fn number(&mut self, names: &[&'static str], unit: Unit) -> Result<Option<f64>, FileError> {
        self.parsed(names, |text| match quantity::number(text, unit)? {
            value if value > MOST => Err(format!("`{text}` is too large")),
            value => Ok(value),
        })
    }

    fn positive(&mut self, names: &[&'static str], unit: Unit) -> Result<Option<f64>, FileError> {
        match self.number(names, unit)? {
            Some(value) if value <= 0.0 => {
                Err(self.error(names[0], "it is 0; expected more, or leave it out"))
            }
            value => Ok(value),
        }
    }

    fn split(
        &mut self,
        foreground: &[&'static str],
        background: &[&'static str],
        unit: Unit,
    ) -> Result<Option<Split>, FileError> {
        let foreground = self.number(foreground, unit)?;
        let background = self.number(background, unit)?;
        Ok((foreground.is_some() || background.is_some()).then(|| Split {
            foreground: foreground.unwrap_or(0.0),
            background: background.unwrap_or(0.0),
        }))
    }

    fn device(
        &mut self,
        foreground: &[&'static str],
        background: &[&'static str],
        size: &'static str,
        block: Option<f64>,
    ) -> Result<Option<Device>, FileError> {
        let requests = self.split(foreground, background, Unit::Count)?;
        let size_bytes = self.positive(&[size], Unit::Bytes)?;
        match (requests, size_bytes.or(block)) {
            (None, _) => Ok(None),
            (Some(requests), Some(size_bytes)) => Ok(Some(Device { requests, size_bytes })),
            (Some(_), None) => Err(self.error(size, "it is missing: the bytes of one request")),
        }
    }

    fn name(&mut self, names: &[&'static str]) -> Result<String, FileError> {
        let name = self.take(names);
        name.ok_or_else(|| self.error(names[0], "it is missing; each entry needs a name"))
    }
}

pub(super) fn application(mut entry: Entry) -> Result<Application, FileError> {
    let name = entry.name(&["name", "application", "workload", "system"])?;
    let operation_size_bytes = entry.positive(&["operation_size", "request_size", "io_size"], Unit::Bytes)?;
    let throughput = throughput(&mut entry, operation_size_bytes)?;
    let block_size_bytes = entry.positive(&["block_size", "compression_block_size"], Unit::Bytes)?;
    let time = Unit::Nanoseconds;
    let application = Application {
        name,
        clients: entry.positive(&["clients", "threads", "concurrency", "queue_depth"], Unit::Count)?,
        predict_clients: entry
            .parsed(&["predict_clients"], quantity::counts)?
            .unwrap_or_default(),
        throughput: throughput.map(|(value, _)| value),
        throughput_error: throughput.map_or(0.0, |(_, error)| error),
        latency_ns: entry.positive(&["latency", "uncompressed_latency", "mean_latency"], time)?,
        unloaded_latency_ns: entry.positive(&["unloaded_latency"], time)?,
        think_time_ns: entry.number(&["think_time"], time)?.unwrap_or(0.0),
        cpu_ns: entry.split(&["cpu", "cpu_foreground", "cpu_time"], &["cpu_background"], time)?,
        cpu_utilisation: entry.parsed(
            &["cpu_utilisation", "cpu_utilization", "cpu_usage", "cpu_share"],
            quantity::share,
        )?,
        cores: entry.positive(&["cores", "cpus"], Unit::Count)?,
        background_threads: entry.positive(&["background_threads"], Unit::Count)?,
        block_size_bytes,
        decompressed: entry.split(
            &[
                "decompressed_blocks",
                "decompressed_blocks_foreground",
                "blocks_decompressed",
                "blocks_decompressed_foreground",
            ],
            &["decompressed_blocks_background", "blocks_decompressed_background"],
            Unit::Count,
        )?,
        compressed: entry.split(
            &[
                "compressed_blocks",
                "compressed_blocks_foreground",
                "blocks_compressed",
                "blocks_compressed_foreground",
            ],
            &["compressed_blocks_background", "blocks_compressed_background"],
            Unit::Count,
        )?,
        operation_size_bytes,
        wake_ns: entry.number(&["wake_time"], time)?,
        device_unknown: None,
        device_reads: entry.device(
            &["device_reads"],
            &["device_reads_background"],
            "device_read_size",
            block_size_bytes,
        )?,
        device_writes: entry.device(
            &["device_writes"],
            &["device_writes_background"],
            "device_write_size",
            block_size_bytes,
        )?,
        device_wait_ns: entry.number(&["device_wait"], time)?,
        bandwidth: Bandwidth {
            read: entry.positive(&["device_read_bandwidth"], Unit::BytesPerSecond)?,
            write: entry.positive(&["device_write_bandwidth"], Unit::BytesPerSecond)?,
        },
        opening: opening(&mut entry)?,
        power: power(&mut entry)?,
        source: entry.take(&["source"]),
    };
    entry.finish()?;
    Ok(application)
}

/// Operations per second, and how far they may be off.
fn throughput(entry: &mut Entry, operation_bytes: Option<f64>) -> Result<Option<(f64, f64)>, FileError> {
    const NAMES: [&str; 4] = [
        "throughput",
        "uncompressed_throughput",
        "ops",
        "operations_per_second",
    ];
    entry.parsed(&NAMES, |text| {
        let (text, error) = quantity::with_error(text)?;
        match (quantity::rate_or_bandwidth(text)?, operation_bytes) {
            (MeasuredFigure::Bandwidth(bytes), Some(size)) => Ok((bytes / size, error)),
            (MeasuredFigure::Bandwidth(_), None) => Err(format!(
                "`{}` is bytes per second; expected operations per second, or operation_size with it: the bytes that an operation moves",
                text.trim()
            )),
            (MeasuredFigure::Throughput(value) | MeasuredFigure::Latency(value), _) => Ok((value, error)),
        }
    })
}

fn opening(entry: &mut Entry) -> Result<Option<Opening>, FileError> {
    let is_in = entry
        .parsed(&["includes_opening"], quantity::flag)?
        .unwrap_or(false);
    let opening = Opening {
        time_ns: entry.number(&["opening_time"], Unit::Nanoseconds)?,
        operations: entry.positive(&["operations"], Unit::Count)?,
    };
    Ok(is_in.then_some(opening))
}

fn power(entry: &mut Entry) -> Result<Option<Power>, FileError> {
    let idle = entry.number(&["power_idle"], Unit::Watts)?;
    let loaded = entry.number(&["power_loaded"], Unit::Watts)?;
    let step = entry.parsed(&["power_step"], |text| {
        match quantity::number(text, Unit::Watts)? {
            step if step > 0.0 => Ok(step),
            _ => Err(
                "it is 0; expected the step of the meter's readings: no difference is known better than that"
                    .to_owned(),
            ),
        }
    })?;
    match (idle, loaded, step) {
        (None, None, None) => Ok(None),
        (Some(idle), Some(loaded), Some(step)) => Ok(Some(Power { idle, loaded, step })),
        _ => Err(entry.error(
            "power_idle",
            "expected all three of power_idle, power_loaded and power_step, or none",
        )),
    }
}

/// A component, and its place where the entry gives it.
pub(super) fn component(
    mut entry: Entry,
    notes: &mut Vec<String>,
) -> Result<(Component, Option<Place>), FileError> {
    let name = entry.name(&["name", "component", "device", "system", "codec"])?;
    let place = entry.parsed(&["place"], place)?;
    let size = entry.positive(&["block_size", "compression_block_size"], Unit::Bytes)?;
    let units = entry.parsed(
        &["units", "engines", "endpoints_x_engines", "threads"],
        quantity::product,
    )?;
    let (compress, decompress) = directions(&mut entry, size, units)?;
    let component = Component {
        place: place.unwrap_or(Place::Accelerator),
        algorithm: entry.take(&["algorithm"]).map(|name| name.to_lowercase()),
        compress,
        decompress,
        is_shared: entry.parsed(&["shared"], quantity::flag)?.unwrap_or(false),
        is_polled: entry.parsed(&["polled"], quantity::flag)?.unwrap_or(false),
        cpu_per_block_ns: entry.number(&["cpu_per_block"], Unit::Nanoseconds)?,
        ratio: curve(&mut entry, &["ratio"], Unit::Ratio, size)?,
        power_watts: entry.number(&["power"], Unit::Watts)?,
        source: entry.take(&["source"]),
        name,
    };
    notes.extend(entry.finish()?);
    Ok((component, place))
}

/// Both directions of an entry: by their own names, or one of them by `direction`.
fn directions(
    entry: &mut Entry,
    size: Option<f64>,
    units: Option<f64>,
) -> Result<(Direction, Direction), FileError> {
    let (time, rate) = (Unit::Nanoseconds, Unit::BytesPerSecond);
    let way = entry.parsed(&["direction"], direction)?;
    let mut compress = Direction {
        latency: curve(
            entry,
            &["compress_latency", "unloaded_compress_latency"],
            time,
            size,
        )?,
        throughput: curve(entry, &["compress_throughput", "compress_speed"], rate, size)?,
        units: entry.parsed(&["compress_units"], quantity::product)?.or(units),
    };
    let mut decompress = Direction {
        latency: curve(
            entry,
            &["decompress_latency", "unloaded_decompress_latency"],
            time,
            size,
        )?,
        throughput: curve(entry, &["decompress_throughput", "decompress_speed"], rate, size)?,
        units: entry.parsed(&["decompress_units"], quantity::product)?.or(units),
    };
    let latency = curve(entry, &["latency"], time, size)?;
    let throughput = curve(entry, &["throughput", "speed"], rate, size)?;
    let own = match way {
        Some(Way::Compress) => &mut compress,
        Some(Way::Decompress) => &mut decompress,
        None if latency.is_none() && throughput.is_none() => return Ok((compress, decompress)),
        None => {
            let problem =
                "expected direction = compress or decompress, or compress_latency and decompress_latency";
            return Err(entry.error("latency", problem));
        }
    };
    own.latency = latency.or(own.latency.take());
    own.throughput = throughput.or(own.throughput.take());
    Ok((compress, decompress))
}

enum Way {
    Compress,
    Decompress,
}

fn direction(text: &str) -> Result<Way, String> {
    match text.to_lowercase().as_str() {
        "compress" | "compression" => Ok(Way::Compress),
        "decompress" | "decompression" => Ok(Way::Decompress),
        _ => Err(format!(
            "`{text}` is not accepted; expected compress or decompress"
        )),
    }
}

fn place(text: &str) -> Result<Place, String> {
    let known = Place::ALL.iter().find(|(_, name)| *name == text.to_lowercase());
    let known = known.map(|(place, _)| *place);
    known.ok_or_else(|| format!("`{text}` is not accepted; expected cpu, accelerator or drive"))
}

fn curve(
    entry: &mut Entry,
    names: &[&'static str],
    unit: Unit,
    size: Option<f64>,
) -> Result<Option<Curve>, FileError> {
    let curve = entry.parsed(names, |text| quantity::curve(text, unit))?;
    Ok(match size {
        Some(size) => curve.map(|curve| curve.at_size(size)),
        None => curve,
    })
}

/// Adds the figures of another entry with the same name.
pub(super) fn join(known: &mut Component, more: Component) -> Result<(), String> {
    let way = |known: &mut Direction, more: Direction, what: &str| {
        join_curve(&mut known.latency, more.latency, &format!("{what}_latency"))?;
        join_curve(
            &mut known.throughput,
            more.throughput,
            &format!("{what}_throughput"),
        )?;
        join_scalar(&mut known.units, more.units, "units")
    };
    way(&mut known.compress, more.compress, "compress")?;
    way(&mut known.decompress, more.decompress, "decompress")?;
    if known.place != more.place {
        return Err(format!(
            "{} is said to be in two places; give each place its own name",
            known.name
        ));
    }
    join_curve(&mut known.ratio, more.ratio, "ratio")?;
    join_scalar(&mut known.power_watts, more.power_watts, "power")?;
    known.is_shared |= more.is_shared;
    known.is_polled |= more.is_polled;
    join_scalar(
        &mut known.cpu_per_block_ns,
        more.cpu_per_block_ns,
        "cpu_per_block",
    )?;
    known.algorithm = known.algorithm.take().or(more.algorithm);
    known.source = known.source.take().or(more.source);
    Ok(())
}

fn join_curve(known: &mut Option<Curve>, more: Option<Curve>, name: &str) -> Result<(), String> {
    let joined = match (known.take(), more) {
        (Some(one), Some(other)) => match one.joined(&other) {
            Some(joined) => Some(joined.map_err(|error| format!("`{name}`: {error}"))?),
            None if one == other => Some(one),
            None => {
                return Err(format!(
                    "`{name}` is given twice for one name; give block_size with each"
                ));
            }
        },
        (one, other) => one.or(other),
    };
    *known = joined;
    Ok(())
}

/// What does not depend on the block size is the same in every entry.
fn join_scalar(known: &mut Option<f64>, more: Option<f64>, name: &str) -> Result<(), String> {
    match (*known, more) {
        (Some(one), Some(other)) if one != other => Err(format!(
            "`{name}` is {one} and {other} for one name; keep one, or give each its own name"
        )),
        (one, other) => {
            *known = one.or(other);
            Ok(())
        }
    }
}

/// A component without any figure compresses nothing.
pub(super) fn check_complete(component: &Component) -> Result<(), FileError> {
    if !component.has_figures() {
        return Err(FileError::at(
            component.name.clone(),
            "it has no figure; expected compress_latency, decompress_latency, compress_throughput or decompress_throughput",
        ));
    }
    Ok(())
}

pub(super) fn measurement(mut entry: Entry) -> Result<Measured, FileError> {
    let application = entry.name(&["application", "workload"])?;
    let component = entry.name(&["component", "device", "system", "codec"])?;
    let clients = entry.parsed(&["clients", "threads"], |text| {
        let count = text.trim().parse::<u32>().ok().filter(|count| *count > 0);
        count.ok_or_else(|| format!("`{text}` is not a number of clients"))
    })?;
    let throughput = entry.parsed(
        &["throughput", "ops", "operations_per_second"],
        quantity::rate_or_bandwidth,
    )?;
    let latency = entry.positive(&["latency"], Unit::Nanoseconds)?;
    let Some(figure) = throughput.or(latency.map(MeasuredFigure::Latency)) else {
        return Err(entry.error(
            "throughput",
            "it is missing: operations per second, as measured, or latency",
        ));
    };
    let _ = entry.take(&["source"]);
    entry.finish()?;
    Ok(Measured {
        application,
        component,
        clients,
        figure,
    })
}
