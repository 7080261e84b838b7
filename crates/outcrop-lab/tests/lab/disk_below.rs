//! Other load on the disk below a loop device with direct I/O, which the loop device does not count.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};

use outcrop_schema::device::{
    CONTAMINATED, CONTAMINATION, DEVICE_BYTES_RATIO, FOREIGN_BYTES_RATIO, MISSING_BYTES_RATIO,
};

use super::destroyed_devices::LoopDevice;
use super::scene::{assert_complete, directory, plan_set, run_to_the_end, start};

/// Writes to the disk that the tests' folders are on, until told to stop.
fn neighbour(stop: &AtomicBool) {
    let folder = directory();
    let file = File::create(folder.path().join("neighbour")).unwrap();
    let block = vec![7; 1 << 20];
    for number in (0..8).cycle() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        file.write_all_at(&block, number << 20).unwrap();
        file.sync_data().unwrap();
    }
}

/// Tells a thread to stop, also if the test fails: the scope waits for it.
struct Stop<'s>(&'s AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn load_of_others_on_the_disk_below_a_loop_device_with_direct_io_is_told_in_each_trial() {
    let device = LoopDevice::new(4 << 20);
    let (runs, data) = (directory(), directory());
    let factors = "queue_depth = [1]\nread_write_mix = [\"100:0\"]";
    let set = plan_set(&device.plan(&device.named(), factors), data.path());
    let mut folder = start(&set, runs.path());
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _guard = Stop(&stop);
        scope.spawn(|| neighbour(&stop));
        run_to_the_end(&set, &mut folder).unwrap();
    });
    let name = device.node.trim_start_matches("/dev/");
    for entry in assert_complete(&set, &folder) {
        let value = |metric: &str| {
            let mut values = entry.values.iter();
            values
                .find(|value| value.metric == metric)
                .unwrap()
                .value
                .unwrap()
        };
        assert!(
            value(FOREIGN_BYTES_RATIO.name) > CONTAMINATION,
            "{:?}",
            entry.values
        );
        // The loop device itself moved what was asked of it.
        assert!((value(DEVICE_BYTES_RATIO.name) - 1.0).abs() < CONTAMINATION);
        assert!(value(MISSING_BYTES_RATIO.name) < CONTAMINATION);
        let mut notes = entry.notes.iter();
        let told = notes.find(|note| CONTAMINATED.is_kind_of(note)).unwrap();
        assert!(!told.text.contains(name), "{}", told.text);
    }
}
