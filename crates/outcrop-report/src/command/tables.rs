//! What the run was told of how its user's tables are read, as the words of a command.

use outcrop_schema::LayerSchema;
use outcrop_schema::column::{SCHEMA, arguments};
use toml::Value;

use super::{Commands, layer_of, quoted};

impl Commands {
    /// What was said of the tables, with a blank before each word; empty where these layers read none, or nothing was said.
    pub(super) fn said_of_tables(&self, layers: &[&LayerSchema]) -> String {
        if !layers.iter().any(|layer| layer.name == SCHEMA.name) {
            return String::new();
        }
        let mut plans = self.own_plans().filter(|plan| layer_of(plan) == SCHEMA.name);
        let subject = plans.next().and_then(|plan| plan.get("subject"));
        let said = |name: &str| {
            subject
                .and_then(|subject| subject.get(name))
                .and_then(Value::as_str)
        };
        let words = arguments(said).into_iter();
        words.map(|word| format!(" {}", quoted(&word))).collect()
    }
}

#[cfg(test)]
mod tests {
    use outcrop_schema::compression;

    use super::*;

    #[test]
    fn commands_for_tables_say_how_the_run_was_told_to_read_them() {
        let plan = "[run]\ndata = \"/srv/t.txt\"\n[[plan]]\nlayer = \"column\"\n[plan.subject]\nkind = \"file\"\n\
            path = \"/srv/t.txt\"\ndelimiter = \"|\"\nheader = \"no\"\nnull_text = \"\"\n\
            [[plan]]\nlayer = \"compression\"\n[plan.subject]\ndata = \"/srv/t.txt\"\n";
        let commands = Commands::about("runs/a", plan);
        assert_eq!(
            commands.plans(&["column-choice"], &[&SCHEMA]),
            "outcrop run column-choice --data /srv/t.txt --delimiter '|' --no-header --null ''"
        );
        assert_eq!(
            commands.plans(&["codec-choice"], &[&compression::SCHEMA]),
            "outcrop run codec-choice --data /srv/t.txt"
        );
        // As a word of its own, it would be taken for a flag.
        let plan = plan.replace("null_text = \"\"", "null_text = \"-999\"");
        assert_eq!(
            Commands::about("runs/a", &plan).plans(&["column-choice"], &[&SCHEMA]),
            "outcrop run column-choice --data /srv/t.txt --delimiter '|' --no-header --null=-999"
        );
    }
}
