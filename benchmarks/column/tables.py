"""Prints what run.sh measured as Markdown: all of it, and against the targets where it has the size that they are for.

Usage: tables.py FOLDER THREADS, where FOLDER has skew-0.csv and skew-1.csv, and rounds-0.csv and rounds-1.csv with
several rounds of encoding and of the scans, whose medians stand in the tables.
"""

import csv
import math
import statistics
import sys
from pathlib import Path

ENCODE = f"encode, index None, {sys.argv[2]} threads"
IN_ROUNDS = {(ENCODE, "GB/s"), ("equality scan, 1 thread", "ms"), ("prefix scan, 3 letters, 1 thread", "ms")}


def rows_of(name):
    """Metric, unit and value; none where there is no such file."""
    path = Path(sys.argv[1]) / name
    if not path.exists():
        return []
    with open(path, encoding="utf-8") as file:
        # The metric may hold commas: value and unit are the last two fields.
        return [((",".join(row[:-2]), row[-1]), row[-2]) for row in csv.reader(file)]


tables, firsts, ranges = [], [], []
for skew in (0, 1):
    found, of_rounds = dict(rows_of(f"skew-{skew}.csv")), {}
    firsts.append(dict(found))
    for key, text in rows_of(f"rounds-{skew}.csv"):
        if key in IN_ROUNDS:
            of_rounds.setdefault(key, []).append(float(text))
    found.update({key: f"{statistics.median(values):.4f}" for key, values in of_rounds.items()})
    tables.append(found)
    ranges.append(of_rounds)


def value(table, metric, unit):
    return float(table.get((metric, unit), "nan"))


def bars(table, is_uniform):
    """Each row: what, unit, measured, its bar, whether the bar is the least (else the most) that is allowed."""
    file, dictionary = value(table, "file, index None", "B"), value(table, "dictionary", "B")
    only = value(table, "file, index Only", "B")
    prefix = "prefix, 3 letters, postings, preloaded"
    of_prefix = value(table, prefix, "µs") / value(table, f"{prefix}: mean hits", "rows") * 1e3
    yield f"encode, {sys.argv[2]} threads", "GB/s", value(table, ENCODE, "GB/s"), 0.7 if is_uniform else 1.0, True
    memory = value(table, f"{ENCODE}: most memory so far", "MB")
    yield "most memory while encoding", "MB", memory, (2.5 * file + dictionary) / 1e6, False
    yield "file", "MB", file / 1e6, 357 if is_uniform else 246, False
    ratio = value(table, "file ÷ (floor + dictionary)", "ratio")
    yield "file ÷ (floor + dictionary)", "", ratio, 1.02 if is_uniform else 1.05, False
    if is_uniform:
        yield "file with the index only", "MB", only / 1e6, 390, False
    yield "equality scan", "ms", value(table, "equality scan, 1 thread", "ms"), 20, False
    yield "prefix scan", "ms", value(table, "prefix scan, 3 letters, 1 thread", "ms"), 27, False
    yield "lookup, postings in memory", "µs", value(table, "lookup, postings in memory", "µs"), 1.5, False
    yield "lookup, postings preloaded", "µs", value(table, "lookup, postings, preloaded", "µs"), 1.5, False
    yield "prefix → a row with postings, preloaded", "ns", of_prefix, 25 / 3.5, False
    yield "decode to text", "GB/s", value(table, "decode to text, 1 thread", "GB/s"), 1.1, True
    arrow = "decode to Arrow arrays, dictionary as stored, 1 thread"
    yield "decode to Arrow dictionary arrays, a row", "ns", value(table, arrow, "ns/row"), 0.7, False


def verdict(measured, bar, is_least):
    if math.isnan(measured):
        return "not measured"
    if measured >= bar if is_least else measured <= bar:
        return "reached"
    missed_by = bar / measured if is_least else measured / bar
    return f"missed by {missed_by:.2f} ×"


if {value(table, "rows", "rows") for table in tables} == {139999654.0}:
    print("Elapsed times, against the targets for this size:\n")
    print("| what | column | target | measured | |\n|---|---|---|---|---|")
    for table, column in zip(tables, ("uniform", "zipf(1.0)")):
        for what, unit, measured, bar, is_least in bars(table, column == "uniform"):
            sign = "≥" if is_least else "≤"
            said = verdict(measured, bar, is_least)
            print(f"| {what} | {column} | {sign} {bar:.4g} {unit} | {measured:.4g} {unit} | {said} |")
    print()
if any(ranges):
    print("Encoding, and scans (each the median of 7 searches), in rounds of both columns in turn. The first one,")
    print("before all rounds, writes to memory that the system has not used for a while:\n")
    print("| what | column | first | rounds | median (least–greatest) |\n|---|---|---|---|---|")
    for first, of_rounds, column in zip(firsts, ranges, ("uniform", "zipf(1.0)")):
        for (metric, unit), values in of_rounds.items():
            shown = f"{statistics.median(values):.4g} ({min(values):.4g}–{max(values):.4g}) {unit}"
            print(f"| {metric} | {column} | {value(first, metric, unit):.4g} {unit} | {len(values)} | {shown} |")
    print()
print("| metric | unit | uniform | zipf(1.0) |\n|---|---|---|---|")
for metric, unit in dict.fromkeys([*tables[0], *tables[1]]):
    print(f"| {metric} | {unit} | " + " | ".join(table.get((metric, unit), "–") for table in tables) + " |")
