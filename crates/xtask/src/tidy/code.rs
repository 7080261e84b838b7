//! Rust source with its comments and literals blanked, so that a rule about code does not trip over prose.

/// Replaces every comment, string and character literal by spaces; newlines stay, so line numbers hold.
///
/// Follows the Rust reference, "Tokens": nested block comments, raw strings with any number of `#`, and
/// lifetimes told apart from character literals. Bytes after an unterminated literal are all blanked.
pub(super) fn code_only(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let previous_is_word = code.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let skipped = literal_or_comment_len(rest, previous_is_word);
        if skipped == 0 {
            code.push(next);
            rest = &rest[next.len_utf8()..];
        } else {
            code.extend(
                rest[..skipped]
                    .chars()
                    .map(|c| if c == '\n' { '\n' } else { ' ' }),
            );
            rest = &rest[skipped..];
        }
    }
    code
}

/// The string literals of the source, without their quotes, each with its 1-based line.
pub(super) fn string_literals(text: &str) -> Vec<(usize, &str)> {
    let mut literals = Vec::new();
    let (mut rest, mut line, mut previous_is_word) = (text, 1, false);
    while let Some(next) = rest.chars().next() {
        let skipped = literal_or_comment_len(rest, previous_is_word);
        let length = skipped.max(next.len_utf8());
        let token = &rest[..length];
        if skipped > 0 && !token.starts_with('/') && token.ends_with(['"', '#']) {
            let body = token.trim_start_matches(['b', 'c', 'r']).trim_matches('#');
            literals.push((line, body.trim_matches('"')));
        }
        line += token.matches('\n').count();
        previous_is_word = skipped == 0 && (next.is_alphanumeric() || next == '_');
        rest = &rest[length..];
    }
    literals
}

/// Length in bytes of the comment or literal that `rest` starts with; 0 when it starts with code.
fn literal_or_comment_len(rest: &str, previous_is_word: bool) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return block_comment_len(rest);
    }
    if !previous_is_word && let Some(len) = raw_string_len(rest) {
        return len;
    }
    match rest.as_bytes()[0] {
        b'"' => 1 + quoted_len(&rest[1..], b'"'),
        b'\'' if is_char_literal(rest) => 1 + quoted_len(&rest[1..], b'\''),
        _ => 0,
    }
}

fn block_comment_len(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let (mut depth, mut at) = (0_usize, 0);
    while at < bytes.len() {
        match bytes.get(at..at + 2) {
            Some(b"/*") => (depth, at) = (depth + 1, at + 2),
            Some(b"*/") => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    bytes.len()
}

fn raw_string_len(rest: &str) -> Option<usize> {
    let prefix = ["br", "cr", "r"]
        .into_iter()
        .find(|prefix| rest.starts_with(prefix))?;
    let after_prefix = &rest[prefix.len()..];
    let hashes = after_prefix.bytes().take_while(|&byte| byte == b'#').count();
    let body = after_prefix[hashes..].strip_prefix('"')?;
    let terminator = format!("\"{}", "#".repeat(hashes));
    let body_len = body
        .find(&terminator)
        .map_or(body.len(), |at| at + terminator.len());
    Some(prefix.len() + hashes + 1 + body_len)
}

/// Length up to and including the closing `quote`, honouring backslash escapes.
fn quoted_len(body: &str, quote: u8) -> usize {
    let mut escaped = false;
    for (at, byte) in body.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            _ if byte == quote => return at + 1,
            _ => {}
        }
    }
    body.len()
}

/// `'a'` and `'\n'` are literals; `'a` alone is a lifetime or a label.
fn is_char_literal(rest: &str) -> bool {
    let mut chars = rest.chars().skip(1);
    match chars.next() {
        Some('\\') => true,
        Some(_) => chars.next() == Some('\''),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::code_only;

    #[test]
    fn comments_and_literals_vanish_and_code_stays() {
        for (source, kept) in [
            ("a // b\nc", "a\nc"),
            ("a /* b /* c */ d */ e", "a e"),
            (r#"f("x // y", z)"#, "f( , z)"),
            (r##"f(r#"a "quoted" b"#, z)"##, "f( , z)"),
            (r#"f("escaped \" quote", z)"#, "f( , z)"),
            (
                "fn f<'a>(x: &'a str) -> char { 'x' }",
                "fn f<'a>(x: &'a str) -> char { }",
            ),
            (r"['\'', '\\', b'x']", "[ , , b ]"),
            ("for r in 0..3 {}", "for r in 0..3 {}"),
        ] {
            let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(words(&code_only(source)), words(kept), "{source}");
        }
    }

    proptest! {
        #[test]
        fn any_text_keeps_its_line_count(text in "[a-z'\"/*#\\\\\nr é]{0,80}") {
            prop_assert_eq!(code_only(&text).matches('\n').count(), text.matches('\n').count());
        }
    }
}
