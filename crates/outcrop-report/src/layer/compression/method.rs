//! How each quantity of the compression report was obtained.

/// Short forms of docs/methodology.md and of design note 0004, in the order of the page.
pub(super) const METHODS: &[(&str, &str)] = &[
    (
        "Verification",
        "Before timing, every block is compressed, decompressed and compared with the input; after timing, the timed output is compared again. A mismatch fails the trial and reports codec, file and offset.",
    ),
    (
        "Ratio",
        "Uncompressed ÷ compressed bytes of all blocks, each compressed on its own. Percentiles are of single blocks: p1 is among the \
         least compressible. The interval of the ratio is that of a ratio estimator over the sample's clusters; it has no width when all the data were measured.",
    ),
    (
        "Speed",
        "Uncompressed bytes of all threads ÷ wall time of one phase: a barrier starts all threads, each pinned to a CPU, and the first thread to finish its share ends the phase. The clock is not read per block.",
    ),
    (
        "Latency",
        "Per block, in a second pass that reads a counter once per block; the figure includes that read. Kept in a log-linear histogram \
         with an error of at most 1.6 %.",
    ),
    (
        "CPU per byte",
        "CPU time of the threads in the phase ÷ uncompressed bytes.",
    ),
    (
        "Contexts and caches",
        "Reused: one context per thread for all blocks. Fresh: created and freed for each block, within the timed section. Warm: caches as the previous pass left them. Cold: before each block, the core's private caches are filled with other data and the block's lines are flushed.",
    ),
    (
        "Stages",
        "Through zstd's public interface: generating sequences for match finding, compressing them with and without Huffman for the \
         entropy stages. The cost of the separation itself (writing sequences out, restarting a context) is timed separately and subtracted. Times are the thread's CPU time; each stage of a block is the median of three runs. The parts must sum to 0.85 to 1.15 of a whole compression; cells outside are marked.",
    ),
    (
        "dpzip's model",
        "The cycle model simulates the hardware on the same pages (8 bytes per cycle at 1 GHz). Its figures are modelled, not measured, and drawn hollow.",
    ),
    (
        "Front and wishes",
        "A cell is on the front if no other cell beats it in both ratio and speed. Its place is not decided where the interval of its speed overlaps with that of a cell with a better ratio, or one of the two is of one trial. Smallest: the highest ratio. Fastest: the highest combined speed of compressing and then decompressing, among codecs that save at least 2 %. Balanced: the smallest distance to the best ratio and the best such speed, each on a logarithmic scale over the front. None is balanced if that distance is more than 0.95 of that of the smallest and the fastest. Two cells tie where their intervals overlap. For ratios of the same clusters of the data, they tie where the 95 % interval of the quotient of their compressed bytes, over 16 random groups of clusters, reaches 1.0005. A cell that any other surely beats in ratio does not tie for the smallest.",
    ),
    (
        "Order of trials",
        "Cells run in a seeded order that is shuffled for every repetition, so that drift of the machine affects every cell equally.",
    ),
    (
        "Medians and intervals",
        "The median over the trials of a cell. Its 95 % interval is between two of the trials, by order statistics. With five trials or fewer it is \
         their range, whose confidence is stated (five: 94 %, three: 75 %).",
    ),
];
