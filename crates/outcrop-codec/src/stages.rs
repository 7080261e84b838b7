//! Where zstd's time goes: match finding (LZ77), literals (Huffman), sequences (FSE).
//!
//! The library is not patched. Its public interface has the parts: `ZSTD_generateSequences` runs match finding
//! alone; `ZSTD_compressSequencesAndLiterals` runs the entropy stages alone, and a second time with literals left as they
//! are, so that the difference is Huffman's. The three are held against `ZSTD_compress2` on the same block: parts
//! that sum up to less than 0.85 or more than 1.15 of the whole are flagged, never scaled to fit.
//!
//! This module reads no clock: the caller brings one as a function.
//!
//! What the parts do and the whole does not is timed apart and taken off, never guessed:
//! - *Collecting.* `ZSTD_generateSequences` also allocates a target, copies the block there unpacked, frees it, and writes the
//!   sequences out in their public form. The same is done once more in our own code (`collecting`), and taken off match finding.
//! - *Starting.* Each call starts a block anew: parameters, tables, entropy's state. The whole does so once. A call without
//!   sequences or literals does only that, and is taken off both entropy stages; match finding keeps its own.
//! - *Converting.* By the book, the entropy stage finds out again which offsets repeat an earlier one, with a search and branches
//!   that the whole does not have. It is told instead: an offset that becomes the repeat's number when the library adds
//!   its constant of three. What it writes is then the whole's frame to the byte, which a test holds.
//!
//! "FSE" here includes encoding; some published figures count the making of tables alone.
#![expect(unsafe_code, reason = "zstd-safe has no binding of the sequence interface")]

use std::ptr::NonNull;

use zstd_sys::{
    ZSTD_CCtx, ZSTD_CCtx_setParameter, ZSTD_ErrorCode, ZSTD_Sequence, ZSTD_cParameter, ZSTD_compress2,
    ZSTD_compressBound, ZSTD_compressSequencesAndLiterals, ZSTD_createCCtx, ZSTD_freeCCtx,
    ZSTD_generateSequences, ZSTD_getErrorCode, ZSTD_isError, ZSTD_sequenceBound,
};

use crate::CodecError;
use collecting::Collector;

mod collecting;

const NAME: &str = "zstd";
/// Bytes behind the literals that the library wants to read.
const LITERAL_SLACK: usize = 8;
/// Sums of parts within this of the whole are believed (design of the `zstd-stages` plan).
const BELIEVED: std::ops::RangeInclusive<f64> = 0.85..=1.15;

/// zstd.h's names for parameters that the bindings number only.
const BLOCK_DELIMITERS: ZSTD_cParameter = ZSTD_cParameter::ZSTD_c_experimentalParam11;
const LITERAL_COMPRESSION: ZSTD_cParameter = ZSTD_cParameter::ZSTD_c_experimentalParam5;
const REPCODE_RESOLUTION: ZSTD_cParameter = ZSTD_cParameter::ZSTD_c_experimentalParam19;
const EXPLICIT: i32 = 1;
const UNCOMPRESSED: i32 = 2;
const DISABLE: i32 = 2;

/// What each stage took for one block, in the caller's ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageReport {
    /// All of `ZSTD_compress2`.
    pub whole_ticks: u64,
    /// Match finding alone: `ZSTD_generateSequences` less `collecting_ticks`.
    pub match_finding_ticks: u64,
    /// What `ZSTD_generateSequences` does besides finding matches, measured by doing it once more.
    pub collecting_ticks: u64,
    /// Starting a block without sequences or literals: taken off both entropy stages.
    pub starting_ticks: u64,
    /// Both entropy stages.
    pub entropy_ticks: u64,
    /// The entropy stages with literals left as they are.
    pub sequence_ticks: u64,
    /// Bytes that `ZSTD_compress2` wrote.
    pub whole_bytes: usize,
    /// Bytes that the entropy stages wrote from the sequences found.
    pub staged_bytes: usize,
    /// Sequences found, delimiters apart.
    pub sequences: usize,
    /// Literals left between them.
    pub literals: usize,
}

