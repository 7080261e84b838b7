//! Strict layering: a crate depends on crates of a lower rank only.

use super::Violation;
use crate::workspace::Member;

/// Names that say nothing about what is inside.
const NAMELESS: [&str; 6] = ["common", "utils", "util", "helpers", "misc", "shared"];

pub(super) fn check(members: &[Member]) -> Vec<Violation> {
    members
        .iter()
        .flat_map(|member| check_member(member, members))
        .collect()
}

fn check_member(member: &Member, members: &[Member]) -> Vec<Violation> {
    let manifest = format!("crates/{}/Cargo.toml", member.folder);
    let mut violations = Vec::new();
    if member.folder != member.name {
        let what = format!(
            "the folder is `{}`, the crate is `{}`",
            member.folder, member.name
        );
        violations.push(Violation::new(&manifest, 0, what, "give both the same name"));
    }
    if NAMELESS.contains(&member.name.trim_start_matches("outcrop-")) {
        let what = format!("`{}` does not say what the crate is for", member.name);
        violations.push(Violation::new(
            &manifest,
            0,
            what,
            "name it after its one subject, or move its parts there",
        ));
    }
    let Some(rank) = member.rank else {
        let mend = "add [package.metadata.outcrop] rank = N (ARCHITECTURE.md has the table)";
        violations.push(Violation::new(&manifest, 0, "no rank", mend));
        return violations;
    };
    for name in &member.dependencies {
        let Some(found) = members
            .iter()
            .find(|other| other.name == *name)
            .and_then(|other| other.rank)
        else {
            continue;
        };
        if found >= rank {
            let what =
                format!("rank {rank} depends on `{name}` of rank {found}; only lower ranks are allowed");
            let mend = "pass plain values down, or move the shared type to a lower crate";
            violations.push(Violation::new(&manifest, 0, what, mend));
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, rank: Option<i64>, dependencies: &[&str]) -> Member {
        let dependencies = dependencies.iter().map(|name| (*name).to_owned()).collect();
        Member {
            name: name.to_owned(),
            folder: name.to_owned(),
            rank,
            dependencies,
        }
    }

    fn complaints(members: &[Member]) -> Vec<String> {
        check(members)
            .into_iter()
            .map(|violation| violation.what)
            .collect()
    }

    #[test]
    fn lower_ranks_may_be_depended_on() {
        assert!(complaints(&[member("a", Some(0), &[]), member("b", Some(1), &["a"])]).is_empty());
    }

    #[test]
    fn a_sibling_and_a_higher_rank_may_not() {
        let found = complaints(&[
            member("a", Some(1), &["b", "c"]),
            member("b", Some(1), &[]),
            member("c", Some(2), &[]),
        ]);
        assert_eq!(found.len(), 2, "{found:?}");
    }

    #[test]
    fn a_crate_without_rank_or_with_a_nameless_name_fails() {
        assert_eq!(complaints(&[member("a", None, &[])]), ["no rank"]);
        assert_eq!(complaints(&[member("outcrop-common", Some(0), &[])]).len(), 1);
        let moved = Member {
            folder: "b".into(),
            ..member("a", Some(0), &[])
        };
        assert_eq!(complaints(&[moved]), ["the folder is `b`, the crate is `a`"]);
    }
}
