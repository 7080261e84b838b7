//! Memory that starts at a page, as direct I/O asks for, without a mapping.

/// A buffer of whole pages, each touched.
#[derive(Debug)]
pub(crate) struct AlignedBuffer {
    memory: Vec<u8>,
    start: usize,
    length: usize,
}

const PAGE_BYTES: usize = 4096;

impl AlignedBuffer {
    pub(crate) fn new(length: usize) -> Self {
        // Written, so that no page is missing while the clock runs. Not with zeros: a compiler makes that a mapping of missing pages.
        let memory = vec![1; length + PAGE_BYTES];
        let start = memory.as_ptr().align_offset(PAGE_BYTES);
        Self {
            memory,
            start,
            length,
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.length]
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.length]
    }
}
