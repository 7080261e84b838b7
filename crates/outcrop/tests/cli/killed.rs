//! A run that is killed while its scratch file has a name: the next run removes the file, and nothing else.
//!
//! Filesystems that have unnamed files (`O_TMPFILE`) never get there. A seccomp filter takes them away, and kills the process at the
//! moment when it would remove the name: as `kill -9` does in the one moment when something is left behind.

use std::path::Path;

use crate::harness::{Seen, names_in, outcrop, workplace};

const DEVICE: [&str; 9] = [
    "device",
    "--size",
    "4MiB",
    "--repetitions",
    "1",
    "--warm-up",
    "2ms",
    "--duration",
    "10ms",
];

#[test]
fn a_scratch_file_of_a_killed_run_is_removed_by_the_next_and_nothing_else_is() {
    let (dir, disk) = (workplace(), workplace());
    let device = [&DEVICE[..], &[disk.path().to_str().unwrap()]].concat();
    let killed = without_unnamed_files(dir.path(), &device);
    assert_eq!(killed.code, None, "it was killed: {killed:?}");
    let [left] = &names_in(disk.path())[..] else {
        panic!("one file is left: {:?}", names_in(disk.path()));
    };
    assert!(left.starts_with(".outcrop-scratch-"), "{left}");
    // A file of the user's that has such a name, and the bytes of ours under another inode.
    std::fs::write(disk.path().join(".outcrop-scratch-1-mine"), "mine").unwrap();
    std::fs::copy(
        disk.path().join(left),
        disk.path().join(".outcrop-scratch-2-copy"),
    )
    .unwrap();

    let next = outcrop(dir.path(), &device);
    assert_eq!(next.code, Some(0), "{next:?}");
    assert!(
        next.stderr.contains("removing") && next.stderr.contains(left.as_str()),
        "it says what it removes: {next:?}"
    );
    assert_eq!(
        names_in(disk.path()),
        [".outcrop-scratch-1-mine", ".outcrop-scratch-2-copy"]
    );
}

/// Runs the binary where no file can be made without a name, and where removing a file kills.
pub(crate) fn without_unnamed_files(dir: &Path, args: &[&str]) -> Seen {
    std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            // A filter holds for this thread and the processes that it starts.
            without_unnamed_files_and_removals();
            outcrop(dir, args)
        });
        run.join().unwrap()
    })
}

/// Runs the binary where a system call is forbidden, as in a container.
pub(crate) fn without_call(call: i64, dir: &Path, args: &[&str]) -> Seen {
    let load = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let is_call = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    let answer = libc::BPF_RET | libc::BPF_K;
    let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    let filter = [
        (load, 0, 0),
        (is_call, call as u32, 1),
        (answer, refused, 0),
        (answer, libc::SECCOMP_RET_ALLOW, 0),
    ];
    let mut filter = filter.map(|(code, k, jf)| libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf,
        k,
    });
    std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            install(&mut filter);
            outcrop(dir, args)
        });
        run.join().unwrap()
    })
}

fn without_unnamed_files_and_removals() {
    const NUMBER: u32 = 0;
    // The flags of `open` and of `openat`: their second and third argument, by the low half.
    const SECOND: u32 = 24;
    const THIRD: u32 = 32;
    let statement = |code: u32, k: u32, jt: u8, jf: u8| libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    let load = |offset| statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset, 0, 0);
    let is_call =
        |call: i64, jt, jf| statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, call as u32, jt, jf);
    let answer = |what| statement(libc::BPF_RET | libc::BPF_K, what, 0, 0);
    let unnamed = (libc::O_TMPFILE & !libc::O_DIRECTORY) as u32;
    // Newer architectures have the calls with a directory alone.
    #[cfg(target_arch = "x86_64")]
    let (open, unlink) = (libc::SYS_open, libc::SYS_unlink);
    #[cfg(not(target_arch = "x86_64"))]
    let (open, unlink) = (libc::SYS_openat, libc::SYS_unlinkat);
    let mut filter = [
        load(NUMBER),
        is_call(unlink, 8, 0),
        is_call(libc::SYS_unlinkat, 7, 0),
        is_call(libc::SYS_openat, 1, 0),
        is_call(open, 2, 6),
        load(THIRD),
        statement(libc::BPF_JMP | libc::BPF_JA, 1, 0, 0),
        load(SECOND),
        statement(libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K, unnamed, 0, 2),
        answer(libc::SECCOMP_RET_ERRNO | libc::EOPNOTSUPP as u32),
        answer(libc::SECCOMP_RET_KILL_PROCESS),
        answer(libc::SECCOMP_RET_ALLOW),
    ];
    install(&mut filter);
}

/// Makes the kernel ask a filter about each call of this thread, and of the processes that it starts.
#[expect(unsafe_code, reason = "installs a seccomp filter")]
fn install(filter: &mut [libc::sock_filter]) {
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
