//! Text in lines of a terminal.

/// Text in at most `most` lines of `width` columns: the whole of it, or the clauses, or at least the words, that fit and an ellipsis. A
/// command, between grave accents, is there whole or not at all.
pub(crate) fn fitting(text: &str, width: usize, indent: usize, most: usize) -> Vec<String> {
    let lines = wrapped(text, width, indent);
    if lines.len() <= most {
        return lines;
    }
    let shorter = clause_ends(text).into_iter().rev();
    let mut shorter = shorter.map(|end| wrapped(&format!("{} …", &text[..end]), width, indent));
    let fits = |lines: &Vec<String>| lines.len() <= most;
    let by_clause = shorter.find(fits);
    by_clause
        .or_else(|| {
            // No clause is short enough: as many words as fit.
            let words = words(text, width.saturating_sub(indent));
            let shorter = (1..words.len()).rev().map(|kept| words[..kept].join(" "));
            let shorter = shorter.filter(|text| text.matches('`').count() % 2 == 0);
            shorter
                .map(|text| wrapped(&format!("{text} …"), width, indent))
                .find(fits)
        })
        .unwrap_or_default()
}

/// The same for text whose last clause, behind a semicolon, limits what is said before it: that clause is kept, and the middle is left out.
pub(crate) fn fitting_with_end(text: &str, width: usize, most: usize) -> Vec<String> {
    let shorter = || {
        let (head, caveat) = text.rsplit_once("; ")?;
        let is_whole = |text: &str| text.matches('`').count().is_multiple_of(2);
        let ends = clause_ends(head).into_iter().rev();
        let ends = ends.filter(|end| is_whole(&head[..*end]) && is_whole(caveat));
        let mut lines = ends.map(|end| wrapped(&format!("{} …; {caveat}", &head[..end]), width, 0));
        lines.find(|lines| lines.len() <= most)
    };
    let lines = wrapped(text, width, 0);
    if lines.len() <= most {
        return lines;
    }
    shorter().unwrap_or_else(|| fitting(text, width, 0, most))
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

/// Text in lines of at most `width` columns; every line but the first is indented. A command, between grave accents, is on one line where it
/// fits on one: whoever copies it gets the whole.
pub(crate) fn wrapped(text: &str, width: usize, indent: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in words(text, width.saturating_sub(indent)) {
        let room = line.chars().count() + 1 + word.chars().count() <= width;
        if !line.trim().is_empty() && !room {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
        }
        if !line.trim().is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
    }
    if !line.trim().is_empty() {
        lines.push(line);
    }
    lines
}

/// The words of a text; a command of at most `most` letters is one.
fn words(text: &str, most: usize) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut command: Vec<&str> = Vec::new();
    for word in text.split_whitespace() {
        let is_end = word.matches('`').count() % 2 == 1;
        if command.is_empty() && !is_end {
            words.push(word.to_owned());
            continue;
        }
        let is_closed = !command.is_empty() && is_end;
        command.push(word);
        if is_closed {
            put(&mut words, &mut command, most);
        }
    }
    words.extend(command.into_iter().map(str::to_owned));
    words
}

/// A command as one word where it is short enough, else as its words.
fn put(words: &mut Vec<String>, command: &mut Vec<&str>, most: usize) {
    let whole = command.join(" ");
    if whole.chars().count() <= most {
        words.push(whole);
    } else {
        words.extend(command.iter().map(ToString::to_string));
    }
    command.clear();
}

#[cfg(test)]
mod tests {
    use super::{fitting, fitting_with_end, wrapped};

    #[test]
    fn a_command_is_on_one_line_where_it_fits_on_one() {
        let text =
            "More trials would narrow it: `outcrop run runs/a/plan.toml --repetitions 9`. That is all.";
        assert_eq!(
            wrapped(text, 60, 2),
            [
                "More trials would narrow it:",
                "  `outcrop run runs/a/plan.toml --repetitions 9`. That is",
                "  all."
            ]
        );
        for width in 10..100 {
            let lines = wrapped(text, width, 2);
            let words: Vec<&str> = lines.iter().flat_map(|line| line.split_whitespace()).collect();
            assert_eq!(words, text.split_whitespace().collect::<Vec<_>>());
            assert!(
                lines.iter().all(|line| line.chars().count() <= width.max(18)),
                "{lines:?}"
            );
        }
    }

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

    #[test]
    fn the_clause_that_limits_an_advice_is_kept_and_the_middle_gives_way() {
        let text =
            "Use zstd:1, 64 KiB: ratio 2.64 (clear), 320 MB/s in; not certain: it may break the limit.";
        assert_eq!(fitting_with_end(text, 200, 1), [text]);
        let lines = fitting_with_end(text, 30, 3);
        assert!(lines.len() <= 3, "{lines:?}");
        let said = lines.join(" ");
        assert!(
            said.starts_with("Use zstd:1") && said.contains(" …; not certain: it may break the limit."),
            "{said}"
        );
        // Where even that has no room, what to do comes first.
        assert_eq!(fitting_with_end(text, 30, 1), ["Use zstd:1, 64 KiB …"]);
    }
}
