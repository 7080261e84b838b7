//! How a use of a device is told to its owner, in a clause.

use std::fmt;

use super::DeviceUse;

impl fmt::Display for DeviceUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mounted { device, mount_point } => {
                write!(f, "{device} is mounted at {}", mount_point.display())
            }
            Self::BtrfsMember {
                device,
                mount_point: Some(place),
            } => write!(
                f,
                "{device} is a member of the btrfs mounted at {}",
                place.display()
            ),
            Self::BtrfsMember {
                device,
                mount_point: None,
            } => write!(f, "{device} is a member of a mounted btrfs"),
            Self::Swap { device } => write!(f, "{device} is active swap, which `swapoff /dev/{device}` ends"),
            Self::Held { device, holder } => write!(f, "{holder} is on top of {device}"),
            Self::BelowLoop { device, loop_device } => {
                write!(f, "the loop device {loop_device} is on top of {device}")
            }
            Self::OverDevice { device, below } => write!(
                f,
                "the loop device {device} writes to the device {}, which is the one to give",
                below.display()
            ),
            Self::PartOfFile { device, file, offset } => write!(
                f,
                "the loop device {device} shows {} from byte {offset} on, so what stands before it is not seen",
                file.display()
            ),
            Self::OtherSize {
                device,
                file,
                shown_bytes,
                file_bytes,
                meaning,
            } => write!(
                f,
                "the loop device {device} shows {shown_bytes} bytes of {}, which has {file_bytes}, so {meaning}",
                file.display()
            ),
            Self::MaybeSharedFile {
                device,
                other,
                why,
                advice,
            } => write!(
                f,
                "the loop device {device} may write to the file of {other}, because {why}; {advice}"
            ),
            Self::SharedFile { device, other, file } => write!(
                f,
                "the loop devices {device} and {other} both write to {}",
                file.display()
            ),
            Self::SwapFile { device, file } => write!(
                f,
                "the file of {device}, {0}, is active swap, which `swapoff {0}` ends",
                file.display()
            ),
            Self::OpenForWriting { device, pid, program } => {
                write!(f, "process {pid} ({program}) has {device} open for writing")
            }
        }
    }
}
