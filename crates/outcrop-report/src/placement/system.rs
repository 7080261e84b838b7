//! A run's stores and codecs as applications and components: what `outcrop predict --run` predicts, and checks.

use outcrop_measure::Metric;
use outcrop_predict::{
    Application, Component, Curve, Device, Direction, Measured, MeasuredFigure, Place, Split, Study,
    Unmatched,
};
use outcrop_results::{CellView, RunView};
use outcrop_schema::compression::LIBRARY_MARK;
use outcrop_schema::{compression, filesystem, kv};
use std::collections::BTreeMap;

use super::files;
use super::libraries::{self, Libraries};
use super::predictions::Predictions;
use crate::cell::Cell;
use crate::command::{Commands, to_fill_in};
use crate::environment;
use crate::layer::cells_of;
use crate::layer::kv::is_plain;
use crate::number::Number;

/// What a run measured of stores without compression, of codecs, and of the stores with those codecs.
#[derive(Clone, Debug, Default)]
pub struct MeasuredSystem {
    /// Stores without compression, a load each.
    pub applications: Vec<Application>,
    /// Codecs by block size.
    pub components: Vec<Component>,
    /// The same stores with these codecs.
    pub measured: Vec<Measured>,
    /// Whether stores and codecs were the same libraries, a sentence each.
    pub libraries: Vec<String>,
    /// The stores without compression at those ends of their intervals at which they do the most.
    pub at_most: Vec<Application>,
    /// The stores with codecs, each at the low end of its interval; those of a single trial have none.
    pub at_least: Vec<Measured>,
    /// The same of files on a filesystem that compresses.
    pub files: Option<Box<Self>>,
}

impl MeasuredSystem {
    /// Reads it from a run's records.
    ///
    /// # Errors
    /// A sentence that says what the run lacks and which plan has it.
    pub fn of(run: &RunView) -> Result<Self, String> {
        let views = run.cells();
        let files = files::system(&cells_of(&filesystem::SCHEMA, &views)).map(Box::new);
        match Self::of_stores(run) {
            Ok(stores) => Ok(Self { files, ..stores }),
            Err(_) if files.is_some() => Ok(Self {
                files,
                ..Self::default()
            }),
            Err(reason) => Err(reason),
        }
    }

    /// Every prediction, and its error where it was measured.
    ///
    /// # Errors
    /// [`Unmatched`] for a measurement without a prediction.
    pub fn study(&self) -> Result<Study<'_>, Unmatched> {
        Ok(self.predictions()?.all)
    }

    /// The same, those of stores apart.
    pub(crate) fn predictions(&self) -> Result<Predictions<'_>, Unmatched> {
        Predictions::of(self)
    }

    fn of_stores(run: &RunView) -> Result<Self, String> {
        let views = run.cells();
        let mut stores = cells_of(&kv::SCHEMA, &views);
        let is_plain = |cell: &&Cell<'_>| is_plain(cell);
        // What a codec takes for other data says nothing: stores and codecs are those of one data set.
        let Some(data) = stores.iter().find(is_plain).and_then(stored_data) else {
            return Err(lacks(run, "no store without compression", "predict-software"));
        };
        stores.retain(|cell| stored_data(cell).as_ref() == Some(&data));
        let codecs = codecs_on(&data, &views);
        let components = components(&codecs);
        let cpus = environment::cpus(&run.environment);
        let wake_ns = files::wake_time(&cells_of(&filesystem::SCHEMA, &views));
        if components.is_empty() {
            return Err(lacks(
                run,
                "no codec that was measured on the stores' data",
                "predict-codecs",
            ));
        }
        let mut system = Self {
            components,
            ..Self::default()
        };
        let mut libraries = Libraries::default();
        for plain in stores.iter().filter(is_plain) {
            let Some(application) = application(plain, cpus, wake_ns) else {
                continue;
            };
            let alike = stores
                .iter()
                .filter(|cell| cell.is_like(plain, &[&kv::COMPRESSION]));
            for cell in alike {
                let pair = measured(cell, &application, &codecs, &system.components);
                let Some((measured, codec)) = pair else {
                    continue;
                };
                libraries.add(cell, codec);
                let low = cell.number(&kv::THROUGHPUT).and_then(Number::ends);
                let at_least = low.map(|(low, _)| Measured {
                    figure: MeasuredFigure::Throughput(low),
                    ..measured.clone()
                });
                system.at_least.extend(at_least);
                system.measured.push(measured);
            }
            system.at_most.push(at_most(plain, &application));
            system.applications.push(application);
        }
        system.libraries = libraries.sentences();
        if system.applications.is_empty() {
            return Err(lacks(
                run,
                "no store without compression whose blocks were counted",
                "predict-software",
            ));
        }
        Ok(system)
    }
}

