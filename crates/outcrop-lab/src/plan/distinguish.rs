//! Subjects that records would call by one name although they are not the same.

use std::path::{Component, Path};

use super::Plan;

/// Gives subjects of one layer that share a label, and differ in their settings, labels that tell them apart.
///
/// Layers name a file by its last component. Where two files have the same one, as much of their paths is added as it takes.
pub(super) fn distinguish(plans: &mut [Plan]) {
    let labels: Vec<String> = (0..plans.len()).map(|index| label_of(plans, index)).collect();
    for (plan, label) in plans.iter_mut().zip(labels) {
        plan.subject.label = label;
    }
}

fn label_of(plans: &[Plan], index: usize) -> String {
    let plan = &plans[index];
    let namesakes = || {
        plans.iter().filter(|other| {
            other.layer == plan.layer
                && other.subject.label == plan.subject.label
                && other.subject.settings != plan.subject.settings
        })
    };
    let mut label = plan.subject.label.clone();
    for (name, setting) in plan.subject.settings.iter() {
        let others: Vec<&str> = namesakes()
            .filter_map(|other| other.subject.settings.setting(name))
            .map(outcrop_schema::Setting::spelling)
            .filter(|other| *other != setting.spelling())
            .collect();
        if others.is_empty() {
            continue;
        }
        let (short, long) = tails(setting.spelling(), &others);
        label = match word_in(&label, &short) {
            Some(at) => format!("{}{long}{}", &label[..at], &label[at + short.len()..]),
            None => format!("{label} ({name} {long})"),
        };
    }
    label
}

/// Where a label has this word, between spaces: the `i` of `i 4 MiB` is not that of its unit.
fn word_in(label: &str, word: &str) -> Option<usize> {
    let is_alone = |at: &usize| {
        let (before, after) = (&label[..*at], &label[at + word.len()..]);
        (before.is_empty() || before.ends_with(' ')) && (after.is_empty() || after.starts_with(' '))
    };
    let found = label.match_indices(word).map(|(at, _)| at);
    found.filter(is_alone).last().filter(|_| !word.is_empty())
}

/// The last component of a path, and as many of its last ones as no other path ends in.
fn tails(path: &str, others: &[&str]) -> (String, String) {
    let parts: Vec<Component<'_>> = Path::new(path).components().collect();
    let tail = |count: usize| {
        let tail: std::path::PathBuf = parts[parts.len() - count..].iter().collect();
        tail.to_string_lossy().into_owned()
    };
    let is_shared = |tail: &str| others.iter().any(|other| Path::new(other).ends_with(tail));
    let enough = (1..=parts.len()).find(|count| !is_shared(&tail(*count)));
    (tail(1.min(parts.len())), tail(enough.unwrap_or(parts.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_in_a_label_as_a_word() {
        assert_eq!(word_in("i 4 MiB", "i"), Some(0));
        assert_eq!(word_in("file i", "i"), Some(5));
        assert_eq!(word_in("sample 1 MiB of x.csv", "x.csv"), Some(16));
        assert_eq!(word_in("servers", "e"), None);
        assert_eq!(word_in("a b", ""), None);
    }

    #[test]
    fn a_path_is_told_apart_by_as_little_of_it_as_it_takes() {
        let told = |path: &str, others: &[&str]| tails(path, others).1;
        assert_eq!(told("/data/a/x.csv", &["/data/b/x.csv"]), "a/x.csv");
        assert_eq!(
            told("/data/a/x.csv", &["/data/b/x.csv", "/old/a/x.csv"]),
            "data/a/x.csv"
        );
        assert_eq!(told("/x.csv", &["/a/x.csv"]), "/x.csv");
        assert_eq!(told("4MiB", &["8MiB"]), "4MiB");
    }
}
