//! dpzip's decoder beside libzstd's: what ours takes libzstd takes, and reads the same bytes.

use outcrop_codec::BlockCodec;
use outcrop_codec::dpzip::{Dpzip, DpzipOptions, PAGE_BYTES, frame_with_magic};

/// Decodes `input` as a page: two bytes say how long the page should be, the rest is its stored form, whose frame and block
/// headers are made right when `mend` is set, so that the damage is behind them.
pub(crate) fn agree(input: &[u8], mend: bool) {
    let Some((&[low, high], stored)) = input.split_first_chunk() else {
        return;
    };
    let page_bytes = usize::from(u16::from_le_bytes([low, high])) % PAGE_BYTES + 1;
    let mut stored = stored.to_vec();
    if mend && stored.len() > 5 {
        let header = ((stored.len() - 5) << 3 | 2 << 1 | 1) as u32;
        stored[..2].copy_from_slice(&[0x00, 0x10]);
        stored[2..5].copy_from_slice(&header.to_le_bytes()[..3]);
    }
    let mut codec = Dpzip::new(DpzipOptions::default());
    let mut page = vec![0; page_bytes];
    if codec.decompress(&stored, &mut page).is_ok() {
        let mut by_libzstd = vec![0; page_bytes];
        let length = zstd_safe::decompress(&mut by_libzstd[..], &frame_with_magic(&stored, page_bytes))
            .expect("libzstd reads what ours reads");
        assert!(by_libzstd[..length] == page, "libzstd reads other bytes");
    }
}
