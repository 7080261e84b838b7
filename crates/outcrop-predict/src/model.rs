//! [`predict()`]: the throughput of an application with a component, and the station that binds.

use crate::application::{Application, Split};
use crate::base::{Base, Load};
use crate::component::{Component, Place};
use crate::demand::{Demand, Station, StationLoad, stored_share};
use crate::energy::Energy;
use crate::network::{MOST_CLIENTS, Network};

/// A station that is busier than this is called full.
const FULL: f64 = 0.95;

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
    /// How busy the cores are, 0 to 1; none where cores or CPU time are not known, be it that of handing blocks over.
    pub cpu_share: Option<f64>,
    /// The same without what is not known of the component.
    pub least_cpu_share: Option<f64>,
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
    let mut load = Load::of(application)?;
    let completed = load.with_cpu_time(application);
    let application = &*completed;
    let base = Base::of(application, load)?;
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

const fn is_of_drive(load: StationLoad) -> bool {
    matches!(load.station, Station::DeviceReads | Station::DeviceWrites)
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
        let method = self.method(asked, is_measured);
        if method == Method::Network {
            self.check_network(asked)?;
        }
        let with_ns = self.unloaded_ns(self.demand.wait_ns, self.saved_ns());
        let throughput = self.throughput(method, asked, with_ns);
        let uncompressed = match self.base.throughput {
            Some(measured) if is_measured => measured,
            _ => self.plain_throughput(asked),
        };
        let own_ns = self.application.cpu_ns.map(Split::total);
        let cpu_ns = own_ns.map(|own_ns| own_ns + self.demand.cpu_ns);
        let cores = self.application.cores;
        let least_cpu_share = cpu_ns.zip(cores).map(|(ns, cores)| throughput * ns / 1e9 / cores);
        Ok(Prediction {
            throughput,
            from_figures: self.ends(method, asked),
            at_most: self.bound(asked, with_ns),
            latency_ns: (asked / throughput * 1e9 - self.application.think_time_ns).max(0.0),
            uncompressed,
            binding: self.binding(throughput),
            least_cpu_share,
            cpu_share: least_cpu_share.filter(|_| !self.demand.is_cpu_unknown),
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

    /// Several clients queue at full cores, and at the component: where it is known what queues and what only waits, the network says how
    /// long. With one client both methods give the same.
    fn method(&self, clients: f64, is_measured: bool) -> Method {
        let knows_queues = self.application.cores.is_some() && self.application.cpu_ns.is_some();
        let is_network = knows_queues
            && self.component.is_some()
            && !self.base.is_from_load
            && self.base.unloaded_ns > 0.0
            && clients > 1.0
            && clients <= f64::from(MOST_CLIENTS);
        match self.base.throughput {
            Some(_) if is_measured && !is_network => Method::Ratio,
            _ => Method::Network,
        }
    }

    /// Operations per second of the clients, when an operation alone takes this long with the component.
    fn throughput(&self, method: Method, clients: f64, with_ns: f64) -> f64 {
        let think_ns = self.application.think_time_ns;
        let alone_ns = self.base.unloaded_ns + think_ns;
        let bound = self.bound(clients, with_ns);
        let full = self.full_before().filter(|_| self.component.is_some());
        let free = match (method, self.base.throughput, full) {
            // What was held back by a full station is measured against what that allowed.
            (Method::Ratio, Some(measured), Some(full)) if !self.base.is_from_load => {
                measured * bound / (clients / alone_ns * 1e9).min(1e9 / full.demand_ns)
            }
            (Method::Ratio, Some(measured), _) => measured * alone_ns / (with_ns + think_ns),
            (_, _, Some(_)) => self.solved(&self.demand, with_ns, clients).min(bound) * self.calibration(),
            _ => self.solved(&self.demand, with_ns, clients) * self.calibration(),
        };
        free.min(bound)
    }

    /// Lowest and highest throughput that the figures allow.
    fn ends(&self, method: Method, clients: f64) -> (f64, f64) {
        let Demand {
            wait_ns,
            wait_error_ns,
            ..
        } = self.demand;
        let saved_ns = self.saved_ns();
        // What fewer bytes give back where the drive was full may be anything up to that.
        let sure_ns = if self.is_relieved() { 0.0 } else { saved_ns };
        let slow_ns = self.unloaded_ns(wait_ns + wait_error_ns, sure_ns);
        let fast_ns = self.unloaded_ns((wait_ns - wait_error_ns).max(0.0), saved_ns);
        let off = self.application.throughput_error;
        let low = self.throughput(method, clients, slow_ns) * (1.0 - off);
        let high = self.throughput(method, clients, fast_ns) * (1.0 + off);
        match self.crowded() {
            Some(_) => {
                let own_ns = self.application.cpu_ns.map_or(0.0, |cpu| cpu.foreground);
                let least_ns = own_ns + self.demand.wait_ns + self.application.think_time_ns;
                let most = self.at_most().min(clients / least_ns * 1e9);
                (low, if most.is_finite() { high.max(most) } else { high })
            }
            None => (low, high),
        }
    }

    /// What no throughput exceeds: N ÷ R, and 1 ÷ D of the fullest station.
    fn bound(&self, clients: f64, with_ns: f64) -> f64 {
        let alone_ns = with_ns + self.application.think_time_ns;
        (clients / alone_ns * 1e9).min(self.at_most())
    }

    /// The time of an operation with the component.
    fn unloaded_ns(&self, wait_ns: f64, saved_ns: f64) -> f64 {
        (self.base.unloaded_ns - saved_ns).max(0.0) + wait_ns
    }

    /// What fewer bytes take off the time of an operation: of the wait for a drive that was busy reading, the part in which it moved bytes
    /// that are no longer there; of the time under a load that filled the drive, all that was not the CPU's.
    fn saved_ns(&self) -> f64 {
        let gone = 1.0 - self.stored();
        let wait_ns = self.application.device_wait_ns.unwrap_or(0.0);
        let of_reads = wait_ns * self.busy(Station::DeviceReads).min(1.0) * gone;
        let own_ns = self.application.cpu_ns.map_or(0.0, |cpu| cpu.foreground);
        let of_queue = (self.base.unloaded_ns - own_ns).max(0.0) * gone;
        if self.is_relieved() {
            of_reads.max(of_queue)
        } else {
            of_reads
        }
    }

    fn stored(&self) -> f64 {
        self.component
            .map_or(1.0, |component| stored_share(self.application, component))
    }

    /// How busy a station was without compression, by the figures.
    fn busy(&self, station: Station) -> f64 {
        self.base.throughput.unwrap_or(0.0) * self.plain.of(station) / 1e9
    }

    /// The station that was full without compression.
    fn full_before(&self) -> Option<StationLoad> {
        let fullest = self.plain.fullest();
        fullest.filter(|load| self.busy(load.station) > FULL)
    }

    /// Whether a drive was full, fewer bytes are left for it, and how long an operation takes without its queue is not known.
    fn is_relieved(&self) -> bool {
        self.base.is_from_load && self.stored() < 1.0 && self.full_before().is_some_and(is_of_drive)
    }

    /// The station that clients queued for without compression, where how long an operation takes without that queue is not known.
    fn crowded(&self) -> Option<Station> {
        let station = self.full_before()?.station;
        let servers = match station {
            Station::Cpu => self.application.cores.unwrap_or(1.0),
            Station::BackgroundThreads => 0.0,
            _ => 1.0,
        };
        let is_queue = self.base.is_from_load && self.base.clients > servers;
        (is_queue && self.component.is_some()).then_some(station)
    }

    fn at_most(&self) -> f64 {
        self.demand
            .fullest()
            .map_or(f64::INFINITY, |load| 1e9 / load.demand_ns)
    }

    fn plain_throughput(&self, clients: f64) -> f64 {
        let at_most = self
            .plain
            .fullest()
            .map_or(f64::INFINITY, |load| 1e9 / load.demand_ns);
        let alone = clients / (self.base.unloaded_ns + self.application.think_time_ns) * 1e9;
        let bound = at_most.min(alone);
        let solved = self.solved(&self.plain, self.base.unloaded_ns, clients);
        let solved = match self.full_before() {
            Some(_) => solved.min(bound),
            None => solved,
        };
        (solved * self.calibration()).min(bound)
    }

    /// Measured throughput over that of the network at the measured load. What a full station outside the network held back is none of it.
    fn calibration(&self) -> f64 {
        let at_base = |measured: f64| {
            let plain = self.solved(&self.plain, self.base.unloaded_ns, self.base.clients);
            let full = self.full_before();
            measured / full.map_or(plain, |full| plain.min(1e9 / full.demand_ns))
        };
        self.base.throughput.map_or(1.0, at_base)
    }

    /// What the network does with a number of clients that need not be whole: on the straight line between its neighbours.
    fn solved(&self, demand: &Demand, unloaded_ns: f64, clients: f64) -> f64 {
        let network = self.network(demand, unloaded_ns);
        let whole = clients.floor();
        let below = match whole {
            whole if whole >= 1.0 => network.throughput(whole as u32),
            _ => 0.0,
        };
        match clients - whole {
            part if part > 0.0 => below + part * (network.throughput(whole as u32 + 1) - below),
            _ => below,
        }
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
            missing.because("the time of a lone operation (unloaded_latency, or cpu with device_wait)");
        }
        missing.or_nothing()
    }

    fn binding(&self, throughput: f64) -> Station {
        let full = self.demand.fullest();
        let full = full.filter(|load| throughput * load.demand_ns / 1e9 > FULL);
        full.map_or(Station::Clients, |load| load.station)
    }

    fn assumptions(&self) -> Vec<String> {
        let mut assumptions = self.base.assumptions.clone();
        assumptions.extend(self.demand.assumptions.iter().cloned());
        if let Some(component) = self.component {
            assumptions.extend(self.no_limit(component));
            let has_energy = self.application.power.is_some() && component.power_watts.is_some();
            if has_energy && component.place != Place::Cpu && self.demand.cpu_ns > 0.0 {
                assumptions.push(format!(
                    "the energy of the CPU time that {} adds is not counted, only its own power",
                    component.name
                ));
            }
        }
        if self.stored() < 1.0
            && let Some(full) = self.full_before().filter(|load| is_of_drive(*load))
        {
            assumptions.push(format!(
                "{} limited the load without compression, and limit it less by as many bytes as compression saves",
                full.station.in_words()
            ));
        }
        if let Some(station) = self.crowded() {
            assumptions.push(format!(
                "{} were full without compression, and how long an operation takes alone is not known (unloaded_latency): the throughput may be \
                 as high as the stations allow",
                station.in_words()
            ));
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

    /// What nothing limits, by these figures.
    fn no_limit(&self, component: &Component) -> Option<String> {
        let name = &component.name;
        if component.place == Place::Cpu {
            let is_free = self.application.cores.is_none() && self.demand.wait_on_cpu_ns > 0.0;
            return (is_free && self.base.clients > 1.0)
                .then(|| format!("{name} has a core for each client: cores are not given"));
        }
        let own = [Station::Compress, Station::Decompress, Station::Component];
        let is_limited = own.iter().any(|station| self.demand.of(*station) > 0.0);
        (!is_limited).then(|| format!("{name} has no limit: neither throughput nor units are given"))
    }
}
