//! Which loop devices have an image, and waiting until none has.
//!
//! The kernel lets go of a mount, and of the loop device below it, only with the last file that is open on it: a thread that ends, a killed
//! process or an `io_uring` may hold one for some time after we have closed ours. What such a filesystem writes at its end would go into the
//! one that is made in the same image next, whose checksums then fail.

use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use outcrop_probe::Stopwatch;
use outcrop_probe::system_tree::SystemTree;
use rustix::event::{Timespec, poll};

use crate::error::FilesystemError;

/// What is left to the kernel for it: it takes milliseconds on a machine that has nothing else to do.
const LIMIT: Duration = Duration::from_secs(20);
/// Between two looks, in nanoseconds. The kernel announces the end of a loop device to nobody but its own event listeners.
const LOOK_NS: i64 = 2_000_000;

/// Waits until no loop device has the image.
///
/// # Errors
/// One still has it after 20 s, or `stop` is raised.
pub(crate) fn await_release(image: impl AsFd, stop: &AtomicBool) -> Result<(), FilesystemError> {
    released_within(&image, LIMIT, stop)?.map_or(Ok(()), |device| {
        Err(FilesystemError::Unavailable(format!(
            "the filesystem made before in the same image is still in use on {device} after {} s, and what it writes at its end would damage the \
             next one; end the program that has a file open there",
            LIMIT.as_secs()
        )))
    })
}

/// The device that still has the image after so long; none where none has.
fn released_within(
    image: &impl AsFd,
    limit: Duration,
    stop: &AtomicBool,
) -> Result<Option<String>, FilesystemError> {
    let system = SystemTree::live();
    let waiting = Stopwatch::start();
    loop {
        let Some(device) = holder(&system, image) else {
            return Ok(None);
        };
        if stop.load(Ordering::Relaxed) {
            return Err(FilesystemError::Interrupted);
        }
        if u128::from(waiting.elapsed_ns()) > limit.as_nanos() {
            return Ok(Some(device));
        }
        let look = Timespec {
            tv_sec: 0,
            tv_nsec: LOOK_NS,
        };
        // Nothing is awaited but the time; what interrupts it is seen above.
        let _ = poll(&mut [], Some(&look));
    }
}

/// The loop device that has the image, by the kernel's name of its file; none also where the kernel does not tell.
fn holder(system: &SystemTree, image: &impl AsFd) -> Option<String> {
    let descriptor = image.as_fd().as_raw_fd();
    let own = std::fs::read_link(format!("/proc/self/fd/{descriptor}")).ok()?;
    let devices = std::fs::read_dir(system.path("sys/block")).ok()?;
    let mut devices = devices.flatten();
    let holder = devices.find(|device| {
        let name = std::fs::read_to_string(device.path().join("loop/backing_file"));
        name.is_ok_and(|name| Path::new(name.trim_end_matches('\n')) == own)
    })?;
    Some(format!("/dev/{}", holder.file_name().to_string_lossy()))
}

#[cfg(test)]
#[allow(clippy::print_stdout, reason = "a test says what it skips")]
mod tests {
    use outcrop_workload::filesystem::FilesystemKind;

    use super::*;
    use crate::filesystem::Filesystem;
    use crate::image::Image;
    use crate::own::OwnFilesystem;

    #[test]
    fn an_image_is_not_free_before_the_last_file_on_its_old_filesystem_is_closed() {
        let ext4 = Filesystem::new(FilesystemKind::Ext4);
        if let Err(why) = crate::mount::privilege().and(ext4.availability()) {
            println!("skipped: an image in use: {}", why.reason);
            return;
        }
        let stop = AtomicBool::new(false);
        let directory = Path::new(env!("CARGO_MANIFEST_DIR"));
        let image = Image::empty(directory).unwrap();
        rustix::fs::ftruncate(&image, 64 << 20).unwrap();
        let own = OwnFilesystem::make(&image, &ext4, &stop).unwrap();
        let file = std::fs::File::create(own.path().join("held")).unwrap();
        assert!(holder(&SystemTree::live(), &image).is_some());
        drop(own);
        let still = released_within(&image, Duration::from_millis(20), &stop).unwrap();
        assert!(still.is_some_and(|device| device.starts_with("/dev/loop")));
        let raised = AtomicBool::new(true);
        assert!(matches!(
            await_release(&image, &raised),
            Err(FilesystemError::Interrupted)
        ));
        drop(file);
        await_release(&image, &stop).unwrap();
        OwnFilesystem::make(&image, &ext4, &stop).unwrap();
    }
}
