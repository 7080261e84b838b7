#!/usr/bin/env python3
"""Opens a run's records.parquet in DuckDB, pandas and Polars and holds each beside the CSV export.

    open_records.py RECORDS.parquet RECORDS.csv

Each reader must find the same number of rows, the same number of values and the same exact sum of values, and
the value of every factor in the map of one record, and its typed column: a number for what is spelled as one.
Needs duckdb, pandas, pyarrow and polars:

    python3 -m venv venv && venv/bin/pip install duckdb pandas pyarrow polars

Exit status: 0 when all agree, 1 when one does not, 2 on wrong usage.
"""

import csv
import math
import sys

# Columns of a record that are not factors; the CSV export spreads the factors between them.
RECORD_COLUMNS = {
    "run", "trial", "cell", "layer", "subject", "repetition", "seed", "metric", "unit", "value", "provenance", "source",
    "started_at", "duration_s",
}


def expected_from_csv(path):
    """Rows, values, their exact sum, and one record to look up with its factors."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if not rows:
        raise SystemExit(f"{path} has no records to compare")
    values = [float(row["value"]) for row in rows if row["value"] != ""]
    row = rows[-1]
    factors = {name: row[name] for name in row
               if name not in RECORD_COLUMNS and not name.startswith("factor_") and row[name]}
    if not factors:
        raise SystemExit(f"the last record of {path} has no factor to look up")
    return {"rows": len(rows), "values": len(values), "sum": math.fsum(values), "factors": factors,
            "typed": {name: int(value) for name, value in factors.items() if value.isdecimal()},
            "key": (int(row["trial"]), int(row["repetition"]), row["metric"]),
            "cell": row["cell"], "seed": int(row["seed"]), "start": row["started_at"][:19]}


def with_duckdb(path, want):
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    rows, = connection.execute("SELECT count(*) FROM read_parquet(?)", [path]).fetchone()
    values = [v for v, in connection.execute(
        "SELECT value FROM read_parquet(?) WHERE value IS NOT NULL", [path]).fetchall()]
    # A look-up in a map gives the value itself, or a list of one before DuckDB 1.3.
    columns = ["factors[?]" for _ in want["factors"]] + [f'"{name}"' for name in want["typed"]] + ["cell", "seed"]
    *factors, cell, seed, start = connection.execute(
        f"SELECT {', '.join(columns)}, strftime(started_at, '%Y-%m-%dT%H:%M:%S') FROM read_parquet(?) "
        "WHERE trial = ? AND repetition = ? AND metric = ?", [*want["factors"], path, *want["key"]]).fetchone()
    numbers = factors[len(want["factors"]):]
    factors = [factor[0] if isinstance(factor, list) else factor for factor in factors[:len(want["factors"])]]
    return {"rows": rows, "values": values, "factors": dict(zip(want["factors"], factors)), "seed": seed,
            "typed": dict(zip(want["typed"], numbers)), "cell": cell, "start": start}


def with_pandas(path, want):
    import pandas

    frame = pandas.read_parquet(path, engine="pyarrow")
    trial, repetition, metric = want["key"]
    row = frame[(frame.trial == trial) & (frame.repetition == repetition) & (frame.metric == metric)].iloc[0]
    return {"rows": len(frame), "values": frame.value.dropna().tolist(), "seed": int(row.seed),
            "factors": known_factors(want, dict(row.factors)), "cell": row.cell,
            "typed": {name: int(row[name]) for name in want["typed"]}, "start": row.started_at.isoformat()[:19]}


def with_polars(path, want):
    import polars

    frame = polars.read_parquet(path)
    trial, repetition, metric = want["key"]
    row = frame.filter(
        (polars.col("trial") == trial) & (polars.col("repetition") == repetition) & (polars.col("metric") == metric)
    ).row(0, named=True)
    # Polars 2 has maps; before that they were lists of key and value.
    factors = row["factors"]
    factors = factors if isinstance(factors, dict) else {entry["key"]: entry["value"] for entry in factors}
    return {"rows": frame.height, "values": frame["value"].drop_nulls().to_list(), "seed": row["seed"],
            "factors": known_factors(want, factors), "cell": row["cell"],
            "typed": {name: row[name] for name in want["typed"]}, "start": row["started_at"].isoformat()[:19]}


def known_factors(want, factors):
    """The factors that the CSV export has a column for."""
    return {name: factors.get(name) for name in want["factors"]}


def differences(want, seen):
    """What a reader sees otherwise than the CSV has it."""
    seen = {**seen, "sum": math.fsum(seen["values"]), "values": len(seen["values"])}
    compared = ("rows", "values", "sum", "factors", "typed", "cell", "seed", "start")
    return [f"{name}: {seen[name]!r}, the CSV export has {want[name]!r}"
            for name in compared if seen[name] != want[name]]


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    parquet, exported = arguments
    want = expected_from_csv(exported)
    failed = False
    for name, read in (("duckdb", with_duckdb), ("pandas", with_pandas), ("polars", with_polars)):
        wrong = differences(want, read(parquet, want))
        failed |= bool(wrong)
        print(f"{name}: " + ("; ".join(wrong) if wrong else
              f"{want['rows']} records, {want['values']} values, {len(want['factors'])} factors, "
              f"{len(want['typed'])} of them numbers"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