/// Whether the parts of a block explain the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The parts sum up to 0.85 to 1.15 of the whole.
    AddsUp,
    /// They do not: the shares of this block say nothing.
    DoesNotAddUp,
}

impl StageReport {
    /// What Huffman took: the entropy stages less those without it.
    pub fn literal_ticks(&self) -> u64 {
        self.entropy_ticks.saturating_sub(self.sequence_ticks)
    }

    /// The sum of the parts over the whole; `None` when the whole took no tick.
    pub fn sum_ratio(&self) -> Option<f64> {
        let parts = self.match_finding_ticks + self.entropy_ticks;
        (self.whole_ticks > 0).then(|| parts as f64 / self.whole_ticks as f64)
    }

    /// Whether the shares of this report may be believed.
    pub fn verdict(&self) -> Verdict {
        match self.sum_ratio() {
            Some(ratio) if BELIEVED.contains(&ratio) => Verdict::AddsUp,
            _ => Verdict::DoesNotAddUp,
        }
    }

    /// The median of three runs over one block, part by part: what disturbs one of them does not show.
    #[must_use]
    pub fn median(runs: [Self; 3]) -> Self {
        let middle = |part: fn(&Self) -> u64| {
            let [a, b, c] = runs.each_ref().map(part);
            a.min(b).max(a.max(b).min(c))
        };
        Self {
            whole_ticks: middle(|run| run.whole_ticks),
            match_finding_ticks: middle(|run| run.match_finding_ticks),
            collecting_ticks: middle(|run| run.collecting_ticks),
            starting_ticks: middle(|run| run.starting_ticks),
            entropy_ticks: middle(|run| run.entropy_ticks),
            sequence_ticks: middle(|run| run.sequence_ticks),
            ..runs[0]
        }
    }

    /// Adds another block's ticks and counts: shares are of sums, not means of shares.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            whole_ticks: self.whole_ticks + other.whole_ticks,
            match_finding_ticks: self.match_finding_ticks + other.match_finding_ticks,
            collecting_ticks: self.collecting_ticks + other.collecting_ticks,
            starting_ticks: self.starting_ticks + other.starting_ticks,
            entropy_ticks: self.entropy_ticks + other.entropy_ticks,
            sequence_ticks: self.sequence_ticks + other.sequence_ticks,
            whole_bytes: self.whole_bytes + other.whole_bytes,
            staged_bytes: self.staged_bytes + other.staged_bytes,
            sequences: self.sequences + other.sequences,
            literals: self.literals + other.literals,
        }
    }
}

/// A compression context of the C library.
struct Context(NonNull<ZSTD_CCtx>);

impl Context {
    fn new(level: i32, parameters: &[(ZSTD_cParameter, i32)]) -> Result<Self, CodecError> {
        // SAFETY: takes nothing; answers a context or null.
        let context = unsafe { ZSTD_createCCtx() };
        let context = Self(NonNull::new(context).ok_or_else(|| CodecError::out_of_memory(NAME))?);
        let level = (ZSTD_cParameter::ZSTD_c_compressionLevel, level);
        for &(parameter, value) in parameters.iter().chain([&level]) {
            // SAFETY: the context is live; the library checks parameter and value.
            let code = unsafe { ZSTD_CCtx_setParameter(context.0.as_ptr(), parameter, value) };
            checked(code, &[])?;
        }
        Ok(context)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: made by `ZSTD_createCCtx`, and not used afterwards.
        unsafe { ZSTD_freeCCtx(self.0.as_ptr()) };
    }
}

// SAFETY: a context belongs to one value, and the library keeps nothing per thread.
unsafe impl Send for Context {}

/// The library's answer as a length, or as an error.
fn checked(code: usize, source: &[u8]) -> Result<usize, CodecError> {
    // SAFETY: a function of the number alone.
    if unsafe { ZSTD_isError(code) } == 0 {
        return Ok(code);
    }
    Err(CodecError::refused(NAME, source, zstd_safe::get_error_name(code)))
}

