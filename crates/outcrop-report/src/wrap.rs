//! Text in lines of a terminal.

/// Text in at most `most` lines of `width` columns: the whole of it, or the clauses that fit and an ellipsis. A command, between grave
/// accents, is there whole or not at all.
pub(crate) fn fitting(text: &str, width: usize, indent: usize, most: usize) -> Vec<String> {
    let lines = wrapped(text, width, indent);
    if lines.len() <= most {
        return lines;
    }
    let shorter = clause_ends(text).into_iter().rev();
    let mut shorter = shorter.map(|end| wrapped(&format!("{} …", &text[..end]), width, indent));
    shorter.find(|lines| lines.len() <= most).unwrap_or_else(|| {
        let kept = lines[..most].join(" ");
        let is_cut_within = kept.matches('`').count() % 2 == 1;
        let end = kept.rfind('`').filter(|_| is_cut_within).unwrap_or(kept.len());
        wrapped(&kept[..end], width, indent)
    })
}

/// Where a clause ends: before a parenthesis, and before a comma, semicolon, colon or full stop outside of one.
fn clause_ends(text: &str) -> Vec<usize> {
    let (mut depth, mut is_command) = (0_usize, false);
    let mut ends = Vec::new();
    for (at, letter) in text.char_indices() {
        let is_followed_by_blank = text[at + letter.len_utf8()..].starts_with(' ');
        match letter {
            '`' => is_command = !is_command,
            _ if is_command => {}
            ' ' if depth == 0 && text[at..].starts_with(" (") => ends.push(at),
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' | ';' | ':' | '.' if depth == 0 && is_followed_by_blank => ends.push(at),
            _ => {}
        }
    }
    ends
}

/// Text in lines of at most `width` columns; every line but the first is indented.
pub(crate) fn wrapped(text: &str, width: usize, indent: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let room = line.chars().count() + 1 + word.chars().count() <= width;
        if !line.trim().is_empty() && !room {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
        }
        if !line.trim().is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.trim().is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::fitting;

    #[test]
    fn what_does_not_fit_ends_with_a_clause_and_never_within_a_command() {
        let text = "Encode 1 of 3 columns with `--index postings --profile smallest`: country (lookup 30 µs, file × 1.5).";
        assert_eq!(fitting(text, 200, 0, 1), [text]);
        let short = "Encode 1 of 3 columns with `--index postings --profile smallest`: country …";
        assert_eq!(fitting(text, 80, 0, 1), [short]);
        for width in 24..80 {
            for most in 1..5 {
                let lines = fitting(text, width, 0, most);
                assert!(lines.len() <= most, "{lines:?}");
                let is_cut_within = lines.join(" ").matches('`').count() % 2 == 1;
                assert!(!is_cut_within, "{width}, {most}: {lines:?}");
            }
        }
    }
}
