#!/usr/bin/env python3
"""Throughput and space of RocksDB and fjall by codec, on 500,000 records of 1000 B that are compressible by half.

    benchmarks/kv-engines/table.py [--records N] [--repetitions N] [--seconds S] [--directory DIR]

One thread, blocks of 4 KiB, databases in the page cache: YCSB C and A on RocksDB without compression, with
lz4 and with zstd, and on fjall without compression and with lz4. Needs librocksdb-dev and 3 GB in DIR. A trial loads
its database anew; with the defaults 50 trials take about 20 minutes. Prints Markdown; databases are removed.
"""

import argparse
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from programs import outcrop


def command(args: argparse.Namespace) -> list[str]:
    """One run: all cells, in an order that is drawn anew for each repetition."""
    return [
        outcrop(), "kv", str(args.directory), "--engine", "rocksdb,fjall", "--compression", "none,lz4,zstd",
        "--workload", "ycsb-c,ycsb-a", "--records", str(args.records), "--value-size", "fixed:1000B",
        "--content", "compressible:2", "--threads", "1", "--settling", "compacted", "--page-cache", "kept",
        "--repetitions", str(args.repetitions), "--warm-up", "1s", "--duration", f"{args.seconds}s",
        "--no-save", "--quiet", "--format", "json",
    ]  # fmt: skip


def figure(cell: dict | None, metric: str, scale: float) -> str:
    """A median with its interval; a dash where there is none."""
    one = (cell or {}).get("metrics", {}).get(metric, {})
    if "value" not in one:
        return "–"
    ends = f" ({one['low'] / scale:.4g}–{one['high'] / scale:.4g})" if one.get("low") != one.get("high") else ""
    return f"{one['value'] / scale:.4g}{ends}"


def report(run: dict, args: argparse.Namespace) -> None:
    """The table: a row for each engine and codec that was measured."""
    cells = {
        (cell["factors"]["engine"], cell["factors"]["compression"], cell["factors"]["workload"]): cell
        for cell in run["cells"]
        if "value" in cell["metrics"].get("throughput", {})
    }
    print(
        f"{args.records:,} records of 1000 B, compressible by half; one thread, blocks of 4 KiB, page cache; "
        f"{args.repetitions} trials of {args.seconds} s; medians with their intervals.\n"
    )
    print("| engine | codec | YCSB C, k/s | YCSB A, k/s | space, MB | of it the log, MB |")
    print("|---|---|---|---|---|---|")
    for engine, codec in sorted({key[:2] for key in cells}, reverse=True):
        of = {workload: cells.get((engine, codec, workload)) for workload in ("ycsb-c", "ycsb-a")}
        speeds = [figure(of[workload], "throughput", 1e3) for workload in ("ycsb-c", "ycsb-a")]
        space = [figure(of["ycsb-c"], metric, 1e6) for metric in ("stored_bytes", "log_bytes")]
        print(f"| {engine} | {codec} | {' | '.join(speeds + space)} |")
    print(f"\nReproduce: `benchmarks/kv-engines/table.py --repetitions {args.repetitions} --seconds {args.seconds}`")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=500_000)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--directory", type=pathlib.Path, default=pathlib.Path("."))
    args = parser.parse_args()
    done = subprocess.run(command(args), stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(done.returncode)
    report(json.loads(done.stdout), args)


if __name__ == "__main__":
    main()
