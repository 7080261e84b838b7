//! Key-value engines behind one trait, and the driver that loads them, measures them and verifies what they return.
//!
//! [`run`] is one trial: databases are made in a folder of our own, loaded, settled and run, each in a process of its own, and the
//! folder is removed. One [`KvSpec`] in, one [`KvReport`] out. [`engine::open`] gives a single [`Store`] without any of that.
//!
//! It knows no plans and no records, and it is given no path of a user's: a database that exists is never opened by [`run`].
//!
//! ```
//! use outcrop_kv::{Opening, Store, StoreOptions, engine};
//! use outcrop_workload::store::StoreEngine;
//!
//! let folder = std::env::temp_dir().join(format!("outcrop-kv-doc-{}", std::process::id()));
//! let store = engine::open(&StoreOptions::of(StoreEngine::Fjall), &folder, Opening::Create)?;
//! let mut session = store.session()?;
//! session.put(b"rock", b"granite")?;
//! assert_eq!(session.get(b"rock")?, Some(&b"granite"[..]));
//! drop((session, store));
//! std::fs::remove_dir_all(&folder).expect("it is ours");
//! # Ok::<(), outcrop_kv::KvError>(())
//! ```

mod error;
mod store;
mod tables;

pub mod engine;

mod last_words;
mod page_cache;
mod usage;

mod folder;
mod guard;
mod memory_file;
mod memory_limit;

mod report;
mod spec;

mod drive;
mod wire;

mod answers;
mod process;
mod trial;

pub use drive::{Database, Timing, Witness};
pub use error::KvError;
pub use folder::{AbandonedDatabases, DatabaseFolder};
pub use process::{WorkerProgram, serve_parent};
pub use report::{
    Amounts, CpuReport, CpuTimes, DeviceTraffic, Interval, KvReport, LoadReport, PhaseReport, RunReport,
    SettlingReport, Tally,
};
pub use spec::{KvSpec, PageCache, ValueSource};
pub use store::{CompactionState, Counted, Opening, Session, Store, StoreCounters, StoreOptions};
pub use tables::Tables;
pub use trial::{Ground, PATIENCE, Progress, Site, run};
pub use usage::{Space, allocated_bytes};
