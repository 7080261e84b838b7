//! [`Network`]: a closed network of queues, solved exactly.
//!
//! Clients circulate between stations with several servers each and a delay where nobody queues. The throughput is the ratio of two
//! normalising constants, which convolution gives. Its results are those of exact mean-value analysis; it adds and multiplies
//! positive numbers only, in logarithms, so it stays exact with many servers and many clients.
//!
//! *Source*: Buzen, "Computational algorithms for closed queueing networks with exponential servers", CACM 16(9), 1973. Reiser and
//! Lavenberg, "Mean-value analysis of closed multichain queuing networks", JACM 27(2), 1980.

/// Most clients that a network is solved for.
pub const MOST_CLIENTS: u32 = 10_000;

/// A closed network: a delay and stations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Network {
    delay_ns: f64,
    /// Time that one operation takes of one server, and how many servers there are.
    stations: Vec<(f64, u32)>,
}

impl Network {
    /// A network in which each operation takes this time outside all queues.
    pub const fn with_delay(delay_ns: f64) -> Self {
        Self {
            delay_ns,
            stations: Vec::new(),
        }
    }

    /// The same network with one more station. A station that takes no time is left out.
    #[must_use]
    pub fn with_station(mut self, demand_ns: f64, servers: u32) -> Self {
        if demand_ns > 0.0 {
            self.stations.push((demand_ns, servers.max(1)));
        }
        self
    }

    /// Operations per second of `clients`; infinite where an operation takes no time.
    ///
    /// *Cost*: clients × servers.
    pub fn throughput(&self, clients: u32) -> f64 {
        let clients = clients.clamp(1, MOST_CLIENTS) as usize;
        let mut constants = self.delay_constants(clients);
        for (demand_ns, servers) in &self.stations {
            // More servers than clients serve no more.
            constants = convolve(&constants, *demand_ns, (*servers as usize).min(clients));
        }
        (constants[clients - 1] - constants[clients]).exp() * 1e9
    }

    /// ln(Zⁿ ÷ n!) for each number of clients.
    fn delay_constants(&self, clients: usize) -> Vec<f64> {
        let mut constants = vec![0.0; clients + 1];
        for n in 1..=clients {
            constants[n] = constants[n - 1] + (self.delay_ns / n as f64).ln();
        }
        constants
    }
}

/// Adds a station. Up to `servers` clients are all served at once; each client beyond multiplies by demand ÷ servers, so that the
/// rest of the sum is a geometric series that is carried on.
fn convolve(old: &[f64], demand_ns: f64, servers: usize) -> Vec<f64> {
    let served: Vec<f64> = (1..servers)
        .scan(0.0, |sum, k| {
            *sum += (demand_ns / k as f64).ln();
            Some(*sum)
        })
        .collect();
    let at_full = served.last().copied().unwrap_or(0.0) + (demand_ns / servers as f64).ln();
    let beyond = (demand_ns / servers as f64).ln();
    let mut tail = f64::NEG_INFINITY;
    let mut new = Vec::with_capacity(old.len());
    for n in 0..old.len() {
        tail += beyond;
        if n >= servers {
            tail = log_sum(tail, at_full + old[n - servers]);
        }
        let mut sum = log_sum(tail, old[n]);
        for (k, weight) in served.iter().enumerate().take(n) {
            sum = log_sum(sum, weight + old[n - k - 1]);
        }
        new.push(sum);
    }
    new
}

/// ln(eᵃ + eᵇ).
fn log_sum(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY {
        high
    } else {
        high + (low - high).exp().ln_1p()
    }
}
