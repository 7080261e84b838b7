//! The results as Markdown: ours over fio's with the bars, then what each did.

use outcrop_measure::interval::{median, median_interval};

use crate::fio::HandsOver;
use crate::pass::{Pass, Placement};
use crate::{Round, Rounds};

/// What a bar asks of ours ÷ fio.
struct Bar {
    name: &'static str,
    least: f64,
    most: f64,
}

const IOPS: Bar = Bar {
    name: "IOPS",
    least: 0.97,
    most: 1.05,
};
const PROCESS: Bar = Bar {
    name: "process CPU",
    least: 0.0,
    most: 1.0,
};
const KERNEL: Bar = Bar {
    name: "kernel threads",
    least: 0.9,
    most: 1.1,
};
const BYTES: Bar = Bar {
    name: "bytes",
    least: 0.99,
    most: 1.01,
};

/// All rounds of one filesystem at one depth.
pub(crate) struct Configuration {
    pub(crate) compression: &'static str,
    pub(crate) depth: u32,
    pub(crate) hands_over: &'static [HandsOver],
    pub(crate) stored_ratio: f64,
    pub(crate) rounds: Rounds,
}

/// Ours over fio's, of each round: the median with its interval, for a round varies by more than the difference that is looked for.
struct Quotient {
    estimate: f64,
    low: f64,
    high: f64,
}

impl Quotient {
    fn of(each: &[f64]) -> Self {
        let middle = median(each).unwrap_or(f64::NAN);
        let found = median_interval(each);
        Self {
            estimate: middle,
            low: found.as_ref().map_or(middle, |found| found.low),
            high: found.as_ref().map_or(middle, |found| found.high),
        }
    }

    fn text(&self) -> String {
        format!("{:.3} ({:.3}–{:.3})", self.estimate, self.low, self.high)
    }

    /// Whether it keeps the bar; where its interval reaches the bar from outside, that is not decided.
    fn verdict(&self, bar: &Bar) -> Option<String> {
        let keeps = (bar.least..=bar.most).contains(&self.estimate);
        let reaches = self.low <= bar.most && self.high >= bar.least;
        match (keeps, reaches) {
            (true, _) => None,
            (false, true) => Some(format!("{} undecided", bar.name)),
            (false, false) => Some(format!("**{} missed**", bar.name)),
        }
    }
}

fn middle<'a>(of: impl Iterator<Item = &'a Pass>, figure: fn(&Pass) -> f64) -> f64 {
    let each: Vec<f64> = of.map(figure).collect();
    median(&each).unwrap_or(f64::NAN)
}

impl Rounds {
    /// What starting fio costs.
    fn start(&self) -> Option<Pass> {
        let one = self.starts.first()?;
        let middle = |figure| middle(self.starts.iter(), figure);
        Some(Pass {
            kernel_ns: middle(|pass| pass.kernel_ns),
            read_bytes: middle(|pass| pass.read_bytes),
            interrupts: middle(|pass| pass.interrupts),
            ..*one
        })
    }

    /// The rounds of a placement; the same with fio's start taken off: ours is counted from the first read to the last, fio from its start to
    /// its end.
    fn among(&self, is_wanted: impl Fn(Placement) -> bool) -> Vec<Round> {
        let Some(start) = self.start() else {
            return Vec::new();
        };
        let wanted = self.rounds.iter().filter(|round| is_wanted(round.placement));
        let less = |round: &Round| Round {
            placement: round.placement,
            ours: round.ours,
            fio: round.fio.iter().map(|pass| pass.less(&start)).collect(),
        };
        wanted.map(less).collect()
    }
}

/// Whether readers in a placement are meant.
type IsThere = fn(Placement) -> bool;

/// Where the readers of both tools are, and in which rounds.
const READERS: [(&str, IsThere); 2] = [
    ("on one CPU", |placement| matches!(placement, Placement::Bound(_))),
    ("free", |placement| placement == Placement::Free),
];

/// Both tables.
pub(crate) fn print(measured: &[Configuration]) {
    println!(
        "| btrfs | depth | fio hands over | readers | IOPS | process CPU | with fio's as printed | kernel-thread CPU | read for each: ours, fio | bars |"
    );
    println!("|---|---:|---|---|---:|---:|---:|---:|---:|---|");
    for configuration in measured {
        for (way, hands_over) in configuration.hands_over.iter().enumerate() {
            for (name, is_wanted) in READERS {
                let rounds = configuration.rounds.among(is_wanted);
                print_quotients(configuration, way, *hands_over, name, &rounds);
            }
        }
    }
    println!(
        "\nBars, of the rows where both readers are on one CPU: IOPS {} to {}, process CPU at most {}, CPU of kernel threads {} to {}, bytes within 1 %. \
         *Undecided*: the median misses the bar, its interval does not.\n",
        IOPS.least, IOPS.most, PROCESS.most, KERNEL.least, KERNEL.most
    );
    print_figures(measured);
}

