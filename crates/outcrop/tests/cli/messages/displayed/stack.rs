//! Messages about key-value stores, filesystems, fio's files and predictions.

use std::path::PathBuf;

use outcrop_cache_client::{ExchangeError, NotAReply, Protocol};
use outcrop_filesystem::FilesystemError;
use outcrop_fio::FioError;
use outcrop_kv::KvError;
use outcrop_predict::{CurveError, FileError, NotPredictable, Unmatched};
use outcrop_workload::filesystem::FilesystemKind;

use super::{denied, hold, hold_struct, text};

#[test]
fn of_key_value_stores() {
    let directory = || text("/srv/outcrop-kv-4711-00c0ffee00c0ffee");
    let rocksdb = || text("RocksDB 7.8.3");
    hold(
        "kv",
        include_str!("../../../../../outcrop-kv/src/error.rs"),
        [
            KvError::Spec {
                field: text("bloom_bits"),
                seen: text("99"),
                expected: text("0 to 64"),
            },
            KvError::Lacks {
                what: text("compression zstd:3"),
                has: text("fjall has none and lz4; rocksdb has the others"),
            },
            KvError::Absent {
                why: text("RocksDB is not on this machine; install librocksdb-dev"),
            },
            KvError::MissingCodec {
                engine: rocksdb(),
                codec: text("Xpress"),
            },
            KvError::Condition {
                why: text("no memory limit can be set here; run as root, or leave memory_limit out"),
            },
            KvError::NoSpace {
                directory: directory(),
                detail: text("No space left on device (os error 28)"),
            },
            KvError::OutOfMemory {
                engine: text("Redis 7.0.15"),
                limit: text("64 MiB"),
                detail: text("OOM command not allowed when used memory > 'maxmemory'."),
            },
            KvError::Dropped {
                engine: text("memcached 1.6.18"),
                held: 9000,
                loaded: 10_000,
            },
            KvError::Locked {
                directory: directory(),
            },
            KvError::Version {
                directory: directory(),
                engine: rocksdb(),
                detail: text("unknown format version"),
            },
            KvError::Damaged {
                directory: directory(),
                detail: text("block checksum mismatch"),
            },
            KvError::Engine {
                engine: rocksdb(),
                action: text("read a record"),
                detail: text("IO error: Too many open files"),
            },
            KvError::Mismatch {
                engine: rocksdb(),
                detail: text("the value has 900 B, but 1000 B were stored"),
            },
            KvError::Path {
                action: text("open"),
                path: directory(),
                detail: denied().to_string(),
            },
            KvError::System {
                action: text("start a thread"),
                detail: denied().to_string(),
            },
            KvError::Ended {
                how: text("signal 9 (SIGKILL)"),
            },
            KvError::Stuck {
                phase: "loaded records".to_owned(),
                waited: "60s".to_owned(),
            },
            KvError::Interrupted,
        ],
    );
    hold(
        "cache-client",
        include_str!("../../../../../outcrop-cache-client/src/exchange.rs"),
        [
            ExchangeError::Broken(denied()),
            ExchangeError::NotAReply(NotAReply {
                seen: text("HTTP/1.1 400"),
                expected: "a reply of memcached",
                speaks: Some(Protocol::Http),
            }),
            ExchangeError::Refused(text("SERVER_ERROR out of memory")),
        ],
    );
}

#[test]
fn of_filesystems() {
    hold(
        "filesystem",
        include_str!("../../../../../outcrop-filesystem/src/error.rs"),
        [
            FilesystemError::System {
                action: text("attach a loop device"),
                source: denied(),
            },
            FilesystemError::Mount {
                kind: FilesystemKind::Btrfs,
                options: text("compress-force=zstd:3"),
                message: text("btrfs: unknown option"),
            },
            FilesystemError::OtherOptions {
                kind: FilesystemKind::Btrfs,
                wanted: text("compress-force=zstd:3"),
                shown: text("rw,compress=zstd:3"),
            },
            FilesystemError::Make {
                program: "mkfs.btrfs",
                status: text("exit status 1"),
                message: text("ERROR: the image is too small"),
            },
            FilesystemError::NotCold {
                cached: 12,
                file_pages: 16_384,
            },
            FilesystemError::OtherBytes {
                offset: 1 << 20,
                length: 4096,
            },
            FilesystemError::NoSpace {
                directory: PathBuf::from("/srv"),
                wanted_bytes: 1 << 30,
                available_bytes: 1 << 20,
                reserve_bytes: 1 << 19,
            },
            FilesystemError::Interrupted,
        ],
    );
}

#[test]
fn of_files_of_fio() {
    hold(
        "fio",
        include_str!("../../../../../outcrop-fio/src/error.rs"),
        [
            FioError::Io {
                action: "read",
                path: PathBuf::from("results/randread.json"),
                cause: denied(),
            },
            FioError::NothingToImport {
                left_out: vec![text("results/a.json: it is not a JSON document of fio")],
            },
            FioError::TooManyFiles {
                path: PathBuf::from("/srv"),
                limit: 100_000,
            },
            FioError::BadAssumption {
                assumption: text("colour=blue"),
                reason: text("`colour` is not a factor of the device layer"),
            },
            FioError::JobFile {
                problems: vec![
                    text("mine.fio:3: `rw=trim` is not supported"),
                    text("mine.fio:5: `bs=4x` is not a size"),
                ],
            },
            FioError::NothingToExport {
                run: text("20261121T020304Z-mine"),
            },
        ],
    );
}

#[test]
fn of_predictions() {
    let (application, component) = (|| text("store, read-mostly"), || text("QAT 4XXX"));
    hold(
        "predict-curve",
        include_str!("../../../../../outcrop-predict/src/curve.rs"),
        [
            CurveError::NotPositive(-4.0),
            CurveError::Twice { size_bytes: 4096.0 },
        ],
    );
    hold(
        "predict-study",
        include_str!("../../../../../outcrop-predict/src/study.rs"),
        [
            Unmatched::Unknown {
                application: application(),
                component: component(),
                clients: Some(64),
            },
            Unmatched::WhichLoad {
                application: application(),
                component: component(),
                loads: text("16, 64"),
            },
            Unmatched::Twice {
                application: application(),
                component: component(),
                clients: None,
            },
            Unmatched::NoOperationSize {
                application: application(),
                component: component(),
            },
        ],
    );
    // Of outcrop-predict/src/model.rs and outcrop-predict/src/text.rs.
    hold_struct(
        "not-predictable",
        [NotPredictable {
            missing: vec![
                text("the application's block_size"),
                text("the component's units"),
            ],
        }],
    );
    hold_struct(
        "predict-file",
        [FileError {
            place: text("row 2, `latency`"),
            problem: text("`4XB` is not a time"),
        }],
    );
}
