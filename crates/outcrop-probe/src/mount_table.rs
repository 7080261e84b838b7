//! Parses `/proc/self/mountinfo`, whose paths are escaped and need not be UTF-8.
//!
//! *Source*: proc_pid_mountinfo(5).

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use crate::device_number::DeviceNumber;

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    pub(crate) mount_id: u64,
    pub(crate) device: DeviceNumber,
    /// The directory of the filesystem that is mounted; not `/` for bind mounts and subvolumes.
    pub(crate) root: PathBuf,
    pub(crate) mount_point: PathBuf,
    /// Options of this mount, then those of the filesystem.
    pub(crate) options: String,
    pub(crate) type_name: String,
    pub(crate) source: String,
}

/// Every well-formed line, in order; a line that cannot be understood is left out.
pub(crate) fn parse(table: &[u8]) -> Vec<Mount> {
    table
        .split(|&byte| byte == b'\n')
        .filter_map(parse_line)
        .collect()
}

/// `36 35 98:0 /root /mnt rw,noatime master:1 - ext3 /dev/root rw,errors=continue`
fn parse_line(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|&byte| byte == b' ');
    let mount_id = std::str::from_utf8(fields.next()?).ok()?.parse().ok()?;
    let _parent_id = fields.next()?;
    let device = std::str::from_utf8(fields.next()?).ok()?.parse().ok()?;
    let root = path(fields.next()?);
    let mount_point = path(fields.next()?);
    let mount_options = text(fields.next()?);
    // Optional fields, as many as the kernel likes, end at a lone dash.
    fields.find(|&field| field == b"-")?;
    let type_name = text(fields.next()?);
    let source = text(fields.next()?);
    let filesystem_options = text(fields.next().unwrap_or_default());
    let options = merge_options(&mount_options, &filesystem_options);
    Some(Mount {
        mount_id,
        device,
        root,
        mount_point,
        options,
        type_name,
        source,
    })
}

/// The mount that `path` (absolute, links resolved) is on: the longest mount point that it lies below; of
/// several at the same place the last, which covers the others.
pub(crate) fn mount_of<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    mounts
        .iter()
        .filter(|mount| path.starts_with(&mount.mount_point))
        .max_by_key(|mount| mount.mount_point.components().count())
}

fn merge_options(mount: &str, filesystem: &str) -> String {
    let mut options: Vec<&str> = Vec::new();
    for option in mount.split(',').chain(filesystem.split(',')) {
        // A read-only mount of a writable filesystem says `ro` first and `rw` after: the first is what holds.
        let contradicts = option == "rw" && options.contains(&"ro");
        if !option.is_empty() && !contradicts && !options.contains(&option) {
            options.push(option);
        }
    }
    options.join(",")
}

fn path(field: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(unescape(field)))
}

fn text(field: &[u8]) -> String {
    String::from_utf8_lossy(&unescape(field)).into_owned()
}

/// Turns `\040` (blank), `\011`, `\012`, `\134` and any other three octal digits back into bytes.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, after)) = rest.split_first() {
        match (byte, after) {
            (
                b'\\',
                [
                    a @ b'0'..=b'3',
                    b @ b'0'..=b'7',
                    c @ b'0'..=b'7',
                    after_escape @ ..,
                ],
            ) => {
                bytes.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest = after_escape;
            }
            _ => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    bytes
}
