//! How requests are made to a device: words that plans, the engine and records share.

crate::words! {
    /// How requests reach the target.
    pub enum EngineKind: "engine" {
        /// Asynchronous requests through an io_uring instance per job.
        IoUring = "io_uring",
        /// Asynchronous requests through the kernel's older interface (`io_submit`), one context per job.
        Libaio = "libaio",
        /// One `pread` or `pwrite` at a time per job; depth comes from jobs.
        Psync = "psync",
        /// Completes every request at once without touching the target: the overhead of the loop itself.
        Noop = "noop",
    }
}

crate::words! {
    /// When the slots of completed requests are filled again.
    #[derive(Default)]
    pub enum Submission: "submission" {
        /// On every completion: the depth asked for is the depth that the device sees.
        #[default]
        Refill = "refill",
        /// Once half of the depth has completed: fewer system calls for an honest maximum of throughput, but
        /// the depth that the device sees sags towards half, and completions are noticed late, so that
        /// latencies are upper bounds.
        Batch = "batch",
    }
}

crate::words! {
    /// How completions are noticed.
    #[derive(Default)]
    pub enum Completions: "completions" {
        /// The device raises an interrupt.
        #[default]
        Interrupt = "interrupt",
        /// The submitting thread asks the device until they are there, without an interrupt: a shorter latency for a whole CPU.
        Polled = "polled",
    }
}

crate::words! {
    /// Whether the submission of a request is timed apart from its completion.
    #[derive(Default)]
    pub enum LatencyParts: "latency_parts" {
        /// The time of a request is one: one reading of the clock for each.
        #[default]
        Together = "together",
        /// The submission by itself as well: a system call that only hands over, and the clock is read behind it.
        Apart = "apart",
    }
}

crate::words! {
    /// Which blocks the reads of a trial visit.
    #[derive(Default)]
    pub enum Replay: "replay" {
        /// The trial's own: whatever lies there.
        #[default]
        None = "none",
        /// Those that the trial wrote right before, in the same order.
        Written = "written",
    }
}
