//! Files in memory, for other processes: beside a database, a file would count as its space, and what is written to it as the engine's bytes.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::PathBuf;

use rustix::fs::{MemfdFlags, memfd_create};

/// An empty one. Its name is what the kernel shows of it.
pub(crate) fn create(name: &str) -> io::Result<File> {
    Ok(File::from(memfd_create(name, MemfdFlags::CLOEXEC)?))
}

/// One that holds these bytes.
pub(crate) fn holding(name: &str, bytes: &[u8]) -> io::Result<File> {
    let mut file = create(name)?;
    file.write_all(bytes)?;
    Ok(file)
}

/// Where another process finds it, for as long as it is open here.
pub(crate) fn path_elsewhere(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()))
}
