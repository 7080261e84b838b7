//! Reads the machine: clocks, environment, CPU time, block-device counters, filesystems and energy.
//!
//! The one crate of rank 1 that does I/O: it reads /proc, /sys and the clocks and changes nothing. Files that users name are opened
//! here for all crates, see [`user_file`]. It starts
//! nothing but `smartctl` or `nvme`, where they are installed, which read a drive's log, and programs that are asked for their version. It does not
//! know what is being measured. Whatever a machine cannot give is
//! [`Unavailable`](outcrop_measure::metric::Unavailable) with the reason, never 0 and never guessed.
//!
//! ```
//! use outcrop_probe::{Clock, CpuTime};
//!
//! let clock = Clock::new();
//! let (cpu_before, ticks_before) = (CpuTime::now(), clock.ticks());
//! let sum: u64 = (0..1000).sum();
//! let elapsed_ns = clock.nanos(clock.ticks() - ticks_before);
//! let cpu = CpuTime::now().since(&cpu_before);
//! println!("{sum}: {elapsed_ns} ns, of which {} ns on CPU", cpu.total_ns());
//! ```

pub mod clock;
pub mod reading;

pub mod block_counters;
pub mod cpu_time;
pub mod energy;
pub mod environment;
pub mod filesystem;
pub mod kernel_threads;
pub mod machine_cpu;
pub mod memory;
pub mod numa;
pub mod others_cpu;
pub mod page_cache;
pub mod process;
pub mod process_group;
pub mod program;

mod block_device;
pub mod device_identity;
pub mod device_number;
pub mod device_use;
pub mod loop_info;
mod mount_table;
mod shown_file;
pub mod system_tree;
pub mod user_file;
pub mod wear;

pub use block_counters::{AttachedLoop, BlockDevice, Counters, LoopFile};
pub use clock::{Clock, Stopwatch};
pub use cpu_time::{CpuTime, CpuUsage, process_time_ns};
pub use device_identity::DeviceIdentity;
pub use device_use::DeviceUse;
pub use energy::{EnergyReport, Joules, Meter};
pub use environment::Environment;
pub use filesystem::Filesystem;
pub use kernel_threads::KernelThreads;
pub use machine_cpu::MachineCpu;
pub use memory::{ProcessMemory, total_memory_bytes};
pub use others_cpu::OthersCpu;
pub use page_cache::{CachedPages, ProcessIo, cached_pages};
pub use reading::Reading;
pub use wear::Wear;
