//! Every plan is named after its file and has a line in `plans/README.md`.
//!
//! That a plan means something is checked by `outcrop run --dry-run`, a step of its own in `check`.

use super::Violation;
use crate::workspace::SourceFile;

pub(super) fn check(files: &[SourceFile]) -> Vec<Violation> {
    let index = files
        .iter()
        .find(|file| file.path == "plans/README.md")
        .map_or("", |file| file.text.as_str());
    files
        .iter()
        .filter_map(|file| plan_name(&file.path).map(|name| (name, file)))
        .flat_map(|(name, file)| check_plan(name, file, index))
        .collect()
}

/// The name of the plan that the file at `path` must hold, if it is a plan.
pub(crate) fn plan_name(path: &str) -> Option<&str> {
    path.strip_prefix("plans/")?
        .strip_suffix(".toml")
        .filter(|name| !name.contains('/'))
}

fn check_plan(name: &str, file: &SourceFile, index: &str) -> Vec<Violation> {
    let mut violations = Vec::new();
    match file.text.parse::<toml::Table>() {
        Err(error) => violations.push(Violation::new(
            &file.path,
            0,
            error.message().to_owned(),
            "mend the TOML",
        )),
        Ok(table) => {
            let found = table.get("name").and_then(toml::Value::as_str).unwrap_or("");
            if found != name {
                let what = format!("the plan is named `{found}`, its file `{name}`");
                violations.push(Violation::new(&file.path, 0, what, "give both the same name"));
            }
            if table
                .get("question")
                .and_then(toml::Value::as_str)
                .is_none_or(|text| !text.trim_end().ends_with('?'))
            {
                let mend = "add question = \"…?\": what somebody runs the plan to learn";
                violations.push(Violation::new(&file.path, 0, "the plan asks no question", mend));
            }
        }
    }
    if !index.contains(&format!("`{name}`")) && !index.contains(&format!("{name}.toml")) {
        let what = format!("no line about the plan `{name}`");
        violations.push(Violation::new(
            "plans/README.md",
            0,
            what,
            "add a line that says what question it answers",
        ));
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::file;

    #[test]
    fn a_plan_needs_its_name_a_question_and_a_line_in_the_index() {
        let good = "name = \"ssd-max\"\nquestion = \"How fast?\"\n";
        let index = file("plans/README.md", "| `ssd-max` | how fast |\n");
        assert!(check(&[file("plans/ssd-max.toml", good), index.clone()]).is_empty());
        assert_eq!(
            check(&[file("plans/ssd-max.toml", good)]).len(),
            1,
            "not in the index"
        );
        assert_eq!(
            check(&[file("plans/other.toml", good), index.clone()]).len(),
            2,
            "name and index"
        );
        assert_eq!(
            check(&[file("plans/ssd-max.toml", "name = \"ssd-max\"\n"), index.clone()]).len(),
            1,
            "no question"
        );
        assert_eq!(
            check(&[file("plans/ssd-max.toml", "name = "), index]).len(),
            1,
            "no TOML"
        );
    }
}
