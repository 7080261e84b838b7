//! How skewed the request distributions of stores are: the share of requests that the most popular keys get.
//!
//! `cargo run --release -p outcrop-workload --example request_skew -- 1000000`

#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use outcrop_workload::keyed::ycsb::{THETA, fnv64};

const SCRAMBLED_ITEMS: f64 = 1e10;
/// Σ 1/k^0.99 over 10¹⁰ items, as YCSB has it.
const SCRAMBLED_ZETA: f64 = 26.469_028_201_783_02;
/// Ranks that are folded one by one; all others together get less than a fifth of the requests, spread evenly.
const SINGLE_RANKS: u64 = 200_000_000;

fn main() {
    let records: u64 = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(1_000_000);
    let weights: Vec<f64> = (1..=records).map(|rank| (rank as f64).powf(-THETA)).collect();
    let sum: f64 = weights.iter().sum();
    let plain: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
    print_shares("zipf:0.99", &plain);

    let zeta_of_two = 1.0 + 0.5_f64.powf(THETA);
    let eta = (1.0 - (2.0 / SCRAMBLED_ITEMS).powf(1.0 - THETA)) / (1.0 - zeta_of_two / SCRAMBLED_ZETA);
    // Draws below this give ranks below `rank`: the inverse of Gray's method.
    let draw_of = |rank: u64| match rank {
        0 => 0.0,
        1 => 1.0 / SCRAMBLED_ZETA,
        rank => ((rank as f64 / SCRAMBLED_ITEMS).powf(1.0 - THETA) - 1.0 + eta) / eta,
    };
    let rest = 1.0 - draw_of(SINGLE_RANKS);
    let mut shares = vec![rest / records as f64; records as usize];
    let mut from = 0.0;
    for rank in 0..SINGLE_RANKS {
        let to = draw_of(rank + 1);
        shares[(fnv64(rank) % records) as usize] += to - from;
        from = to;
    }
    shares.sort_by(|one, other| other.total_cmp(one));
    print_shares("zipfian", &shares);
}

/// Prints the shares of the top key, 0.1 %, 1 %, 10 % and 50 %; the most popular come first.
fn print_shares(name: &str, shares: &[f64]) {
    print!("{name}: top key {:.4}", shares[0]);
    for part in [0.001, 0.01, 0.1, 0.5] {
        let keys = (shares.len() as f64 * part) as usize;
        print!(
            ", top {} %: {:.4}",
            part * 100.0,
            shares[..keys].iter().sum::<f64>()
        );
    }
    println!(", sum {:.6}", shares.iter().sum::<f64>());
}
