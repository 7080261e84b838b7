//! One session of measuring: the lab on its own thread, the caller waiting for events and for Ctrl-C.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use outcrop_lab::{Event as LabEvent, LabError, Observer, PlanSet, RunOutcome};
use outcrop_report::Report;
use outcrop_results::{Outcome, RunFolder, cells};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;

use super::opened;
use crate::errors::{OutcropError, RunError, of_lab, of_results};
use crate::run::Run;

/// Python's signal handlers leave a mark that the main thread has to look for: there is nothing to wait on.
const BETWEEN_SIGNALS: Duration = Duration::from_millis(100);

/// Something that happened in a run.
#[pyclass(frozen, get_all, module = "outcrop")]
pub(crate) struct Event {
    /// `"preparing"`, `"trial started"`, `"trial finished"`, `"note"` or `"warning"`.
    kind: &'static str,
    /// Trials finished, or bytes prepared.
    done: u64,
    /// Trials, or bytes, in all.
    total: u64,
    /// Seconds that the run will still take; `None` for notes.
    remaining_s: Option<f64>,
    /// The cell that is measured, or the sentence of a note.
    text: String,
}

#[pymethods]
impl Event {
    fn __repr__(&self) -> String {
        format!(
            "<outcrop.Event {}: {} of {}, {}>",
            self.kind, self.done, self.total, self.text
        )
    }
}

impl Event {
    fn said(kind: &'static str, text: &str) -> Self {
        Self {
            kind,
            done: 0,
            total: 0,
            remaining_s: None,
            text: text.to_owned(),
        }
    }

    fn of(event: LabEvent<'_>) -> Option<Self> {
        Some(match event {
            LabEvent::Preparing {
                bytes_done,
                bytes_total,
                remaining,
            } => Self {
                kind: "preparing",
                done: bytes_done,
                total: bytes_total,
                remaining_s: Some(remaining.as_secs_f64()),
                text: "preparing what is measured".to_owned(),
            },
            LabEvent::TrialStarted {
                finished,
                total,
                cell,
                remaining,
                ..
            } => Self {
                kind: "trial started",
                done: finished as u64,
                total: total as u64,
                remaining_s: Some(remaining.as_secs_f64()),
                text: cell.label(),
            },
            LabEvent::TrialFinished {
                finished,
                total,
                cell,
                entry,
                remaining,
            } => Self {
                kind: "trial finished",
                done: finished as u64,
                total: total as u64,
                remaining_s: Some(remaining.as_secs_f64()),
                text: match &entry.outcome {
                    Outcome::Failed { message } => format!("{}: failed: {message}", cell.label()),
                    _ => cell.label(),
                },
            },
            LabEvent::Note(text) => Self::said("note", text),
            LabEvent::Warning(text) => Self::said("warning", text),
            _ => return None,
        })
    }
}

/// Sends what happens to the thread that waits.
struct Teller(Sender<Event>);

impl Observer for Teller {
    fn observe(&mut self, event: LabEvent<'_>) {
        if let Some(event) = Event::of(event) {
            // It listens until this thread has ended.
            let _ = self.0.send(event);
        }
    }
}

/// A run folder that is written.
pub(super) struct Folder {
    folder: RunFolder,
    /// It was made a moment ago: without a single trial it goes again.
    is_new: bool,
}

impl Folder {
    pub(super) fn new(folder: RunFolder) -> Self {
        Self { folder, is_new: true }
    }

    pub(super) fn existing(folder: RunFolder) -> Self {
        Self {
            folder,
            is_new: false,
        }
    }
}

/// Measures what is missing in a run folder, writes the report, and opens the run.
pub(super) fn measure(
    py: Python<'_>,
    set: &PlanSet,
    folder: Folder,
    on_event: Option<Py<PyAny>>,
) -> PyResult<Run> {
    let Folder { mut folder, is_new } = folder;
    let dir = folder.dir().to_owned();
    let (sender, events) = channel();
    // The thread owns what it works on: a process that was forked while it ran returns without it.
    let (set, stop) = (set.clone(), Arc::new(AtomicBool::new(false)));
    let stopping = Arc::clone(&stop);
    let lab = std::thread::Builder::new()
        .name("outcrop-lab".to_owned())
        .spawn(move || {
            let executed = outcrop_lab::execute(&set, &mut folder, &mut Teller(sender), &stopping);
            (executed, folder)
        })?;
    let ((executed, folder), raised) = py.detach(|| {
        let raised = attend(events, on_event.as_ref(), &stop)?;
        let panicked = |_| PyRuntimeError::new_err("the measuring thread panicked; please report this");
        Ok::<_, PyErr>((lab.join().map_err(panicked)?, raised))
    })?;
    conclude(py, executed, raised, (folder, is_new), dir)
}

/// Hands events on until the lab has ended; what Python raised meanwhile has stopped the lab, and is given.
///
/// # Errors
/// In a process that was forked by `on_event` and came back from it: no thread measures here.
fn attend(
    events: Receiver<Event>,
    on_event: Option<&Py<PyAny>>,
    stop: &AtomicBool,
) -> PyResult<Option<PyErr>> {
    let measuring = std::process::id();
    let mut raised = None;
    loop {
        let event = match events.recv_timeout(BETWEEN_SIGNALS) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return Ok(raised),
        };
        let attended = Python::attach(|py| {
            py.check_signals()?;
            match (event, on_event, &raised) {
                (Some(event), Some(on_event), None) => on_event.call1(py, (event,)).map(drop),
                _ => Ok(()),
            }
        });
        if std::process::id() != measuring {
            // The thread that sends may have been half through sending: here it would be waited for.
            std::mem::forget(events);
            return Err(PyRuntimeError::new_err(
                "this process was forked in on_event, and the run goes on in its parent; end the fork with os._exit()",
            ));
        }
        if let Err(error) = attended {
            stop.store(true, Ordering::Relaxed);
            raised.get_or_insert(error);
        }
    }
}

fn conclude(
    py: Python<'_>,
    executed: Result<RunOutcome, LabError>,
    raised: Option<PyErr>,
    (folder, is_new): (RunFolder, bool),
    dir: PathBuf,
) -> PyResult<Run> {
    let outcome = match executed {
        Ok(outcome) => outcome,
        Err(error) => {
            if is_new {
                folder.discard_if_empty().map_err(|error| of_results(&error))?;
            }
            return Err(raised.unwrap_or_else(|| of_lab(&error)));
        }
    };
    // The lock of the folder ends here.
    drop(folder);
    let view = py.detach(|| {
        let view = opened(&dir)?;
        outcrop_report::write(&Report::of(&view), &dir)
            .map_err(|error| OutcropError::new_err(error.to_string()))?;
        cells::write_files(&view, &dir).map_err(|error| of_results(&error))?;
        Ok::<_, PyErr>(view)
    })?;
    match raised {
        Some(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => {
            Err(PyKeyboardInterrupt::new_err(format!(
                "{} of {} trials are kept; resume with outcrop.resume({:?})",
                outcome.finished,
                outcome.total,
                dir.display().to_string()
            )))
        }
        Some(error) => Err(error),
        None if outcome.has_measured_nothing() => Err(RunError::new_err(format!(
            "nothing could be measured; the cells of outcrop.open_run({:?}) give the reasons",
            dir.display().to_string()
        ))),
        None => Ok(Run { view }),
    }
}
