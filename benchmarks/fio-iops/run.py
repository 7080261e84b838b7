#!/usr/bin/env python3
"""Holds Outcrop's io_uring engine beside fio's: 4 KiB random reads of one file at depth 1, 32 and 256.

Both tools read the same file with direct I/O, registered buffers and a registered file, one thread, no
warm-up, in turns: A B, B A, A B, … so that the drift of a shared machine hits both alike. The
comparison is the median over rounds of the ratio within a round, with a 95 % bootstrap interval.

    benchmarks/fio-iops/run.py [--rounds 9] [--seconds 3] [--size-mib 1024] [--directory DIR]

Prints the result as Markdown; `cargo xtask bench-record fio-iops` keeps it. Installs fio with apt when it is
missing and it may.

What is compared: IOPS; latency from the moment a request is ready to the moment its completion is seen (fio's
`lat`, not `clat`), p50 and p99; CPU time per I/O as each tool reports it for the time of the run (fio: of its
job's thread; Outcrop: of its whole process, the kernel's io workers included).
"""

import argparse
import csv
import json
import os
import random
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from programs import ROOT, need, outcrop, output

DEPTHS = (1, 32, 256)
METRICS = {"iops": "IOPS", "p50_us": "p50 µs", "p99_us": "p99 µs", "cpu_us": "CPU µs per I/O"}


def make_file(directory, size_mib):
    handle, path = tempfile.mkstemp(prefix="fio-iops-", dir=directory)
    with os.fdopen(handle, "wb") as file:
        for _ in range(size_mib):
            file.write(os.urandom(1 << 20))
        file.flush()
        os.fsync(file.fileno())
    return Path(path)


def run_fio(path, depth, seconds, seed):
    job = json.loads(output([
        "fio", "--name=fio-iops", f"--filename={path}", "--readonly", "--ioengine=io_uring", "--direct=1",
        "--fixedbufs=1", "--registerfiles=1", "--bs=4k", "--rw=randread", "--norandommap=1",
        f"--randseed={seed}", f"--iodepth={depth}", "--time_based", f"--runtime={seconds}",
        "--lat_percentiles=1", "--clat_percentiles=0", "--output-format=json",
    ]))["jobs"][0]
    read = job["read"]
    percentile = read["lat_ns"]["percentile"]
    cpu_share = (job["usr_cpu"] + job["sys_cpu"]) / 100
    return {
        "iops": read["iops"],
        "p50_us": percentile["50.000000"] / 1e3,
        "p99_us": percentile["99.000000"] / 1e3,
        "cpu_us": cpu_share * read["runtime"] * 1e3 / read["total_ios"],
    }


def run_outcrop(binary, path, depth, seconds, seed):
    with tempfile.TemporaryDirectory(prefix="fio-iops-run-") as out:
        records = csv.DictReader(output([
            binary, "device", "--read-only", path, "--engine", "io_uring", "--io-block-size", "4KiB",
            "--access-pattern", "random", "--read-write-mix", "100:0", "--queue-depth", str(depth),
            "--repetitions", "1", "--warm-up", "0s", "--duration", f"{seconds}s", "--seed", str(seed),
            "--out", out, "--format", "csv",
        ]).splitlines())
        value = {record["metric"]: record["value"] for record in records}
    return {
        "iops": float(value["iops"]),
        "p50_us": float(value["latency_p50"]) / 1e3,
        "p99_us": float(value["latency_p99"]) / 1e3,
        "cpu_us": float(value["cpu_per_operation"]) / 1e3,
    }


def median_with_interval(values, rng):
    medians = sorted(statistics.median(rng.choices(values, k=len(values))) for _ in range(4000))
    return statistics.median(values), medians[100], medians[-101]


def measure(binary, path, arguments):
    rounds = []
    for number in range(arguments.rounds):
        for depth in DEPTHS:
            tools = {
                "outcrop": lambda: run_outcrop(binary, path, depth, arguments.seconds, number + 1),
                "fio": lambda: run_fio(path, depth, arguments.seconds, number + 1),
            }
            order = ("outcrop", "fio") if number % 2 == 0 else ("fio", "outcrop")
            result = {tool: tools[tool]() for tool in order}
            rounds.append({"round": number, "depth": depth, "order": order, **result})
            ratio = result["outcrop"]["iops"] / result["fio"]["iops"]
            print(f"round {number + 1}/{arguments.rounds}, depth {depth}: IOPS ratio {ratio:.3f}", file=sys.stderr)
    return rounds


def compare(rounds):
    rng = random.Random(1)
    rows = []
    for depth in DEPTHS:
        pairs = [entry for entry in rounds if entry["depth"] == depth]
        for metric in METRICS:
            ratios = [pair["outcrop"][metric] / pair["fio"][metric] for pair in pairs]
            ratio, low, high = median_with_interval(ratios, rng)
            rows.append({
                "depth": depth,
                "metric": metric,
                "outcrop": statistics.median(pair["outcrop"][metric] for pair in pairs),
                "fio": statistics.median(pair["fio"][metric] for pair in pairs),
                "ratio": ratio,
                "low": low,
                "high": high,
            })
    return rows


def table(rows):
    lines = ["| depth | metric | outcrop | fio | outcrop ÷ fio | 95 % interval |", "|---:|---|---:|---:|---:|---|"]
    for row in rows:
        digits = 0 if row["metric"] == "iops" else 2 if row["metric"] == "cpu_us" else 1
        lines.append(
            f"| {row['depth']} | {METRICS[row['metric']]} | {row['outcrop']:,.{digits}f} | {row['fio']:,.{digits}f} "
            f"| {row['ratio']:.3f} | {row['low']:.3f} … {row['high']:.3f} |"
        )
    return "\n".join(lines)


def result_text(arguments, rows, rounds):
    """The Markdown that `cargo xtask bench-record` puts into the record."""
    fio = output(["fio", "--version"]).strip()
    lines = [
        f"4 KiB random reads of one {arguments.size_mib} MiB file, outcrop beside {fio}: medians of {arguments.rounds} "
        f"interleaved rounds of {arguments.seconds} s; the ratio is the median of the ratios within the rounds.",
        "",
        table(rows),
        "",
    ]
    for depth in DEPTHS:
        ratios = [entry["outcrop"]["iops"] / entry["fio"]["iops"] for entry in rounds if entry["depth"] == depth]
        lines.append(f"- IOPS ratio per round, depth {depth}: {' '.join(f'{ratio:.3f}' for ratio in ratios)}")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9, help="at least 5")
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--size-mib", type=int, default=1024)
    parser.add_argument("--directory", type=Path, default=ROOT, help="on the disk to be measured")
    arguments = parser.parse_args()
    if arguments.rounds < 5:
        parser.error("--rounds must be at least 5: fewer give no interval worth printing")

    need("fio", "fio")
    binary = outcrop()
    path = make_file(arguments.directory, arguments.size_mib)
    try:
        rounds = measure(binary, path, arguments)
    finally:
        path.unlink()
    print(result_text(arguments, compare(rounds), rounds))


if __name__ == "__main__":
    main()
