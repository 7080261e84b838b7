//! The positions of the set bits of a mask that has several in each word: ends of lines, and
//! rows that match where many do.

use super::dispatch::kernel;

kernel! {
    /// Appends the positions of the set bits, ascending, each plus `offset`, to `out`. With these features,
    /// counting, finding and clearing bits are an instruction each.
    fn positions(mask: &[u64], offset: u32, out: &mut Vec<u32>) {
        ["bmi1", "popcnt"] => plain,
        _ => plain,
    }
}

/// Positions written at a time, whether there are as many or not: a loop over each would mispredict its end.
const AT_ONCE: usize = 12;

#[inline(always)]
fn plain(mask: &[u64], offset: u32, out: &mut Vec<u32>) {
    let mut count = out.len();
    let total = count + mask.iter().map(|word| word.count_ones() as usize).sum::<usize>();
    // Room for what is written behind the last position.
    out.resize(total + AT_ONCE, 0);
    for (base, &word) in (offset..).step_by(64).zip(mask) {
        let (mut rest, mut at) = (word, count);
        count += word.count_ones() as usize;
        loop {
            for place in &mut out[at..at + AT_ONCE] {
                *place = base.wrapping_add(rest.trailing_zeros());
                rest &= rest.wrapping_sub(1);
            }
            at += AT_ONCE;
            if at >= count {
                break;
            }
        }
    }
    out.truncate(total);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::forms;

    proptest! {
        #[test]
        fn every_implementation_equals_the_naive_definition(
            words in proptest::collection::vec((any::<u64>(), any::<u64>(), 0_u32..5), 0..20), offset in 0_u32..1000,
        ) {
            let mask: Vec<u64> = words.iter().map(|&(word, other, kind)| match kind {
                0 => 0,
                1 => word,
                2 => word & other,
                3 => 1 << (word % 64),
                _ => u64::MAX,
            }).collect();
            let expected: Vec<u32> = (0..mask.len() * 64).filter(|&bit| mask[bit / 64] >> (bit % 64) & 1 == 1).map(|bit| bit as u32 + offset).collect();
            for form in forms() {
                let mut out = vec![99];
                (form.function)(&mask, offset, &mut out);
                prop_assert_eq!((out[0], &out[1..]), (99, &expected[..]), "{}", form.features);
            }
        }
    }
}
