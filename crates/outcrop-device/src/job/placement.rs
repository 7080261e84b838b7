//! Binds the threads of a job to a NUMA node, before they touch their buffers: the kernel then takes that memory from the same node.

use outcrop_probe::BlockDevice;
use outcrop_probe::numa::{cpus_of_node, nodes};
use outcrop_probe::system_tree::SystemTree;
use outcrop_workload::NumaPlace;
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::error::DeviceError;
use crate::spec::JobSpec;
use crate::target::Target;

/// The CPUs of the node that was asked for; `None` where none was.
pub(super) fn cpus(target: &Target, spec: &JobSpec) -> Result<Option<Vec<u32>>, DeviceError> {
    let tree = SystemTree::live();
    let refused = |expected: String| DeviceError::spec("numa_node", spec.numa, expected);
    let node = match spec.numa {
        NumaPlace::Any => return Ok(None),
        NumaPlace::Node(node) => node,
        NumaPlace::Device => {
            let Some(place) = target.place() else {
                return Err(refused("any or a number where there is no device".to_owned()));
            };
            let node = BlockDevice::holding(place).and_then(|device| device.numa_node());
            node.map_err(|why| refused(format!("any or a number, because of {}", why.reason)))?
        }
    };
    match cpus_of_node(&tree, node) {
        Ok(cpus) if !cpus.is_empty() => Ok(Some(cpus)),
        _ => {
            let known = nodes(&tree).unwrap_or_default();
            let known: Vec<String> = known.iter().map(u32::to_string).collect();
            Err(refused(match known.is_empty() {
                true => "any: this kernel knows no NUMA nodes".to_owned(),
                false => format!(
                    "any, or a node of this machine that has CPUs: {}",
                    known.join(", ")
                ),
            }))
        }
    }
}

/// Binds the calling thread.
pub(super) fn bind(cpus: &[u32]) -> Result<(), DeviceError> {
    let mut set = CpuSet::new();
    cpus.iter()
        .map(|cpu| *cpu as usize)
        .filter(|cpu| *cpu < CpuSet::MAX_CPU)
        .for_each(|cpu| set.set(cpu));
    sched_setaffinity(None, &set).map_err(|errno| DeviceError::Thread {
        reason: format!(
            "it cannot be bound to the CPUs of the NUMA node: {}; this process may not use them (`taskset -p $$` shows which it may use)",
            std::io::Error::from(errno)
        ),
    })
}

#[cfg(test)]
mod tests {
    use rustix::thread::sched_getaffinity;

    use super::*;

    #[test]
    fn a_bound_thread_runs_on_these_cpus_only() {
        std::thread::spawn(|| {
            let before = sched_getaffinity(None).unwrap();
            let first = (0..CpuSet::MAX_CPU).find(|cpu| before.is_set(*cpu)).unwrap();
            bind(&[first as u32]).unwrap();
            let after = sched_getaffinity(None).unwrap();
            assert!(after.is_set(first));
            assert_eq!(after.count(), 1);
            let none = bind(&[]).unwrap_err().to_string();
            assert!(none.contains("NUMA node"), "{none}");
        })
        .join()
        .unwrap();
    }
}
