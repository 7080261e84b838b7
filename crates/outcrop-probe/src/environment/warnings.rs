//! What about this machine disturbs a measurement, in sentences with what to do about it.

use super::{Environment, Limit};
use crate::filesystem::Filesystem;
use crate::reading::Reading;

/// Above this share of stalled time, other work competes with the measurement.
const PRESSURE_PERCENT: f64 = 5.0;
/// io_uring with registered buffers wants at least this much.
const LOCKED_MEMORY_BYTES: u64 = 64 << 20;

impl Environment {
    /// What disturbs measurements here; empty on a quiet, well set-up machine. A field that could not be read
    /// warns of nothing: its reason stands in the environment.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        self.warn_of_load(&mut warnings);
        self.warn_of_cpu(&mut warnings);
        self.warn_of_limits(&mut warnings);
        self.warn_of_storage(&mut warnings);
        warnings
    }

    /// The load average and the number of CPUs, where other work has so much of them that it disturbs measurements.
    pub fn other_load(&self) -> Option<(f64, u64)> {
        let (average, cpus) = (self.load.average.known()?[0], *self.cpu.online_cpu_count.known()?);
        (average > cpus as f64 / 2.0).then_some((average, cpus))
    }

    fn warn_of_load(&self, warnings: &mut Vec<String>) {
        if let Some((average, cpus)) = self.other_load() {
            warnings.push(format!(
                "the load average is {average:.2} on {cpus} CPUs: other work is running; stop it or expect wide intervals"
            ));
        }
        let pressures = [
            ("a CPU", &self.load.cpu_pressure),
            ("I/O", &self.load.io_pressure),
            ("memory", &self.load.memory_pressure),
        ];
        for (resource, pressure) in pressures {
            if let Some(pressure) = pressure.known()
                && pressure.some_10s_percent > PRESSURE_PERCENT
            {
                warnings.push(format!(
                    "tasks waited for {resource} during {} % of the last 10 s: other work is running",
                    pressure.some_10s_percent
                ));
            }
        }
    }

    fn warn_of_cpu(&self, warnings: &mut Vec<String>) {
        if let Some(governor) = self.cpu.frequency_governor.known()
            && governor != "performance"
        {
            warnings.push(format!(
                "the CPU frequency governor is `{governor}`, so latency depends on recent load; \
                 try `cpupower frequency-set -g performance`"
            ));
        }
        for (feature, meaning) in [
            ("constant_tsc", "changes its rate with the CPU's frequency"),
            ("nonstop_tsc", "stops in idle states"),
        ] {
            if self.kernel.architecture == "x86_64" && self.cpu.has_feature(feature) == Some(false) {
                warnings.push(format!(
                    "this CPU has no {feature}: its time-stamp counter {meaning}, so timing costs more or is less exact"
                ));
            }
        }
        if let Some(hypervisor) = self.hypervisor() {
            warnings.push(format!(
                "this is a virtual machine ({hypervisor}): other guests share the host's CPUs and storage, the host may cache writes, and energy is unavailable"
            ));
        }
    }

    /// The hypervisor, where one is known to be there.
    fn hypervisor(&self) -> Option<&str> {
        self.virtualisation
            .hypervisor
            .known()
            .map(String::as_str)
            .filter(|&name| name != "none")
    }

    fn warn_of_limits(&self, warnings: &mut Vec<String>) {
        if let Limit::AtMost(bytes) = self.limits.locked_memory_bytes
            && !self.limits.runs_as_root
            && bytes < LOCKED_MEMORY_BYTES
        {
            warnings.push(format!(
                "RLIMIT_MEMLOCK is {bytes} B: io_uring may have to work without registered buffers; try `ulimit -l unlimited`"
            ));
        }
        match self.kernel.io_uring_disabled.known() {
            Some(1) => warnings
                .push("only one group may use io_uring; try `sysctl kernel.io_uring_disabled=0`".to_owned()),
            Some(2) => {
                warnings.push("io_uring is disabled; try `sysctl kernel.io_uring_disabled=0`".to_owned());
            }
            _ => {}
        }
    }

    fn warn_of_storage(&self, warnings: &mut Vec<String>) {
        if let Some(filesystem) = self.storage.filesystem.known() {
            warn_of_filesystem(filesystem, warnings);
        }
        if let Some(device) = self.storage.device.known() {
            if matches!(
                device.kind.as_str(),
                "loop" | "zram" | "ram disk" | "device-mapper" | "md"
            ) {
                let is_buffered = device.loop_direct_io == Some(Reading::Known(false));
                let meaning = if is_buffered {
                    "it was attached without direct I/O, so the page cache of its file's filesystem answers instead"
                } else {
                    "measurements include the layer below it"
                };
                let (name, kind) = (&device.name, &device.kind);
                warnings.push(format!("{name} is a virtual device ({kind}): {meaning}"));
            }
            // Virtual disks say so whatever they stand on.
            let is_virtual_machine = self.hypervisor().is_some();
            if device.rotational.known() == Some(&true) && device.kind == "disk" && !is_virtual_machine {
                warnings.push(format!("{} reports a rotating disk", device.name));
            }
        }
    }
}

fn warn_of_filesystem(filesystem: &Filesystem, warnings: &mut Vec<String>) {
    let Filesystem {
        available_bytes,
        total_bytes,
        ..
    } = *filesystem;
    let place = filesystem.mount_point.display();
    if available_bytes < total_bytes / 10 {
        let percent = available_bytes as f64 / total_bytes.max(1) as f64 * 100.0;
        warnings.push(format!(
            "only {percent:.1} % of the filesystem at {place} is free: allocation, and a drive without spare \
             space, are slower than usual"
        ));
    }
    if matches!(filesystem.type_name.as_str(), "tmpfs" | "ramfs") {
        warnings.push(format!(
            "{place} is a {}: it is in memory and is not a storage device",
            filesystem.type_name
        ));
    }
}
