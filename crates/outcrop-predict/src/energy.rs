//! [`Energy`]: what an operation costs above idle.

use crate::application::{Application, Power};
use crate::base::Base;
use crate::component::Component;
use crate::demand::{Demand, Station};

/// What an operation costs in energy above idle, or why nobody can say.
#[derive(Clone, Debug, PartialEq)]
pub enum Energy {
    /// Joules per operation above idle.
    PerOperation(f64),
    /// Why not.
    NotPredictable(String),
    /// Nobody asked: no power in the application's figures.
    NotAsked,
}

impl Energy {
    /// Power above idle of the uncompressed run, by throughput, and of the component while it is busy.
    pub(crate) fn of(
        application: &Application,
        component: Option<&Component>,
        base: &Base,
        demand: &Demand,
        throughput: f64,
    ) -> Self {
        let Some(Power { idle, loaded, step }) = application.power else {
            return Self::NotAsked;
        };
        if loaded - idle < 5.0 * step {
            return Self::NotPredictable(format!(
                "missing: power {:.0} W above idle or more, which is five steps of the meter ({step} W); it was {:.0} W",
                5.0 * step,
                loaded - idle
            ));
        }
        let own =
            [Station::Compress, Station::Decompress, Station::Component].map(|station| demand.of(station));
        let busy = own.iter().copied().fold(0.0, f64::max) * throughput / 1e9;
        match (base.throughput, component.map(|component| component.power_watts)) {
            (None, _) => {
                Self::NotPredictable("missing: the throughput that the power was measured at".to_owned())
            }
            (Some(_), Some(None)) => {
                Self::NotPredictable("missing: the component's power (power)".to_owned())
            }
            (Some(measured), watts) => {
                let component = watts.flatten().unwrap_or(0.0) * busy.min(1.0);
                Self::PerOperation((loaded - idle) / measured + component / throughput)
            }
        }
    }
}
