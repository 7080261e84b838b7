//! The plain implementation. Its body is also compiled with instructions that find bits by `x86`.

/// Positions written at a time, whether there are as many or not: a loop over each would mispredict its end.
const AT_ONCE: usize = 12;

pub(super) fn positions(mask: &[u64], offset: u32, out: &mut Vec<u32>) {
    body(mask, offset, out);
}

#[inline(always)]
pub(super) fn body(mask: &[u64], offset: u32, out: &mut Vec<u32>) {
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
