#!/usr/bin/env python3
"""Lets pyarrow and DuckDB write columns for `outcrop column encode`, and open what `outcrop column decode` writes.

    open_columns.py OUTCROP FOLDER

For each way in (Parquet of either writer, Arrow IPC file and stream) and each way out (Parquet, Arrow IPC file and
stream, CSV) every reader must find the same rows in the same order, nulls and empty strings apart. FOLDER takes the
files. Needs duckdb and pyarrow:

    python3 -m venv venv && venv/bin/pip install duckdb pyarrow

Exit status: 0 when all agree, 1 when one does not, 2 on wrong usage.
"""

import hashlib
import pathlib
import subprocess
import sys

ROW_COUNT = 70_000


def rows():
    """More than one block: frequent and rare words, long ones, letters beyond ASCII, empty strings, nulls."""
    words = [f"word-{number % (number % 7 * 300 + 1):04}" for number in range(ROW_COUNT)]
    words[7::1000] = [None] * len(words[7::1000])
    words[8::1000] = [""] * len(words[8::1000])
    words[9::1000] = ["größer als ein Schlüssel von elf Bytes, mit \"Anführung\""] * len(words[9::1000])
    return words


def columns():
    """Rows for which each encoding of Parquet takes least: dictionary, DELTA_BYTE_ARRAY, DELTA_LENGTH_BYTE_ARRAY."""
    yield "words", rows()
    yield "numbered", [f"customer {number}" for number in range(ROW_COUNT)]
    digests = (hashlib.sha256(str(number).encode()).hexdigest() for number in range(ROW_COUNT))
    yield "digests", [digest[: 8 + int(digest[-1], 16)] for digest in digests]


def write_inputs(folder, want):
    """The same rows as each writer stores them."""
    import duckdb
    import pyarrow
    import pyarrow.parquet

    plain = pyarrow.table({"number": range(ROW_COUNT), "word": pyarrow.array(want, pyarrow.string())})
    coded = plain.set_column(1, "word", plain["word"].dictionary_encode())
    pyarrow.parquet.write_table(plain, folder / "pyarrow.parquet")
    tuned = {"use_dictionary": False, "compression": "zstd", "row_group_size": 9_999}
    pyarrow.parquet.write_table(plain, folder / "pages.parquet", **tuned)
    with pyarrow.ipc.new_file(folder / "file.arrow", coded.schema) as out:
        out.write_table(coded)
    with pyarrow.ipc.new_stream(folder / "stream.arrows", plain.schema) as out:
        out.write_table(plain, max_chunksize=10_000)
    connection = duckdb.connect()
    connection.register("plain", plain)
    connection.execute(f"COPY plain TO '{folder / 'duckdb.parquet'}' (FORMAT parquet)")
    return ["pyarrow.parquet", "pages.parquet", "file.arrow", "stream.arrows", "duckdb.parquet"]


def read_outputs(outcrop, column):
    """Each output of one column file as each reader sees it: (what, rows)."""
    import duckdb
    import pyarrow
    import pyarrow.parquet

    parquet, arrow, csv = (column.with_suffix(f".out.{form}") for form in ("parquet", "arrow", "csv"))
    for path in (parquet, arrow):
        run(outcrop, "decode", column, "-o", path, "--name", "word")
    run(outcrop, "decode", column, "-o", csv, "--name", "word", "--null", "NA")
    stream = run(outcrop, "decode", column, "--to", "arrow", "--name", "word")
    connection = duckdb.connect()

    def in_duckdb(source):
        return [word for word, in connection.execute(f"SELECT word FROM {source}").fetchall()]

    yield "pyarrow, Parquet", pyarrow.parquet.read_table(parquet)["word"].to_pylist()
    yield "DuckDB, Parquet", in_duckdb(f"read_parquet('{parquet}')")
    as_csv = "header = true, nullstr = 'NA', allow_quoted_nulls = false, quote = '\"'"
    yield "DuckDB, CSV", in_duckdb(f"read_csv('{csv}', {as_csv})")
    with pyarrow.memory_map(str(arrow)) as source:
        table = pyarrow.ipc.open_file(source).read_all()
        yield "pyarrow, Arrow file", table["word"].to_pylist()
        connection.register("table_of_arrow", table)
        yield "DuckDB, Arrow file", in_duckdb("table_of_arrow")
    yield "pyarrow, Arrow stream", pyarrow.ipc.open_stream(stream).read_all()["word"].to_pylist()


def run(outcrop, *arguments):
    """What `outcrop column …` writes to its standard output."""
    command = [outcrop, "column", *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def difference(want, seen):
    """Where two lists of rows part, in words; nothing where they are equal."""
    if len(want) != len(seen):
        return f"{len(seen)} rows, {len(want)} expected"
    for index, (wanted, found) in enumerate(zip(want, seen)):
        if wanted != found:
            return f"row {index} is {found!r}, {wanted!r} expected"
    return ""


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    outcrop, folder = arguments[0], pathlib.Path(arguments[1])
    folder.mkdir(parents=True, exist_ok=True)
    failed = False
    for name, want in columns():
        place = folder / name
        place.mkdir(exist_ok=True)
        for source in write_inputs(place, want):
            column = place / f"{source}.ocol"
            run(outcrop, "encode", place / source, "--column", "word", "-o", column)
            for reader, seen in read_outputs(outcrop, column):
                wrong = difference(want, seen)
                failed |= bool(wrong)
                if wrong:
                    print(f"{name}, {source} → {reader}: {wrong}")
            print(f"{name}, {source}: {len(want)} rows there and back")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
