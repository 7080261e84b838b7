//! [`Base`]: the load that was measured without compression, and how long an operation takes alone.

use crate::application::{Application, Opening};
use crate::model::NotPredictable;

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

impl Base {
    pub(crate) fn of(application: &Application) -> Result<Self, NotPredictable> {
        let mut assumptions = Vec::new();
        let throughput = operations_per_second(application, &mut assumptions)?;
        let think_ns = application.think_time_ns;
        let clients = match (application.clients, throughput, application.latency_ns) {
            (Some(clients), ..) => clients,
            (None, Some(throughput), Some(latency_ns)) => {
                assumptions.push("clients by Little's law: throughput × latency".to_owned());
                throughput * (latency_ns + think_ns) / 1e9
            }
            (None, None, _) if !application.predict_clients.is_empty() => 1.0,
            _ => {
                return Err(NotPredictable::one(
                    "the number of clients (clients): a latency or throughput holds for one load only",
                ));
            }
        };
        let throughput =
            throughput.or_else(|| application.latency_ns.map(|ns| clients / (ns + think_ns) * 1e9));
        let loaded_ns = throughput.map(|throughput| (clients / throughput * 1e9 - think_ns).max(0.0));
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
