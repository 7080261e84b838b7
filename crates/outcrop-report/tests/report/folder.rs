//! The report in its run folder.

use std::fs;

use outcrop_report::{Report, write};
use outcrop_results::{is_our_figure, name_element};

use crate::fixture::{RunBuilder, complete};
use crate::markup::elements;

#[test]
fn the_folder_holds_the_page_and_every_figure_and_nothing_half_written() {
    let dir = tempfile::tempdir().unwrap();
    let report = Report::of(&complete());
    let paths = write(&report, dir.path()).unwrap();
    assert_eq!(fs::read_to_string(&paths.html).unwrap(), report.to_html());
    assert_eq!(paths.figures.len(), 17);
    for path in &paths.figures {
        let svg = fs::read_to_string(path).unwrap();
        elements(&svg).unwrap();
        assert!(svg.starts_with("<svg"));
    }
    let names = |dir: &std::path::Path| -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names(dir.path()), ["figures", "report.html"]);
    assert_eq!(names(&dir.path().join("figures")).len(), 17);

    assert!(paths.figures.iter().all(|path| is_our_figure(path)));
    let figures = dir.path().join("figures");
    for mine in ["mine.svg", "a-copy.svg"] {
        fs::copy(&paths.figures[0], figures.join(mine)).unwrap();
    }
    let poorer = RunBuilder::new(3).cells(&[4096], &[1, 8], &[100]).build();
    let paths = write(&Report::of(&poorer), dir.path()).unwrap();
    assert_eq!(
        names(&figures).len(),
        paths.figures.len() + 2,
        "figures of the first report are gone, and those of the user are not"
    );
    assert!(figures.join("mine.svg").exists());
    let named = |name: &str| report.to_html().contains(&name_element(name));
    assert!(named("report.html") && report.to_one_page_html().contains(&name_element("one-page.html")));
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let run = complete();
    assert!(Report::of(&run).to_html() == Report::of(&run).to_html());
    assert_eq!(
        Report::of(&run).to_json().unwrap(),
        Report::of(&run).to_json().unwrap()
    );
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "no folder").unwrap();
    let error = write(&Report::of(&complete()), &file).unwrap_err().to_string();
    assert!(error.contains("file") && error.contains("intact"), "{error}");
}
