//! Plans that overwrite a device: what they may not, what they yield, and what is left of a run whose device is removed.

use std::fs::File;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use outcrop_lab::{Event, LabError, PlanSet, execute, resume};
use outcrop_results::{Outcome, RunFolder};
use outcrop_schema::device::{DRIVE_IOPS, IOPS};

use super::scene::{assert_complete, directory, plan_set, run_to_the_end, start, try_plan_set};

/// A file of zeros dressed up as a block device.
pub(crate) struct LoopDevice {
    pub(crate) node: String,
    image: PathBuf,
    _folder: tempfile::TempDir,
}

impl LoopDevice {
    pub(crate) fn new(size_bytes: u64) -> Self {
        Self::attached(directory(), size_bytes, "--direct-io=on")
    }

    fn attached(folder: tempfile::TempDir, size_bytes: u64, direct: &str) -> Self {
        let image = folder.path().canonicalize().unwrap().join("image");
        File::create(&image).unwrap().set_len(size_bytes).unwrap();
        let attached = Command::new("losetup")
            .args(["--find", "--show", direct])
            .arg(&image)
            .output()
            .unwrap();
        let node = String::from_utf8(attached.stdout).unwrap().trim().to_owned();
        assert!(
            attached.status.success(),
            "the tests run as root, with loop devices"
        );
        Self {
            node,
            image,
            _folder: folder,
        }
    }

    pub(crate) fn resize(&self, size_bytes: u64) {
        let image = File::options().write(true).open(&self.image).unwrap();
        image.set_len(size_bytes).unwrap();
    }

    /// Trials are long enough that a busy disk below the loop device completes syncs and what is in flight.
    pub(crate) fn plan(&self, destroy: &str, factors: &str) -> String {
        let Self { node, .. } = self;
        format!(
            "name = \"destroyed\"\nquestion = \"Does it hold?\"\nlayer = \"device\"\n\n[subject]\nkind = \"destroyed-device\"\n\
             path = \"{node}\"\n{destroy}\nsize = \"2MiB\"\n\n[factors]\n{factors}\n\n[trial]\nrepetitions = 2\n\
             warm_up = \"2ms\"\nduration = \"250ms\"\n"
        )
    }

    pub(crate) fn named(&self) -> String {
        format!("destroy = \"{}\"", self.image.display())
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.node]).status();
    }
}

