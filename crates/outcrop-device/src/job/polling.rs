//! Polling for completions: only where the device has queues that it completes without an interrupt.

use outcrop_probe::BlockDevice;
use outcrop_workload::Completions;

use crate::error::DeviceError;
use crate::spec::JobSpec;
use crate::target::Target;

/// Refuses to poll a device that would not be polled: the kernel fails such requests, or, in older versions, waits for interrupts.
pub(super) fn check(target: &Target, spec: &JobSpec) -> Result<(), DeviceError> {
    if spec.completions == Completions::Interrupt {
        return Ok(());
    }
    let refused = |why: String| DeviceError::spec("completions", spec.completions, why);
    let Some(place) = target.place() else {
        return Err(refused(
            "interrupt: only a device, or a file on one, can be polled".to_owned(),
        ));
    };
    let device = BlockDevice::holding(place)
        .map_err(|why| refused(format!("interrupt, because of {}", why.reason)))?;
    match device.has_poll_queues() {
        Ok(true) => Ok(()),
        Ok(false) => Err(refused(format!(
            "interrupt: {} has no queues to poll (its queue/io_poll is 0); NVMe drives get some by the kernel's boot option \
             nvme.poll_queues=1, virtio disks by virtio_blk.poll_queues=1",
            device.name()
        ))),
        Err(why) => Err(refused(format!("interrupt, because of {}", why.reason))),
    }
}
