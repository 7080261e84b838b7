//! A strict reader of markup, for tests: every element closed in order, every attribute quoted, every `&` a
//! reference. HTML forgives; a page that needs forgiving renders differently everywhere.

/// Elements that have no end tag.
const VOID: [&str; 7] = ["wbr", "meta", "input", "br", "img", "link", "hr"];

/// Elements whose end the start of one of these, or the end of what they are in, implies (HTML, section 13.1.2.4).
const IMPLIED: [(&str, &[&str]); 8] = [
    ("td", &["td", "th", "tr", "tbody"]),
    ("th", &["td", "th", "tr", "tbody"]),
    ("tr", &["tr", "tbody"]),
    ("thead", &["tbody"]),
    ("tbody", &["tbody"]),
    ("li", &["li"]),
    ("dt", &["dt", "dd"]),
    ("dd", &["dt", "dd"]),
];

/// Closes what the start of an element implies the end of.
fn start(name: &str, open: &mut Vec<String>) {
    let is_ended = |last: &String| IMPLIED.iter().any(|(one, by)| one == last && by.contains(&name));
    while open.last().is_some_and(is_ended) {
        open.pop();
    }
}

/// Closes an element and what its end implies the end of; what was open in its place, if anything else was.
fn end(name: &str, open: &mut Vec<String>) -> Result<(), String> {
    loop {
        match open.pop() {
            Some(last) if last == name => return Ok(()),
            Some(last) if IMPLIED.iter().any(|(one, _)| *one == last) => {}
            other => return Err(format!("</{name}> where {other:?} is open")),
        }
    }
}

/// The elements in the order in which they open, or what is wrong and where.
pub(crate) fn elements(page: &str) -> Result<Vec<String>, String> {
    let mut open: Vec<String> = Vec::new();
    let mut seen = Vec::new();
    let mut rest = page.strip_prefix("<!DOCTYPE html>").unwrap_or(page);
    while let Some(at) = rest.find('<') {
        check_text(&rest[..at], &open)?;
        let tag = &rest[at..];
        if let Some(comment) = tag.strip_prefix("<!--") {
            rest = &comment[comment.find("-->").ok_or("a comment never ends")? + 3..];
            continue;
        }
        let end = tag_end(tag)?;
        let inside = &tag[1..end];
        rest = &tag[end + 1..];
        if let Some(name) = inside.strip_prefix('/') {
            self::end(name, &mut open)?;
            continue;
        }
        let name: String = inside
            .chars()
            .take_while(|letter| !letter.is_whitespace() && *letter != '/')
            .collect();
        check_attributes(&inside[name.len()..]).map_err(|error| format!("<{name}>: {error}"))?;
        start(&name, &mut open);
        seen.push(name.clone());
        let is_raw = name == "style" || name == "script";
        if !inside.ends_with('/') && !VOID.contains(&name.as_str()) {
            open.push(name.clone());
        }
        if is_raw {
            let end = rest.find(&format!("</{name}>")).ok_or("raw text never ends")?;
            rest = &rest[end..];
        }
    }
    if open.is_empty() {
        Ok(seen)
    } else {
        Err(format!("never closed: {open:?}"))
    }
}

fn tag_end(tag: &str) -> Result<usize, String> {
    let mut quoted = false;
    for (index, letter) in tag.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            '>' if !quoted => return Ok(index),
            _ => {}
        }
    }
    Err(format!(
        "a tag never ends: {}",
        tag.chars().take(40).collect::<String>()
    ))
}

fn check_attributes(mut text: &str) -> Result<(), String> {
    let mut names = Vec::new();
    loop {
        text = text.trim_start().trim_end_matches('/').trim_start();
        if text.is_empty() {
            return Ok(());
        }
        let name_end = text.find(['=', ' ']).unwrap_or(text.len());
        let name = &text[..name_end];
        if names.contains(&name) {
            return Err(format!("attribute {name} twice"));
        }
        names.push(name);
        text = &text[name_end..];
        if let Some(value) = text.strip_prefix("=\"") {
            let end = value.find('"').ok_or("a value never ends")?;
            check_references(&value[..end])?;
            text = &value[end + 1..];
        } else if text.starts_with('=') {
            return Err(format!("the value of {name} is not quoted"));
        }
    }
}

fn check_text(text: &str, open: &[String]) -> Result<(), String> {
    check_references(text).map_err(|error| format!("in {open:?}: {error}"))
}

fn check_references(text: &str) -> Result<(), String> {
    for piece in text.split('&').skip(1) {
        let name: String = piece.chars().take_while(|letter| *letter != ';').collect();
        if !["amp", "lt", "gt", "quot", "apos"].contains(&name.as_str()) {
            return Err(format!(
                "& begins no reference: {}",
                name.chars().take(20).collect::<String>()
            ));
        }
    }
    Ok(())
}

#[test]
fn the_reader_itself_refuses_what_is_wrong() {
    for wrong in [
        "<p>a</b>",
        "<p>",
        "<p class=x></p>",
        "<p a=\"1\" a=\"2\"></p>",
        "<p>a & b</p>",
        "<p",
    ] {
        assert!(elements(wrong).is_err(), "{wrong}");
    }
    let table = "<table><tr><th>a<td>b<tr><td><ul><li>c<li>d</ul></table>";
    let names = ["table", "tr", "th", "td", "tr", "td", "ul", "li", "li"];
    assert_eq!(elements(table).unwrap(), names);
    let parts = ["table", "thead", "tr", "th", "tbody", "tr", "td"];
    let in_parts = "<table><thead><tr><th>a<tbody><tr><td>b</table>";
    assert_eq!(elements(in_parts).unwrap(), parts);
    assert_eq!(elements("<p class=\"x\">a &amp; b<br></p>").unwrap(), ["p", "br"]);
}
