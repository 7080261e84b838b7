//! The environment from directory trees made for the purpose, and from this machine.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;
use tempfile::TempDir;

use super::storage::Device;
use super::{Environment, Pressure, group_memory_bytes};
use crate::block_device::BlockDevice;
use crate::reading::Reading;
use crate::system_tree::SystemTree;

/// A tree with these files, as (path, content).
fn tree_of(files: &[(&str, &str)]) -> (TempDir, SystemTree) {
    let directory = TempDir::new().unwrap();
    for (path, content) in files {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let tree = SystemTree::at(directory.path());
    (directory, tree)
}

/// Every path to a value in a JSON tree; readings without value count as one.
fn field_names(value: &Value, prefix: &str, names: &mut Vec<String>) {
    match value {
        Value::Object(fields) if !fields.contains_key("unavailable") => {
            for (name, content) in fields {
                field_names(content, &format!("{prefix}/{name}"), names);
            }
        }
        _ => names.push(prefix.to_owned()),
    }
}

/// The value at a JSON pointer.
fn at(environment: &Environment, pointer: &str) -> Value {
    serde_json::to_value(environment)
        .unwrap()
        .pointer(pointer)
        .cloned()
        .unwrap_or(Value::Null)
}

#[test]
fn this_machine_reads_back_from_json_as_the_same() {
    let environment = Environment::read(Path::new("/"));
    let json = serde_json::to_string(&environment).unwrap();
    assert_eq!(serde_json::from_str::<Environment>(&json).unwrap(), environment);
    assert!(
        environment
            .memory
            .total_bytes
            .known()
            .is_some_and(|&bytes| bytes > 1 << 20)
    );
    assert!(
        environment
            .cpu
            .allowed_cpu_count
            .known()
            .is_some_and(|&count| count >= 1)
    );
    assert!(environment.storage.filesystem.known().is_some());
}

#[test]
fn a_machine_that_tells_nothing_still_has_every_field_with_a_reason() {
    let (_directory, tree) = tree_of(&[]);
    let environment = Environment::read_in(&tree, Path::new("/no/such/path"));
    let value = serde_json::to_value(&environment).unwrap();
    let mut names = Vec::new();
    field_names(&value, "", &mut names);
    for name in names.iter().filter(|name| {
        ["/memory/", "/load/", "/storage/filesystem", "/storage/device"]
            .iter()
            .any(|part| name.starts_with(part))
    }) {
        let reason = value
            .pointer(&format!("{name}/unavailable"))
            .and_then(Value::as_str);
        assert!(
            reason.is_some_and(|reason| reason.len() > 10),
            "{name}: {reason:?}"
        );
    }
    assert!(names.len() > 35, "{names:?}");
    assert_eq!(serde_json::from_value::<Environment>(value).unwrap(), environment);
}

#[test]
fn the_processor_is_read_from_cpuinfo_and_sys() {
    let cpu = "physical id\t: 0\ncore id\t\t: 0\nmodel name\t: Test CPU: fast\nflags\t\t: fpu avx2 constant_tsc\n\n\
               physical id\t: 0\ncore id\t\t: 1\n\nphysical id\t: 1\ncore id\t\t: 0\n\nphysical id\t: 1\ncore id\t\t: 0\n";
    let (_directory, tree) = tree_of(&[
        ("proc/cpuinfo", cpu),
        ("sys/devices/system/cpu/online", "0-2,5\n"),
        (
            "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
            "powersave\n",
        ),
        ("sys/devices/system/cpu/cpu0/cache/index3/level", "3\n"),
        ("sys/devices/system/cpu/cpu0/cache/index3/type", "Unified\n"),
        ("sys/devices/system/cpu/cpu0/cache/index3/size", "32768K\n"),
        (
            "sys/devices/system/cpu/cpu0/cache/index3/shared_cpu_list",
            "0-3\n",
        ),
    ]);
    let environment = Environment::read_in(&tree, Path::new("/"));
    assert_eq!(environment.cpu.model, Reading::Known("Test CPU: fast".to_owned()));
    assert_eq!(environment.cpu.online_cpu_count, Reading::Known(4));
    assert_eq!(environment.cpu.core_count, Reading::Known(3));
    assert_eq!(environment.cpu.package_count, Reading::Known(2));
    assert_eq!(environment.cpu.has_feature("avx2"), Some(true));
    assert_eq!(environment.cpu.has_feature("nonstop_tsc"), Some(false));
    assert_eq!(environment.cpu.caches.known().unwrap()[0].size_bytes, 32 << 20);
    assert_eq!(
        environment.virtualisation.hypervisor,
        Reading::Known("none".to_owned())
    );
    let warnings = environment.warnings().join("\n");
    assert!(warnings.contains("`powersave`"), "{warnings}");
    assert!(!warnings.contains("no constant_tsc"), "{warnings}");
    assert_eq!(
        warnings.contains("no nonstop_tsc"),
        environment.kernel.architecture == "x86_64"
    );
}

#[test]
fn boot_options_that_do_not_change_performance_are_left_out() {
    let line = "root=/dev/sda1 mitigations=off token=SECRET nvme.poll_queues=4 ip=10.0.0.1 nosmt -- --idle=SECRET idle=SECRET";
    let (_directory, tree) = tree_of(&[("proc/cmdline", line)]);
    let environment = Environment::read_in(&tree, Path::new("/"));
    let expected = ["mitigations=off", "nvme.poll_queues=4", "nosmt"]
        .map(str::to_owned)
        .to_vec();
    assert_eq!(environment.kernel.boot_options, Reading::Known(expected));
}

#[test]
fn load_and_pressure_are_read_and_warned_of() {
    let (_directory, tree) = tree_of(&[
        ("proc/loadavg", "3.25 1.50 0.75 2/345 6789\n"),
        (
            "proc/pressure/io",
            "some avg10=12.50 avg60=0.15 avg300=0.19 total=1\nfull avg10=7.25 avg60=0.00 avg300=0.00 total=0\n",
        ),
        (
            "proc/pressure/cpu",
            "some avg10=0.00 avg60=1.25 avg300=0.19 total=1\n",
        ),
        ("sys/devices/system/cpu/online", "0-3\n"),
    ]);
    let environment = Environment::read_in(&tree, Path::new("/"));
    assert_eq!(environment.load.average, Reading::Known([3.25, 1.5, 0.75]));
    let io = Pressure {
        some_10s_percent: 12.5,
        some_60s_percent: 0.15,
        full_10s_percent: Some(7.25),
    };
    assert_eq!(environment.load.io_pressure, Reading::Known(io));
    assert_eq!(
        at(&environment, "/load/cpu_pressure/full_10s_percent"),
        Value::Null
    );
    let warnings = environment.warnings().join("\n");
    assert!(warnings.contains("load average is 3.25 on 4 CPUs"), "{warnings}");
    assert!(
        warnings.contains("waited for I/O during 12.5 %") && !warnings.contains("waited for a CPU"),
        "{warnings}"
    );
}

#[test]
fn control_group_limits_are_read_in_both_versions() {
    let (_directory, second) = tree_of(&[
        ("proc/self/cgroup", "0::/app.slice/x\n"),
        ("sys/fs/cgroup/cgroup.controllers", "cpu io memory\n"),
        ("sys/fs/cgroup/app.slice/x/cpu.max", "200000 100000\n"),
        ("sys/fs/cgroup/app.slice/cpu.max", "max 100000\n"),
        ("sys/fs/cgroup/app.slice/x/memory.max", "max\n"),
    ]);
    let environment = Environment::read_in(&second, Path::new("/"));
    assert_eq!(at(&environment, "/limits/control_group/version"), 2);
    assert_eq!(at(&environment, "/limits/control_group/cpu"), "200000 100000");
    assert_eq!(at(&environment, "/limits/control_group/memory"), "max");
    assert!(at(&environment, "/limits/control_group/io/unavailable").is_string());

    let (_directory, first) = tree_of(&[
        ("proc/self/cgroup", "4:memory:/jobs/a\n1:cpu,cpuacct:/\n"),
        ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
        ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
        ("sys/fs/cgroup/memory/jobs/a/memory.limit_in_bytes", "1048576\n"),
    ]);
    let environment = Environment::read_in(&first, Path::new("/"));
    assert_eq!(at(&environment, "/limits/control_group/version"), 1);
    assert_eq!(at(&environment, "/limits/control_group/cpu"), "max");
    assert_eq!(at(&environment, "/limits/control_group/memory"), "1048576");
    assert_eq!(group_memory_bytes(&second), None);
    let (_directory, below) = tree_of(&[
        ("proc/self/cgroup", "0::/app.slice/x\n"),
        ("sys/fs/cgroup/cgroup.controllers", "cpu memory\n"),
        ("sys/fs/cgroup/app.slice/cpu.max", "150000 100000\n"),
        ("sys/fs/cgroup/app.slice/x/cpu.max", "max 100000\n"),
        ("sys/fs/cgroup/app.slice/memory.max", "2097152\n"),
        ("sys/fs/cgroup/app.slice/x/memory.max", "4194304\n"),
    ]);
    assert_eq!(group_memory_bytes(&below), Some(2 << 20));
    let environment = Environment::read_in(&below, Path::new("/"));
    assert_eq!(at(&environment, "/limits/control_group/cpu"), "150000 100000");
    let group = environment.limits.control_group.known().expect("it was read");
    assert_eq!(group.cpu_quota(), Some(1.5));
    assert_eq!(group_memory_bytes(&first), Some(1 << 20));
}

#[test]
fn containers_are_recognised_by_their_marks() {
    let container = |files: &[(&str, &str)]| {
        let (_directory, tree) = tree_of(files);
        at(
            &Environment::read_in(&tree, Path::new("/")),
            "/virtualisation/container",
        )
    };
    let host = ("proc/1/cgroup", "0::/init.scope\n");
    assert_eq!(
        container(&[("run/systemd/container", "systemd-nspawn\n"), host]),
        "systemd-nspawn"
    );
    assert_eq!(container(&[(".dockerenv", ""), host]), "docker");
    assert_eq!(container(&[("run/.containerenv", ""), host]), "podman");
    assert_eq!(
        container(&[("proc/1/cgroup", "1:cpu:/kubepods/x\n")]),
        "kubernetes"
    );
    assert_eq!(
        container(&[host, ("proc/1/environ", "A=b\0container=lxc\0")]),
        "lxc"
    );
    assert_eq!(container(&[host, ("proc/1/environ", "A=b\0")]), "none");
    assert!(container(&[host])["unavailable"].is_string());
}

#[test]
fn a_partition_is_described_with_the_queue_of_its_disk_and_without_serial_numbers() {
    let disk = "sys/devices/pci/nvme0n1";
    let file = |name: &str| format!("{disk}/{name}");
    let files = [
        (file("queue/scheduler"), "mq-deadline kyber [none]\n"),
        (file("queue/nr_requests"), "1023\n"),
        (file("queue/rotational"), "0\n"),
        (file("queue/write_cache"), "write back\n"),
        (file("device/model"), "Fast Disk 1T   \n"),
        (file("device/serial"), "SECRET123\n"),
        (file("device/firmware_rev"), "\n"),
        (file("nvme0n1p2/partition"), "2\n"),
        (file("nvme0n1p2/size"), "2048\n"),
    ];
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, content)| (path.as_str(), *content))
        .collect();
    let (directory, tree) = tree_of(&files);
    fs::create_dir_all(directory.path().join("sys/dev/block")).unwrap();
    std::os::unix::fs::symlink(
        "../../devices/pci/nvme0n1/nvme0n1p2",
        directory.path().join("sys/dev/block/259:2"),
    )
    .unwrap();
    let partition = BlockDevice::numbered(&tree, "259:2".parse().unwrap()).unwrap();
    let device = Device::read(&tree, &partition);
    assert_eq!(
        (device.name.as_str(), device.disk.as_str(), device.kind.as_str()),
        ("nvme0n1p2", "nvme0n1", "partition")
    );
    assert_eq!(device.scheduler, Reading::Known("none".to_owned()));
    assert_eq!(device.nr_requests, Reading::Known(1023));
    assert_eq!(device.size_bytes, Reading::Known(1 << 20));
    assert_eq!(device.model, Reading::Known("Fast Disk 1T".to_owned()));
    assert!(device.has_serial && device.firmware.known().is_none());
    assert!(!serde_json::to_string(&device).unwrap().contains("SECRET"));
}

