//! What else the machine is doing: load average and pressure stall information.

use outcrop_measure::metric::Unavailable;
use serde::{Deserialize, Serialize};

use crate::reading::Reading;
use crate::system_tree::SystemTree;

/// Load at the time of reading; our own share of it included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Tasks that ran or waited, on average over 1, 5 and 15 minutes.
    pub average: Reading<[f64; 3]>,
    /// Tasks that waited for a CPU.
    pub cpu_pressure: Reading<Pressure>,
    /// Tasks that waited for I/O.
    pub io_pressure: Reading<Pressure>,
    /// Tasks that waited for memory.
    pub memory_pressure: Reading<Pressure>,
}

/// Share of wall time, in per cent, in which tasks were stalled for want of a resource.
///
/// *Source*: Linux, Documentation/accounting/psi.rst.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pressure {
    /// At least one task stalled, over 10 s.
    pub some_10s_percent: f64,
    /// At least one task stalled, over 60 s.
    pub some_60s_percent: f64,
    /// All tasks stalled at once, over 10 s; kernels before 5.13 do not give it for CPU.
    pub full_10s_percent: Option<f64>,
}

impl Load {
    pub(super) fn read(tree: &SystemTree) -> Self {
        let pressure = |resource: &str| -> Reading<Pressure> {
            let path = format!("proc/pressure/{resource}");
            tree.text(&path)
                .and_then(|text| {
                    parse_pressure(&text)
                        .ok_or_else(|| Unavailable::because(format!("/{path} is not in the known form")))
                })
                .into()
        };
        Self {
            average: tree
                .text("proc/loadavg")
                .and_then(|text| parse_average(&text))
                .into(),
            cpu_pressure: pressure("cpu"),
            io_pressure: pressure("io"),
            memory_pressure: pressure("memory"),
        }
    }
}

fn parse_average(text: &str) -> Result<[f64; 3], Unavailable> {
    let mut numbers = text.split_ascii_whitespace().map(finite);
    let mut next = || numbers.next().flatten();
    let average = (|| Some([next()?, next()?, next()?]))();
    average.ok_or_else(|| Unavailable::because("/proc/loadavg is not in the known form"))
}

/// `some avg10=0.02 avg60=0.15 avg300=0.19 total=18139404`, then the same for `full`.
fn parse_pressure(text: &str) -> Option<Pressure> {
    let value = |line_name: &str, key: &str| {
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(line_name)?.strip_prefix(' '))?;
        line.split_ascii_whitespace()
            .find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='))
            .and_then(finite)
    };
    Some(Pressure {
        some_10s_percent: value("some", "avg10")?,
        some_60s_percent: value("some", "avg60")?,
        full_10s_percent: value("full", "avg10"),
    })
}

/// JSON has no other numbers.
fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}
