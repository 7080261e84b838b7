//! The page: whole, self-contained, accessible, and safe against what runs carry in their names.

use std::collections::BTreeSet;

use outcrop_report::Report;
use outcrop_schema::device::{ACCESS_PATTERN, BYTES_WRITTEN, ENGINE, ENGINE_WARNING};

use crate::device_limits::set;
use crate::fixture::{RunBuilder, complete};
use crate::markup::elements;

#[test]
fn the_page_is_well_formed_and_small() {
    for run in [complete(), RunBuilder::new(1).build()] {
        let html = Report::of(&run).to_html();
        elements(&html).unwrap();
        assert!(html.len() < 400_000, "{} bytes", html.len());
    }
}

#[test]
fn the_sheet_for_print_says_that_writes_are_bursts_and_which_quality_checks_failed() {
    const BURSTS: &str = "write figures are burst rates";
    let sheet = |builder: RunBuilder, mix: u8| {
        let mut run = builder.cells(&[4096], &[1, 8], &[mix]).build();
        for trial in &mut run.trials {
            set(trial, BYTES_WRITTEN, 4096e3);
        }
        let html = Report::of(&run).to_one_page_html();
        elements(&html).unwrap();
        html
    };
    let bursts = sheet(RunBuilder::new(3), 0);
    assert!(bursts.contains(BURSTS), "{bursts}");
    assert!(
        bursts.contains("more note"),
        "what is left to the report is counted"
    );
    let reads = sheet(RunBuilder::new(3), 100);
    assert!(!reads.contains(BURSTS), "{reads}");
    let uneven = RunBuilder {
        spread: 0.2,
        latency_factor: 2.0,
        ..RunBuilder::new(3)
    };
    let uneven = sheet(uneven, 100);
    let failed = uneven
        .split_once(" quality checks failed: ")
        .expect("their count")
        .1;
    let (failed, _) = failed.split_once("</p>").unwrap();
    for way in [
        "requests in flight are not IOPS × mean latency",
        "; repetitions of some cells differ widely",
    ] {
        assert!(failed.contains(way), "{failed}");
    }
}

#[test]
fn on_a_screen_too_a_figure_of_the_sheet_for_print_breaks_its_line_before_it_runs_into_the_next_cell() {
    let html = Report::of(&complete()).to_one_page_html();
    let rule = ".brief .capabilities td strong{";
    let (on_screen, _) = html.split_once("@media print").expect("rules for print");
    let (_, rules) = on_screen.rsplit_once(rule).expect("a rule for every medium");
    let (rules, _) = rules.split_once('}').unwrap();
    assert!(rules.contains("white-space:normal"), "{rules}");
}

#[test]
fn nothing_is_fetched_from_anywhere() {
    let html = Report::of(&complete()).to_html();
    let without_namespace = html.replace("const SVG = 'http://www.w3.org/2000/svg'", "");
    // Nor could it be: the page's own policy forbids it.
    assert!(html.contains("default-src 'none'"));
    for forbidden in [
        "eval(",
        "new Function",
        "fetch(",
        "XMLHttpRequest",
        "innerHTML",
        "http:",
        "https:",
        "<link",
        "<img",
        "<iframe",
        "@import",
        "src=",
        "url(//",
        "@font-face",
    ] {
        assert!(!without_namespace.contains(forbidden), "{forbidden}");
    }
    for reference in without_namespace.split("url(").skip(1) {
        assert!(
            reference.starts_with('#'),
            "{}",
            reference.chars().take(40).collect::<String>()
        );
    }
}

#[test]
fn every_link_and_reference_on_the_page_leads_somewhere_and_no_identifier_is_used_twice() {
    let html = Report::of(&complete()).to_html();
    let values = |attribute: &str| -> Vec<String> {
        let opening = format!(" {attribute}=\"");
        html.split(opening.as_str())
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap().to_owned())
            .collect()
    };
    let ids = values("id");
    let unique: BTreeSet<&String> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len());
    let mut targets: Vec<String> = values("href").iter().map(|href| href.replace('#', "")).collect();
    targets.extend(
        values("aria-labelledby")
            .iter()
            .flat_map(|names| names.split(' ').map(str::to_owned).collect::<Vec<_>>()),
    );
    targets.extend(
        values("fill")
            .iter()
            .filter_map(|paint| Some(paint.strip_prefix("url(#")?.replace(')', ""))),
    );
    assert!(targets.len() > 15, "{}", targets.len());
    for target in targets {
        assert!(unique.contains(&target), "{target}");
    }
}

#[test]
fn tables_have_heads_and_drawings_have_words() {
    let html = Report::of(&complete()).to_html();
    let tables = html.matches("<table").count();
    assert!(tables >= 20, "four matrices of five metrics: {tables}");
    assert_eq!(html.matches("<thead>").count(), tables);
    assert_eq!(html.matches("<caption>").count(), tables);
    let drawings = html.matches("<svg").count();
    assert_eq!(drawings, 17, "each figure is drawn once");
    assert_eq!(html.matches("role=\"img\"").count(), drawings);
    assert_eq!(html.matches("<h1>").count(), 1);
}

#[test]
fn names_from_outside_cannot_break_the_page() {
    let mut run = complete();
    let hostile = "</style><script>alert('1 & 2')</script>\"";
    run.name = hostile.into();
    run.plan = hostile.into();
    run.environment = serde_json::json!({ "cpu": hostile });
    for trial in &mut run.trials {
        trial.subject = hostile.into();
        trial.notes = vec![ENGINE_WARNING.remark(hostile)];
        for factor in [ENGINE.name, ACCESS_PATTERN.name] {
            trial.factors.insert(factor.into(), hostile.into());
        }
    }
    let html = Report::of(&run).to_html();
    elements(&html).unwrap();
    assert_eq!(
        html.matches("<script").count(),
        2,
        "the data, and the page's own script"
    );
    assert!(!html.contains("<script>alert"));
}

#[test]
fn the_skeleton_of_the_page() {
    let html = Report::of(&complete()).to_html();
    let mut skeleton = Vec::new();
    for part in html.split("<h").skip(1) {
        let Some((level, rest)) = part
            .split_at_checked(1)
            .filter(|(level, _)| "123".contains(*level))
        else {
            continue;
        };
        let text = rest
            .split_once('>')
            .map_or("", |(_, text)| text.split("</h").next().unwrap_or_default());
        let mut words = String::new();
        let mut inside_tag = false;
        for letter in text.chars() {
            match letter {
                '<' => inside_tag = true,
                '>' => inside_tag = false,
                letter if !inside_tag => words.push(letter),
                _ => {}
            }
        }
        skeleton.push(format!(
            "{}{words}",
            "  ".repeat(level.parse::<usize>().unwrap() - 1)
        ));
    }
    insta::assert_snapshot!("skeleton", skeleton.join("\n"));
}

#[test]
fn a_marked_interval_is_never_said_to_be_as_wide_as_one_that_is_not() {
    let builder = RunBuilder {
        spread: 0.0509,
        ..RunBuilder::new(3)
    };
    let html = Report::of(&builder.cells(&[4096], &[1, 8], &[100]).build()).to_html();
    assert!(html.contains("Marked as wide: an interval of more than ± 5 %"));
    assert!(
        html.contains("wide interval: ± 5.1 %") && !html.contains("wide interval: ± 5 %"),
        "{html}"
    );
}

#[test]
fn a_dash_in_a_matrix_is_not_said_to_be_a_cell_that_was_not_measured() {
    let html = Report::of(&complete()).to_html();
    assert!(html.contains("A dash: no such cell or figure in this run."));
}
