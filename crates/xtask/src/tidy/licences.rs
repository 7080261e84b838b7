//! Our own reading of `deny.toml`, for machines without cargo-deny: licences, sources, single versions.
//!
//! Knows the keys that our `deny.toml` uses and means by them what cargo-deny means
//! (<https://embarkstudios.github.io/cargo-deny/checks/cfg.html>); the advisories need cargo-deny itself.

use std::path::Path;

use anyhow::{Context, Result};
use cargo_metadata::{Metadata, Package};
use serde::Deserialize;
use spdx::{Expression, ParseMode};

use super::Violation;

/// The parts of `deny.toml` that are checked here.
#[derive(Deserialize)]
pub(super) struct Policy {
    licenses: Licenses,
    bans: Bans,
    sources: Sources,
}

#[derive(Deserialize)]
struct Licenses {
    /// SPDX names of the licences that we can live with.
    allow: Vec<String>,
    #[serde(default)]
    exceptions: Vec<LicenseException>,
}

#[derive(Deserialize)]
struct LicenseException {
    #[serde(rename = "crate")]
    name: String,
    allow: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Bans {
    deny: Vec<Ban>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Ban {
    #[serde(rename = "crate")]
    name: String,
    #[serde(default)]
    deny_multiple_versions: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Sources {
    allow_registry: Vec<String>,
}

impl Policy {
    /// # Errors
    /// The file cannot be read or parsed.
    pub(super) fn load(path: &Path) -> Result<Self> {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        toml::from_str(&text).with_context(|| format!("{} does not parse", path.display()))
    }

    fn allows(&self, name: &str, licence: &str) -> Result<bool, String> {
        let expression =
            Expression::parse_mode(licence, ParseMode::LAX).map_err(|error| error.reason.to_string())?;
        let excepted = self
            .licenses
            .exceptions
            .iter()
            .find(|exception| exception.name == name);
        let excepted = excepted.map_or(&[][..], |exception| &exception.allow);
        Ok(expression.evaluate(|requirement| {
            let requirement = requirement.to_string();
            self.licenses.allow.contains(&requirement) || excepted.contains(&requirement)
        }))
    }
}

pub(super) fn check(policy: &Policy, metadata: &Metadata) -> Vec<Violation> {
    let mut violations: Vec<Violation> = metadata
        .packages
        .iter()
        .flat_map(|package| check_package(policy, package))
        .collect();
    for ban in &policy.bans.deny {
        let versions: Vec<String> = (metadata.packages.iter())
            .filter(|package| package.name.as_str() == ban.name)
            .map(|package| package.version.to_string())
            .collect();
        let allowed = usize::from(ban.deny_multiple_versions);
        if versions.len() > allowed {
            let what = format!(
                "`{}` {} is in the dependency graph",
                ban.name,
                versions.join(" and ")
            );
            let mend = "`cargo tree --invert` shows who wants it; bring them to one version or drop one";
            violations.push(Violation::new("Cargo.lock", 0, what, mend));
        }
    }
    violations
}

fn check_package(policy: &Policy, package: &Package) -> Vec<Violation> {
    let mut violations = Vec::new();
    let named = format!("`{}` {}", package.name, package.version);
    let licence = package.license.as_deref().unwrap_or("");
    let verdict = policy.allows(&package.name, licence);
    if verdict != Ok(true) {
        let detail = verdict.err().map_or(String::new(), |error| format!(" ({error})"));
        let what = format!("{named} has the licence `{licence}`{detail}, which deny.toml does not allow");
        violations.push(Violation::new(
            "deny.toml",
            0,
            what,
            "do without the crate, or allow it with the reason",
        ));
    }
    if let Some(source) = &package.source {
        let registry = source.repr.strip_prefix("registry+").unwrap_or(&source.repr);
        if !policy
            .sources
            .allow_registry
            .iter()
            .any(|allowed| allowed == registry)
        {
            let what = format!("{named} comes from `{}`", source.repr);
            violations.push(Violation::new("deny.toml", 0, what, "take it from crates.io"));
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> Policy {
        let licenses = Licenses {
            allow: vec![
                "MIT".into(),
                "Apache-2.0".into(),
                "Apache-2.0 WITH LLVM-exception".into(),
            ],
            exceptions: vec![LicenseException {
                name: "table".into(),
                allow: vec!["Unicode-3.0".into()],
            }],
        };
        Policy {
            licenses,
            bans: Bans { deny: vec![] },
            sources: Sources {
                allow_registry: vec![],
            },
        }
    }

    #[test]
    fn a_choice_needs_one_allowed_licence_and_a_conjunction_all_of_them() {
        for (licence, allowed) in [
            ("MIT", true),
            ("MIT/GPL-3.0", true),
            ("GPL-3.0-only OR Apache-2.0", true),
            ("MIT AND GPL-3.0-only", false),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", false),
            ("GPL-3.0-only", false),
        ] {
            assert_eq!(policy().allows("any", licence), Ok(allowed), "{licence}");
        }
        assert_eq!(
            policy().allows("table", "(MIT OR Apache-2.0) AND Unicode-3.0"),
            Ok(true)
        );
    }

    #[test]
    fn a_crate_without_a_licence_is_not_allowed() {
        assert!(policy().allows("any", "").is_err());
    }
}
