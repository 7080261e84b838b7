//! What a drive says of its own wear, through the user's own `smartctl` or `nvme`: no file in /sys has it, and reading the drive's log
//! takes commands that only these programs know for every kind of drive.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use outcrop_measure::metric::Unavailable;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::reading::Reading;
use crate::system_tree::SystemTree;

/// How much of its life a drive has behind it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wear {
    /// Share of the rated endurance that is used up, by the drive's own estimate; more than 100 where it is exceeded.
    pub used_percent: Reading<u64>,
    /// What hosts wrote in the drive's life.
    pub written_bytes: Reading<u64>,
    /// The program that read the drive's log.
    pub program: String,
}

/// Where administrators' and users' programs are. PATH is not asked: this may run as root.
const FOLDERS: [&str; 5] = ["usr/local/sbin", "usr/sbin", "sbin", "usr/local/bin", "usr/bin"];
/// A thousand blocks of 512 bytes. *Source*: NVM Express Base Specification 2.0, SMART / Health Information log.
const DATA_UNIT_BYTES: u64 = 512_000;
/// How long a program may take to read a drive's log.
const PATIENCE: Duration = Duration::from_secs(5);

impl Wear {
    /// Asks the drive, where there is a program that can.
    pub(crate) fn of_drive(tree: &SystemTree, disk: &str) -> Result<Self, Unavailable> {
        let is_nvme = disk.starts_with("nvme");
        if !is_nvme && !disk.starts_with("sd") {
            return Err(Unavailable::because(format!(
                "{disk} is not an NVMe, SATA or SAS drive, so it has no such log"
            )));
        }
        let node = format!("/dev/{disk}");
        if let Some(smartctl) = find(tree, "smartctl") {
            // A disk that sleeps is not woken.
            let arguments = [
                "--json",
                "--nocheck=standby",
                "--attributes",
                "--log=devstat",
                &node,
            ];
            return Self::from_smartctl(&said(&smartctl, &arguments)?);
        }
        match find(tree, "nvme").filter(|_| is_nvme) {
            Some(nvme) => Self::from_nvme(&said(&nvme, &["smart-log", "--output-format=json", &node])?),
            None => Err(Unavailable::because(
                "it is read with smartctl, which is not installed (apt-get install smartmontools)",
            )),
        }
    }

    /// From what `smartctl --json --attributes --log=devstat` prints.
    fn from_smartctl(text: &str) -> Result<Self, Unavailable> {
        let document = json("smartctl", text)?;
        let log = document.get("nvme_smart_health_information_log");
        let statistic = |name: &str| {
            let mut tables = document
                .pointer("/ata_device_statistics/pages")?
                .as_array()?
                .iter();
            tables.find_map(|page| {
                let mut rows = page.get("table")?.as_array()?.iter();
                let row = rows.find(|row| row.get("name").and_then(Value::as_str) == Some(name))?;
                number(row.get("value"))
            })
        };
        let used = number(log.and_then(|log| log.get("percentage_used")))
            .or_else(|| statistic("Percentage Used Endurance Indicator"))
            .or_else(|| number(document.get("scsi_percentage_used_endurance_indicator")));
        let sector_bytes = number(document.get("logical_block_size")).unwrap_or(512);
        let units = number(log.and_then(|log| log.get("data_units_written")));
        let written = units
            .map(|units| units.saturating_mul(DATA_UNIT_BYTES))
            .or_else(|| Some(statistic("Logical Sectors Written")?.saturating_mul(sector_bytes)));
        let complaint = || {
            let messages = document.pointer("/smartctl/messages")?.as_array()?;
            let said = messages.first()?.get("string")?.as_str()?;
            Some(format!("smartctl: {said}"))
        };
        Self::of("smartctl", used, written, complaint().as_deref())
    }