#[test]
fn a_device_is_overwritten_only_where_the_plan_repeats_its_name() {
    let device = LoopDevice::new(4 << 20);
    let data = directory();
    let refused = |plan: &str| {
        let error = try_plan_set(plan, data.path()).unwrap_err();
        assert!(error.is_bad_input(), "{error}");
        error.to_string()
    };
    let named = device.named();
    let plan = |destroy: &str| device.plan(destroy, "queue_depth = [1]");
    for (plan, parts) in [
        (plan(""), ["is called", "that name is repeated: --destroy "]),
        (plan("destroy = \"S1\""), ["`S1` is not the name", "is called"]),
        (
            plan(&named).replace(&device.node, "/dev/outcrop-no-such-device"),
            ["there is no device at", "never creates a file"],
        ),
        (
            plan(&named).replace("destroyed-device", "read-only"),
            ["destroy", "leave `destroy` out"],
        ),
        (
            plan(&named).replace("2MiB", "8MiB"),
            ["size is 8MiB", "holds 4MiB"],
        ),
    ] {
        let message = refused(&plan);
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
    assert!(
        std::fs::read(&device.image)
            .unwrap()
            .iter()
            .all(|byte| *byte == 0)
    );
}

#[test]
fn a_run_on_a_device_with_every_engine_and_sync_is_complete_and_has_the_time_of_syncs() {
    let device = LoopDevice::new(4 << 20);
    let (runs, data) = (directory(), directory());
    let factors = "queue_depth = [1]\nread_write_mix = [\"0:100\"]\nengine = [\"io_uring\", \"libaio\", \"psync\"]\n\
                   sync = [\"none\", \"each\", \"dsync\"]\naccess = [\"direct\", \"buffered\"]";
    let plan = device.plan(&device.named(), factors);
    let set = plan_set(&plan, data.path());
    let mut folder = start(&set, runs.path());
    let outcome = run_to_the_end(&set, &mut folder).unwrap();
    assert!(outcome.bytes_written > 2 << 20);
    for entry in assert_complete(&set, &folder) {
        let has_syncs = entry
            .values
            .iter()
            .any(|value| value.metric == "sync_latency_mean");
        assert_eq!(has_syncs, entry.factors["sync"] == "each", "{:?}", entry.factors);
        let is_buffered = entry.notes.iter().any(|note| note.text.contains("buffered I/O"));
        assert_eq!(
            is_buffered,
            entry.factors["access"] == "buffered",
            "{:?}",
            entry.notes
        );
    }
    let image = std::fs::read(&device.image).unwrap();
    assert!(
        image[2 << 20..].iter().all(|byte| *byte == 0),
        "beyond the subject"
    );
}

/// Runs a plan on a device that is lost after three trials: one sentence, and they are kept. Gives the sentence.
#[track_caller]
pub(super) fn message_of_loss(
    set: &PlanSet,
    folder: &mut RunFolder,
    device: &LoopDevice,
    lose: impl Fn(),
) -> String {
    let mut observer = |event: Event<'_>| {
        if let Event::TrialFinished { finished: 3, .. } = event {
            lose();
        }
    };
    let error = execute(set, folder, &mut observer, &AtomicBool::new(false)).unwrap_err();
    assert!(matches!(error, LabError::Fatal { finished: 3, .. }), "{error}");
    let message = error.to_string();
    for part in [
        &*device.node,
        "3 finished trials are kept",
        "outcrop run --resume",
    ] {
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(message.lines().count(), 1, "{message}");
    let entries = folder.trials().unwrap();
    assert_eq!(entries.len(), 4);
    assert!(matches!(entries[3].outcome, Outcome::Failed { .. }));
    message
}

#[test]
fn a_device_that_is_removed_in_the_middle_ends_the_run_with_one_sentence_and_resume_goes_on() {
    let device = LoopDevice::new(4 << 20);
    let (runs, data) = (directory(), directory());
    let set = plan_set(
        &device.plan(&device.named(), "queue_depth = [1, 4, 8]"),
        data.path(),
    );
    let mut folder = start(&set, runs.path());
    let dir = folder.dir().to_owned();
    // Nothing is behind the device any more: each request comes back with an error, as from a drive that was pulled.
    let message = message_of_loss(&set, &mut folder, &device, || device.resize(0));
    assert!(
        message.contains("was removed or has failed") && message.contains("error"),
        "{message}"
    );
    drop(folder);

    // Resuming without the device is refused, and the run stays as it is.
    let without = resume(&dir).unwrap_err().to_string();
    assert!(
        without.contains(&device.node) && without.contains("Input/output error"),
        "{without}"
    );
    device.resize(4 << 20);
    let mut resumed = resume(&dir).unwrap();
    assert_eq!(
        run_to_the_end(&resumed.set, &mut resumed.folder)
            .unwrap()
            .finished,
        6
    );
    assert_complete(&set, &resumed.folder);
}

/// A filesystem in memory, unmounted when it is dropped.
struct InMemory(tempfile::TempDir);

impl InMemory {
    fn new(size: &str) -> Self {
        let place = directory();
        let options = format!("size={size}");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "outcrop-test"])
            .arg(place.path())
            .status();
        assert!(mounted.unwrap().success(), "the tests run as root");
        Self(place)
    }
}

impl Drop for InMemory {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.0.path()).status();
    }
}

