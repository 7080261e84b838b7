//! What this process may use: resource limits and its control group.

use outcrop_measure::metric::Unavailable;
use std::path::Path;

use rustix::process::{Resource, getrlimit};
use serde::{Deserialize, Serialize};

use crate::reading::Reading;
use crate::system_tree::SystemTree;

/// Limits that bear on a measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Whether this process is root's, and so exempt from some of these.
    pub runs_as_root: bool,
    /// `RLIMIT_MEMLOCK`: memory that may be locked, io_uring's registered buffers among it.
    pub locked_memory_bytes: Limit,
    /// `RLIMIT_NOFILE`: the number of open files.
    pub open_file_count: Limit,
    /// `RLIMIT_FSIZE`: the largest file.
    pub file_size_bytes: Limit,
    /// The control group, where one limits this process.
    pub control_group: Reading<ControlGroup>,
}

/// A limit, or none. As JSON: the number, or `"unlimited"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Limit {
    /// At most this much, in the unit of what is limited.
    AtMost(u64),
    /// No limit.
    Unlimited(Unlimited),
}

/// The word `unlimited`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unlimited {
    /// No limit.
    Unlimited,
}

/// The limits of the control group that this process is in, as the kernel writes them; `max` is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ControlGroup {
    /// 1 or 2.
    pub version: u64,
    /// CPU time: microseconds per period of microseconds, the least of this group and of those above it.
    pub cpu: Reading<String>,
    /// Memory in bytes.
    pub memory: Reading<String>,
    /// I/O by device; version 2 only.
    pub io: Reading<String>,
}

impl ControlGroup {
    /// The CPUs that it lets its processes use at a time; none without such a limit.
    pub fn cpu_quota(&self) -> Option<f64> {
        quota(self.cpu.known()?)
    }
}

/// `200000 100000`, which is 2 CPUs, but not `max 100000`.
fn quota(text: &str) -> Option<f64> {
    let (quota, period) = text.trim().split_once(' ')?;
    let cpus = quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?;
    (cpus > 0.0).then_some(cpus)
}

impl Limits {
    pub(super) fn read(tree: &SystemTree) -> Self {
        Self {
            runs_as_root: rustix::process::geteuid().is_root(),
            locked_memory_bytes: limit(Resource::Memlock),
            open_file_count: limit(Resource::Nofile),
            file_size_bytes: limit(Resource::Fsize),
            control_group: control_group(tree).into(),
        }
    }
}

fn limit(resource: Resource) -> Limit {
    getrlimit(resource)
        .current
        .map_or(Limit::Unlimited(Unlimited::Unlimited), Limit::AtMost)
}

/// The most bytes that the control group of this process, and every group above it, may have; `None` without a limit. A container sees its own
/// group as the uppermost one.
pub(crate) fn group_memory_bytes(tree: &SystemTree) -> Option<u64> {
    let membership = tree.text("proc/self/cgroup").ok()?;
    let (controller, folder, file) = match tree.exists(format!("{ROOT}/cgroup.controllers")) {
        true => ("", ROOT.to_owned(), "memory.max"),
        false => ("memory", format!("{ROOT}/memory"), "memory.limit_in_bytes"),
    };
    let groups = Path::new(group_path(&membership, controller)?).ancestors();
    let limit = |group: &Path| {
        let text = tree.text(format!("{folder}{}/{file}", group.display())).ok()?;
        // No limit is `max`, or a number near 2^63.
        text.parse::<u64>().ok().filter(|bytes| *bytes < 1 << 62)
    };
    groups.filter_map(limit).min()
}

/// What the group itself says of its CPU time, unless a group above it has less.
fn least_quota(group: &str, of: impl Fn(&str) -> Result<String, Unavailable>) -> Result<String, Unavailable> {
    let own = of(group);
    let all = Path::new(group).ancestors().filter_map(Path::to_str);
    let limited = all.filter_map(|group| {
        let text = of(group).ok()?;
        Some((quota(&text)?, text))
    });
    let least = limited.min_by(|one, other| one.0.total_cmp(&other.0));
    least.map_or(own, |(_, text)| Ok(text))
}

/// Where control groups are.
const ROOT: &str = "sys/fs/cgroup";

fn control_group(tree: &SystemTree) -> Result<ControlGroup, Unavailable> {
    let membership = tree.text("proc/self/cgroup")?;
    if tree.exists(format!("{ROOT}/cgroup.controllers")) {
        let group = group_path(&membership, "")
            .ok_or_else(|| Unavailable::because("this process is not in a control group"))?;
        let file = |name: &str| tree.text(format!("{ROOT}{group}/{name}"));
        return Ok(ControlGroup {
            version: 2,
            cpu: least_quota(group, |group| tree.text(format!("{ROOT}{group}/cpu.max"))).into(),
            memory: file("memory.max").into(),
            io: file("io.max").into(),
        });
    }
    let of_controller = |controller: &str| {
        group_path(&membership, controller)
            .ok_or_else(|| Unavailable::because(format!("the {controller} controller is not in use")))
    };
    let cpu_of = |group: &str| {
        let file = |name: &str| tree.text(format!("{ROOT}/cpu{group}/{name}"));
        let (quota, period) = (file("cpu.cfs_quota_us")?, file("cpu.cfs_period_us")?);
        // Version 1 writes "no limit" as -1 here, and as a number near 2^63 for memory.
        Ok(if quota == "-1" {
            "max".to_owned()
        } else {
            format!("{quota} {period}")
        })
    };
    let cpu = || least_quota(of_controller("cpu")?, cpu_of);
    let memory = || {
        let group = of_controller("memory")?;
        let limit = tree.text(format!("{ROOT}/memory{group}/memory.limit_in_bytes"))?;
        let is_none = limit.parse::<u64>().is_ok_and(|bytes| bytes >= 1 << 62);
        Ok(if is_none { "max".to_owned() } else { limit })
    };
    Ok(ControlGroup {
        version: 1,
        cpu: cpu().into(),
        memory: memory().into(),
        io: Reading::unavailable("version 1 control groups do not state it in one place"),
    })
}

/// Our group below the hierarchy of `controller` (empty for version 2), from `4:memory:/a/b`; without its last
/// slash, so that the root is the empty path.
fn group_path<'a>(membership: &'a str, controller: &str) -> Option<&'a str> {
    membership.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        controllers
            .split(',')
            .any(|name| name == controller)
            .then_some(path.trim_end_matches('/'))
    })
}
