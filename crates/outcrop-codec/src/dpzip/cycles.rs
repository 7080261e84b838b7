//! The cycle model: what the hardware would need for a page. Modelled, never measured.
//!
//! Published: 1 GHz, 8 bytes a cycle, pipelined groups of four bytes, a page leaves after 4.67 µs. Not published: how many cycles
//! each step takes. The model assumes a pipeline whose slowest step sets the pace, with the widths below; the
//! depth of the pipeline is what is left of the published latency of a page.

use super::options::GROUP_BYTES;
use super::page::{PageForm, PageWork};

/// Widths of the pipeline, in units per cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CycleModel {
    /// Clock of the engine.
    pub clock_hertz: f64,
    /// Bytes that enter per cycle: two groups.
    pub bytes_per_cycle: f64,
    /// Candidates that stage 1 compares per cycle: four ways of four positions of two groups.
    pub candidates_per_cycle: f64,
    /// Bytes of a long match that stage 2 skips over per cycle.
    pub extended_bytes_per_cycle: f64,
    /// Literals that the Huffman coder takes per cycle.
    pub huffman_symbols_per_cycle: f64,
    /// Sequences that the FSE coder takes per cycle.
    pub sequences_per_cycle: f64,
    /// Cycles from a page's first byte in to its last byte out, its own steps apart: filling the pipeline, making
    /// the tables, and the way through the controller.
    pub latency_cycles: f64,
}

impl Default for CycleModel {
    /// 1 GHz and 8 bytes a cycle (published); 4 Huffman symbols and one sequence a cycle (a 4 GB/s Huffman
    /// engine is published); latency such that an average page takes the published 4.67 µs.
    fn default() -> Self {
        Self {
            clock_hertz: 1e9,
            bytes_per_cycle: 8.0,
            candidates_per_cycle: 32.0,
            extended_bytes_per_cycle: 16.0,
            huffman_symbols_per_cycle: 4.0,
            sequences_per_cycle: 1.0,
            latency_cycles: 4_158.0,
        }
    }
}

/// What the model says of one page or of many. Always *modelled*.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelledTime {
    /// Cycles that the slowest step is busy with a page: pages follow each other at this distance.
    pub interval_cycles: f64,
    /// Microseconds from the first byte in to the last byte out.
    pub latency_us: f64,
    /// Uncompressed bytes per second, pages following each other.
    pub bytes_per_second: f64,
}

impl CycleModel {
    /// The time of one page.
    pub fn page(&self, work: &PageWork) -> ModelledTime {
        let bytes = work.page_bytes as f64;
        let entering = bytes / self.bytes_per_cycle;
        let searching = (work.groups * GROUP_BYTES) as f64 / self.bytes_per_cycle;
        let comparing = work.candidates as f64 / self.candidates_per_cycle;
        let extending = work.matched_bytes as f64 / self.extended_bytes_per_cycle;
        let huffman = work.huffman_symbols as f64 / self.huffman_symbols_per_cycle;
        let sequences = work.sequences as f64 / self.sequences_per_cycle;
        let steps = match work.form {
            PageForm::Fill | PageForm::Raw => [entering, searching, comparing, 0.0, 0.0],
            PageForm::Frame => [entering, searching, comparing + extending, huffman, sequences],
        };
        let interval_cycles = steps.into_iter().fold(1.0, f64::max);
        ModelledTime {
            interval_cycles,
            latency_us: (self.latency_cycles + interval_cycles) / self.clock_hertz * 1e6,
            bytes_per_second: bytes * self.clock_hertz / interval_cycles,
        }
    }
}
