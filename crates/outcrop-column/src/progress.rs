//! Progress of a long operation, for whoever asked: the caller has clock and screen, this crate has neither.

use std::sync::Arc;

/// What a long operation is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Rows are decoded, checked or gathered again.
    Rows,
    /// Blocks of forward codes are encoded and written.
    Codes,
    /// Posting lists are sorted and written.
    Postings,
    /// Packed forms of a small column are tried, each on all its rows.
    Packing,
}

/// How far an operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The step that it is in; each begins again at zero.
    pub step: Step,
    /// Rows done in this step.
    pub done: u64,
    /// Rows to do in this step.
    pub total: u64,
}

type Watcher = Arc<dyn Fn(Progress) + Send + Sync>;

/// Somebody who wants to know, or nobody.
#[derive(Clone, Default)]
pub(crate) struct Watch(Option<Watcher>);

impl Watch {
    pub(crate) fn of(watcher: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(watcher)))
    }

    pub(crate) fn report(&self, step: Step, done: u64, total: u64) {
        if let Some(watcher) = &self.0 {
            watcher(Progress { step, done, total });
        }
    }
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() {
            "Watch(on)"
        } else {
            "Watch(off)"
        })
    }
}
