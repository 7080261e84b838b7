#!/usr/bin/env python3
"""Opens a run's records.parquet in DuckDB, pandas and Polars and holds each beside the CSV export.

    open_records.py RECORDS.parquet RECORDS.csv

Each reader must find the same number of rows, the same number of values and the same exact sum of values, and
the value of a factor in the map of the same record. Needs duckdb, pandas, pyarrow and polars:

    python3 -m venv venv && venv/bin/pip install duckdb pandas pyarrow polars

Exit status: 0 when all agree, 1 when one does not, 2 on wrong usage.
"""

import csv
import math
import sys

# Columns of a record that are not factors; the CSV export spreads the factors between them.
RECORD_COLUMNS = {
    "run", "trial", "layer", "subject", "repetition", "seed", "metric", "unit", "value", "provenance", "source",
    "started_at", "duration_s",
}


def expected_from_csv(path):
    """Rows, values, their exact sum, and one factor of one record to look up."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if not rows:
        raise SystemExit(f"{path} has no records to compare")
    values = [float(row["value"]) for row in rows if row["value"] != ""]
    factors = [name for name in rows[0] if name not in RECORD_COLUMNS and not name.startswith("factor_")]
    probe = next(((row, name) for row in reversed(rows) for name in factors if row[name]), None)
    if probe is None:
        raise SystemExit(f"{path} has no factor to look up")
    row, name = probe
    key = (int(row["trial"]), int(row["repetition"]), row["metric"])
    return {"rows": len(rows), "values": len(values), "sum": math.fsum(values), "key": key, "factor": name,
            "factor_value": row[name], "seed": int(row["seed"]), "start": row["started_at"][:19]}


def with_duckdb(path, want):
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    rows, = connection.execute("SELECT count(*) FROM read_parquet(?)", [path]).fetchone()
    values = [v for v, in connection.execute(
        "SELECT value FROM read_parquet(?) WHERE value IS NOT NULL", [path]).fetchall()]
    # A look-up in a map gives the value itself, or a list of one in DuckDB before 1.3.
    factor, seed, start = connection.execute(
        "SELECT factors[?], seed, strftime(started_at, '%Y-%m-%dT%H:%M:%S') FROM read_parquet(?) "
        "WHERE trial = ? AND repetition = ? AND metric = ?", [want["factor"], path, *want["key"]]).fetchone()
    factor = factor[0] if isinstance(factor, list) else factor
    return {"rows": rows, "values": values, "factor_value": factor, "seed": seed, "start": start}


def with_pandas(path, want):
    import pandas

    frame = pandas.read_parquet(path, engine="pyarrow")
    trial, repetition, metric = want["key"]
    row = frame[(frame.trial == trial) & (frame.repetition == repetition) & (frame.metric == metric)].iloc[0]
    return {"rows": len(frame), "values": frame.value.dropna().tolist(), "seed": int(row.seed),
            "factor_value": dict(row.factors).get(want["factor"]), "start": row.started_at.isoformat()[:19]}


def with_polars(path, want):
    import polars

    frame = polars.read_parquet(path)
    trial, repetition, metric = want["key"]
    row = frame.filter(
        (polars.col("trial") == trial) & (polars.col("repetition") == repetition) & (polars.col("metric") == metric)
    ).row(0, named=True)
    factors = {entry["key"]: entry["value"] for entry in row["factors"]}
    return {"rows": frame.height, "values": frame["value"].drop_nulls().to_list(), "seed": row["seed"],
            "factor_value": factors.get(want["factor"]), "start": row["started_at"].isoformat()[:19]}


def differences(want, seen):
    """What a reader sees otherwise than the CSV has it."""
    seen = {**seen, "sum": math.fsum(seen["values"]), "values": len(seen["values"])}
    return [f"{name}: {seen[name]!r}, the CSV export has {want[name]!r}"
            for name in ("rows", "values", "sum", "factor_value", "seed", "start") if seen[name] != want[name]]


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
              f"{want['rows']} records, {want['values']} values, {want['factor']} = {want['factor_value']}"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