/// The codecs that were measured on the data of a store, one thread each.
pub(super) fn codecs_on_data_of<'a>(store: &Cell<'_>, views: &'a [CellView<'a>]) -> Vec<Cell<'a>> {
    stored_data(store).map_or_else(Vec::new, |data| codecs_on(&data, views))
}

fn codecs_on<'a>(data: &str, views: &'a [CellView<'a>]) -> Vec<Cell<'a>> {
    let mut codecs = cells_of(&compression::SCHEMA, views);
    codecs.retain(|cell| compressed_data(cell).as_deref() == Some(data) && is_usual(cell));
    codecs
}

/// One thread with a context that it keeps, and warm caches.
fn is_usual(cell: &Cell<'_>) -> bool {
    cell.is_default(&compression::THREADS)
        && cell.is_default(&compression::CONTEXT)
        && cell.is_default(&compression::CACHES)
}

/// What the values of a store are: their content where they were generated, else the data that they were cut from.
fn stored_data(cell: &Cell<'_>) -> Option<String> {
    let content = cell.spelling(&kv::CONTENT);
    if content.is_empty() {
        return whole_data(cell);
    }
    Some(content.to_owned())
}

/// The same of what a codec compressed.
fn compressed_data(cell: &Cell<'_>) -> Option<String> {
    match cell.spelling(&compression::CONTENT) {
        "" | "natural" => whole_data(cell),
        content => Some(content.to_owned()),
    }
}

fn whole_data(cell: &Cell<'_>) -> Option<String> {
    let trial = cell.trials().first()?;
    trial.data.as_ref().map(|data| data.whole.clone())
}

fn lacks(run: &RunView, what: &str, plan: &str) -> String {
    let command = checking(&Commands::of(run));
    format!(
        "{} has {what}; measure both with: {command} ({plan} has it){}",
        run.name,
        to_fill_in(&command)
    )
}

/// The command that measures a store and its codecs on the same data, so that predictions can be checked.
pub(super) fn checking(commands: &Commands) -> String {
    commands.plans(
        &["predict-software", "predict-codecs"],
        &[&kv::SCHEMA, &compression::SCHEMA],
    )
}

/// An operation of a store without compression, on a machine with this many CPUs. A block that is not in the cache would have to be decompressed; what
/// compactions read and flushes write is behind the clients' backs. So is the CPU time of the engine's and of the kernel's threads, which takes the
/// same cores. An accelerator's client would wake as late as a thread did in the same run.
pub(super) fn application(cell: &Cell<'_>, cpus: Option<u64>, wake_ns: Option<f64>) -> Option<Application> {
    let block_bytes = cell.get(&kv::COMPRESSION_BLOCK_SIZE)?.0 as f64;
    let per_block = |metric| Some(cell.value(metric)? / block_bytes);
    let read_by_compactions = per_block(&kv::COMPACTION_READ)?;
    let fetched = cell.value(&kv::BLOCKS_FETCHED)?;
    let clients = f64::from(*cell.get(&kv::THREADS)?) * f64::from(*cell.get(&kv::PROCESSES)?);
    let (callers_ns, engine_ns) = (cell.value(&kv::CALLER_CPU)?, cell.value(&kv::BACKGROUND_CPU)?);
    // The kernel's threads are those of the whole machine: where they outweigh the processes, something else ran.
    let kernel_ns = cell
        .value(&kv::KERNEL_THREADS_CPU)
        .filter(|kernel_ns| *kernel_ns <= callers_ns + engine_ns);
    let decompressed = Split {
        foreground: (fetched - read_by_compactions).max(0.0),
        background: read_by_compactions,
    };
    let compressed = Split {
        foreground: 0.0,
        background: per_block(&kv::TABLES_WRITTEN)?,
    };
    let reads = on_device(cell, &kv::DEVICE_READ, decompressed, block_bytes);
    let writes = on_device(cell, &kv::DEVICE_WRITTEN, compressed, block_bytes);
    let device_unknown = reads.as_ref().err().or(writes.as_ref().err()).cloned();
    Some(Application {
        name: cell.label(&[
            &kv::ENGINE,
            &kv::COMPRESSION_BLOCK_SIZE,
            &kv::WORKLOAD,
            &kv::THREADS,
            &kv::PROCESSES,
        ]),
        clients: Some(clients),
        throughput: Some(cell.value(&kv::THROUGHPUT)?),
        cpu_ns: Some(Split {
            foreground: callers_ns,
            background: engine_ns + kernel_ns.unwrap_or(0.0),
        }),
        cores: cpus.map(|cpus| cpus as f64),
        // Where the run did not record its CPUs, nothing is known to limit what is behind the clients' backs.
        background_threads: cpus.is_none().then_some(f64::INFINITY),
        block_size_bytes: Some(block_bytes),
        decompressed: Some(decompressed),
        compressed: Some(compressed),
        device_reads: reads.ok(),
        device_writes: writes.ok(),
        device_unknown,
        wake_ns,
        source: Some("measured".to_owned()),
        ..Application::default()
    })
}

/// What a store did with a codec that was measured, and the codec's cell that stands for it.
fn measured<'c, 'a>(
    cell: &Cell<'_>,
    application: &Application,
    codecs: &'c [Cell<'a>],
    components: &[Component],
) -> Option<(Measured, &'c Cell<'a>)> {
    let codec = libraries::of_store(codecs, cell.get(&kv::COMPRESSION)?)?;
    let name = codec.spelling(&compression::CODEC);
    let component = components.iter().find(|own| own.name == name)?;
    let measured = Measured {
        application: application.name.clone(),
        component: component.name.clone(),
        clients: None,
        figure: MeasuredFigure::Throughput(cell.value(&kv::THROUGHPUT)?),
    };
    Some((measured, codec))
}

