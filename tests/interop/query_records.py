#!/usr/bin/env python3
"""Runs the queries of a page of the documentation in a run folder, and compares the columns that it lists.

    query_records.py PAGE.md RUN

Each block marked `sql` runs in DuckDB and each marked `python` in Python, in the run folder; a query that finds no row
fails. The columns of the page's first two tables of columns are those that records.parquet and cells.parquet have
before their factors and figures. Needs duckdb, pandas and pyarrow:

    python3 -m venv venv && venv/bin/pip install duckdb pandas pyarrow

Exit status: 0 when all agree, 1 when one does not, 2 on wrong usage.
"""

import os
import re
import sys

import duckdb


def blocks(page, language):
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)


def listed(page, heading):
    """The columns of the first table below a heading."""
    section = page.split(f"## {heading}\n", 1)[1]
    table = re.search(r"(?:^\|.*\n)+", section, flags=re.MULTILINE)
    return re.findall(r"^\| `(\w+)` \|", table.group(), flags=re.MULTILINE)


def columns(path):
    return [name for name, *_ in duckdb.sql(f"DESCRIBE SELECT * FROM '{path}'").fetchall()]


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    with open(arguments[0], encoding="utf-8") as file:
        page = file.read()
    os.chdir(arguments[1])
    for heading, path in (("Columns of the records", "records.parquet"), ("Columns of the cells", "cells.parquet")):
        wanted = listed(page, heading)
        seen = columns(path)[:len(wanted)]
        if not wanted or seen != wanted:
            print(f"{path} begins with {seen}, the page lists {wanted}")
            return 1
    queries = blocks(page, "sql")
    for query in queries:
        if not duckdb.sql(query).fetchall():
            print(f"no row for:\n{query}")
            return 1
    programs = blocks(page, "python")
    for program in programs:
        exec(compile(program, arguments[0], "exec"), {})
    if not queries or not programs:
        print(f"{arguments[0]} has no block marked `sql` or `python`")
        return 1
    print(f"{len(queries)} queries and {len(programs)} programs of the page")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
