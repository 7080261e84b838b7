//! Main memory and how it is paged.

use serde::{Deserialize, Serialize};

use crate::memory::kibibyte_line;
use crate::reading::Reading;
use crate::system_tree::SystemTree;

/// Main memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// All that the kernel manages.
    pub total_bytes: Reading<u64>,
    /// What programs could get without swapping.
    pub available_bytes: Reading<u64>,
    /// Dirty pages waiting for write-back.
    pub dirty_bytes: Reading<u64>,
    /// Swap space.
    pub swap_total_bytes: Reading<u64>,
    /// Swap space in no use.
    pub swap_free_bytes: Reading<u64>,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Reading<String>,
    /// NUMA nodes.
    pub numa_node_count: Reading<u64>,
}

impl Memory {
    pub(super) fn read(tree: &SystemTree) -> Self {
        let meminfo = tree.text("proc/meminfo");
        let line = |name: &str| meminfo.clone().and_then(|text| kibibyte_line(&text, name)).into();
        Self {
            total_bytes: line("MemTotal"),
            available_bytes: line("MemAvailable"),
            dirty_bytes: line("Dirty"),
            swap_total_bytes: line("SwapTotal"),
            swap_free_bytes: line("SwapFree"),
            transparent_huge_pages: tree
                .text("sys/kernel/mm/transparent_hugepage/enabled")
                .map(|choices| chosen(&choices).to_owned())
                .into(),
            numa_node_count: tree
                .names("sys/devices/system/node")
                .map(|names| {
                    names
                        .iter()
                        .filter(|name| is_node(&name.to_string_lossy()))
                        .count() as u64
                })
                .into(),
        }
    }
}

fn is_node(name: &str) -> bool {
    name.strip_prefix("node")
        .is_some_and(|digits| digits.parse::<u32>().is_ok())
}

/// The word in brackets of `always [madvise] never`; the whole text if none is.
pub(super) fn chosen(choices: &str) -> &str {
    choices
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'))
        .map_or(choices, |(word, _)| word)
}