#[test]
fn a_description_has_a_line_for_every_field_with_units_for_people() {
    let (_directory, tree) = tree_of(&[("proc/meminfo", "MemTotal:       2048 kB\nMemAvailable: x kB\n")]);
    let environment = Environment::read_in(&tree, Path::new("/no/such/path"));
    let lines = environment.describe();
    let text = |section: &str, name: &str| {
        let line = lines.iter().find(|line| line.0 == section && line.1 == name);
        line.unwrap_or_else(|| panic!("no {section} {name} in {lines:?}"))
            .2
            .clone()
    };
    assert_eq!(text("memory", "total"), "2 MiB");
    assert!(text("memory", "available").starts_with("unavailable: "));
    assert!(text("storage", "device").contains("/no/such/path"));
    assert_eq!(text("storage", "path"), "/no/such/path");
    assert_eq!(text("run", "outcrop version"), env!("CARGO_PKG_VERSION"));
}

/// Every text file that a section parses.
const PARSED: [&str; 15] = [
    "proc/cpuinfo",
    "proc/meminfo",
    "proc/loadavg",
    "proc/pressure/cpu",
    "proc/pressure/io",
    "proc/cmdline",
    "proc/self/cgroup",
    "proc/1/cgroup",
    "proc/1/environ",
    "etc/os-release",
    "sys/devices/system/cpu/online",
    "sys/devices/system/cpu/cpu0/cache/index0/size",
    "sys/devices/system/cpu/cpu0/cache/index0/level",
    "sys/kernel/mm/transparent_hugepage/enabled",
    "proc/sys/kernel/io_uring_disabled",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn garbage_in_any_file_is_no_panic_and_no_invalid_json(
        content in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..200),
            "[a-z :=\\[\\]0-9,./\n-]{0,200}".prop_map(String::into_bytes),
            "(some|full) avg10=(NaN|inf|1e999|-1) avg60=(0|x)".prop_map(String::into_bytes),
            "[0-9]{1,20}-[0-9]{1,20}(,[0-9]{1,20}-[0-9]{1,20})?".prop_map(String::into_bytes),
            "(MemTotal|physical id|core id|flags)\t?: ?[0-9]{1,20} kB".prop_map(String::into_bytes),
        ],
    ) {
        let directory = TempDir::new().unwrap();
        for path in PARSED {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &content).unwrap();
        }
        let environment = Environment::read_in(&SystemTree::at(directory.path()), Path::new("/"));
        let json = serde_json::to_string(&environment).unwrap();
        prop_assert!(serde_json::from_str::<Environment>(&json).is_ok(), "{json}");
        prop_assert!(environment.describe().len() > 40);
        environment.warnings();
    }
}
