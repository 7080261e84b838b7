//! How each quantity of the column report was obtained.

/// Short forms of docs/methodology.md, in the order of the page.
pub(super) const METHODS: &[(&str, &str)] = &[
    (
        "Columns",
        "Generated ones are made in memory from the run's seed; those of a file are read once, and only read. Before a trial \
         measures, everything decoded is compared with the input, and one search with a pass over the text.",
    ),
    (
        "Floor",
        "log2 of the multinomial coefficient of the values' counts (no coding of the order of the rows that knows only the \
         counts is smaller) plus the dictionary as it was written. Rows whose order repeats go below it.",
    ),
    (
        "Encode and decode speed",
        "Newline text per second, between memory and a writer that counts and drops: storage is the device layer's matter. The \
         threads are those of the factor; decoding and searching take one.",
    ),
    (
        "Encode memory",
        "Growth of the process's resident memory over one encode at its highest, after free memory was handed back and the \
         kernel's mark was reset.",
    ),
    (
        "Search latency",
        "From the value to the row numbers in an array, one query at a time; two readings of the clock, about 30 ns, are in it. \
         In memory: file preloaded, postings built where it has none. On disk: pread from the page cache, nothing kept. Scan: \
         codes in memory, postings not used.",
    ),
    (
        "Cold reads",
        "Reads through the codec's storage seam, of 64 queries on a file that was opened again for each; those of opening are \
         not among them.",
    ),
    (
        "Worth a dictionary",
        "Worth it: at most half of the text, at most 1.1 times the best codec over the text, and at most half as many \
         distinct values as rows. For search: a codec is smaller by more. Postings are advised where they are 10 times faster \
         than a scan and the file stays below half of the text.",
    ),
];
