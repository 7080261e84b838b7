//! The references that ship in the binary: their files, and what holds for all rows of one.

use outcrop_schema::{FactorRef, device};

/// A reference as it stands in the binary.
pub(super) struct Shipped {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// Conditions that hold for every row and that the source gives in its text.
    pub(super) conditions: &'static [(FactorRef, &'static str)],
    /// What a reader must know before relying on the figures, in sentences.
    pub(super) caveats: &'static [&'static str],
    pub(super) csv: &'static str,
}

pub(super) static SHIPPED: [Shipped; 12] = [
    Shipped {
        name: "toshiba-kxg60znv256g-fio",
        title: "Toshiba KXG60ZNV256G (XG6, 256 GB): size × depth × mix matrix, random access, fio libaio",
        conditions: &[(&device::SPAN, "512MB"), (&device::ENGINE, "libaio")],
        caveats: &[
            "The mean latencies of pure reads and writes fail Little's law by a factor of 2, at every size and depth.",
        ],
        csv: include_str!("../../../../references/ssd/toshiba-kxg60znv256g-fio.csv"),
    },
    Shipped {
        name: "datasheets",
        title: "SSD datasheet claims (Intel D7-P5500/P5600 and 660p, Toshiba XG6), with SKU, span and state",
        conditions: &[],
        caveats: &[
            "A claim without span, depth or state of the drive cannot be compared with a measurement.",
        ],
        csv: include_str!("../../../../references/ssd/datasheets.csv"),
    },
    Shipped {
        name: "asic-stages",
        title: "Where zstd's time goes: level × chunk × entropy (arXiv 2509.23693, figure 2)",
        conditions: &[],
        caveats: &[
            "\"FSE\" there covers only the building of the tables; our sequence stage includes encoding.",
            "Their blocks are sorted by entropy; the source of the data is not stated.",
        ],
        csv: include_str!("../../../../references/compression/asic-stages.csv"),
    },
    Shipped {
        name: "asic-ratio-percentiles",
        title: "Ratio per block percentile at 4 and 64 KiB: Snappy, LZ4, Deflate, Zstd, DPZip (arXiv 2509.23693, figure 7)",
        conditions: &[],
        caveats: &[
            "Published as compressed sizes; ours is their inverse, so their p1 (smallest) is our p99.",
            "The 64 KiB curve of DPZip is the 4 KiB one times 16: it compresses pages of 4 KiB whatever the request.",
            "Libraries and levels are not stated.",
        ],
        csv: include_str!("../../../../references/compression/asic-ratio-percentiles.csv"),
    },
    Shipped {
        name: "asic-throughput",
        title: "Throughput and latency at 4 and 64 KiB: QAT 8970, QAT 4XXX, DPZip, CPUs (arXiv 2509.23693, figures 8 and 9)",
        conditions: &[],
        caveats: &[
            "CPU rows are sums over processes that did not start or end together, on one corpus, while the accelerators \
             ran another.",
            "The number of processes or threads is not stated, nor whether a latency is a mean or a percentile.",
        ],
        csv: include_str!("../../../../references/compression/asic-throughput.csv"),
    },
    Shipped {
        name: "asic-robustness",
        title: "Throughput against compressibility: DPZip, DP-CSD, QAT 8970, QAT 4XXX (arXiv 2509.23693, figure 12)",
        conditions: &[],
        caveats: &[
            "Compressibility is stated as compressed/original in percent; how the content was made is not stated.",
            "Access size and depth are not stated; whole devices, not one thread.",
        ],
        csv: include_str!("../../../../references/compression/asic-robustness.csv"),
    },
    Shipped {
        name: "etc-lite-study",
        title: "An earlier study of a cache under etc-lite: p95, throughput and hit ratio by memory, build, load factor and keys",
        conditions: &[],
        caveats: &[
            "15,000 requests were made, of which 7,000 were measured, by a driver on the same machine. The machine is not stated. Builds \
             are O3 where the row names none.",
            "The hit ratio is very probably hits divided by all requests, which cannot exceed 50 of 73, 0.685, with this mix. Simulated \
             for 15,000 requests it is 0.654, 0.654, 0.628 and 0.270 with 10, 100, 1,000 and 10,000 keys. Published are 0.66, 0.66, 0.44 \
             and 0.27: the third remains unexplained.",
            "The table of unique keys has the throughputs of the table of load factor, value by value: one of the two is a copy.",
            "With 100 B the hit ratio is that with 1 MB, although 100 items do not fit: that limit had no effect.",
        ],
        csv: include_str!("../../../../references/cache/etc-lite-study.csv"),
    },
    Shipped {
        name: "etc-published",
        title: "Hit ratios of five memcached pools in production (Atikoglu et al., SIGMETRICS 2012)",
        conditions: &[],
        caveats: &[
            "Of ETC's misses 70 % were first requests for a key, 22 % followed evictions and 8 % invalidations: a benchmark with a \
             fixed set of keys, all of them set before, has only those of evictions.",
        ],
        csv: include_str!("../../../../references/cache/etc-published.csv"),
    },
    Shipped {
        name: "asic-btrfs",
        title: "btrfs with compression off, on CPUs, on accelerators and in drives (arXiv 2509.23693, figure 16)",
        conditions: &[],
        caveats: &[
            "What is called zlib:1 there was zlib:3: the mount line ends in compress-force without a level, which resets both.",
            "The data are not equal: compsize says 36 % for the CPU and the 4XXX, 48 % for the 8970.",
            "The three engines' write latencies tie although their compression differs sevenfold: compression is not part of them, \
             because it happens at writeback.",
            "Block size of the latencies is not stated; 4 KiB fits.",
        ],
        csv: include_str!("../../../../references/filesystem/asic-btrfs.csv"),
    },
    Shipped {
        name: "asic-btrfs-load",
        title: "Latency of btrfs reads by offered load (arXiv 2509.23693, figure 17)",
        conditions: &[],
        caveats: &[
            "Buffered 8 MiB reads by libaio, six jobs with 128 queued each: submission is synchronous, so that a queued read waits for \
             all before it.",
            "The tail (p99.9 − p50) is completion noise below saturation and the length of the queue above it.",
        ],
        csv: include_str!("../../../../references/filesystem/asic-btrfs-load.csv"),
    },
    Shipped {
        name: "asic-zfs",
        title: "ZFS read and update latency by record size (arXiv 2509.23693, figure 18)",
        conditions: &[],
        caveats: &[
            "Reads replay a recorded trace at its own pace: the latencies are valid, operations per second are not.",
            "Read amplification is claimed but never counted: no log has a device's read counter.",
        ],
        csv: include_str!("../../../../references/filesystem/asic-zfs.csv"),
    },
    Shipped {
        name: "btrfs-zstd-2017",
        title: "Silesia on btrfs by compression: ratio, write and cold read (Linux commit 5c1aab1dd544, 2017)",
        conditions: &[],
        caveats: &[
            "The ratio is by df and du, with metadata; reads are sequential, after a remount, in a virtual machine of two CPUs.",
            "zlib is at its default level, which was 3 then as now.",
        ],
        csv: include_str!("../../../../references/filesystem/btrfs-zstd-2017.csv"),
    },
];