#[test]
fn a_device_without_room_in_the_middle_ends_the_run_with_one_sentence_and_resume_goes_on() {
    let memory = InMemory::new("8m");
    let folder = tempfile::tempdir_in(memory.0.path()).unwrap();
    let device = LoopDevice::attached(folder, 4 << 20, "--direct-io=off");
    let filler = memory.0.path().join("filler");
    let (runs, data) = (directory(), directory());
    let factors = "read_write_mix = [\"0:100\"]\nqueue_depth = [1, 4, 8]";
    let set = plan_set(&device.plan(&device.named(), factors), data.path());
    let mut folder = start(&set, runs.path());
    let dir = folder.dir().to_owned();
    let mut observer = |event: Event<'_>| {
        if let Event::TrialFinished { finished: 3, .. } = event {
            // As on a thin device: what is written needs new room, and others have taken it.
            let punched = Command::new("fallocate")
                .args(["--punch-hole", "--offset=0", "--length=4MiB"])
                .arg(&device.image)
                .status();
            assert!(punched.unwrap().success());
            std::fs::write(&filler, vec![1; 16 << 20]).unwrap_err();
        }
    };
    let error = execute(&set, &mut folder, &mut observer, &AtomicBool::new(false)).unwrap_err();
    assert!(matches!(error, LabError::Fatal { finished: 3, .. }), "{error}");
    let message = error.to_string();
    for part in [
        &*device.node,
        "has no room left",
        "No space left on device",
        "3 finished trials are kept",
        "outcrop run --resume",
    ] {
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(message.lines().count(), 1, "{message}");
    drop(folder);
    std::fs::remove_file(&filler).unwrap();
    let mut resumed = resume(&dir).unwrap();
    let outcome = run_to_the_end(&resumed.set, &mut resumed.folder).unwrap();
    assert_eq!(outcome.finished, 6);
    assert_complete(&set, &resumed.folder);
}

#[test]
fn a_device_is_preconditioned_over_the_part_that_is_measured_and_its_trials_state_it() {
    let device = LoopDevice::new(4 << 20);
    let (runs, data) = (directory(), directory());
    let named = format!("{}\nprecondition = 2", device.named());
    let factors = "read_write_mix = [\"100:0\"]\nqueue_depth = [1]";
    let set = plan_set(&device.plan(&named, factors), data.path());
    assert_eq!(set.estimate().bytes_written_preparing, 3 * (2 << 20));
    let mut folder = start(&set, runs.path());
    let outcome = run_to_the_end(&set, &mut folder).unwrap();
    assert_eq!(outcome.bytes_written, 3 * (2 << 20));
    for entry in assert_complete(&set, &folder) {
        assert_eq!(entry.factors["state"], "preconditioned 2×");
        assert!(
            entry.subject.ends_with("2MiB, preconditioned 2×"),
            "{}",
            entry.subject
        );
    }
    let image = std::fs::read(&device.image).unwrap();
    let (ours, rest) = image.split_at(2 << 20);
    assert!(ours.chunks(4096).all(|page| page.iter().any(|byte| *byte != 0)));
    assert!(
        rest.iter().all(|byte| *byte == 0),
        "the rest of the device was written"
    );
}

/// The subject's keys for two devices: both paths, and these names.
fn both(first: &LoopDevice, second: &LoopDevice, names: &[&std::path::Path]) -> String {
    let names: Vec<String> = names.iter().map(|name| name.display().to_string()).collect();
    let also = &second.node;
    assert_ne!(&first.node, also);
    format!("also = \"{also}\"\ndestroy = \"{}\"", names.join(":"))
}

fn is_blank(device: &LoopDevice) -> bool {
    std::fs::read(&device.image)
        .unwrap()
        .iter()
        .all(|byte| *byte == 0)
}