/// The same store at those ends of its intervals at which it does the most: the highest throughput, and the least CPU time.
fn at_most(cell: &Cell<'_>, application: &Application) -> Application {
    let low = |metric: &Metric| {
        let number = cell.number(metric)?;
        Some(number.ends().map_or(1.0, |(low, _)| low / number.value)).filter(|share| share.is_finite())
    };
    let high = cell.number(&kv::THROUGHPUT).and_then(Number::ends);
    let cpu_ns = application.cpu_ns.map(|cpu| Split {
        foreground: cpu.foreground * low(&kv::CALLER_CPU).unwrap_or(1.0),
        background: cpu.background * low(&kv::BACKGROUND_CPU).unwrap_or(1.0),
    });
    Application {
        throughput: high.map(|(_, high)| high).or(application.throughput),
        cpu_ns,
        ..application.clone()
    }
}

/// What reaches the device per operation, by its own counters, as requests of the store's block size: what the page cache answers is none of it.
/// It waits and is in the background as the store's own blocks are. The error says why it is not known.
fn on_device(cell: &Cell<'_>, metric: &Metric, blocks: Split, block_bytes: f64) -> Result<Device, String> {
    let Some(bytes) = cell.value(metric) else {
        let why = cell.unavailable(metric).unwrap_or("this run did not record them");
        return Err(why.to_owned());
    };
    let requests = bytes / block_bytes;
    let in_background = match blocks.total() {
        total if total > 0.0 => blocks.background / total,
        _ => 0.0,
    };
    Ok(Device {
        requests: Split {
            foreground: requests * (1.0 - in_background),
            background: requests * in_background,
        },
        size_bytes: block_bytes,
    })
}

/// A component for each codec, with its block sizes.
fn components(cells: &[Cell<'_>]) -> Vec<Component> {
    let mut by_codec: BTreeMap<String, Vec<&Cell<'_>>> = BTreeMap::new();
    for cell in cells {
        by_codec
            .entry(cell.spelling(&compression::CODEC).to_owned())
            .or_default()
            .push(cell);
    }
    let points = |cells: &[&Cell<'_>], metric| {
        let point = |cell: &&Cell<'_>| {
            let size = cell.get(&compression::COMPRESSION_BLOCK_SIZE)?.0 as f64;
            Some((size, cell.value(metric)?))
        };
        Curve::points(cells.iter().filter_map(point).collect()).ok()
    };
    let way = |latency| Direction {
        latency,
        ..Direction::default()
    };
    let of_codec = |(name, cells): (String, Vec<&Cell<'_>>)| {
        let decompress = points(&cells, &compression::LATENCY.decompress.mean)?;
        Some(Component {
            algorithm: Some(algorithm_of(&name)),
            name,
            place: Place::Cpu,
            compress: way(points(&cells, &compression::LATENCY.compress.mean)),
            decompress: way(Some(decompress)),
            ratio: points(&cells, &compression::COMPRESSION_RATIO),
            source: Some(source(&cells)),
            ..Component::default()
        })
    };
    by_codec.into_iter().filter_map(of_codec).collect()
}

/// What a codec is without its library and level: `zstd` of `zstd@system:1`. Predictions of one of them are checked by the others.
pub(super) fn algorithm_of(codec: &str) -> String {
    let end = codec.find([LIBRARY_MARK, ':', '-']).unwrap_or(codec.len());
    codec[..end].to_owned()
}

/// That it was measured, and with which library.
fn source(cells: &[&Cell<'_>]) -> String {
    let library = cells.iter().find_map(|cell| libraries::of_codec(cell));
    library.map_or_else(
        || "measured".to_owned(),
        |library| match library.file {
            Some(file) => format!("measured with {} ({file})", library.name),
            None => format!("measured with {} of this program", library.name),
        },
    )
}
