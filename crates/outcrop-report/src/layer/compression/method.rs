//! How each quantity of the compression report was obtained.

/// Short forms of docs/methodology.md and of design note 0004, in the order of the page.
pub(super) const METHODS: &[(&str, &str)] = &[
    (
        "Verification",
        "Before anything is timed every block is compressed, decompressed and compared with the input; after timing what was \
         timed is compared again. A mismatch fails the trial and reports codec, file and offset.",
    ),
    (
        "Ratio",
        "Uncompressed ÷ compressed bytes of all blocks, each compressed on its own. Percentiles are of single blocks: p1 is among the \
         worst compressible. The interval of the ratio is that of a ratio estimator over the sample's clusters; it has no width when \
         all the data were taken.",
    ),
    (
        "Speed",
        "Uncompressed bytes of all threads ÷ wall time of one phase: a barrier starts it for all threads, pinned to one CPU each, and \
         the first to finish its share ends it for all. No clock is read per block.",
    ),
    (
        "Latency",
        "Per block, in a second pass with one counter read per block, which is part of the figure. Kept in a log-linear histogram \
         with an error of at most 1.6 %.",
    ),
    (
        "CPU per byte",
        "CPU time of the threads in the phase ÷ uncompressed bytes.",
    ),
    (
        "Contexts and caches",
        "Reused: one context per thread for all blocks. Fresh: made and dropped around each block, inside the time. Warm: the blocks are \
         where the pass before left them. Cold: before each block the core's private caches are filled with other data and the \
         block's own lines are flushed.",
    ),
    (
        "Stages",
        "Through zstd's public interface: generating sequences for match finding, compressing them with and without Huffman for the \
         entropy stages. What only the taking apart costs (writing sequences out, starting a context again) is timed apart and taken off. \
         By the thread's CPU time, each block's stage the median of three runs. The parts must sum to 0.85 to 1.15 of a whole compression; cells outside are marked.",
    ),
    (
        "dpzip's model",
        "The cycle model counts what the hardware would do with the same pages (8 bytes a cycle at 1 GHz). It is modelled, not measured, and \
         drawn hollow.",
    ),
    (
        "Front and wishes",
        "On the front is what no other cell beats in both ratio and speed. Smallest: the highest ratio. Fastest: the most bytes a second \
         through both directions one after the other, of those that save at least 2 %. Balanced: the least distance to the best ratio and the \
         best such speed, each on a logarithmic scale from the worst to the best candidate. A tie is an overlap of intervals; of ratios, where \
         two cells took the same clusters of the data, that the 95 % interval of the quotient of their compressed bytes, over 16 random groups of the clusters, reaches 1.",
    ),
    (
        "Order of trials",
        "Cells run in a seeded order that is shuffled for every repetition, so that drift of the machine affects every cell equally.",
    ),
    (
        "Medians and intervals",
        "The median over the trials of a cell. With six trials or more the interval is a 95 % bootstrap interval, with five or fewer it is \
         their range, whose confidence is stated (five: 94 %, three: 75 %).",
    ),
];
