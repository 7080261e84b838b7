//! One module per subcommand: its flags, its help, and the call into the crate that does the work.

pub(crate) mod ab;
pub(crate) mod cache;
pub(crate) mod codec;
pub(crate) mod column;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod device;
pub(crate) mod env;
pub(crate) mod factor_flags;
pub(crate) mod figure;
pub(crate) mod filesystem;
pub(crate) mod fio_words;
pub(crate) mod import;
pub(crate) mod kv;
pub(crate) mod man;
pub(crate) mod plan_flags;
pub(crate) mod plans;
pub(crate) mod predict;
pub(crate) mod profile;
pub(crate) mod references;
pub(crate) mod report;
pub(crate) mod results;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod whole;
pub(crate) mod workload;
