//! The text of every error of the libraries, also of those that no input provokes: a hung device, a broken kernel.

#![allow(
    clippy::too_many_lines,
    reason = "a list of all there is, in which nothing is to be found but its entries"
)]

mod data;
mod runs;
mod stack;

use std::collections::HashSet;
use std::io;
use std::mem::discriminant;
use std::path::{Path, PathBuf};

use outcrop_cache::CacheError;
use outcrop_cache_bench::CacheBenchError;
use outcrop_cache_load::CacheLoadError;
use outcrop_device::DeviceError;
use outcrop_measure::MeasureError;
use outcrop_measure::metric::Unavailable;
use outcrop_probe::device_number::DeviceNumber;
use outcrop_workload::WorkloadError;
use outcrop_workload::keyed::store::Mismatch;

/// Holds the messages of an enum. There must be one for each of its variants that has words of its own.
fn hold<E: ToString>(name: &str, source: &str, errors: impl IntoIterator<Item = E>) {
    let errors: Vec<E> = errors.into_iter().collect();
    let variants: HashSet<_> = errors.iter().map(discriminant).collect();
    assert_eq!(variants.len(), errors.len(), "{name}: no variant is there twice");
    let messages: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let marked = |mark: &str| source.matches(mark).count();
    // A variant that passes another error on has no words.
    let passed_on =
        marked("#[error(transparent)]") + marked("#[error(\"{0}\")]") + marked("#[error(\"{message}\")]");
    assert_eq!(
        messages.len(),
        marked("#[error(") - passed_on,
        "{name}: a message for each variant"
    );
    insta::assert_snapshot!(name, messages.join("\n"));
}

/// Holds the messages of a struct, which has one form.
fn hold_struct<E: ToString, const N: usize>(name: &str, errors: [E; N]) {
    insta::assert_snapshot!(name, errors.map(|error| error.to_string()).join("\n"));
}

#[test]
fn no_error_type_of_a_library_is_left_out() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut sources = Vec::new();
    for library in std::fs::read_dir(crates).unwrap() {
        let library = library.unwrap().path();
        if library.join("src/lib.rs").is_file() {
            list(&library.join("src"), &mut sources);
        }
    }
    let with_errors = sources.iter().filter_map(|path| {
        let text = std::fs::read_to_string(path).unwrap();
        let path = path.strip_prefix(crates).unwrap().to_str().unwrap().to_owned();
        text.contains("thiserror::Error").then_some(path)
    });
    let held = concat!(
        include_str!("displayed.rs"),
        include_str!("displayed/data.rs"),
        include_str!("displayed/runs.rs"),
        include_str!("displayed/stack.rs"),
    );
    let left_out: Vec<String> = with_errors.filter(|path| !held.contains(path.as_str())).collect();
    assert_eq!(left_out, [""; 0], "errors without a snapshot of their messages");
}

