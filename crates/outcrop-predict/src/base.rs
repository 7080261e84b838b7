//! [`Base`]: the load that was measured without compression, and how long an operation takes alone.

use std::borrow::Cow;

use crate::application::{Application, Opening, Split};
use crate::model::NotPredictable;

/// Clients, and operations per second that they did.
pub(crate) struct Load {
    clients: f64,
    throughput: Option<f64>,
    assumptions: Vec<String>,
}

/// The measured load without compression.
pub(crate) struct Base {
    pub(crate) clients: f64,
    pub(crate) throughput: Option<f64>,
    /// Time of an operation while nothing else runs.
    pub(crate) unloaded_ns: f64,
    /// Whether it was derived from the loaded run.
    pub(crate) is_from_load: bool,
    pub(crate) assumptions: Vec<String>,
}

impl Load {
    pub(crate) fn of(application: &Application) -> Result<Self, NotPredictable> {
        let mut assumptions = Vec::new();
        let throughput = operations_per_second(application, &mut assumptions)?;
        let think_ns = application.think_time_ns;
        let clients = match (application.clients, throughput, application.latency_ns) {
            (Some(clients), Some(throughput), Some(latency_ns)) => {
                let by_law = throughput * (latency_ns + think_ns) / 1e9;
                if !(0.9..=1.1).contains(&(by_law / clients)) {
                    assumptions.push(format!(
                        "throughput × latency are {by_law:.1} operations in flight, and clients are {clients}: the latency is not that of all \
                         operations, and is not used"
                    ));
                }
                clients
            }
            (Some(clients), ..) => clients,
            (None, Some(throughput), Some(latency_ns)) => {
                assumptions.push("clients by Little's law: throughput × latency".to_owned());
                throughput * (latency_ns + think_ns) / 1e9
            }
            // What is known is an operation alone, which has one client.
            (None, None, None) if !application.predict_clients.is_empty() => 1.0,
            _ => {
                return Err(NotPredictable::one(
                    "the number of clients (clients): a latency or throughput holds for one load only",
                ));
            }
        };
        let throughput =
            throughput.or_else(|| application.latency_ns.map(|ns| clients / (ns + think_ns) * 1e9));
        Ok(Self {
            clients,
            throughput,
            assumptions,
        })
    }

    /// Time of an operation under this load.
    fn loaded_ns(&self, application: &Application) -> Option<f64> {
        let of = |throughput: f64| (self.clients / throughput * 1e9 - application.think_time_ns).max(0.0);
        self.throughput.map(of)
    }

    /// The application with its CPU time, where it says only how busy the cores were.
    pub(crate) fn with_cpu_time<'a>(&mut self, application: &'a Application) -> Cow<'a, Application> {
        let Some(utilisation) = application
            .cpu_utilisation
            .filter(|_| application.cpu_ns.is_none())
        else {
            return Cow::Borrowed(application);
        };
        let known = self.throughput.zip(self.loaded_ns(application));
        let Some((cores, (throughput, loaded_ns))) = application.cores.zip(known) else {
            let text = "how busy the cores were is not used: cores and throughput are not both given";
            self.assumptions.push(text.to_owned());
            return Cow::Borrowed(application);
        };
        let total_ns = utilisation * cores / throughput * 1e9;
        let foreground = total_ns.min(loaded_ns);
        self.assumptions.push(format!(
            "CPU time by how busy the cores were: {:.1} µs an operation, in the client's path as far as the operation lasts",
            total_ns / 1e3
        ));
        Cow::Owned(Application {
            cpu_ns: Some(Split {
                foreground,
                background: total_ns - foreground,
            }),
            ..application.clone()
        })
    }
}

impl Base {
    pub(crate) fn of(application: &Application, load: Load) -> Result<Self, NotPredictable> {
        let loaded_ns = load.loaded_ns(application);
        let Load {
            clients,
            throughput,
            mut assumptions,
        } = load;
        let parts = application.cpu_ns.zip(application.device_wait_ns);
        let parts = parts.map(|(cpu, wait)| cpu.foreground + wait);
        let (unloaded_ns, is_from_load) = match (application.unloaded_latency_ns.or(parts), loaded_ns) {
            (Some(unloaded), Some(loaded)) if unloaded > loaded * 1.001 => {
                assumptions.push(
                    "an operation alone takes longer than under load: the loaded time is used".to_owned(),
                );
                (loaded, true)
            }
            (Some(unloaded), _) => (unloaded, false),
            (None, Some(loaded)) => {
                if clients > 1.0 {
                    assumptions.push("time of an operation by Little's law: clients ÷ throughput".to_owned());
                }
                (loaded, true)
            }
            (None, None) => {
                return Err(NotPredictable::one(
                    "a throughput or latency without compression (throughput, latency or unloaded_latency)",
                ));
            }
        };
        Ok(Self {
            clients,
            throughput,
            unloaded_ns,
            is_from_load,
            assumptions,
        })
    }
}

/// The published throughput, less what is no operation.
fn operations_per_second(
    application: &Application,
    assumptions: &mut Vec<String>,
) -> Result<Option<f64>, NotPredictable> {
    let (Some(throughput), Some(Opening { time_ns, operations })) =
        (application.throughput, application.opening)
    else {
        return Ok(application.throughput);
    };
    let (Some(time_ns), Some(operations)) = (time_ns, operations) else {
        return Err(NotPredictable::one(
            "the time of opening and the operations of the run (opening_time, operations): a throughput that includes opening is not an \
             operations rate",
        ));
    };
    let running_ns = operations / throughput * 1e9 - time_ns;
    if running_ns <= 0.0 {
        return Err(NotPredictable::one(format!(
            "an opening_time below the whole run, which took {:.3} s",
            operations / throughput
        )));
    }
    assumptions.push("the time of opening is taken out of the published throughput".to_owned());
    Ok(Some(operations / running_ns * 1e9))
}