    /// From what `nvme smart-log --output-format=json` prints.
    fn from_nvme(text: &str) -> Result<Self, Unavailable> {
        let document = json("nvme", text)?;
        let used = number(document.get("percent_used")).or_else(|| number(document.get("percentage_used")));
        let units = number(document.get("data_units_written"));
        let written = units.map(|units| units.saturating_mul(DATA_UNIT_BYTES));
        Self::of("nvme", used, written, None)
    }

    fn of(
        program: &str,
        used: Option<u64>,
        written: Option<u64>,
        complaint: Option<&str>,
    ) -> Result<Self, Unavailable> {
        if used.is_none() && written.is_none() {
            let reason = complaint.unwrap_or("the drive's log has neither its wear nor the bytes written");
            return Err(Unavailable::because(reason));
        }
        let known = |value: Option<u64>, what: &str| match value {
            Some(value) => Reading::Known(value),
            None => Reading::unavailable(format!("the drive's log does not have {what}")),
        };
        Ok(Self {
            used_percent: known(used, "its wear"),
            written_bytes: known(written, "what was written"),
            program: program.to_owned(),
        })
    }
}

fn find(tree: &SystemTree, program: &str) -> Option<PathBuf> {
    let mut candidates = FOLDERS
        .iter()
        .map(|folder| tree.path(Path::new(folder).join(program)));
    candidates.find(|path| path.is_file())
}

