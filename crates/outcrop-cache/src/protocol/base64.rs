//! Base64 as RFC 4648 has it: keys of the meta commands, passwords over HTTP.

/// Writes bytes in the standard alphabet with padding.
pub(crate) fn write(bytes: &[u8], out: &mut Vec<u8>) {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for group in bytes.chunks(3) {
        let at = |place: usize| u32::from(group.get(place).copied().unwrap_or(0));
        let word = at(0) << 16 | at(1) << 8 | at(2);
        for place in 0..4 {
            out.push(if place <= group.len() {
                ALPHABET[(word >> (18 - 6 * place) & 63) as usize]
            } else {
                b'='
            });
        }
    }
}

/// Reads the standard alphabet with padding; nothing for anything else, or for no text.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| {
        Some(u32::from(match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        }))
    };
    if !text.len().is_multiple_of(4) || text.is_empty() {
        return None;
    }
    let padding = text
        .iter()
        .rev()
        .take(2)
        .take_while(|&&byte| byte == b'=')
        .count();
    let mut decoded = Vec::with_capacity(text.len() / 4 * 3);
    for group in text.chunks_exact(4) {
        let is_last = std::ptr::eq(group, &raw const text[text.len() - 4..]);
        let mut digits = group.iter().enumerate().map(|(at, &byte)| {
            if is_last && at >= 4 - padding {
                Some(0)
            } else {
                digit(byte)
            }
        });
        let word = digits.try_fold(0_u32, |word, digit| Some(word << 6 | digit?))?;
        decoded.extend_from_slice(&word.to_be_bytes()[1..]);
    }
    decoded.truncate(decoded.len() - padding);
    Some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_reads_as_the_standard_says() {
        for (text, expected) in [
            ("Zm9v", &b"foo"[..]),
            ("Zm8=", b"fo"),
            ("Zg==", b"f"),
            ("+/+/", &[0xFB, 0xFF, 0xBF]),
        ] {
            assert_eq!(decode(text.as_bytes()).as_deref(), Some(expected));
            let mut written = Vec::new();
            write(expected, &mut written);
            assert_eq!(written, text.as_bytes());
        }
        for wrong in ["", "Z", "Zm9", "Zm9!", "=m9v", "Z=9v", "!!!!", "Z==="] {
            assert_eq!(decode(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
