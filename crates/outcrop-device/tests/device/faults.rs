//! Devices that fail and kernels that forbid: counted, named, never silently fine.

use std::fs::OpenOptions;
use std::sync::atomic::AtomicBool;

use outcrop_device::{Ended, EngineKind, FeatureState, JobSpec, ReadOnlyTarget, Target, run_job};
use outcrop_probe::clock::Clock;

use crate::stage::{LoopDevice, folder, open_file, run, scratch, short_spec, try_scratch};

#[test]
fn requests_that_the_device_fails_are_counted_and_the_first_is_told() {
    let device = LoopDevice::new(8 << 20);
    let target = Target::ReadOnly(ReadOnlyTarget::open(&device.node).unwrap());
    // The device keeps its size, but half of what is behind it is gone.
    OpenOptions::new()
        .write(true)
        .open(&device.image)
        .unwrap()
        .set_len(4 << 20)
        .unwrap();
    for (engine, queue_depth) in [
        (EngineKind::IoUring, 8),
        (EngineKind::Libaio, 8),
        (EngineKind::Psync, 1),
    ] {
        let spec = JobSpec {
            engine,
            queue_depth,
            duration: std::time::Duration::from_secs(60),
            ..short_spec()
        };
        let report = run(&target, &spec);
        assert_eq!(report.ended, Ended::Failed);
        assert!(
            report.errors.reads >= 1000,
            "gives up rather than measure errors for a minute"
        );
        let failure = report.failure().unwrap();
        assert!(
            failure.contains("read of 4096 bytes at offset") && failure.contains("error"),
            "{failure}"
        );
        let total = report.total().reads;
        assert_eq!(total.bytes, total.operations * 4096);
    }
}

#[test]
fn a_file_that_shrinks_gives_short_reads_which_are_errors() {
    let folder = folder();
    let path = folder.path().join("theirs");
    std::fs::write(&path, vec![1; 1 << 20]).unwrap();
    let target = Target::ReadOnly(ReadOnlyTarget::open(&path).unwrap());
    OpenOptions::new()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(4096)
        .unwrap();
    let failure = run(&target, &short_spec()).failure().unwrap();
    assert!(
        failure.contains("short read at offset") && failure.contains("of 4096 bytes"),
        "{failure}"
    );
}

#[test]
fn a_refused_registration_is_stated_with_the_limit_that_refused_it() {
    let folder = folder();
    let path = folder.path().join("theirs");
    std::fs::copy(open_file(&scratch(folder.path(), 4 << 20)), &path).unwrap();
    let target = Target::ReadOnly(ReadOnlyTarget::open(&path).unwrap());
    let spec = JobSpec {
        queue_depth: 512,
        io_block_size_bytes: 64 << 10,
        // 32 MiB are under way at a time: on a busy machine none of it may come back in a short trial.
        duration: std::time::Duration::from_secs(1),
        ..short_spec()
    };
    let limit = rustix::process::getrlimit(rustix::process::Resource::Memlock);
    let low = rustix::process::Rlimit {
        current: Some(1 << 20),
        ..limit
    };
    rustix::process::setrlimit(rustix::process::Resource::Memlock, low).unwrap();
    // The limit does not bind root, so this thread becomes `nobody`, and its jobs' threads with it.
    let report = std::thread::spawn(move || {
        rustix::thread::set_thread_uid(rustix::process::Uid::from_raw(65534)).unwrap();
        run(&target, &spec)
    })
    .join()
    .unwrap();
    let state = &report
        .engine_features
        .iter()
        .find(|feature| feature.name == "registered buffers")
        .unwrap()
        .state;
    let FeatureState::Off(reason) = state else {
        panic!("32 MiB were registered with a limit of 1 MiB")
    };
    assert!(
        reason.contains("ulimit -l") && reason.contains("1024 KiB"),
        "{reason}"
    );
    assert!(report.total().reads.operations > 0 && report.failure().is_none());
}

#[test]
fn a_kernel_that_forbids_io_uring_is_named_with_the_way_out() {
    for (errno, part) in [
        (libc::EPERM, "kernel.io_uring_disabled"),
        (libc::ENOSYS, "CONFIG_IO_URING"),
    ] {
        let (message, psync) = std::thread::spawn(move || {
            forbid(libc::SYS_io_uring_setup, errno);
            let folder = folder();
            // Filling falls back on its own, the job says what to do.
            let target = Target::Scratch(try_scratch(folder.path(), 2 << 20).unwrap());
            let refused = run_job(&target, &short_spec(), &Clock::new(), &AtomicBool::new(false));
            let psync = JobSpec {
                engine: EngineKind::Psync,
                queue_depth: 1,
                ..short_spec()
            };
            (
                refused.unwrap_err().to_string(),
                run(&target, &psync).total().reads.operations,
            )
        })
        .join()
        .unwrap();
        assert!(message.contains(part) && message.contains("seccomp"), "{message}");
        assert!(message.contains("`--engine psync`"), "{message}");
        assert!(psync > 0);
    }
}

#[test]
fn a_kernel_that_forbids_libaio_is_named_with_the_way_out() {
    for (errno, part) in [(libc::EAGAIN, "fs.aio-max-nr"), (libc::ENOSYS, "CONFIG_AIO")] {
        let message = std::thread::spawn(move || {
            forbid(libc::SYS_io_setup, errno);
            let folder = folder();
            let target = Target::Scratch(try_scratch(folder.path(), 2 << 20).unwrap());
            let spec = JobSpec {
                engine: EngineKind::Libaio,
                ..short_spec()
            };
            let refused = run_job(&target, &spec, &Clock::new(), &AtomicBool::new(false));
            refused.unwrap_err().to_string()
        })
        .join()
        .unwrap();
        assert!(
            message.contains(part) && message.contains("`--engine io_uring`"),
            "{message}"
        );
    }
}

#[test]
fn a_kernel_that_takes_no_request_of_libaio_ends_the_job_with_the_call() {
    let message = std::thread::spawn(|| {
        forbid(libc::SYS_io_submit, libc::EAGAIN);
        let folder = folder();
        let target = Target::Scratch(try_scratch(folder.path(), 2 << 20).unwrap());
        let spec = JobSpec {
            engine: EngineKind::Libaio,
            ..short_spec()
        };
        let refused = run_job(&target, &spec, &Clock::new(), &AtomicBool::new(false));
        refused.unwrap_err().to_string()
    })
    .join()
    .unwrap();
    assert!(
        message.contains("io_submit failed in the middle of a job"),
        "{message}"
    );
}

/// Makes a system call fail for this thread and those that it starts, as a container's seccomp profile
/// does.
#[expect(unsafe_code, reason = "installs a seccomp filter")]
fn forbid(call: libc::c_long, errno: i32) {
    let statement = |code: u32, k: u32, jt: u8, jf: u8| libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    let mut filter = [
        // The number of the system call is the first word of what the filter sees.
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, call as u32, 0, 1),
        statement(
            libc::BPF_RET | libc::BPF_K,
            libc::SECCOMP_RET_ERRNO | errno as u32,
            0,
            0,
        ),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0, 0),
    ];
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: takes plain numbers.
    let sealed = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    assert_eq!(sealed, 0);
    // SAFETY: the program and its filter live until the call returns, and the kernel copies them.
    let installed = unsafe {
        libc::prctl(
            libc::PR_SET_SECCOMP,
            libc::SECCOMP_MODE_FILTER,
            &raw const program,
            0,
            0,
        )
    };
    assert_eq!(installed, 0, "{}", std::io::Error::last_os_error());
}
