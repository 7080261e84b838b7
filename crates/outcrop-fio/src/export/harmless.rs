//! What of an imported result may stand in a job file that somebody runs: a result is a file from anywhere, and fio runs programs.
//!
//! Engines and options are those of lists, since fio has more that run programs, load libraries, or read and write files of any name
//! (`exec_prerun`, `ioengine=exec`, `ioengine=external:`, `read_iolog`, `write_lat_log`, `buffer_pattern`, `include`, …), and each version
//! some more. It also takes the beginning of a name for the name.
//!
//! *Source*: fio(1), and fio's options.c of version 3.33.

/// Engines that read and write the file of the job, or nothing, and need no more options.
const ENGINES: [&str; 11] = [
    "io_uring", "libaio", "mmap", "noop", "null", "posixaio", "psync", "pvsync", "pvsync2", "sync", "vsync",
];

/// Options that say how the file of the job is read and written, and name no other.
const OPTIONS: &[&str] = &[
    "allrandrepeat",
    "blockalign",
    "bs",
    "bs_unaligned",
    "bsrange",
    "bssplit",
    "buffer_compress_chunk",
    "buffer_compress_percentage",
    "buffered",
    "clocksource",
    "cmdprio_percentage",
    "cpus_allowed",
    "cpus_allowed_policy",
    "dedupe_percentage",
    "direct",
    "end_fsync",
    "fallocate",
    "fdatasync",
    "file_append",
    "file_service_type",
    "fixedbufs",
    "force_async",
    "fsync",
    "fsync_on_close",
    "gtod_reduce",
    "hipri",
    "invalidate",
    "io_size",
    "iodepth",
    "iodepth_batch",
    "iodepth_batch_complete_max",
    "iodepth_batch_complete_min",
    "iodepth_low",
    "ioengine",
    "latency_percentile",
    "latency_target",
    "latency_window",
    "nice",
    "nonvectored",
    "norandommap",
    "nrfiles",
    "numa_cpu_nodes",
    "numa_mem_policy",
    "number_ios",
    "numjobs",
    "offset",
    "offset_align",
    "offset_increment",
    "openfiles",
    "overwrite",
    "percentage_random",
    "prio",
    "prioclass",
    "random_distribution",
    "random_generator",
    "randrepeat",
    "randseed",
    "rate",
    "rate_cycle",
    "rate_ignore_thinktime",
    "rate_iops",
    "rate_iops_min",
    "rate_min",
    "rate_process",
    "refill_buffers",
    "registerfiles",
    "rw",
    "rw_sequencer",
    "rwmixread",
    "rwmixwrite",
    "scramble_buffers",
    "size",
    "slat_percentiles",
    "softrandommap",
    "sqthread_poll",
    "sqthread_poll_cpu",
    "sync",
    "sync_file_range",
    "thinktime",
    "thinktime_blocks",
    "thinktime_blocks_type",
    "thinktime_iotime",
    "thinktime_spin",
    "thread",
    "userspace_reap",
    "zero_buffers",
    "zonemode",
    "zonerange",
    "zonesize",
    "zoneskip",
];

/// Whether fio only reads and writes with this engine.
pub(super) fn is_harmless_engine(engine: &str) -> bool {
    ENGINES.contains(&engine)
}

/// Whether an option of an imported result may stand in a job file.
pub(super) fn is_harmless(name: &str, value: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.,:/%+".contains(letter);
    OPTIONS.contains(&name) && value.chars().all(is_plain)
}

/// Whether a path is only a path to fio: it takes `$ncpus` and the like for variables, and what it has put in their place it gives to a shell.
pub(super) fn is_harmless_path(path: &str) -> bool {
    !path
        .chars()
        .any(|letter| letter.is_control() || "$`'\"\\".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_run_programs_name_files_or_break_a_line_are_harmful() {
        for (name, value) in [
            ("exec_prerun", "sh"),
            ("exec_pre", "sh"),
            ("allow_mounted_write", "1"),
            ("program", "/usr/bin/touch"),
            ("arguments", "x"),
            ("include", "x.fio"),
            ("read_iolog", "/etc/passwd"),
            ("write_lat_log", "/etc/x"),
            ("buffer_pattern", "'/etc/passwd'"),
            ("cgroup", "x"),
            ("filename", "/dev/sda"),
            ("bs", "4k\nexec_postrun=sh"),
            ("thinktime", "$ncpus'; touch x; echo '"),
        ] {
            assert!(!is_harmless(name, value), "{name}={value}");
        }
        for (name, value) in [("thinktime", "5"), ("bssplit", "4k/50:8k/50"), ("fsync", "")] {
            assert!(is_harmless(name, value), "{name}={value}");
        }
        for engine in ["exec", "external:/x.so", "rbd", "io_uring\nprogram=x", ""] {
            assert!(!is_harmless_engine(engine), "{engine}");
        }
        assert!(is_harmless_path("/mnt/my data"));
        assert!(!is_harmless_path("$ncpus'; touch x; echo '"));
    }
}
