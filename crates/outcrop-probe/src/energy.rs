//! Energy used by the CPU packages, as the powercap framework (Intel and AMD RAPL) counts it.
//!
//! *Source*: Linux, Documentation/power/powercap/powercap.rst.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use outcrop_measure::metric::Unavailable;
use serde::{Deserialize, Serialize};

/// An amount of energy.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
pub struct Joules(pub f64);

/// Measures from `start` to `stop`.
///
/// The counters wrap, some within minutes under full load (262 kJ at 200 W: 22 minutes). One wrap
/// between two readings is allowed for; call [`Meter::sample`] at least that often in longer spans.
#[derive(Debug)]
pub struct Meter {
    domains: Vec<Domain>,
}

/// What the meter saw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnergyReport {
    /// CPU packages and, where it is counted, their memory: together, without counting anything twice.
    pub total: Joules,
    /// Every domain by its name, parts of packages (`core`, `uncore`) and the whole platform (`psys`) too.
    pub domains: Vec<DomainEnergy>,
}

/// The energy of one domain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DomainEnergy {
    /// The framework's name (`package-0`, `package-0/dram`).
    pub name: String,
    /// Energy used between start and stop.
    pub energy: Joules,
}

#[derive(Debug)]
struct Domain {
    directory: PathBuf,
    name: String,
    is_in_total: bool,
    range_uj: u64,
    last_uj: u64,
    used_uj: u64,
}

impl Meter {
    /// Starts to measure this machine.
    ///
    /// # Errors
    /// It has no such counters (virtual machines do not), or only root may read them.
    pub fn start() -> Result<Self, Unavailable> {
        Self::start_at(Path::new("/sys/class/powercap"))
    }

    /// Starts with the powercap directory at `root`.
    ///
    /// # Errors
    /// As [`Meter::start`]; also counters that are not numbers.
    pub fn start_at(root: &Path) -> Result<Self, Unavailable> {
        let entries = fs::read_dir(root).map_err(|error| no_source(root, &error))?;
        let mut directories: Vec<PathBuf> = Vec::new();
        for entry in entries {
            directories.push(entry.map_err(|error| no_source(root, &error))?.path());
        }
        directories.sort();
        let mut domains = Vec::new();
        for directory in &directories {
            domains.extend(Domain::open(directory)?);
        }
        if !domains.iter().any(|domain| domain.is_in_total) {
            return Err(Unavailable::because(format!(
                "{} lists no CPU package with an energy counter",
                root.display()
            )));
        }
        Ok(Self { domains })
    }

    /// Reads the counters in between, so that none wraps twice unseen.
    ///
    /// # Errors
    /// A counter can no longer be read.
    pub fn sample(&mut self) -> Result<(), Unavailable> {
        self.domains.iter_mut().try_for_each(Domain::advance)
    }

    /// Stops, and says what was used since the start.
    ///
    /// # Errors
    /// A counter can no longer be read.
    pub fn stop(mut self) -> Result<EnergyReport, Unavailable> {
        self.sample()?;
        let total_uj: u64 = self
            .domains
            .iter()
            .filter(|domain| domain.is_in_total)
            .map(|domain| domain.used_uj)
            .sum();
        let domains = self.domains.iter().map(Domain::report).collect();
        Ok(EnergyReport {
            total: joules(total_uj),
            domains,
        })
    }
}

impl Domain {
    /// The domain in a directory such as `intel-rapl:0` or `intel-rapl:0:1`; nothing if it is no domain, or
    /// one that repeats another.
    fn open(directory: &Path) -> Result<Option<Self>, Unavailable> {
        let Some(path) = directory.file_name().and_then(|name| name.to_str()) else {
            return Ok(None);
        };
        // The same package appears a second time through its memory-mapped interface (`intel-rapl-mmio:0`).
        let Some((control_type, indices)) = path.split_once(':') else {
            return Ok(None);
        };
        if control_type.ends_with("-mmio") || !directory.join("energy_uj").exists() {
            return Ok(None);
        }
        let own_name = text(&directory.join("name"))?;
        let is_part = indices.contains(':');
        let name = if is_part {
            let parent = directory.with_file_name(format!("{control_type}:{}", first_index(indices)));
            format!("{}/{own_name}", text(&parent.join("name"))?)
        } else {
            own_name.clone()
        };
        // `core` and `uncore` are inside their package, and `psys` holds all packages; memory is in neither.
        let is_in_total = if is_part {
            own_name == "dram"
        } else {
            own_name.starts_with("package")
        };
        let range_uj = number(&directory.join("max_energy_range_uj"))?;
        let last_uj = number(&directory.join("energy_uj"))?;
        Ok(Some(Self {
            directory: directory.to_owned(),
            name,
            is_in_total,
            range_uj,
            last_uj,
            used_uj: 0,
        }))
    }

    fn advance(&mut self) -> Result<(), Unavailable> {
        let now_uj = number(&self.directory.join("energy_uj"))?;
        self.used_uj = self
            .used_uj
            .saturating_add(difference_uj(self.last_uj, now_uj, self.range_uj)?);
        self.last_uj = now_uj;
        Ok(())
    }

    fn report(&self) -> DomainEnergy {
        DomainEnergy {
            name: self.name.clone(),
            energy: joules(self.used_uj),
        }
    }
}

/// The counter runs from 0 to `range_uj` and then from 0 again.
fn difference_uj(earlier_uj: u64, later_uj: u64, range_uj: u64) -> Result<u64, Unavailable> {
    if later_uj >= earlier_uj {
        return Ok(later_uj - earlier_uj);
    }
    match range_uj.checked_sub(earlier_uj) {
        Some(to_the_end) => Ok(to_the_end.saturating_add(later_uj)),
        None => Err(Unavailable::because(format!(
            "an energy counter went from {earlier_uj} back to {later_uj} µJ, beyond its range of {range_uj} µJ"
        ))),
    }
}

fn joules(microjoules: u64) -> Joules {
    Joules(microjoules as f64 / 1e6)
}

fn first_index(indices: &str) -> &str {
    indices.split(':').next().unwrap_or(indices)
}

fn number(path: &Path) -> Result<u64, Unavailable> {
    let text = text(path)?;
    text.parse().map_err(|_| {
        Unavailable::because(format!(
            "{} holds `{}`, which is not a number",
            path.display(),
            crate::system_tree::excerpt(&text)
        ))
    })
}

fn text(path: &Path) -> Result<String, Unavailable> {
    let bytes = fs::read(path).map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => Unavailable::because(format!(
            "no permission to read {}; run as root, or run `chmod a+r {}` once",
            path.display(),
            path.display()
        )),
        _ => Unavailable::because(format!("{} cannot be read: {error}", path.display())),
    })?;
    Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
}

fn no_source(root: &Path, error: &io::Error) -> Unavailable {
    match error.kind() {
        io::ErrorKind::NotFound => Unavailable::because(format!(
            "this machine has no energy counters ({} is missing: a virtual machine, or a CPU without RAPL)",
            root.display()
        )),
        _ => Unavailable::because(format!("{} cannot be read: {error}", root.display())),
    }
}
