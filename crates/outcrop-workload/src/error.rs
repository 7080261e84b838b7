//! What can be wrong with a description of a workload.

/// A workload that cannot be asked for; the message names what was seen and what is accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// A spelling that is none of the accepted forms.
    #[error("cannot parse {what} `{seen}`; expected {accepted}")]
    Spelling {
        /// Which description was being read ("access pattern").
        what: &'static str,
        /// The text as given.
        seen: String,
        /// The accepted forms, as a clause.
        accepted: &'static str,
    },
    /// A word that is none of the accepted ones.
    #[error("unknown {what} {seen:?}; {hint}")]
    UnknownWord {
        /// What the word stands for ("engine").
        what: &'static str,
        /// The word as given.
        seen: String,
        /// The word that was probably meant, or all that are accepted.
        hint: String,
    },
    /// A form that is understood, with a number outside its range.
    #[error("{what} `{seen}`: {why}")]
    OutOfRange {
        /// Which description was being read ("access pattern").
        what: &'static str,
        /// The text as given.
        seen: String,
        /// What the number must be, and what to write instead where that helps.
        why: String,
    },
    /// A span without a single block in it.
    #[error(
        "the span is smaller than one block of {block_size_bytes} B; make the span larger or the block smaller"
    )]
    EmptySpace {
        /// The block size asked for.
        block_size_bytes: u64,
    },
    /// A stride that does not fall on block boundaries.
    #[error(
        "a stride of {stride_bytes} B is not a multiple of the block size, {block_size_bytes} B; choose a multiple, or use `sequential`"
    )]
    StrideOffBlocks {
        /// The stride asked for.
        stride_bytes: u64,
        /// The block size asked for.
        block_size_bytes: u64,
    },
    /// A job index outside the number of jobs.
    #[error("there is no job {job_index} of {job_count}; jobs are numbered from 0")]
    NoSuchJob {
        /// The index asked for.
        job_index: u32,
        /// How many jobs there are.
        job_count: u32,
    },
    /// An insert while too many others wait for their acknowledgement.
    #[error(
        "key {oldest_key_id} was given out for an insert and never acknowledged, while 2^20 later ones were; \
         acknowledge each insert once it is stored, or end the run if it failed"
    )]
    TooManyUnacknowledged {
        /// The first key that is not acknowledged.
        oldest_key_id: u64,
    },
    /// A recorded request that cannot be understood.
    #[error("line {line} of the trace: {why}")]
    Trace {
        /// The line, from 1 on.
        line: u64,
        /// What was seen and what was expected.
        why: String,
    },
}
