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

/// A path of /proc/swaps, which escapes as the table of mounts does.
pub(crate) fn unescaped(field: &str) -> PathBuf {
    path(field.as_bytes())
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

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use proptest::prelude::*;

    use super::*;

    const TABLE: &[u8] = b"22 27 0:21 / /proc rw,relatime - proc proc rw\n\
        27 1 254:0 / / rw,relatime shared:1 master:2 - ext4 /dev/vda rw,discard\n\
        40 27 8:1 /data/x /mnt/with\\040blank ro,noatime - xfs /dev/sda1 rw,attr2\n\
        not a mount\n\
        41 27 0:50 / /mnt/over rw - tmpfs first rw\n\
        42 41 0:51 / /mnt/over rw - tmpfs second rw\n";

    fn holding(path: &str) -> Mount {
        mount_of(&parse(TABLE), Path::new(path)).unwrap().clone()
    }

    #[test]
    fn well_formed_lines_are_understood_and_others_left_out() {
        let mounts = parse(TABLE);
        assert_eq!(
            mounts.iter().map(|mount| mount.mount_id).collect::<Vec<_>>(),
            [22, 27, 40, 41, 42]
        );
        let bind = &mounts[2];
        assert_eq!(bind.mount_point, Path::new("/mnt/with blank"));
        assert_eq!(bind.root, Path::new("/data/x"));
        assert_eq!(bind.device, DeviceNumber { major: 8, minor: 1 });
        assert_eq!(bind.options, "ro,noatime,attr2");
        assert_eq!(
            (bind.type_name.as_str(), bind.source.as_str()),
            ("xfs", "/dev/sda1")
        );
    }

    #[test]
    fn the_longest_mount_point_holds_a_path_and_of_equals_the_last() {
        assert_eq!(holding("/home/a").mount_id, 27);
        assert_eq!(holding("/mnt/with blank/file").mount_id, 40);
        assert_eq!(holding("/mnt/with blanks").mount_id, 27);
        assert_eq!(holding("/mnt/over/x").source, "second");
        assert_eq!(holding("/").type_name, "ext4");
    }

    /// As the kernel escapes: mangle() in fs/proc_namespace.c.
    fn escape(path: &[u8]) -> Vec<u8> {
        let escaped = |&byte: &u8| match byte {
            b' ' | b'\t' | b'\n' | b'\\' | b'#' => format!("\\{byte:03o}").into_bytes(),
            _ => vec![byte],
        };
        path.iter().flat_map(escaped).collect()
    }

    proptest! {
        #[test]
        fn any_mount_point_that_the_kernel_escapes_reads_back(name in prop::collection::vec(1..=u8::MAX, 0..40)) {
            let mut path = b"/".to_vec();
            path.extend(name);
            let mut line = b"1 2 3:4 / ".to_vec();
            line.extend(escape(&path));
            line.extend(b" rw - ext4 /dev/x rw");
            let mounts = parse(&line);
            prop_assert_eq!(mounts.len(), 1);
            prop_assert_eq!(mounts[0].mount_point.as_os_str().as_bytes(), &path[..]);
        }

        #[test]
        fn any_bytes_are_no_panic(table in prop::collection::vec(any::<u8>(), 0..300), cut in 0..TABLE.len(), flip in 0..TABLE.len()) {
            parse(&table);
            let mut damaged = TABLE.to_vec();
            damaged[flip] ^= 0x55;
            parse(&damaged);
            parse(&TABLE[..cut]);
        }
    }
}
