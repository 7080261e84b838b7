//! What the tests stand on: a directory on a real disk, the engines that this machine has, and this program as a worker.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use outcrop_kv::{KvError, KvReport, KvSpec, Site, StoreOptions, WorkerProgram, engine, run};
use outcrop_measure::Seed;
use outcrop_workload::store::{Durability, StoreEngine};

/// A directory on a real disk: `/tmp` may be a tmpfs.
pub(crate) fn workplace() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// A limit on memory may be refused where this process may make no control group, which is said; CI may, and then must.
pub(crate) fn skip_without_limits(error: &KvError) {
    assert!(error.to_string().contains("leave memory_limit out"), "{error}");
    assert!(
        std::env::var_os("CI").is_none(),
        "CI must be able to limit memory: {error}"
    );
    let _ = writeln!(std::io::stderr(), "skipped: a memory limit: {error}");
}

/// The engines that keep what they are given, as far as this machine has them.
pub(crate) fn engines() -> Vec<StoreEngine> {
    let mut engines = vec![StoreEngine::Fjall, StoreEngine::Redb];
    match engine::find(StoreEngine::RocksDb) {
        Ok(()) => engines.push(StoreEngine::RocksDb),
        // Not `eprintln`: the harness would swallow what CI looks for.
        Err(why) => {
            let _ = writeln!(std::io::stderr(), "skipped: RocksDB: {why}");
        }
    }
    engines
}

/// The engines that are servers, as far as this machine has them.
pub(crate) fn servers() -> Vec<StoreEngine> {
    let servers = [StoreEngine::Redis, StoreEngine::Memcached].into_iter();
    servers
        .filter(|engine| match engine::find(*engine) {
            Ok(()) => true,
            Err(why) => {
                let _ = writeln!(std::io::stderr(), "skipped: {engine}: {why}");
                false
            }
        })
        .collect()
}

/// The engines that keep what was acknowledged as synced, as far as this machine has them.
pub(crate) fn durable_engines() -> Vec<StoreEngine> {
    let is_durable = |engine: &StoreEngine| engine::durabilities(*engine).contains(&Durability::Synced);
    engines()
        .into_iter()
        .chain(servers())
        .filter(is_durable)
        .collect()
}

/// An engine with small memory, so that little data makes files.
pub(crate) fn options(engine: StoreEngine) -> StoreOptions {
    StoreOptions {
        write_buffer_bytes: match engine {
            // All workers of fjall 3.1.13 and its writer were seen to wait for room in their queue, for ever, with memtables of 256 KiB: these fill
            // faster than the workers rotate them.
            StoreEngine::Fjall => 4 << 20,
            _ => 256 << 10,
        },
        block_cache_bytes: 1 << 20,
        durability: match engine {
            StoreEngine::Redb | StoreEngine::Memcached => Durability::Unlogged,
            _ => Durability::Logged,
        },
        ..StoreOptions::of(engine)
    }
}

/// A small trial.
pub(crate) fn spec(engine: StoreEngine) -> KvSpec {
    KvSpec {
        options: options(engine),
        records: 3000,
        warm_up: Duration::from_millis(20),
        duration: Duration::from_millis(200),
        interval: Duration::from_millis(50),
        ..KvSpec::of(engine, Seed(7))
    }
}

/// This test program, started again to run one test and no other.
pub(crate) fn this_program(test: &str, arguments: &[&str]) -> WorkerProgram {
    let mut all = vec![test, "--exact", "--nocapture", "--quiet"];
    all.extend(arguments);
    WorkerProgram::this(&all)
}

/// Whether this process was started to run that test alone.
pub(crate) fn is_called_for(test: &str) -> bool {
    let mut arguments = std::env::args().skip(1);
    arguments.next().as_deref() == Some(test) && arguments.any(|one| one == "--nocapture")
}

pub(crate) fn try_trial(spec: &KvSpec, directory: &Path) -> Result<KvReport, KvError> {
    let site = Site {
        directory,
        ground: None,
        stop: &AtomicBool::new(false),
        patience: outcrop_kv::PATIENCE,
        program: &this_program("stage::serves_its_parent", &[]),
    };
    run(spec, &site, &mut |_| {})
}

pub(crate) fn trial(spec: &KvSpec) -> KvReport {
    let place = workplace();
    let report = try_trial(spec, place.path()).unwrap();
    assert_eq!(
        std::fs::read_dir(place.path()).unwrap().count(),
        0,
        "nothing is left"
    );
    report
}

/// The worker process of the trials of this program.
#[test]
fn serves_its_parent() {
    if is_called_for("stage::serves_its_parent") {
        outcrop_kv::serve_parent().unwrap();
    }
}

/// A filesystem that is mounted for a test; unmounted when dropped.
pub(crate) struct Mounted(tempfile::TempDir);

impl Mounted {
    /// A filesystem in memory.
    pub(crate) fn in_memory(size: &str) -> Option<Self> {
        let options = format!("size={size}");
        Self::mount("tmpfs", &options, Path::new("outcrop-kv-test"))
    }

    /// The ext4 filesystem in a file, which commits its journal when it is asked to and by itself only after minutes.
    pub(crate) fn of_image(image: &Path) -> Option<Self> {
        Self::mount("ext4", "loop,commit=300", image)
    }

    /// `None` where this user may not mount, which is said.
    fn mount(filesystem: &str, options: &str, source: &Path) -> Option<Self> {
        let folder = workplace();
        let output = Command::new("mount")
            .args(["-t", filesystem, "-o", options])
            .args([source, folder.path()])
            .output()
            .unwrap();
        if output.status.success() {
            return Some(Self(folder));
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let _ = writeln!(
            std::io::stderr(),
            "skipped: mounting {filesystem}: it needs root: {}",
            said.trim()
        );
        None
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.0.path()).status();
    }
}
