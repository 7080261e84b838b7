//! [`predict()`]: the throughput of an application with a component, and the station that binds.

use crate::application::{Application, Split};
use crate::base::Base;
use crate::component::{Component, Place};
use crate::demand::{Demand, Station, StationLoad, stored_share};
use crate::energy::Energy;
use crate::network::{MOST_CLIENTS, Network};

/// How a prediction was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Measured uncompressed throughput times the ratio of unloaded times.
    Ratio,
    /// The exact solution of the network of queues.
    Network,
}

/// What an application does with a component.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Operations per second.
    pub throughput: f64,
    /// Lowest and highest throughput that the component's and the application's own figures allow, without the model's error.
    pub from_figures: (f64, f64),
    /// No throughput above this is possible by these figures: clients ÷ time of an operation, and what the fullest station can do.
    pub at_most: f64,
    /// Mean time of an operation, in nanoseconds.
    pub latency_ns: f64,
    /// Throughput without compression at the same load, measured or by the same network.
    pub uncompressed: f64,
    /// The station that binds; [`Station::Clients`] where none is full.
    pub binding: Station,
    /// Demand at each station.
    pub stations: Vec<StationLoad>,
    /// How busy the cores are, 0 to 1; none where cores or CPU time are not known.
    pub cpu_share: Option<f64>,
    /// Clients that it holds for.
    pub clients: f64,
    /// How it was made.
    pub method: Method,
    /// What was assumed because the figures do not say it.
    pub assumptions: Vec<String>,
    /// Energy.
    pub energy: Energy,
}

/// Why there is no prediction: the conditions that are missing.
#[derive(Clone, Debug, Default, PartialEq, thiserror::Error)]
#[error("not predictable; missing: {}", missing.join("; "))]
pub struct NotPredictable {
    /// Each with the key that would give it.
    pub missing: Vec<String>,
}

impl NotPredictable {
    pub(crate) fn because(&mut self, reason: impl Into<String>) {
        let reason = reason.into();
        if !self.missing.contains(&reason) {
            self.missing.push(reason);
        }
    }

    pub(crate) fn or_nothing(self) -> Result<(), Self> {
        if self.missing.is_empty() {
            Ok(())
        } else {
            Err(self)
        }
    }

    pub(crate) fn one(reason: impl Into<String>) -> Self {
        Self {
            missing: vec![reason.into()],
        }
    }
}

/// Predicts an application with a component, or without one, for a number of clients (the measured one by default).
///
/// # Errors
/// [`NotPredictable`] with each missing condition.
///
/// *Cost*: none to speak of at the measured number of clients; clients × servers at another one.
pub fn predict(
    application: &Application,
    component: Option<&Component>,
    clients: Option<u32>,
) -> Result<Prediction, NotPredictable> {
    let base = Base::of(application)?;
    let demand = match component {
        Some(component) => Demand::with(application, component)?,
        None => Demand::without(application),
    };
    let model = Model {
        application,
        component,
        plain: Demand::without(application),
        base,
        demand,
    };
    model.solve(clients)
}

struct Model<'a> {
    application: &'a Application,
    component: Option<&'a Component>,
    plain: Demand,
    base: Base,
    demand: Demand,
}