/// The end of a block without literals.
const DELIMITER: ZSTD_Sequence = ZSTD_Sequence {
    offset: 0,
    litLength: 0,
    matchLength: 0,
    rep: 0,
};

/// Gives repeated offsets by number. The library stores an offset plus three, and below that the number of the repeat:
/// the number less three, wrapped around, becomes the number.
fn number_repeats(sequences: &mut [ZSTD_Sequence]) {
    const REPEATS: u32 = 3;
    for sequence in sequences.iter_mut().filter(|sequence| sequence.rep > 0) {
        sequence.offset = sequence.rep.wrapping_sub(REPEATS);
    }
}

/// Runs the stages of one level, block by block; keeps contexts and buffers.
pub struct StageTimer {
    whole: Context,
    finder: Context,
    entropy: Context,
    without_huffman: Context,
    target: Vec<u8>,
    sequences: Vec<ZSTD_Sequence>,
    collector: Collector,
    literals: Vec<u8>,
    frame_bytes: usize,
}

impl StageTimer {
    /// Makes the contexts of `level`.
    ///
    /// # Errors
    /// When the library has no memory for them.
    pub fn new(level: i32) -> Result<Self, CodecError> {
        let sequences = [(BLOCK_DELIMITERS, EXPLICIT), (REPCODE_RESOLUTION, DISABLE)];
        let without = [sequences[0], sequences[1], (LITERAL_COMPRESSION, UNCOMPRESSED)];
        Ok(Self {
            whole: Context::new(level, &[])?,
            finder: Context::new(level, &[])?,
            entropy: Context::new(level, &sequences)?,
            without_huffman: Context::new(level, &without)?,
            target: Vec::new(),
            sequences: Vec::new(),
            collector: Collector::default(),
            literals: Vec::new(),
            frame_bytes: 0,
        })
    }

    /// Times every stage on `block` with `ticks`, a clock that the caller reads ahead and after.
    ///
    /// # Errors
    /// When the block is incompressible (its frame has no sequences to time) or larger than one block of
    /// zstd's (128 KiB).
    pub fn run(&mut self, block: &[u8], ticks: impl Fn() -> u64) -> Result<StageReport, CodecError> {
        const LARGEST: usize = 128 << 10;
        if block.len() > LARGEST {
            return Err(CodecError::block_too_large(NAME, LARGEST, block));
        }
        let target_bytes = self.make_room(block.len());
        let started = ticks();
        let whole_bytes = self.compress_whole(block)?;
        let whole_ticks = ticks() - started;
        if whole_bytes >= block.len() {
            return Err(CodecError::refused(
                NAME,
                block,
                "an incompressible block has no stages",
            ));
        }
        let started = ticks();
        let count = self.find_matches(block)?;
        let found_ticks = ticks() - started;
        self.collector.prepare(&self.sequences[..count]);
        let started = ticks();
        self.collector.collect(block, target_bytes);
        let collecting_ticks = ticks() - started;
        self.gather_literals(block, count);
        number_repeats(&mut self.sequences[..count]);
        let started = ticks();
        self.start(block);
        let starting_ticks = ticks() - started;
        let started = ticks();
        let without_huffman = self.encode(block, count, false);
        let sequence_ticks = (ticks() - started).saturating_sub(starting_ticks);
        done_or_too_large(without_huffman, block)?;
        let started = ticks();
        let staged_bytes = self.encode(block, count, true);
        let staged_bytes = checked(staged_bytes, block)?;
        let entropy_ticks = (ticks() - started).saturating_sub(starting_ticks);
        self.frame_bytes = staged_bytes;
        Ok(StageReport {
            whole_ticks,
            match_finding_ticks: found_ticks.saturating_sub(collecting_ticks),
            collecting_ticks,
            starting_ticks,
            entropy_ticks,
            sequence_ticks,
            whole_bytes,
            staged_bytes,
            sequences: self.sequences[..count]
                .iter()
                .filter(|sequence| sequence.matchLength > 0)
                .count(),
            literals: self.literals.len() - LITERAL_SLACK,
        })
    }

