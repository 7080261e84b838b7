//! What a trial does, step by step, for those who watch it.

/// A step of a trial. Reading and writing go through some of them again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A program makes the filesystem in the image.
    Making,
    /// The image becomes a loop device, and is mounted.
    Mounting,
    /// The data are written and made durable.
    Writing,
    /// The filesystem is unmounted and mounted again.
    MountingAgain,
    /// Blocks are overwritten so that the files age.
    Ageing,
    /// The files are taken out of memory.
    Evicting,
    /// The operation is measured.
    Operating,
}

impl Step {
    /// All of them, in the order in which a trial comes to them.
    pub const ALL: [Self; 7] = [
        Self::Making,
        Self::Mounting,
        Self::Writing,
        Self::MountingAgain,
        Self::Ageing,
        Self::Evicting,
        Self::Operating,
    ];
}

/// Is told of each step before it begins.
pub(crate) type Watcher<'a> = &'a (dyn Fn(Step) + Sync);

/// For trials that nobody watches.
pub(crate) const NOBODY: Watcher<'static> = &|_| {};