/// What a program prints, whatever it ends with: the exit code of smartctl tells of the drive's health too.
fn said(program: &Path, arguments: &[&str]) -> Result<String, Unavailable> {
    let failed = |error: std::io::Error| {
        Unavailable::because(format!("{} does not start: {error}", program.display()))
    };
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let child = child.map_err(failed)?;
    let (answer, answered) = mpsc::channel();
    // Behind a failing drive the program may wait for minutes; it is left to end by itself.
    std::thread::spawn(move || answer.send(child.wait_with_output()));
    let Ok(output) = answered.recv_timeout(PATIENCE) else {
        let seconds = PATIENCE.as_secs();
        let reason = format!("{} did not answer within {seconds} s", program.display());
        return Err(Unavailable::because(reason));
    };
    let output = output.map_err(failed)?;
    if output.stdout.is_empty() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        let complaint = complaint.lines().next().unwrap_or("it printed nothing").trim();
        return Err(Unavailable::because(format!(
            "{}: {complaint}",
            program.display()
        )));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn json(program: &str, text: &str) -> Result<Value, Unavailable> {
    serde_json::from_str(text).map_err(|_| {
        Unavailable::because(format!(
            "{program} did not print JSON; update it to a version that does"
        ))
    })
}

/// A count; counters of 128 bits are printed as text where they do not fit a number.
fn number(value: Option<&Value>) -> Option<u64> {
    let value = value?;
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// What smartctl 7.4 prints of an NVMe drive, shortened to what is read and its surroundings.
    const NVME: &str = r#"{"json_format_version": [1, 0],
        "smartctl": {"version": [7, 4], "exit_status": 0},
        "device": {"name": "/dev/nvme0n1", "type": "nvme", "protocol": "NVMe"},
        "nvme_smart_health_information_log": {"critical_warning": 0, "temperature": 32, "available_spare": 100,
            "percentage_used": 2, "data_units_read": 107103479, "data_units_written": 62786553, "power_on_hours": 870}}"#;
    /// The same of a SATA drive whose sectors have 4 KiB.
    const SATA: &str = r#"{"smartctl": {"version": [7, 3], "exit_status": 4}, "logical_block_size": 4096,
        "ata_smart_attributes": {"table": [{"id": 241, "name": "Total_LBAs_Written", "raw": {"value": 1}}]},
        "ata_device_statistics": {"pages": [
            {"number": 1, "name": "General Statistics", "table": [
                {"offset": 8, "name": "Lifetime Power-On Resets", "size": 4, "value": 12},
                {"offset": 24, "name": "Logical Sectors Written", "size": 6, "value": 1024}]},
            {"number": 7, "name": "Solid State Device Statistics", "table": [
                {"offset": 8, "name": "Percentage Used Endurance Indicator", "size": 1, "value": 110}]}]}}"#;
    /// Without the rights to open the drive.
    const REFUSED: &str = r#"{"smartctl": {"version": [7, 5], "exit_status": 2, "messages": [
        {"string": "Smartctl open device: /dev/nvme0n1 failed: Permission denied", "severity": "error"}]}}"#;
    /// What nvme 2.4 prints, with a counter beyond 64 bits of JSON's numbers as text.
    const NVME_CLI: &str = r#"{"critical_warning": 0, "temperature": 313, "avail_spare": 100, "percent_used": 7,
        "data_units_read": 28167888, "data_units_written": "19397424", "power_on_hours": 1363}"#;

    fn numbers(wear: Result<Wear, Unavailable>) -> (Option<u64>, Option<u64>) {
        let wear = wear.unwrap();
        (
            wear.used_percent.known().copied(),
            wear.written_bytes.known().copied(),
        )
    }

    #[test]
    fn wear_and_writes_are_read_from_each_kind_of_drive_in_their_units() {
        // 62,786,553 units are 32.1 TB, as smartctl itself prints of this drive.
        assert_eq!(
            numbers(Wear::from_smartctl(NVME)),
            (Some(2), Some(62_786_553 * 512_000))
        );
        assert_eq!(numbers(Wear::from_smartctl(SATA)), (Some(110), Some(1024 * 4096)));
        assert_eq!(
            numbers(Wear::from_nvme(NVME_CLI)),
            (Some(7), Some(19_397_424 * 512_000))
        );
        let scsi = r#"{"scsi_percentage_used_endurance_indicator": 3}"#;
        assert_eq!(numbers(Wear::from_smartctl(scsi)), (Some(3), None));
    }

    #[test]
    fn what_cannot_be_read_has_the_reason() {
        for (read, says) in [
            (Wear::from_smartctl(REFUSED), "Permission denied"),
            (
                Wear::from_smartctl("{}"),
                "neither its wear nor the bytes written",
            ),
            (Wear::from_smartctl("smartctl 6.6"), "did not print JSON"),
            (Wear::from_nvme("[]"), "neither"),
            (
                Wear::of_drive(&SystemTree::at("/no/such/tree"), "vda"),
                "vda is not an NVMe, SATA or SAS drive",
            ),
            (
                Wear::of_drive(&SystemTree::at("/no/such/tree"), "nvme0n1"),
                "smartctl, which is not installed",
            ),
        ] {
            let reason = read.unwrap_err().reason;
            assert!(reason.contains(says), "{reason}");
        }
    }

    #[test]
    fn the_program_is_asked_for_the_drive_and_its_exit_code_does_not_matter() {
        let folder = tempfile::tempdir().unwrap();
        let programs = folder.path().join("usr/sbin");
        fs::create_dir_all(&programs).unwrap();
        let install = |name: &str, script: String| {
            let path = programs.join(name);
            fs::write(&path, script).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        };
        let tree = SystemTree::at(folder.path());
        install(
            "nvme",
            format!("#!/bin/sh\n[ \"$3\" = /dev/nvme1n1 ] && echo '{NVME_CLI}'\n"),
        );
        let wear = Wear::of_drive(&tree, "nvme1n1").unwrap();
        assert_eq!(
            (wear.program.as_str(), wear.used_percent),
            ("nvme", Reading::Known(7))
        );
        // nvme knows no SATA drives.
        assert!(Wear::of_drive(&tree, "sda").is_err());
        install(
            "smartctl",
            format!("#!/bin/sh\n[ \"$5\" = /dev/sda ] && echo '{SATA}'\nexit 4\n"),
        );
        assert_eq!(
            Wear::of_drive(&tree, "sda").unwrap().used_percent,
            Reading::Known(110)
        );
        let silent = Wear::of_drive(&tree, "sdb").unwrap_err().reason;
        assert!(silent.contains("it printed nothing"), "{silent}");
    }
}
