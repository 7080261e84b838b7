//! What the processes of a trial say to each other: one line of JSON after the other over a socket.

use std::io::{BufRead, Write};
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::drive::Timing;
use crate::error::KvError;
use crate::report::{LoadReport, RunReport, SettlingReport};
use crate::spec::KvSpec;

/// What a parent asks of a process.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Hold no database, but remove what this process leaves in a directory if it is killed.
    Guard { directory: PathBuf, maker: u32 },
    /// Make the database.
    Open {
        spec: Box<KvSpec>,
        directory: PathBuf,
        process: u32,
        /// Where the bytes are that values are cut from.
        value_bytes: Option<PathBuf>,
    },
    /// Load it, starting at this moment.
    Load(Timing),
    /// Wait until it has settled.
    Settle,
    /// Run the workload, starting at this moment.
    Run(Timing),
    /// Close the database; to a guard: nothing is left to be removed.
    Close,
}

/// What it answers.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    Guards,
    Opened {
        identity: String,
        codec_libraries: Vec<PathBuf>,
    },
    Loaded(Box<LoadReport>),
    Settled(Box<SettlingReport>),
    Ran(Box<RunReport>),
    Closed,
    Failed(KvError),
}

/// Writes one message.
pub(crate) fn send(mut to: impl Write, message: &impl Serialize) -> Result<(), KvError> {
    let mut line = serde_json::to_vec(message).map_err(|error| KvError::system("write a message", error))?;
    line.push(b'\n');
    to.write_all(&line)
        .map_err(|error| KvError::system("speak to another process", error))
}

/// Reads one message; `None` where the other side has closed.
pub(crate) fn receive<M: DeserializeOwned>(mut from: impl BufRead) -> Result<Option<M>, KvError> {
    let mut line = Vec::new();
    let length = from
        .read_until(b'\n', &mut line)
        .map_err(|error| KvError::system("listen to another process", error))?;
    if length == 0 || line.last() != Some(&b'\n') {
        return Ok(None);
    }
    let message = serde_json::from_slice(&line);
    message
        .map(Some)
        .map_err(|error| KvError::system("understand another process", error))
}

/// Kinds of operation by their words.
pub(crate) mod kind {
    use outcrop_workload::keyed::OperationKind;
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(kind: &OperationKind, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(kind.name())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<OperationKind, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(D::Error::custom)
    }
}

/// Histograms as text, with their exact totals.
pub(crate) mod histogram {
    use outcrop_measure::histogram::{LatencyHistogram, Totals};
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Written {
        hdr: String,
        count: u64,
        min_ns: u64,
        max_ns: u64,
        /// Operations of a process last for less than 584 years together.
        sum_ns: u64,
    }

    pub(crate) fn serialize<S: Serializer>(
        histogram: &LatencyHistogram,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let written = histogram.totals().map(|totals| Written {
            hdr: histogram.to_hdr_base64(),
            count: totals.count,
            min_ns: totals.min_ns,
            max_ns: totals.max_ns,
            sum_ns: u64::try_from(totals.sum_ns).unwrap_or(u64::MAX),
        });
        written.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<LatencyHistogram, D::Error> {
        let Some(written) = Option::<Written>::deserialize(deserializer)? else {
            return Ok(LatencyHistogram::new());
        };
        let totals = Totals {
            count: written.count,
            min_ns: written.min_ns,
            max_ns: written.max_ns,
            sum_ns: written.sum_ns.into(),
        };
        LatencyHistogram::from_hdr_base64(&written.hdr)
            .and_then(|histogram| histogram.with_totals(&totals))
            .map_err(D::Error::custom)
    }
}
