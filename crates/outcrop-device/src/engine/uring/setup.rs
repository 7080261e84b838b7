//! Setting up a ring: the best flags that the kernel takes, registrations, and a sentence for each that it
//! does not grant.

#![expect(unsafe_code, reason = "registers memory with the kernel")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use io_uring::{IoUring, squeue};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use crate::error::DeviceError;
use crate::memory::IoMemory;
use crate::report::{Feature, FeatureState};

/// What a ring is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RingOptions<'t> {
    pub(crate) target: BorrowedFd<'t>,
    pub(crate) queue_depth: u32,
    /// Open loops wait for the next due time.
    pub(crate) has_timed_waits: bool,
    /// The kernel asks the device for completions, in place of interrupts.
    pub(crate) is_polled: bool,
}

/// How entries name the target: a descriptor, or the index of a registered one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TargetHandle {
    pub(crate) number: i32,
    pub(crate) flags: squeue::Flags,
}

/// A ring ready for use by the thread that made it.
pub(crate) struct UringRing {
    pub(super) ring: IoUring,
    pub(super) target: TargetHandle,
    pub(super) has_fixed_buffers: bool,
    pub(super) is_polled: bool,
    pub(super) features: Vec<Feature>,
}

/// Flag sets from best to plainest; `EINVAL` means that the kernel is older than the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Flags {
    defer: bool,
    no_array: bool,
    cooperative: bool,
}

const FLAG_SETS: [Flags; 4] = [
    Flags {
        defer: true,
        no_array: true,
        cooperative: false,
    },
    Flags {
        defer: true,
        no_array: false,
        cooperative: false,
    },
    Flags {
        defer: false,
        no_array: false,
        cooperative: true,
    },
    Flags {
        defer: false,
        no_array: false,
        cooperative: false,
    },
];

impl UringRing {
    /// Sets up a ring and registers the target and the memory regions, whose order gives their indexes.
    ///
    /// # Safety
    /// The regions are mapped. They may be unmapped when no request is in flight: registration pins the
    /// pages themselves.
    pub(crate) unsafe fn set_up(
        options: RingOptions<'_>,
        regions: &[&IoMemory],
    ) -> Result<Self, DeviceError> {
        let entries = (options.queue_depth + 1).next_power_of_two();
        let (ring, flags) = build(entries, options.is_polled)?;
        if options.has_timed_waits && !ring.params().is_feature_ext_arg() {
            return Err(DeviceError::RingSetup {
                entries,
                source: io::ErrorKind::Unsupported.into(),
                hint: "an open loop needs timed waits (Linux 5.11 or newer): update the kernel".to_owned(),
            });
        }
        let mut features = Vec::new();
        note_flags(&mut features, flags, options.is_polled);

        let raw = options.target.as_raw_fd();
        let is_registered = note(
            &mut features,
            "registered file",
            &ring.submitter().register_files(&[raw]),
            "Linux 5.1",
        );
        let target = if is_registered {
            TargetHandle {
                number: 0,
                flags: squeue::Flags::FIXED_FILE,
            }
        } else {
            TargetHandle {
                number: raw,
                flags: squeue::Flags::empty(),
            }
        };
        let vectors: Vec<_> = regions
            .iter()
            .map(|region| libc::iovec {
                iov_base: region.as_ptr().cast(),
                iov_len: region.len(),
            })
            .collect();
        // SAFETY: the vectors describe whole mappings that exist, by this function's contract.
        let registered = unsafe { ring.submitter().register_buffers(&vectors) };
        let has_fixed_buffers = note(&mut features, "registered buffers", &registered, "Linux 5.1");
        Ok(Self {
            ring,
            target,
            has_fixed_buffers,
            is_polled: options.is_polled,
            features,
        })
    }
}

fn build(entries: u32, is_polled: bool) -> Result<(IoUring, Flags), DeviceError> {
    let mut last = io::Error::from(Errno::INVAL);
    for flags in FLAG_SETS {
        let mut builder = IoUring::builder();
        if flags.defer {
            builder.setup_single_issuer().setup_defer_taskrun();
        }
        if flags.no_array {
            builder.setup_no_sqarray();
        }
        if flags.cooperative {
            builder.setup_coop_taskrun();
        }
        if is_polled {
            builder.setup_iopoll();
        }
        match builder.build(entries) {
            Ok(ring) => return Ok((ring, flags)),
            Err(error) if Errno::from_io_error(&error) == Some(Errno::INVAL) => last = error,
            Err(error) => {
                last = error;
                break;
            }
        }
    }
    let hint = setup_hint(&last);
    Err(DeviceError::RingSetup {
        entries,
        source: last,
        hint,
    })
}

fn setup_hint(error: &io::Error) -> String {
    match Errno::from_io_error(error) {
        Some(Errno::PERM | Errno::ACCESS) => {
            "check `sysctl kernel.io_uring_disabled` (0 allows it; 1 only with CAP_SYS_ADMIN or in the group of \
             kernel.io_uring_group), and the seccomp profile when in a container (Docker and Kubernetes forbid \
             io_uring by default)"
                .to_owned()
        }
        Some(Errno::NOSYS) => {
            "the kernel is older than 5.1, was built without CONFIG_IO_URING, or a container's seccomp profile \
             hides the call"
                .to_owned()
        }
        Some(Errno::NOMEM) => format!("raise `ulimit -l` ({}) or lower queue_depth", memlock_limit()),
        Some(Errno::MFILE | Errno::NFILE) => "raise `ulimit -n`".to_owned(),
        _ => "lower queue_depth".to_owned(),
    }
}

fn note_flags(features: &mut Vec<Feature>, flags: Flags, is_polled: bool) {
    let mut state = |name, is_on: bool, reason: &str| {
        let state = if is_on {
            FeatureState::On
        } else {
            FeatureState::Off(reason.to_owned())
        };
        features.push(Feature { name, state });
    };
    state(
        "SINGLE_ISSUER",
        flags.defer,
        "used together with DEFER_TASKRUN only",
    );
    state(
        "DEFER_TASKRUN",
        flags.defer,
        "this kernel refuses it (Linux 6.1 has it)",
    );
    if !flags.defer {
        state(
            "COOP_TASKRUN",
            flags.cooperative,
            "this kernel refuses it (Linux 5.19 has it)",
        );
    }
    state(
        "NO_SQARRAY",
        flags.no_array,
        "this kernel refuses it (Linux 6.6 has it)",
    );
    state(
        "IOPOLL",
        is_polled,
        "completions come by interrupt; `completions = polled` polls the device, if it has poll queues",
    );
}

/// Records whether a registration was granted, and returns whether it was.
pub(super) fn note(
    features: &mut Vec<Feature>,
    name: &'static str,
    outcome: &io::Result<()>,
    since: &str,
) -> bool {
    let state = match outcome {
        Ok(()) => FeatureState::On,
        Err(error) => FeatureState::Off(match Errno::from_io_error(error) {
            Some(Errno::NOMEM) => {
                format!(
                    "the kernel may not lock that much memory ({error}); `ulimit -l` is {}",
                    memlock_limit()
                )
            }
            Some(Errno::INVAL) => format!("this kernel refuses it ({error}); {since} has it"),
            _ => format!("the kernel refuses it: {error}"),
        }),
    };
    features.push(Feature { name, state });
    outcome.is_ok()
}

fn memlock_limit() -> String {
    getrlimit(Resource::Memlock)
        .current
        .map_or_else(|| "unlimited".to_owned(), |bytes| format!("{} KiB", bytes / 1024))
}
