//! The one error type of this crate: text that is not a quantity, bytes that are not a histogram.

/// What can be wrong with input from outside.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// A text is not the quantity that was asked for.
    #[error("`{text}` is not {quantity}: {problem}; expected for example {examples}")]
    Quantity {
        /// The text seen (shortened when very long).
        text: String,
        /// What was expected, with its article: "a byte size".
        quantity: &'static str,
        /// What is wrong with it.
        problem: String,
        /// Spellings that are accepted.
        examples: &'static str,
    },
    /// An encoded histogram cannot be read.
    #[error(
        "cannot read the HdrHistogram: {problem}; expected base64 of the V2 format (compressed or not), lowest value 1, 2 or 3 significant digits"
    )]
    Histogram {
        /// What is wrong with it.
        problem: String,
    },
    /// Exact totals kept beside an encoded histogram contradict its buckets.
    #[error("the totals of a histogram contradict its buckets: {problem}; the entry was damaged or edited")]
    Totals {
        /// Which total, with the value seen and the range that the buckets allow.
        problem: String,
    },
}

impl MeasureError {
    /// A [`MeasureError::Quantity`]; `text` is cut to a length that fits a message.
    pub(crate) fn quantity(
        text: &str,
        quantity: &'static str,
        problem: impl Into<String>,
        examples: &'static str,
    ) -> Self {
        const LONGEST_SHOWN: usize = 60;
        let mut shown: String = text.chars().take(LONGEST_SHOWN).collect();
        if shown.len() < text.len() {
            shown.push('…');
        }
        Self::Quantity {
            text: shown,
            quantity,
            problem: problem.into(),
            examples,
        }
    }

    pub(crate) fn histogram(problem: impl Into<String>) -> Self {
        Self::Histogram {
            problem: problem.into(),
        }
    }
}