/// One row: ours over fio's in the same round.
fn print_quotients(
    configuration: &Configuration,
    way: usize,
    hands_over: HandsOver,
    readers: &str,
    rounds: &[Round],
) {
    let quotient = |ours: fn(&Pass) -> f64, theirs: fn(&Pass) -> f64| {
        let each: Vec<f64> = rounds
            .iter()
            .map(|round| ours(&round.ours) / theirs(&round.fio[way]))
            .collect();
        Quotient::of(&each)
    };
    let iops = quotient(|pass| pass.iops, |pass| pass.iops);
    let process = quotient(Pass::process_us, Pass::process_us);
    let printed = quotient(Pass::process_us, Pass::printed_us);
    let kernel = quotient(Pass::kernel_us, Pass::kernel_us);
    let bytes = quotient(Pass::amplification, Pass::amplification);
    let missed = [
        iops.verdict(&IOPS),
        process.verdict(&PROCESS),
        kernel.verdict(&KERNEL),
        bytes.verdict(&BYTES),
    ];
    let missed: Vec<String> = missed.into_iter().flatten().collect();
    println!(
        "| {} | {} | {} | {readers} | {} | {} | {:.3} | {} | {:.3}, {:.3} | {} |",
        configuration.compression,
        configuration.depth,
        spelled(configuration.depth, hands_over),
        iops.text(),
        process.text(),
        printed.estimate,
        kernel.text(),
        middle(rounds.iter().map(|round| &round.ours), Pass::amplification),
        middle(rounds.iter().map(|round| &round.fio[way]), Pass::amplification),
        if missed.is_empty() {
            "all kept".to_owned()
        } else {
            missed.join(", ")
        }
    );
}

const fn spelled(depth: u32, hands_over: HandsOver) -> &'static str {
    match hands_over {
        _ if depth == 1 => "–",
        HandsOver::OneByOne => "one by one",
        HandsOver::InGroups => "in groups",
    }
}

/// What each did, by where its reader was.
fn print_figures(measured: &[Configuration]) {
    let Some(rounds) = measured.first().map(|first| &first.rounds.rounds) else {
        return;
    };
    let mut placements: Vec<Placement> = Vec::new();
    for round in rounds {
        if !placements.contains(&round.placement) {
            placements.push(round.placement);
        }
    }
    let names: Vec<String> = placements
        .iter()
        .map(|placement| match placement {
            Placement::Bound(cpu) => format!("CPU {cpu}"),
            Placement::Free => "free".to_owned(),
        })
        .collect();
    println!("Medians by where the reader was ({}):\n", names.join(", "));
    println!(
        "| btrfs | stored ratio | depth | | IOPS | process CPU, µs | kernel-thread CPU, µs | interrupts between CPUs for each read | start of fio, ms of kernel threads |"
    );
    println!("|---|---:|---:|---|---:|---:|---:|---:|---:|");
    for configuration in measured {
        let rounds = &configuration.rounds;
        let start_ms = rounds.start().map_or(f64::NAN, |start| start.kernel_ns / 1e6);
        for tool in 0..=configuration.hands_over.len() {
            let figure = |of: fn(&Pass) -> f64, digits: usize| {
                let each = placements.iter().map(|placement| {
                    let among = rounds.among(|one| one == *placement);
                    let passes = among.iter().map(|round| match tool.checked_sub(1) {
                        None => &round.ours,
                        Some(way) => &round.fio[way],
                    });
                    format!("{:.digits$}", middle(passes, of))
                });
                each.collect::<Vec<_>>().join(", ")
            };
            let name = match tool.checked_sub(1).map(|way| configuration.hands_over[way]) {
                None => "ours".to_owned(),
                Some(_) if configuration.depth == 1 => "fio".to_owned(),
                Some(way) => format!("fio, {}", spelled(configuration.depth, way)),
            };
            println!(
                "| {} | {:.3} | {} | {name} | {} | {} | {} | {} | {start_ms:.1} |",
                configuration.compression,
                configuration.stored_ratio,
                configuration.depth,
                figure(|pass| pass.iops, 0),
                figure(Pass::process_us, 1),
                figure(Pass::kernel_us, 1),
                figure(Pass::interrupts_each, 2),
            );
        }
    }
}
