//! What the kernel tells of a loop device: `struct loop_info64` of include/uapi/linux/loop.h.

#![expect(
    unsafe_code,
    reason = "the ioctls of loop devices have no safe binding among our dependencies"
)]

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use crate::device_number::DeviceNumber;

const LOOP_GET_STATUS64: libc::Ioctl = 0x4C05;

/// `struct loop_info64`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LoopInfo {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    /// Such as `LO_FLAGS_DIRECT_IO`.
    pub flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

impl LoopInfo {
    /// What a file as a whole is attached with.
    pub const fn with_flags(flags: u32) -> Self {
        Self {
            device: 0,
            inode: 0,
            rdevice: 0,
            offset: 0,
            size_limit: 0,
            number: 0,
            encrypt_type: 0,
            encrypt_key_size: 0,
            flags,
            file_name: [0; 64],
            crypt_name: [0; 64],
            encrypt_key: [0; 32],
            init: [0; 2],
        }
    }

    /// Asks the kernel.
    ///
    /// # Errors
    /// It is no loop device, or none that has a file (`ENXIO`).
    pub fn of(loop_device: impl AsFd) -> io::Result<Self> {
        let mut info = Self::with_flags(0);
        let descriptor = loop_device.as_fd().as_raw_fd();
        // SAFETY: the pointer is valid for one `loop_info64`, which the call fills in.
        let result = unsafe { libc::ioctl(descriptor, LOOP_GET_STATUS64, &raw mut info) };
        match result {
            0 => Ok(info),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// The number of its file's filesystem and the number of the file there, as `stat` has them.
    pub fn file(&self) -> (DeviceNumber, u64) {
        (DeviceNumber::from_stat(self.device), self.inode)
    }

    /// Where in its file it begins.
    pub const fn offset_bytes(&self) -> u64 {
        self.offset
    }

    /// The device that its file is, if it is a node of one.
    pub fn device(&self) -> Option<DeviceNumber> {
        (self.rdevice != 0).then(|| DeviceNumber::from_stat(self.rdevice))
    }

    /// The first byte of the file that it shows.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// How many bytes it shows at most, where it was attached with a limit.
    pub const fn size_limit(&self) -> Option<u64> {
        match self.size_limit {
            0 => None,
            limit => Some(limit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_struct_has_the_kernels_size() {
        assert_eq!(size_of::<LoopInfo>(), 232);
    }
}
