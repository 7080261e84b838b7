//! How each quantity of the column report was obtained.

/// Short forms of docs/methodology.md, in the order of the page.
pub(super) const METHODS: &[(&str, &str)] = &[
    (
        "Columns",
        "Generated columns are made in memory from the run's seed. Files are read once and never written. Before a trial \
         measures, everything decoded is compared with the input, and one search with a pass over the text.",
    ),
    (
        "Floor",
        "log2 of the multinomial coefficient of the values' counts (no coding of the row order that uses only the counts is smaller) plus the dictionary as written. Columns whose row order repeats can be smaller.",
    ),
    (
        "Encode and decode speed",
        "Newline text per second, from memory to a writer that counts and discards; storage belongs to the device layer. The factor sets the number of threads; decoding and searching use one.",
    ),
    (
        "Encode memory",
        "Peak growth of the process's resident memory during one encode, after free memory was returned and the kernel's high-water mark was reset.",
    ),
    (
        "Search latency",
        "From the value to the row numbers in an array, one query at a time; it includes two clock reads, about 30 ns. In memory: the file is preloaded, and postings are built if it has none. On disk: pread from the page cache, nothing kept. Scan: codes in memory, no postings.",
    ),
    (
        "Plain text",
        "Newline text in memory, without a dictionary: whole lines are found by the memchr crate's vectorised search, and newlines \
         are counted up to each, 128 KiB at a time. Its rows are compared with those of the column file before it is measured.",
    ),
    (
        "Kernels",
        "The inner loops of encoding, decoding and scanning have plain forms and forms for AVX2 and AVX-512; the factor sets the widest \
         that may run. All give the same bytes and rows. Checksums, zstd and memchr choose their instructions themselves.",
    ),
    (
        "Techniques",
        "The file is written once more without the technique, and decoded. Postings as plain numbers are computed: the number of rows \
         times the bits of the last row's number.",
    ),
    (
        "Cold reads",
        "Reads by the codec for 64 queries, each on a newly opened file; the reads of opening do not count.",
    ),
    (
        "Whole columns",
        "Every row of the column up to the limit of text, encoded once and decoded again; the size is that of `outcrop column encode`, \
         with header and checksums. In Parquet, the size is that of the compressed column chunks, according to the footer; in text, that of the \
         fields with their delimiters. Outcrop writes Parquet with zstd:3 with the types of the file, in the smallest encoding of each type; \
         rows, chunks and accounting are the same. A size of all rows has no interval.",
    ),
    (
        "Which form",
        "The smallest of the three, where it is at least 2 % smaller than the user's file. Postings are advised where they are 10 \
         times faster than a scan and the file stays below half of the text.",
    ),
];
