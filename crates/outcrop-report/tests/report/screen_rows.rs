//! Rows of figures that the first screen has no room for.

use outcrop_report::Report;

#[test]
fn rows_of_figures_that_have_no_room_are_counted_and_said_to_be_in_the_report() {
    let report = Report::of(&crate::kv_fixture::of_wide_speeds());
    let labels = report.layers[0].answer.capabilities.iter().map(|row| &row.label);
    let mut widths_with_rows_left = 0;
    for width in (60..=140).step_by(10) {
        let screen = report.screen(width, false);
        let is_missing = |label: &&String| !screen.lines().any(|line| line.starts_with(label.as_str()));
        let missing = labels.clone().filter(is_missing).count();
        let said = match missing {
            0 => String::new(),
            1 => "\nand 1 more row of figures in report.html\n".to_owned(),
            more => format!("\nand {more} more rows of figures in report.html\n"),
        };
        assert!(screen.contains(&said), "{width}: {missing} missing: {screen}");
        assert_eq!(
            missing > 0,
            screen.contains("of figures in report.html"),
            "{width}: {screen}"
        );
        widths_with_rows_left += usize::from(missing > 0);
    }
    assert!(
        widths_with_rows_left > 0,
        "the fixture has too few figures to test this"
    );
}
