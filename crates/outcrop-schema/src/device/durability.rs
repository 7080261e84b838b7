//! When writes to a device become durable, whether requests bypass the page cache, where in the machine they are made, and how their
//! completions are noticed.

use outcrop_workload::filesystem::FileAccess;
use outcrop_workload::{Completions, Durability, NumaPlace};

use crate::factor::{Factor, Label, Role};
use crate::metrics::{Latencies, latencies};
use crate::parse::spelled;
use crate::value::Value;

impl Value for Durability {}
impl Value for NumaPlace {}

/// When writes are made durable.
pub static SYNC: Factor<Durability> = Factor::new(
    "sync",
    "When writes are made durable: none, each, every:N, each:fsync, dsync",
    spelled,
)
.default("none")
.accepts(
    "`\"none\"`, `\"each\"` (fdatasync after every write), `\"every:8\"` (after every eighth write of a job), `\"each:fsync\"`, \
     `\"every:8:fsync\"`, `\"dsync\"` (O_DSYNC); mixes with writes only",
)
.label(Label::Unusual("sync {}"))
.assumed("none");
/// Past the page cache or through it.
pub static ACCESS: Factor<FileAccess> = Factor::new(
    "access",
    "Whether to bypass the page cache: direct, buffered",
    spelled,
)
.default("direct")
.accepts("`\"direct\"` (O_DIRECT), `\"buffered\"` (through the page cache: figures of memory and write-back, and marked as such)")
.label(Label::Unusual("{}"))
.role(Role::Condition)
.assumed("direct");

/// Where in the machine.
pub static NUMA_NODE: Factor<NumaPlace> = Factor::new(
    "numa_node",
    "NUMA node of threads and buffers: any, device, or a number",
    spelled,
)
.default("any")
.accepts("`\"any\"`, `\"device\"` (the node that the device is attached to), `\"0\"`")
.label(Label::Unusual("NUMA {}"))
.role(Role::Condition)
.assumed("any");

/// By interrupt, or by asking.
pub static COMPLETIONS: Factor<Completions> = Factor::new(
    "completions",
    "How completions are detected: interrupt, polled",
    spelled,
)
.default("interrupt")
.accepts(
    "`\"interrupt\"`, `\"polled\"` (the thread polls the device, which takes a whole CPU: io_uring in a closed loop, on a device with \
     poll queues)",
)
.label(Label::Unusual("{}"))
.assumed("interrupt");

/// Time of a sync, which is part of the latency of the write before it.
pub const SYNC_LATENCY: Latencies = latencies!(
    "sync_latency",
    "the time of a sync, from the completion of the write that it follows"
);
