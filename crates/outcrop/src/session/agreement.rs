//! The last question before a device is overwritten: whoever sits at a terminal types its name again.

use std::collections::BTreeSet;
use std::io::{BufRead, IsTerminal as _, Write};
use std::path::Path;

use anyhow::Context as _;
use outcrop_device::Candidate;
use outcrop_lab::PlanSet;
use outcrop_schema::device;

use crate::exit::bad_input;
use crate::output::harmless;

/// Asks for each device that these plans overwrite. Without a terminal the plan or the flag has said it, and that is compared too.
pub(super) fn ask_for(set: &PlanSet) -> anyhow::Result<()> {
    let settings = set.cells().iter().map(|cell| &cell.subject.settings);
    let destroyed = settings.filter(|settings| settings.get(&device::KIND) == Some(&device::Kind::Destroyed));
    let devices: BTreeSet<&str> = destroyed
        .flat_map(|settings| {
            let first = settings.get(&device::PATH).map(String::as_str);
            let others = settings.get(&device::ALSO).map(String::as_str);
            let others = others
                .into_iter()
                .flat_map(|others| others.split(device::BETWEEN_DRIVES));
            first.into_iter().chain(others)
        })
        .collect();
    devices
        .into_iter()
        .try_for_each(|path| ask_for_device(Path::new(path)))
}

/// The same for one device.
pub(crate) fn ask_for_device(path: &Path) -> anyhow::Result<()> {
    if !std::io::stdin().is_terminal() {
        return Ok(());
    }
    let candidate = Candidate::examine(path).map_err(bad_input)?;
    ask(
        &candidate,
        &mut std::io::stdin().lock(),
        &mut std::io::stderr().lock(),
    )
}

fn ask(candidate: &Candidate, answers: &mut impl BufRead, questions: &mut impl Write) -> anyhow::Result<()> {
    write!(
        questions,
        "{}.\nAll its data will be lost. Type its name to continue: ",
        harmless(&candidate.description())
    )
    .and_then(|()| questions.flush())
    .context("cannot ask before the device is overwritten")?;
    let mut answer = String::new();
    answers.read_line(&mut answer).context("cannot read the answer")?;
    match answer.trim() {
        typed if candidate.is_called(typed) => Ok(()),
        typed => Err(bad_input(anyhow::anyhow!(
            "`{typed}` is not the name of {}: nothing was written",
            candidate.path.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use outcrop_probe::DeviceIdentity;

    use super::*;

    #[test]
    fn only_the_devices_name_goes_on() {
        let candidate = Candidate::described(
            "/dev/nvme7n1",
            DeviceIdentity {
                names: vec!["S123".to_owned(), "nvme-Fast_S123".to_owned()],
                model: Some("Fast One".to_owned()),
                size_bytes: 1_000_000_000,
            },
        );
        for (typed, goes_on) in [
            ("S123\n", true),
            ("  nvme-Fast_S123 \n", true),
            ("y\n", false),
            ("yes\n", false),
            ("s123\n", false),
            ("\n", false),
            ("", false),
        ] {
            let mut asked = Vec::new();
            let answer = ask(&candidate, &mut typed.as_bytes(), &mut asked);
            assert_eq!(answer.is_ok(), goes_on, "{typed:?}");
            let asked = String::from_utf8(asked).unwrap();
            let parts = ["/dev/nvme7n1", "Fast One", "1.00 GB", "S123", "All its data"];
            assert!(parts.iter().all(|part| asked.contains(part)), "{asked}");
        }
    }
}
