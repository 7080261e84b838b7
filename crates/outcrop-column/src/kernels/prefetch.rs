//! Asking the processor to fetch a cache line before it is needed.
#![expect(unsafe_code, reason = "the prefetch intrinsic takes a raw pointer")]

/// Bytes that come with the one that was asked for.
pub(crate) const CACHE_LINE_BYTES: usize = 64;

/// Starts fetching `slice[index]` into the cache; does nothing for an index outside.
#[inline]
pub(crate) fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(item) = slice.get(index) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: prefetching has no architectural effect, and the pointer is that of a live item.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}