/// The source files below a folder.
fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            list(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

fn denied() -> io::Error {
    io::Error::from_raw_os_error(libc::EACCES)
}

fn file() -> PathBuf {
    PathBuf::from("/srv/data/orders.csv")
}

fn text(text: &str) -> String {
    text.to_owned()
}

#[test]
fn of_quantities_and_workloads() {
    hold(
        "measure",
        include_str!("../../../../outcrop-measure/src/error.rs"),
        [
            MeasureError::Quantity {
                text: text("4XB"),
                quantity: "a size",
                problem: text("unknown unit `XB`"),
                examples: "4KiB, 1GiB",
            },
            MeasureError::Histogram {
                problem: text("it is not base64"),
            },
            MeasureError::Totals {
                problem: text("12 operations and 11 counts"),
            },
        ],
    );
    // Of outcrop-measure/src/metric.rs and outcrop-probe/src/device_number.rs.
    hold_struct(
        "unavailable",
        [Unavailable::because(
            "no powercap energy source in this virtual machine",
        )],
    );
    hold_struct(
        "device-number",
        [text("254").parse::<DeviceNumber>().unwrap_err()],
    );
    hold(
        "workload",
        include_str!("../../../../outcrop-workload/src/error.rs"),
        [
            WorkloadError::Spelling {
                what: "access pattern",
                seen: text("zipf"),
                accepted: "sequential, random or zipfian:THETA",
            },
            WorkloadError::UnknownWord {
                what: "engine",
                seen: text("posixaio"),
                hint: text("accepted: io_uring, libaio, psync, noop"),
            },
            WorkloadError::OutOfRange {
                what: "arrival rate",
                seen: text("constant:0"),
                why: text("it must be above 0"),
            },
            WorkloadError::EmptySpace {
                block_size_bytes: 4096,
            },
            WorkloadError::StrideOffBlocks {
                stride_bytes: 5000,
                block_size_bytes: 4096,
            },
            WorkloadError::NoSuchJob {
                job_index: 4,
                job_count: 4,
            },
            WorkloadError::Trace {
                line: 7,
                why: text("6 columns are expected"),
            },
            WorkloadError::TooManyUnacknowledged { oldest_key_id: 12 },
        ],
    );
    hold(
        "stored-values",
        include_str!("../../../../outcrop-workload/src/keyed/store/values.rs"),
        [
            Mismatch::Length {
                seen: 900,
                expected: 1000,
            },
            Mismatch::OtherKey {
                seen: 11,
                expected: 12,
            },
            Mismatch::Damaged { at: 512 },
        ],
    );
}

#[test]
fn of_devices() {
    let path = file;
    hold(
        "device",
        include_str!("../../../../outcrop-device/src/error.rs"),
        [
            DeviceError::Spec {
                field: "queue_depth",
                seen: text("0"),
                expected: text("1 to 4096"),
            },
            DeviceError::ReadOnlyTarget {
                path: path(),
                mix: text("0:100"),
            },
            DeviceError::Path {
                action: "open",
                path: path(),
                source: denied(),
                hint: "",
            },
            DeviceError::WrongKind {
                path: path(),
                seen: "a socket",
                expected: "a regular file or a block device",
            },
            DeviceError::DirectUnsupported {
                path: path(),
                filesystem: text("ramfs"),
            },
            DeviceError::Unaligned {
                size_bytes: 512,
                path: path(),
                logical_block_bytes: 4096,
            },
            DeviceError::TooSmall {
                path: path(),
                size_bytes: 100,
                needed_bytes: 4096,
                why: "one request",
            },
            DeviceError::NoSpace {
                directory: path(),
                wanted_bytes: 1 << 30,
                available_bytes: 1 << 20,
                reserve_bytes: 1 << 19,
                largest_bytes: 1 << 19,
            },
            DeviceError::NoFiles {
                directory: path(),
                filesystem: text("proc"),
            },
            DeviceError::UnderDev { directory: path() },
            DeviceError::NoDevice { path: path() },
            DeviceError::InUse {
                path: path(),
                how: text("vdb1 is mounted at /srv"),
            },
            DeviceError::UseUnknown {
                path: path(),
                reason: text("this kernel has no /proc/self/mountinfo"),
            },
            DeviceError::HoldsData {
                path: path(),
                what: text("an XFS filesystem"),
            },
            DeviceError::WriteProtected { path: path() },
            DeviceError::OtherName {
                path: path(),
                typed: text("S1"),
                names: text("S2"),
            },
            DeviceError::Fill {
                path: path(),
                offset: 1 << 20,
                source: denied(),
                written_bytes: 1 << 20,
                reached_bytes: 8 << 20,
            },
            DeviceError::FillInterrupted {
                path: path(),
                written_bytes: 1 << 20,
                reached_bytes: 8 << 20,
            },
            DeviceError::AioSetup {
                entries: 32,
                source: denied(),
                hint: "lower queue_depth",
            },
            DeviceError::ScratchWrite {
                directory: path(),
                offset: 4096,
                source: denied(),
            },
            DeviceError::Interrupted {
                during: "writing the scratch file",
            },
            DeviceError::RingSetup {
                entries: 64,
                source: denied(),
                hint: text("the kernel forbids it"),
            },
            DeviceError::Buffers {
                bytes: 1 << 40,
                source: denied(),
            },
            DeviceError::Engine {
                call: "io_uring_enter",
                source: denied(),
            },
            DeviceError::Hung {
                in_flight: 3,
                waited_s: 30,
            },
            DeviceError::Thread {
                reason: text("the system has no thread left"),
            },
        ],
    );
}

#[test]
fn of_caches() {
    let address = "0.0.0.0:11211".parse().unwrap();
    hold(
        "cache",
        include_str!("../../../../outcrop-cache/src/error.rs"),
        [
            CacheError::UnknownPolicy { given: text("mru") },
            CacheError::Option {
                field: "threads",
                seen: text("0"),
                expected: text("1 to 256"),
            },
            CacheError::Memory {
                bytes: 1 << 50,
                source: denied(),
            },
            CacheError::Listen {
                address,
                source: denied(),
                hint: "",
            },
            CacheError::Exposed { address },
            CacheError::OpenFiles {
                limit: 20,
                needed: 10_032,
                fewest: 40,
            },
            CacheError::System {
                what: "epoll_create",
                source: denied(),
            },
            CacheError::Configuration {
                path: PathBuf::from("/etc/outcrop/cert.pem"),
                problem: text("holds no certificate"),
            },
        ],
    );
    hold(
        "cache-load",
        include_str!("../../../../outcrop-cache-load/src/error.rs"),
        [
            CacheLoadError::Target {
                seen: text("localhost"),
                why: text("it has no scheme"),
            },
            CacheLoadError::Spec {
                field: "connections",
                seen: text("0"),
                expected: text("1 to 10000"),
            },
            CacheLoadError::Connect {
                target: text("127.0.0.1:11211"),
                source: denied(),
            },
            CacheLoadError::Connection {
                target: text("127.0.0.1:11211"),
                source: denied(),
            },
            CacheLoadError::Protocol {
                target: text("127.0.0.1:11211"),
                seen: text("HTTP/1.1 400"),
                expected: "a reply of memcached",
                hint: text("; this looks like an HTTP server: write http://HOST:PORT"),
            },
            CacheLoadError::Refused {
                target: text("127.0.0.1:11211"),
                message: text("SERVER_ERROR out of memory"),
            },
            CacheLoadError::System {
                action: "start a thread",
                source: denied(),
            },
        ],
    );
    hold(
        "cache-bench",
        include_str!("../../../../outcrop-cache-bench/src/error.rs"),
        [
            CacheBenchError::Absent {
                program: text("memcached"),
                why: text("is not installed"),
            },
            CacheBenchError::NotServing {
                program: text("memcached"),
                why: text("it ended with exit status 71"),
            },
            CacheBenchError::System {
                action: "start a thread",
                source: denied(),
            },
        ],
    );
}