#[test]
fn several_devices_are_overwritten_only_where_each_is_named_in_order_and_unused() {
    let (first, second) = (LoopDevice::new(4 << 20), LoopDevice::new(8 << 20));
    let data = directory();
    let (a, b) = (first.image.as_path(), second.image.as_path());
    let plan = |keys: &str| first.plan(keys, "drives = [2]");
    let refused = |plan: &str| {
        let error = try_plan_set(plan, data.path()).unwrap_err();
        assert!(error.is_bad_input(), "{error}");
        error.to_string()
    };
    let unnamed = format!("also = \"{}\"", second.node);
    let link = data.path().join("link");
    std::os::unix::fs::symlink(&first.node, &link).unwrap();
    let twice = format!(
        "also = \"{}\"\ndestroy = \"{}:{}\"",
        link.display(),
        a.display(),
        a.display()
    );
    let cases = [
        (plan(&unnamed), "`destroy` repeats their names in this order"),
        (
            plan(&both(&first, &second, &[a])),
            "does not name these 2 devices",
        ),
        (
            plan(&both(&first, &second, &[b, a])),
            "does not name these 2 devices",
        ),
        (
            plan(&both(&first, &second, &[a, b, b])),
            "does not name these 2 devices",
        ),
        (plan(&twice), "which is named twice"),
        (
            plan(&both(&first, &second, &[a, b])).replace("2MiB", "6MiB"),
            "holds 4MiB",
        ),
        (
            plan(&both(&first, &second, &[a, b])).replace(&second.node, data.path().to_str().unwrap()),
            "a directory",
        ),
    ];
    for (plan, says) in &cases {
        let message = refused(plan);
        assert!(message.contains(says), "{message}\n{says}");
    }
    assert!(is_blank(&first) && is_blank(&second));

    // A filesystem on the second one.
    let image = File::options().write(true).open(&second.image).unwrap();
    image.write_all_at(b"XFSB", 0).unwrap();
    image.sync_all().unwrap();
    let message = refused(&plan(&both(&first, &second, &[a, b])));
    assert!(
        message.contains(&second.node) && message.contains("an XFS filesystem"),
        "{message}"
    );
    image.write_all_at(&[0; 4], 0).unwrap();
    assert!(is_blank(&first));
}

#[test]
fn no_device_is_written_while_somebody_holds_another_of_the_run() {
    let (first, second) = (LoopDevice::new(4 << 20), LoopDevice::new(4 << 20));
    let (runs, data) = (directory(), directory());
    let keys = both(&first, &second, &[&first.image, &second.image]);
    let set = plan_set(&first.plan(&keys, "drives = [2]"), data.path());
    // As a mount in another container does: O_EXCL without O_CREAT.
    let held = File::options()
        .read(true)
        .custom_flags(0o200)
        .open(&second.node)
        .unwrap();
    let mut folder = start(&set, runs.path());
    let error = run_to_the_end(&set, &mut folder).unwrap_err().to_string();
    assert!(
        error.contains(&second.node) && error.contains("has it open exclusively"),
        "{error}"
    );
    assert!(is_blank(&first) && is_blank(&second));
    drop(held);
}

#[test]
fn devices_that_are_overwritten_at_the_same_time_have_figures_of_each_and_their_sum() {
    let (first, second) = (LoopDevice::new(4 << 20), LoopDevice::new(8 << 20));
    let (runs, data) = (directory(), directory());
    let keys = both(&first, &second, &[&first.image, &second.image]);
    let factors = "drives = [1, 2]\nread_write_mix = [\"0:100\", \"100:0\"]\nqueue_depth = [4]";
    let plan = first.plan(&keys, factors);
    let set = plan_set(&plan, data.path());
    assert_eq!(set.estimate().bytes_written_preparing, 2 * (2 << 20));
    let mut folder = start(&set, runs.path());
    run_to_the_end(&set, &mut folder).unwrap();
    for entry in assert_complete(&set, &folder) {
        assert!(entry.subject.contains(&second.node), "{}", entry.subject);
        let each = DRIVE_IOPS.iter().filter_map(|metric| entry.number(metric));
        let each: Vec<f64> = each.collect();
        match &*entry.factors["drives"] {
            "1" => assert_eq!(each, [0.0; 0]),
            _ => {
                let (sum, total) = (each.iter().sum::<f64>(), entry.number(&IOPS.both).unwrap());
                assert_eq!(each.len(), 2);
                assert!((sum - total).abs() <= total * 1e-3, "{each:?} and {total}");
            }
        }
    }
    for device in [&first, &second] {
        let image = std::fs::read(&device.image).unwrap();
        let (ours, rest) = image.split_at(2 << 20);
        assert!(ours.chunks(4096).all(|page| page.iter().any(|byte| *byte != 0)));
        assert!(rest.iter().all(|byte| *byte == 0), "beyond the subject");
    }
}
