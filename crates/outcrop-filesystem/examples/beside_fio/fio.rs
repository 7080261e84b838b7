//! fio over the offsets of a pass, from a log.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use outcrop_filesystem::{JobSpec, Prepared};
use outcrop_measure::seed::Seed;

use crate::pass::{Pass, Placement, interrupts};

/// fio cuts user time and system time to whole milliseconds: on average it loses half of one each.
const CUT_NS: f64 = 1e6;

/// How fio hands requests to the kernel and takes back what has completed.
#[derive(Clone, Copy)]
pub(crate) enum HandsOver {
    /// A system call for each, as it does unless told otherwise.
    OneByOne,
    /// All that there is room for at once, and all that have completed, as ours does.
    InGroups,
}

impl HandsOver {
    /// What there is to compare at a depth.
    pub(crate) const fn of_depth(depth: u32) -> &'static [Self] {
        if depth > 1 {
            &[Self::OneByOne, Self::InGroups]
        } else {
            &[Self::OneByOne]
        }
    }
}

/// fio on the file of a prepared filesystem.
pub(crate) struct Fio<'a> {
    pub(crate) prepared: &'a Prepared<'a>,
    pub(crate) path: &'a Path,
    pub(crate) spec: &'a JobSpec,
    pub(crate) directory: &'a Path,
    pub(crate) hands_over: HandsOver,
    pub(crate) placement: Placement,
}

impl Fio<'_> {
    /// One pass over the same offsets as ours, or the first few of them.
    pub(crate) fn pass(&self, most: usize, seed: Seed) -> Result<Pass, Box<dyn Error>> {
        let mut offsets = self.prepared.offsets(seed);
        offsets.truncate(most);
        let path = self.path.display();
        let mut log = format!("fio version 2 iolog\n{path} add\n{path} open\n");
        for offset in &offsets {
            writeln!(log, "{path} read {offset} {}", self.spec.io_block_bytes)?;
        }
        writeln!(log, "{path} close")?;
        let place = tempfile::NamedTempFile::new_in(self.directory)?;
        std::fs::write(place.path(), log)?;
        let mut command = self.command(place.path());
        let before = interrupts();
        let (output, costs) = self.prepared.costs_of(|| command.output());
        let interrupts = interrupts() - before;
        let output = output?;
        let text = String::from_utf8_lossy(&output.stdout);
        let number = |name: &str| number(&text, name);
        let runtime_ns = number("job_runtime")? * 1e6;
        let cpu_percent = number("usr_cpu")? + number("sys_cpu")?;
        let printed_ns = runtime_ns * cpu_percent / 100.0;
        Pass::of(
            number("iops")?,
            offsets.len() as u64,
            (printed_ns + CUT_NS, printed_ns),
            (&costs, interrupts),
        )
    }

    fn command(&self, log: &Path) -> Command {
        let depth = self.spec.queue_depth;
        let engine = if depth > 1 { "io_uring" } else { "psync" };
        let mut command = Command::new("fio");
        command
            .args([
                "--name=beside",
                "--readonly",
                "--fadvise_hint=random",
                "--replay_no_stall=1",
            ])
            .arg("--output-format=json")
            .arg(format!("--read_iolog={}", log.display()))
            .arg(format!("--ioengine={engine}"))
            .arg(format!("--iodepth={depth}"));
        if matches!(self.hands_over, HandsOver::InGroups) {
            command
                .arg(format!("--iodepth_batch_submit={depth}"))
                .arg("--iodepth_batch_complete_min=1")
                .arg(format!("--iodepth_batch_complete_max={depth}"));
        }
        if let Placement::Bound(cpu) = self.placement {
            command.arg(format!("--cpus_allowed={cpu}"));
        }
        command
    }
}

/// The first number of that name in fio's JSON.
fn number(text: &str, name: &str) -> Result<f64, Box<dyn Error>> {
    let after = text.split(&format!("\"{name}\" : ")).nth(1);
    let after = after.ok_or_else(|| format!("fio says no {name}: {text}"))?;
    let digits = after.split(|c: char| !(c.is_ascii_digit() || c == '.')).next();
    Ok(digits.unwrap_or_default().parse()?)
}
