//! Tails of the distributions that ranks and signs of equal sides have: exact for few samples, normal for many.

/// Above this many repetitions a side (or pairs) ranks are taken as normal: exact counts gain nothing there.
const EXACT_UP_TO: usize = 50;

/// P(at most k of the n·m pairs have the first sample above the second), for equal distributions.
pub(crate) fn mann_whitney_tail(n: usize, m: usize) -> Box<dyn Fn(usize) -> f64> {
    let pairs = n * m;
    if n.max(m) > EXACT_UP_TO {
        let variance = pairs as f64 * (n + m + 1) as f64 / 12.0;
        return normal_count_tail(pairs as f64 / 2.0, variance);
    }
    // probability[j][u] for i samples of the one and j of the other; the largest of all is one of either with i : j.
    let mut of_fewer: Vec<Vec<f64>> = vec![vec![1.0]; m + 1];
    for i in 1..=n {
        let mut rows: Vec<Vec<f64>> = vec![vec![1.0]];
        for j in 1..=m {
            let share = i as f64 / (i + j) as f64;
            let mut row = vec![0.0; i * j + 1];
            for (u, probability) in of_fewer[j].iter().enumerate() {
                row[u + j] += share * probability;
            }
            for (u, probability) in rows[j - 1].iter().enumerate() {
                row[u] += (1.0 - share) * probability;
            }
            rows.push(row);
        }
        of_fewer = rows;
    }
    cumulative(&of_fewer[m])
}

/// P(the ranks on one side sum to at most k), for n pairs whose sign is chance.
pub(crate) fn signed_rank_tail(n: usize) -> Box<dyn Fn(usize) -> f64> {
    if n > EXACT_UP_TO {
        let count = n as f64;
        let variance = count * (count + 1.0) * (2.0 * count + 1.0) / 24.0;
        return normal_count_tail(count * (count + 1.0) / 4.0, variance);
    }
    let mut probabilities = vec![1.0];
    for rank in 1..=n {
        let mut next = vec![0.0; probabilities.len() + rank];
        for (sum, probability) in probabilities.iter().enumerate() {
            next[sum] += probability / 2.0;
            next[sum + rank] += probability / 2.0;
        }
        probabilities = next;
    }
    cumulative(&probabilities)
}

/// P(at most k of n samples are on one side of their median).
pub(crate) fn sign_tail(n: usize) -> Box<dyn Fn(usize) -> f64> {
    if n > 1000 {
        return normal_count_tail(n as f64 / 2.0, n as f64 / 4.0);
    }
    let mut probabilities = vec![1.0];
    for _ in 0..n {
        let mut next = vec![0.0; probabilities.len() + 1];
        for (count, probability) in probabilities.iter().enumerate() {
            next[count] += probability / 2.0;
            next[count + 1] += probability / 2.0;
        }
        probabilities = next;
    }
    cumulative(&probabilities)
}

fn cumulative(probabilities: &[f64]) -> Box<dyn Fn(usize) -> f64> {
    let sums: Vec<f64> = probabilities
        .iter()
        .scan(0.0, |sum, probability| {
            *sum += probability;
            Some(*sum)
        })
        .collect();
    Box::new(move |count| sums[count.min(sums.len() - 1)])
}

fn normal_count_tail(mean: f64, variance: f64) -> Box<dyn Fn(usize) -> f64> {
    Box::new(move |count| normal_tail((mean - count as f64 - 0.5) / variance.sqrt()))
}

/// P(a standard normal quantity is above `deviations`), to 1.5 × 10⁻⁷.
///
/// *Source*: Abramowitz and Stegun, "Handbook of Mathematical Functions", 1964, 7.1.26.
pub(crate) fn normal_tail(deviations: f64) -> f64 {
    let x = deviations.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let polynomial = ((((1.061_405_429 * t - 1.453_152_027) * t + 1.421_413_741) * t - 0.284_496_736) * t
        + 0.254_829_592)
        * t;
    let tail = polynomial * (-x * x).exp() / 2.0;
    if deviations < 0.0 { 1.0 - tail } else { tail }
}
