//! Predicts what compressing at a place (CPU, accelerator, drive) does to an application, from figures of both.
//!
//! [`Application`] describes one operation of a program without compression, [`Component`] what would compress, and [`predict()`]
//! says the throughput with it and the station that binds. What cannot be known is [`NotPredictable`] with the missing
//! condition. [`ModelError`] holds predictions against measurements, and gives other predictions their interval.
//!
//! Times are nanoseconds, sizes bytes, rates per second. Nothing here reads a file or a clock.
//!
//! *Source*: Lazowska, Zahorjan, Graham and Sevcik, "Quantitative System Performance", 1984, chapters 5 to 7 (bounds and networks of queues).

mod application;
mod base;
mod component;
mod curve;
mod demand;
mod energy;
mod model;
mod network;
mod published;
mod study;
mod text;
mod validation;

pub use application::{Application, Bandwidth, Device, Opening, Power, Split};
pub use component::{Component, Direction, Place};
pub use curve::{Curve, CurveError};
pub use demand::{Station, StationLoad};
pub use energy::Energy;
pub use model::{Method, NotPredictable, Prediction, predict};
pub use network::{MOST_CLIENTS, Network};
pub use published::{CHECKED_ON, PUBLISHED, published_error};
pub use study::{Case, Coverage, Study, Unmatched};
pub use text::{FileError, Measured, MeasuredFigure, applications, components, measured};
pub use validation::{Checked, ModelError, Ranking};
