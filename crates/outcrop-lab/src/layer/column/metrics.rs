//! What a trial of a column yields: the metrics' names, units and meanings.

use crate::layer::metrics;

metrics! {
    FILE_BYTES = "file_bytes", Bytes, "size of the file that was written, header and checksums included";
    TEXT_BYTES = "text_bytes", Bytes, "size of the rows as newline text";
    FLOOR_BYTES = "floor_bytes", Bytes, "log2 of the multinomial coefficient of the values' counts, plus the dictionary as written";
    SIZE_OVER_FLOOR = "size_over_floor", Ratio, "file size over that floor; below 1 where the order of the rows repeats";
    COMPRESSION_RATIO = "compression_ratio", Ratio, "newline text over file size";
    BYTES_PER_ROW = "bytes_per_row", Bytes, "file size over rows";
    ROWS = "rows", Count, "rows, nulls included";
    NULL_ROWS = "null_rows", Count, "rows that are null";
    DISTINCT_VALUES = "distinct_values", Count, "distinct values that occur, null not counted";
    DICTIONARY_BYTES = "dictionary_bytes", Bytes, "the dictionary section of the file";
    CODES_BYTES = "codes_bytes", Bytes, "the forward codes and their class map";
    POSTINGS_BYTES = "postings_bytes", Bytes, "the postings section of the file";
    ENCODE_SPEED = "encode_speed", BytesPerSecond, "newline text encoded per second, from memory to a writer that counts and drops";
    ENCODE_PEAK_MEMORY = "encode_peak_memory", Bytes, "growth of the process's resident memory over one encode at its highest";
    OPEN_TIME = "open_time", Nanoseconds, "time to open the file from memory, median; a packed one is unpacked by it";
    DECODE_SPEED = "decode_speed", BytesPerSecond, "newline text decoded per second";
    ROW_RATE = "row_rate", PerSecond, "rows gone through per second";
    CPU_PER_ROW = "cpu_per_row", NanosecondsPerOperation, "CPU time of the process per row gone through";
    OPERATION_RATE = "operation_rate", PerSecond, "queries answered per second, one at a time";
    HITS_PER_OPERATION = "hits_per_operation", Count, "rows that a query found, on average";
    COLD_READS = "cold_reads", Count, "reads of the file per query after opening it anew, on average";
    COLD_READS_MAX = "cold_reads_max", Count, "most reads of one such query";
    COLD_READ_BYTES = "cold_read_bytes", Bytes, "bytes read per query after opening the file anew, on average";
}
