//! Prints how often a clear answer of a race is wrong in simulated runs, and how often equal effort finds one with as many trials.
//!
//! `cargo run --release -p outcrop-measure --example race_errors [RUNS [TRIALS [SEED]]]`

#[path = "../tests/main/simulated_races.rs"]
mod simulated_races;

use std::io::Write as _;

use outcrop_measure::Seed;
use simulated_races::{NOISES, SCENARIOS, counts};

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args()
        .skip(1)
        .filter_map(|text| text.parse::<u64>().ok());
    let runs = arguments.next().unwrap_or(1000);
    let trials = arguments.next().unwrap_or(150);
    let seed = Seed(arguments.next().unwrap_or(1));
    let most = usize::try_from(trials).unwrap_or(usize::MAX);
    let mut out = std::io::stdout().lock();
    writeln!(out, "{runs} runs a row, {trials} trials at most, seed {seed}\n")?;
    writeln!(
        out,
        "| truth | noise | doubt: clear | wrong | trials | equal effort: clear | wrong |\n|---|---|---:|---:|---:|---:|---:|"
    )?;
    let percent = |count: usize| count as f64 / runs as f64 * 100.0;
    for scenario in SCENARIOS {
        for noise in NOISES {
            let (clear, wrong, used) = counts(runs, seed, |seed| scenario.race(noise, seed, most));
            let (equal, equal_wrong, _) = counts(runs, seed, |seed| scenario.equal_effort(noise, seed, most));
            writeln!(
                out,
                "| {} | {noise:?} | {:.1} % | {:.1} % | {used:.0} | {:.1} % | {:.1} % |",
                scenario.name,
                percent(clear),
                percent(wrong),
                percent(equal),
                percent(equal_wrong)
            )?;
        }
    }
    Ok(())
}