    /// The frame that the stages wrote for the last block.
    pub fn frame(&self) -> &[u8] {
        &self.target[..self.frame_bytes]
    }

    /// Answers the length of a target that any block of this length fits in.
    fn make_room(&mut self, block_bytes: usize) -> usize {
        // SAFETY: a function of the number alone.
        let bound = unsafe { ZSTD_compressBound(block_bytes) };
        // Literals that stay as they are may take more than the whole: twice the bound is always enough.
        self.target.resize(2 * bound, 0);
        // SAFETY: a function of the number alone.
        let sequences = unsafe { ZSTD_sequenceBound(block_bytes) };
        self.sequences.resize(sequences, DELIMITER);
        bound
    }

    fn compress_whole(&mut self, block: &[u8]) -> Result<usize, CodecError> {
        // SAFETY: the context is live; pointers and lengths are those of live buffers.
        let code = unsafe {
            ZSTD_compress2(
                self.whole.0.as_ptr(),
                self.target.as_mut_ptr().cast(),
                self.target.len(),
                block.as_ptr().cast(),
                block.len(),
            )
        };
        checked(code, block)
    }

    fn find_matches(&mut self, block: &[u8]) -> Result<usize, CodecError> {
        // SAFETY: the context is live; the array has the length given, and the block too.
        let code = unsafe {
            ZSTD_generateSequences(
                self.finder.0.as_ptr(),
                self.sequences.as_mut_ptr(),
                self.sequences.len(),
                block.as_ptr().cast(),
                block.len(),
            )
        };
        checked(code, block)
    }

    /// Puts the literals of `block` one behind the other, as the entropy stage wants them. Not timed: the
    /// whole does it while it finds matches.
    fn gather_literals(&mut self, block: &[u8], count: usize) {
        self.literals.clear();
        let mut at = 0;
        for sequence in &self.sequences[..count] {
            let end = at + sequence.litLength as usize;
            self.literals.extend_from_slice(&block[at..end]);
            at = end + sequence.matchLength as usize;
        }
        self.literals.resize(self.literals.len() + LITERAL_SLACK, 0);
    }

    /// Starts the entropy stages on a block of this length, and gives them nothing. They refuse what is then not a block:
    /// all that was to be timed was done.
    fn start(&mut self, block: &[u8]) {
        let nothing = DELIMITER;
        // SAFETY: the context is live; one delimiter and no literals, which have the slack that is asked for.
        let refusal = unsafe {
            ZSTD_compressSequencesAndLiterals(
                self.entropy.0.as_ptr(),
                self.target.as_mut_ptr().cast(),
                self.target.len(),
                &raw const nothing,
                1,
                self.literals.as_ptr().cast(),
                0,
                self.literals.len(),
                block.len(),
            )
        };
        std::hint::black_box(refusal);
    }

    /// The library's answer, unchecked: without Huffman a refusal may be as good as a length.
    fn encode(&mut self, block: &[u8], count: usize, huffman: bool) -> usize {
        let context = if huffman {
            &self.entropy
        } else {
            &self.without_huffman
        };
        // SAFETY: the context is live; the sequences are the library's own, of a block of this length; the
        // literals have the slack that is asked for.
        unsafe {
            ZSTD_compressSequencesAndLiterals(
                context.0.as_ptr(),
                self.target.as_mut_ptr().cast(),
                self.target.len(),
                self.sequences.as_ptr(),
                count,
                self.literals.as_ptr().cast(),
                self.literals.len() - LITERAL_SLACK,
                self.literals.len(),
                block.len(),
            )
        }
    }
}

/// Accepts the refusal of a block that is no smaller than its source: the library looks at the size after it has
/// encoded all sequences, so what was to be timed was done. Blocks of few matches need Huffman to become smaller.
fn done_or_too_large(code: usize, block: &[u8]) -> Result<(), CodecError> {
    // SAFETY: a function of the number alone.
    let error = unsafe { ZSTD_getErrorCode(code) };
    if error == ZSTD_ErrorCode::ZSTD_error_cannotProduce_uncompressedBlock {
        return Ok(());
    }
    checked(code, block).map(drop)
}
