//! Files in memory, for other processes: beside a database, a file would count as its space, and what is written to it as the engine's bytes.
#![expect(
    unsafe_code,
    reason = "a memory map is shared with whoever else may write the file; only files that the kernel keeps from changing are mapped"
)]

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use memmap2::MmapOptions;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, memfd_create};

/// Nobody can change or shorten a file with these seals, nor take them back.
const SEALS: SealFlags = SealFlags::WRITE
    .union(SealFlags::SHRINK)
    .union(SealFlags::GROW)
    .union(SealFlags::SEAL);

/// An empty one. Its name is what the kernel shows of it.
pub(crate) fn create(name: &str) -> io::Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    Ok(File::from(memfd_create(name, flags)?))
}

/// One that holds these bytes for ever.
pub(crate) fn sealed(name: &str, bytes: &[u8]) -> io::Result<File> {
    let mut file = create(name)?;
    file.write_all(bytes)?;
    fcntl_add_seals(&file, SEALS)?;
    Ok(file)
}

/// Where another process finds it, for as long as it is open here.
pub(crate) fn path_elsewhere(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()))
}

/// The bytes of a sealed one, which all processes share: they count in the memory of the process that wrote them,
/// so in the memory limit of no other.
///
/// # Errors
/// It cannot be opened or mapped, or it is not sealed.
pub(crate) fn shared(path: &Path) -> io::Result<Bytes> {
    let file = File::open(path)?;
    if !fcntl_get_seals(&file)?.contains(SEALS) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is not sealed: its bytes could still change",
        ));
    }
    // SAFETY: the kernel refuses every write to this file and every change of its length, as was just checked.
    let map = unsafe { MmapOptions::new().populate().map(&file) }?;
    Ok(Bytes::from_owner(map))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_a_sealed_file_are_read_elsewhere_and_never_change() {
        let mut file = sealed("outcrop-test", b"as they are").unwrap();
        let bytes = shared(&path_elsewhere(&file)).unwrap();
        assert!(file.write_all(b"not this").is_err() && file.set_len(3).is_err());
        assert!(
            File::options()
                .write(true)
                .open(path_elsewhere(&file))
                .and_then(|mut file| file.write_all(b"nor this"))
                .is_err()
        );
        drop(file);
        assert_eq!(bytes, b"as they are"[..]);
    }

    #[test]
    fn a_file_that_can_change_is_not_shared() {
        let mut file = create("outcrop-test").unwrap();
        file.write_all(b"for now").unwrap();
        let refused = shared(&path_elsewhere(&file)).unwrap_err();
        assert!(refused.to_string().contains("not sealed"), "{refused}");
    }
}
