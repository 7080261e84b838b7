//! Loop devices whose node cannot be opened: it belongs to another user, or to the host of this container. What /sys tells of them may
//! rule out that they write to a device.

use std::path::PathBuf;

use outcrop_measure::metric::Unavailable;

use crate::system_tree::SystemTree;

/// A loop device that cannot be asked what it writes to.
pub(crate) struct Unseen {
    /// The kernel's name (`loop0`).
    pub(super) name: String,
    /// Why, in a clause.
    pub(super) why: String,
}

impl Unseen {
    /// The kernel's name (`loop0`).
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Where its file was when it was attached.
    pub(crate) fn path(&self, tree: &SystemTree) -> Option<PathBuf> {
        let path = tree.text(format!("sys/block/{}/loop/backing_file", self.name));
        path.ok().map(PathBuf::from)
    }

    /// That its file is none of the devices of these sizes, in sectors with the devices' names.
    ///
    /// A loop device that shows all of a device has its size. If the device has grown since, then both still have the same start, and a
    /// signature there is found in either.
    ///
    /// # Errors
    /// It may be one of them.
    pub(crate) fn is_over_none_of(
        &self,
        tree: &SystemTree,
        sizes: &[(u64, String)],
    ) -> Result<(), Unavailable> {
        let number = |attribute: &str| tree.number::<u64>(format!("sys/block/{}/{attribute}", self.name));
        let told = (number("size"), number("loop/offset"), number("loop/sizelimit"));
        let (Ok(size), Ok(offset), Ok(limit)) = told else {
            return Err(self.unknown(""));
        };
        if (offset, limit) != (0, 0) {
            return Err(self.unknown(", and it shows a part of its file"));
        }
        match sizes.iter().find(|(sectors, _)| *sectors == size) {
            None => Ok(()),
            Some((_, device)) => Err(self.unknown(&format!(", and it is as large as {device}"))),
        }
    }

    /// Why nobody can tell, and how to go on.
    pub(super) fn unknown(&self, and: &str) -> Unavailable {
        Unavailable::because(format!(
            "what the loop device {} writes to is not known, because {}{and}; run this as root on the host, where it can be opened",
            self.name, self.why
        ))
    }
}