impl Model<'_> {
    fn solve(self, clients: Option<u32>) -> Result<Prediction, NotPredictable> {
        let asked = clients.map_or(self.base.clients, f64::from);
        let is_measured = (asked - self.base.clients).abs() < 1e-9;
        let method = match self.base.throughput {
            Some(_) if is_measured => Method::Ratio,
            _ => Method::Network,
        };
        if method == Method::Network {
            self.check_network(asked)?;
        }
        let wait_ns = self.demand.wait_ns;
        let error_ns = self.demand.wait_error_ns;
        let throughput = self.throughput(method, asked, wait_ns);
        let uncompressed = match self.base.throughput {
            Some(measured) if is_measured => measured,
            _ => self.plain_throughput(asked),
        };
        let off = self.application.throughput_error;
        let low = self.throughput(method, asked, wait_ns + error_ns) * (1.0 - off);
        let high = self.throughput(method, asked, (wait_ns - error_ns).max(0.0)) * (1.0 + off);
        let own_ns = self.application.cpu_ns.map(Split::total);
        let cpu_ns = own_ns.map(|own_ns| own_ns + self.demand.cpu_ns);
        let cores = self.application.cores;
        Ok(Prediction {
            throughput,
            from_figures: (low, high),
            at_most: self.bound(asked, wait_ns),
            latency_ns: (asked / throughput * 1e9 - self.application.think_time_ns).max(0.0),
            uncompressed,
            binding: self.binding(throughput),
            cpu_share: cpu_ns.zip(cores).map(|(ns, cores)| throughput * ns / 1e9 / cores),
            clients: asked,
            method,
            energy: Energy::of(
                self.application,
                self.component,
                &self.base,
                &self.demand,
                throughput,
            ),
            assumptions: self.assumptions(),
            stations: self.demand.stations,
        })
    }

    /// Operations per second of the clients, when a client waits this long for the component.
    fn throughput(&self, method: Method, clients: f64, wait_ns: f64) -> f64 {
        let with_ns = self.unloaded_ns(wait_ns);
        let think_ns = self.application.think_time_ns;
        let free = match (method, self.base.throughput) {
            (Method::Ratio, Some(measured)) => {
                measured * (self.base.unloaded_ns + think_ns) / (with_ns + think_ns)
            }
            _ => self.calibrated(clients, wait_ns),
        };
        free.min(self.bound(clients, wait_ns))
    }

    /// What no throughput exceeds: N ÷ R, and 1 ÷ D of the fullest station.
    fn bound(&self, clients: f64, wait_ns: f64) -> f64 {
        let alone_ns = self.unloaded_ns(wait_ns) + self.application.think_time_ns;
        (clients / alone_ns * 1e9).min(self.at_most())
    }

    /// The time of an operation with the component. Where the drive was busy, its queue shrinks with the bytes.
    fn unloaded_ns(&self, wait_ns: f64) -> f64 {
        let stored = self
            .component
            .map_or(1.0, |component| stored_share(self.application, component));
        let wait = self.application.device_wait_ns.unwrap_or(0.0);
        let busy = self.base.throughput.unwrap_or(0.0) * self.plain.of(Station::DeviceReads) / 1e9;
        let saved_ns = wait * busy.min(1.0) * (1.0 - stored);
        (self.base.unloaded_ns - saved_ns).max(0.0) + wait_ns
    }

    fn at_most(&self) -> f64 {
        self.demand
            .fullest()
            .map_or(f64::INFINITY, |load| 1e9 / load.demand_ns)
    }

    /// The network, scaled to the measured load where there is one.
    fn calibrated(&self, clients: f64, wait_ns: f64) -> f64 {
        let solved = self
            .network(&self.demand, self.unloaded_ns(wait_ns))
            .throughput(clients as u32);
        solved * self.calibration()
    }

    fn plain_throughput(&self, clients: f64) -> f64 {
        let solved = self
            .network(&self.plain, self.base.unloaded_ns)
            .throughput(clients as u32);
        let at_most = self
            .plain
            .fullest()
            .map_or(f64::INFINITY, |load| 1e9 / load.demand_ns);
        let alone = clients / (self.base.unloaded_ns + self.application.think_time_ns) * 1e9;
        (solved * self.calibration()).min(at_most).min(alone)
    }

    /// Measured throughput over that of the network at the measured load.
    fn calibration(&self) -> f64 {
        let plain = self.network(&self.plain, self.base.unloaded_ns);
        let at_base = |measured: f64| measured / plain.throughput(self.base.clients.round() as u32);
        self.base.throughput.map_or(1.0, at_base)
    }

    /// Cores and the component's units are queues; the rest of an operation is a delay.
    fn network(&self, demand: &Demand, unloaded_ns: f64) -> Network {
        let own_ns = self.application.cpu_ns.map_or(0.0, |cpu| cpu.foreground);
        let on_cpu_ns = match self.application.cores {
            Some(_) => own_ns + demand.wait_on_cpu_ns,
            None => 0.0,
        };
        let queued_ns: f64 = demand.queues.iter().map(|(time_ns, _)| time_ns).sum();
        let delay_ns = (unloaded_ns - on_cpu_ns - queued_ns).max(0.0) + self.application.think_time_ns;
        let cores = self.application.cores.unwrap_or(1.0).round().max(1.0) as u32;
        let network = Network::with_delay(delay_ns).with_station(on_cpu_ns, cores);
        let queues = demand.queues.iter();
        queues.fold(network, |network, (time_ns, units)| {
            network.with_station(*time_ns, *units)
        })
    }

    /// Another load than the measured one needs to know what queues and what only waits.
    fn check_network(&self, clients: f64) -> Result<(), NotPredictable> {
        let mut missing = NotPredictable::default();
        if clients > f64::from(MOST_CLIENTS) {
            missing.because(format!("a number of clients up to {MOST_CLIENTS}"));
        }
        let knows_queues = self.application.cores.is_some() && self.application.cpu_ns.is_some();
        if clients > 1.0 && !knows_queues {
            missing.because(format!(
                "a throughput without compression at {clients} clients, or CPU time and cores (cpu, cores)"
            ));
        }
        if self.base.is_from_load && self.base.clients > 1.0 {
            missing.because("the time of an operation alone (unloaded_latency, or cpu with device_wait)");
        }
        missing.or_nothing()
    }

    fn binding(&self, throughput: f64) -> Station {
        let full = self.demand.fullest();
        let full = full.filter(|load| throughput * load.demand_ns / 1e9 > 0.95);
        full.map_or(Station::Clients, |load| load.station)
    }

    fn assumptions(&self) -> Vec<String> {
        let mut assumptions = self.base.assumptions.clone();
        assumptions.extend(self.demand.assumptions.iter().cloned());
        if let Some(component) = self.component {
            let has_limit = |station| self.demand.of(station) > 0.0;
            let is_known = [Station::Compress, Station::Decompress, Station::Component].map(has_limit);
            if component.place != Place::Cpu && !is_known.contains(&true) {
                assumptions.push(format!(
                    "{} has no limit: neither throughput nor units are given",
                    component.name
                ));
            }
        }
        let allowed = self
            .plain
            .fullest()
            .map_or(f64::INFINITY, |load| 1e9 / load.demand_ns);
        if self
            .base
            .throughput
            .is_some_and(|measured| measured > allowed * 1.05)
        {
            assumptions.push(format!(
                "the figures contradict each other: more operations were measured than they allow ({allowed:.0}/s)"
            ));
        }
        assumptions
    }
}
