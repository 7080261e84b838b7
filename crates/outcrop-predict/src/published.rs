//! Published figures that ship: components, and systems that predictions of them were checked on.

use crate::component::Place;
use crate::study::Study;
use crate::text::{applications, components, measured};
use crate::validation::ModelError;

/// Components whose figures were published, as they ship: name, what they are, and the text that [`components`] reads.
pub const PUBLISHED: [(&str, &str, &str); 1] = [(
    "asic-components",
    "QAT 8970, QAT 4XXX, DPZip, and Deflate, Zstd and Snappy on CPUs (arXiv 2509.23693, figures 8 and 9)",
    include_str!("../../../references/placement/asic-components.csv"),
)];

/// Which published systems predictions of hardware were checked on.
pub const CHECKED_ON: &str =
    "reads of btrfs, and reads and updates of ZFS (arXiv 2509.23693, figures 16 and 18)";

/// These systems without compression.
const SYSTEMS: &str = include_str!("../../../references/placement/asic-systems.csv");
/// What was published of them with the components.
const MEASURED: &str = include_str!("../../../references/placement/asic-checked.csv");

/// How wrong predictions of hardware are where figures of whole systems were published: pairs of accelerators and drives, not of codecs on CPUs.
///
/// *Cost*: some thirty predictions.
pub fn published_error() -> ModelError {
    let read = || {
        let (components, _) = components(PUBLISHED[0].2).ok()?;
        let (applications, measured) = (applications(SYSTEMS).ok()?, measured(MEASURED).ok()?);
        let study = Study::matched(&applications, &components, &measured).ok()?;
        let is_hardware = |place: Place| place != Place::Cpu;
        let hardware = study.cases.iter().filter(|case| {
            case.component
                .is_some_and(|component| is_hardware(component.place))
        });
        Some(ModelError::of(hardware.filter_map(crate::Case::checked)))
    };
    // What ships is read by a test.
    read().unwrap_or_default()
}
