//! The greatest of many integers: every decoded block is checked against the number of symbols.

use super::dispatch::kernel;

kernel! {
    /// The greatest of `values`, 0 where there is none. The baseline has no instruction for the greater of
    /// two unsigned integers of 32 bits.
    fn greatest(values: &[u32]) -> u32 {
        ["avx2"] => plain,
        _ => plain,
    }
}

#[inline(always)]
fn plain(values: &[u32]) -> u32 {
    values.iter().fold(0, |greatest, &value| greatest.max(value))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::forms;

    proptest! {
        #[test]
        fn every_implementation_equals_the_naive_definition(values in proptest::collection::vec(any::<u32>(), 0..200)) {
            let expected = values.iter().copied().max().unwrap_or(0);
            for form in forms() {
                prop_assert_eq!((form.function)(&values), expected, "{}", form.features);
            }
        }
    }
}
