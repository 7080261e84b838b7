//! How each quantity of the filesystem report was obtained.

/// Of filesystems that are made for a trial.
pub(super) const MADE: (&str, &str) = (
    "Filesystems",
    "Made for each trial by the usual programs, in an unnamed file full of random bytes, behind a loop device with direct I/O; \
     mounted without a mount point; the options are read back from the kernel. Discarding is off: reads of holes would \
     be answered without the device.",
);
/// Of directories that a user names.
pub(super) const FOUND: (&str, &str) = (
    "Directories",
    "Files without names (O_TMPFILE), on the filesystem of the directory as it is mounted; its options are read from the kernel. \
     Nothing is mounted again: metadata may be in memory, and space is the difference that the files make while others use the \
     filesystem too.",
);

/// Short forms of docs/methodology.md, in the order of the page.
pub(super) const METHODS: &[(&str, &str)] = &[
    (
        "Cold",
        "The files are written back (fsync), dropped from the page cache (FADV_DONTNEED) and counted (cachestat): the count is 0 before \
         each pass, or the trial fails. Metadata are cold after a remount before the first pass, where the filesystem was made for the trial. Each extent is read once in a \
         pass, at a random block. Small files are cold by a remount alone, and are read once.",
    ),
    (
        "Read and write amplification",
        "Bytes that the counters of the block device below show (of the loop device, where the filesystem was made for the trial), over bytes requested or written. For reads, the process's own account \
         (/proc/self/io) is compared with it. For writes, the counters are read after syncfs.",
    ),
    (
        "Space",
        "Space in use by statfs after a remount, minus that of the empty filesystem: data and metadata. The data ratio is without \
         metadata, from the trees of btrfs.",
    ),
    (
        "CPU",
        "CPU time of this process (getrusage) from the first operation to the last, and of every kernel thread (schedstat) meanwhile. This \
         includes the threads of the loop device, where there is one.",
    ),
    (
        "Write",
        "Bytes over the time from the first write until fsync of each file and syncfs have returned.",
    ),
    (
        "Prediction",
        "Median latency = device at the mean stored size of a compressed extent (a line through raw 4 KiB and 128 KiB reads of the same \
         loop device) + decompression of one extent by the library (a new context, page by page, cold caches) + the additional time \
         that a thread takes to wake after another one worked that long + what the same filesystem adds to an uncompressed read of a whole \
         extent, because all of the extent goes to the page cache. Throughput: requests in flight ÷ that, at most CPUs ÷ (CPU time of \
         an uncompressed read of a whole extent + decompression). Extents that are stored as they are count as reads of the block alone.",
    ),
    (
        "Verification",
        "Every read has a separate buffer, and all bytes are compared with those written once the clock has stopped.",
    ),
];
