//! What this system runs in: a hypervisor, a container, both or neither.

use outcrop_measure::metric::Unavailable;
use serde::{Deserialize, Serialize};

use crate::reading::Reading;
use crate::system_tree::SystemTree;

/// The layers between this system and the hardware that it can know of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Virtualisation {
    /// `none`, or the name of the hypervisor. A hypervisor that hides itself is not seen.
    pub hypervisor: Reading<String>,
    /// Maker and product by DMI (`QEMU Standard PC`, `Amazon EC2 m5.large`).
    pub machine: Reading<String>,
    /// `none`, or what runs the container.
    pub container: Reading<String>,
}

impl Virtualisation {
    pub(super) fn read(tree: &SystemTree) -> Self {
        Self {
            hypervisor: hypervisor(tree).into(),
            machine: machine(tree).into(),
            container: container(tree).into(),
        }
    }
}

/// By the CPU's `hypervisor` flag and the signature that the hypervisor gives in CPUID; Xen also by /sys.
fn hypervisor(tree: &SystemTree) -> Result<String, Unavailable> {
    if let Ok(kind) = tree.text("sys/hypervisor/type") {
        return Ok(kind);
    }
    let cpuinfo = tree.text("proc/cpuinfo")?;
    let flags = cpuinfo
        .lines()
        .find_map(|line| line.strip_prefix("flags"))
        .ok_or_else(|| Unavailable::because("this architecture has no CPU flag that shows a hypervisor"))?;
    if !flags.split_ascii_whitespace().any(|flag| flag == "hypervisor") {
        return Ok("none".to_owned());
    }
    Ok(signature().map_or_else(
        || "present, of unknown kind".to_owned(),
        |signature| hypervisor_name(&signature),
    ))
}

/// The twelve letters of CPUID leaf 0x40000000. *Source*: Linux, arch/x86/include/asm/hypervisor.h and
/// the hypervisors' own documents.
#[cfg(target_arch = "x86_64")]
fn signature() -> Option<String> {
    let leaf = std::arch::x86_64::__cpuid(0x4000_0000);
    let letters: Vec<u8> = [leaf.ebx, leaf.ecx, leaf.edx]
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    let text = String::from_utf8_lossy(&letters);
    let text = text.trim_matches(['\0', ' ']);
    text.chars()
        .all(|letter| letter.is_ascii_graphic() || letter == ' ')
        .then(|| text.to_owned())
}

#[cfg(not(target_arch = "x86_64"))]
fn signature() -> Option<String> {
    None
}

fn hypervisor_name(signature: &str) -> String {
    match signature {
        "KVMKVMKVM" | "Linux KVM Hv" => "kvm",
        "TCGTCGTCGTCG" => "qemu (emulated)",
        "VMwareVMware" => "vmware",
        "Microsoft Hv" => "hyper-v",
        "XenVMMXenVMM" => "xen",
        "bhyve bhyve" => "bhyve",
        "ACRNACRNACRN" => "acrn",
        "prl hyperv" => "parallels",
        "" => "present, of unknown kind",
        other => other,
    }
    .to_owned()
}

fn machine(tree: &SystemTree) -> Result<String, Unavailable> {
    let name = |file: &str| tree.text(format!("sys/class/dmi/id/{file}"));
    let (maker, product) = (name("sys_vendor")?, name("product_name")?);
    Ok(format!("{maker} {product}").trim().to_owned())
}

/// As systemd-detect-virt does: marker files first, then the first process's environment and its groups.
fn container(tree: &SystemTree) -> Result<String, Unavailable> {
    if let Ok(kind) = tree.text("run/systemd/container") {
        return Ok(kind);
    }
    if tree.exists("run/.containerenv") {
        return Ok("podman".to_owned());
    }
    if tree.exists(".dockerenv") {
        return Ok("docker".to_owned());
    }
    let groups = tree.text("proc/1/cgroup")?;
    let by_group = [
        ("kubepods", "kubernetes"),
        ("docker", "docker"),
        ("libpod", "podman"),
        ("lxc", "lxc"),
    ];
    if let Some((_, kind)) = by_group.iter().find(|(mark, _)| groups.contains(mark)) {
        return Ok((*kind).to_owned());
    }
    let variables = tree.bytes("proc/1/environ")?;
    let kind = variables
        .split(|&byte| byte == 0)
        .find_map(|variable| variable.strip_prefix(b"container="));
    Ok(kind.map_or_else(
        || "none".to_owned(),
        |kind| String::from_utf8_lossy(kind).into_owned(),
    ))
}
