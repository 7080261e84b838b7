//! The command that measures two variants of a run's plan in pairs, which drift between two runs does not touch.

use outcrop_results::RunView;

use super::{Commands, layer_of, quoted};

/// Measures two variants of a run's plan in pairs: the reader knows which factors. None where the run was measured by another program, or has
/// two variants already.
pub fn command_in_pairs(run: &RunView) -> Option<String> {
    Commands::of(run).in_pairs()
}

impl Commands {
    fn in_pairs(&self) -> Option<String> {
        let folder = self.folder.as_deref()?;
        self.plan.get("run")?;
        if self.own_plans().any(|plan| plan.get("variant").is_some()) {
            return None;
        }
        let plan = quoted(&format!("{}/plan.toml", folder.trim_end_matches('/')));
        let layers: Vec<&str> = self.own_plans().map(layer_of).collect();
        let data = self.saved_data(&layers);
        Some(format!(
            "outcrop ab {plan} --a FACTOR=VALUE --b FACTOR=VALUE{data}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_variants_are_those_of_the_plan_of_a_run_of_ours_that_has_none() {
        let command = |plan: &str| Commands::about("runs/a run/", plan).in_pairs();
        let ours = "[run]\n[[plan]]\nlayer = \"compression\"\n[plan.subject]\ndata = \"-\"\n";
        assert_eq!(
            command(ours).as_deref(),
            Some("outcrop ab 'runs/a run/plan.toml' --a FACTOR=VALUE --b FACTOR=VALUE < DATA")
        );
        assert_eq!(command("[run]\n[[plan]]\nvariant = \"a\"\n"), None);
        assert_eq!(command("[imported]\n"), None);
    }
}
