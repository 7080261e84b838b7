#!/usr/bin/env python3
"""Holds Outcrop's io_uring engine beside fio's: 4 KiB random reads and writes at depth 1, 32 and 256.

Both tools use direct I/O, registered buffers and a registered file, one thread, a second of warm-up, and take turns:
A B, B A, A B, … so that the drift of a shared machine hits both alike. The comparison is the median over pairs of
the ratio within a pair, with its quartiles and a 95 % bootstrap interval, for each CPU and of all.

    benchmarks/fio-iops/run.py [--rounds 12] [--seconds 2] [--size-mib 1024] [--directory DIR] [--cpus 0,1]
                               [--directions read,write] [--depths 1,32,256] [--target file|loop]

Prints the result as Markdown; `cargo xtask bench-record fio-iops` keeps it. Installs fio with apt when it is
missing and it may. Needs twice the size in free space. With what it does by default, reads take five minutes and
writes eight. A signal ends it with its programs, its file and its loop device.

On which CPU: both tools are bound to the same one, another in each pair of rounds. A device's interrupts go to one
CPU; a reader on another one is woken by an interrupt of its own, which has doubled the CPU time of a lone read (26 and
11 µs). Until 2026-11-25 the scheduler placed each tool, and its CPU time said more of that than of the tool.

What is read: by both tools the same file. What is written: Outcrop writes only to files that it makes, so each tool
has a file of its own, of the same kind and in the same state: without a name (O_TMPFILE), allocated at once, written in
full with random bytes by direct requests of 1 MiB, eight in flight, right before each measurement, and gone after it.
Until 2026-11-23 fio had a named file that stayed, while Outcrop's was removed behind each measurement, which on a
filesystem mounted with `discard` makes the disk discard all its blocks; the two were in different states, and Outcrop
seemed to write 1.5 to 2.9 times as fast. On one loop device the rates were the same. So each measurement of writes to
a file now ends with a commit of the journal, and the next one waits until the disk's count of discards stands still.
With `--target loop` (root) both read and write one loop device with direct I/O, over a file of ours.

What is compared: IOPS; latency from the moment a request is ready to the moment its completion is seen (fio's
`lat`, not `clat`), p50 and p99; CPU time per I/O as each tool reports it for the time of the run (fio: of its
job's thread, cut to whole milliseconds; Outcrop: of its whole process without the kernel's io workers, which fio does
not count). Both tools have buckets of the same width (1/64 of an octave); fio names the middle of the one in which a
percentile lies, Outcrop its end, so fio's is moved there. Until 2026-11-26 it was not, and Outcrop's percentiles seemed
0.4 to 0.8 % higher. Both tools write as they do by default: Outcrop never the same page twice, from 4 MiB of them, fio
one buffer for each request in flight, in which it changes a few bytes each time. In one program that alternates between
the two at depth 1, on a loop device, a page from such a pool took about 0.6 µs longer than the one buffer.
"""

import argparse
import contextlib
import csv
import itertools
import json
import math
import os
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import turns
from processes import end_cleanly_on_signals, output
from programs import ROOT, need, outcrop

TOOLS = ["outcrop", "fio"]
METRICS = {"iops": "IOPS, 1/s", "cpu_us": "CPU per I/O, µs", "p50_us": "p50, µs", "p99_us": "p99, µs"}
DIGITS = {"iops": 0, "cpu_us": 2, "p50_us": 1, "p99_us": 1}
# What the ratio to fio has to be, from and to. Latencies have a bar on both sides: of the same requests to the same
# storage, two tools must see the same, and a lower latency means that the storage was in another state.
WITHIN = (1 / 1.05, 1.05)
BARS = {"iops": (1.0, math.inf), "cpu_us": (0.0, 0.9), "p50_us": WITHIN, "p99_us": WITHIN}
# The disk is still busy with what a tool filled its file with: Outcrop begins right behind that, fio a process later.
WARM_UP_S = 1
MIXES = {"read": "100:0", "write": "0:100"}


@contextlib.contextmanager
def unnamed_file(directory, size_mib):
    """A file as Outcrop's scratch file is: without a name, its blocks taken at once, gone when it is closed."""
    handle = os.open(directory, os.O_TMPFILE | os.O_RDWR)
    try:
        os.posix_fallocate(handle, 0, size_mib << 20)
        yield f"/proc/{os.getpid()}/fd/{handle}"
    finally:
        os.close(handle)


def settle(directory):
    """Waits until nothing of a removed file is left to do.

    Its blocks are freed with the next commit of the filesystem's journal; on one that is mounted with `discard` the
    disk is told so then, in the background, and is busy with it.
    """
    device = os.stat(directory).st_dev
    counters = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/stat")
    os.sync()
    before = None
    while (discards := counters.read_text().split()[11:15] if counters.exists() else []) != before:
        before = discards
        time.sleep(1)


def fio(cpu, *options):
    return json.loads(output([
        "fio", "--name=fio-iops", f"--cpus_allowed={cpu}", "--ioengine=io_uring", "--direct=1", "--output-format=json",
        *options,
    ]))["jobs"][0]


def end_of_bucket(middle_ns):
    """The highest latency in the bucket of fio's histogram that has this middle: an octave from 128 ns on has 64."""
    return middle_ns | ((1 << max(middle_ns.bit_length() - 7, 0)) - 1)


def run_fio(path, cpu, direction, depth, seconds, seed):
    if direction == "write":
        # As Outcrop's scratch file before its measurement: all of it, in large requests.
        fio(cpu, f"--filename={path}", "--rw=write", "--bs=1m", "--iodepth=8", "--refill_buffers", "--end_fsync=1")
    job = fio(
        cpu, f"--filename={path}", "--fixedbufs=1", "--registerfiles=1", "--bs=4k", f"--rw=rand{direction}",
        "--norandommap=1", f"--randseed={seed}", f"--iodepth={depth}", "--time_based", f"--runtime={seconds}",
        f"--ramp_time={WARM_UP_S}",
        "--lat_percentiles=1", "--clat_percentiles=0", *(["--readonly"] if direction == "read" else []),
    )
    side = job[direction]
    percentile = side["lat_ns"]["percentile"]
    cpu_share = (job["usr_cpu"] + job["sys_cpu"]) / 100
    return {
        "iops": side["iops"],
        "p50_us": end_of_bucket(percentile["50.000000"]) / 1e3,
        "p99_us": end_of_bucket(percentile["99.000000"]) / 1e3,
        "cpu_us": cpu_share * side["runtime"] * 1e3 / side["total_ios"],
    }


def run_outcrop(binary, subject, cpu, direction, depth, seconds, seed):
    with tempfile.TemporaryDirectory(prefix="fio-iops-run-") as out:
        output([
            *turns.bound(cpu), binary, "device", *subject, "--engine", "io_uring", "--io-block-size", "4KiB",
            "--access-pattern", "random", "--read-write-mix", MIXES[direction], "--queue-depth", str(depth),
            "--repetitions", "1", "--warm-up", f"{WARM_UP_S}s", "--duration", f"{seconds}s", "--seed", str(seed),
            "--out", out, "--quiet",
        ])
        (run,) = Path(out).iterdir()
        records = csv.DictReader(output([binary, "results", "export", run, "--format", "csv"]).splitlines())
        value = {record["metric"]: record["value"] for record in records}
    names = {"iops": "iops", "p50_us": "latency_p50", "p99_us": "latency_p99", "cpu_us": "cpu_per_operation"}
    of_workers = float(value.get("io_worker_cpu_share") or 0)
    scale = {"iops": 1.0}
    # A percentile that the operations do not support is empty: a disk that stalled.
    known = {metric: value[name] for metric, name in names.items() if value.get(name)}
    result = {metric: float(text) * scale.get(metric, 1e-3) for metric, text in known.items()}
    return result | {"cpu_us": result["cpu_us"] * (1 - of_workers)}


def measure_fio(target, arguments, how):
    """Writes to a file go to one like Outcrop's; everything else to what both tools share."""
    _, direction, *_ = how
    is_own = direction == "write" and arguments.target == "file"
    place = unnamed_file(arguments.directory, arguments.size_mib) if is_own else contextlib.nullcontext(target)
    with place as path:
        return run_fio(path, *how)


def settled(tool, arguments, direction):
    """The result of a tool, after which nothing that it left behind disturbs the next one."""
    result = tool()
    if direction == "write":
        settle(arguments.directory)
    return result


def subject_of_outcrop(arguments, path, target, direction):
    """The arguments that name what Outcrop reads or writes."""
    if direction == "read":
        return ["--read-only", target]
    if arguments.target == "loop":
        return [target, "--destroy", path]
    return [arguments.directory, "--size", f"{arguments.size_mib}MiB"]


def median_with_interval(values, rng):
    medians = sorted(statistics.median(rng.choices(values, k=len(values))) for _ in range(4000))
    return statistics.median(values), medians[100], medians[-101]


def measure(binary, path, target, arguments):
    rounds = []
    for number in range(arguments.rounds):
        cpu, order = turns.turn(number, arguments.cpus, TOOLS)
        for direction in arguments.directions:
            subject = subject_of_outcrop(arguments, path, target, direction)
            for depth in arguments.depths:
                how = (cpu, direction, depth, arguments.seconds, number + 1)
                tools = {
                    "outcrop": lambda how=how, subject=subject: run_outcrop(binary, subject, *how),
                    "fio": lambda how=how: measure_fio(target, arguments, how),
                }
                result = {tool: settled(tools[tool], arguments, direction) for tool in order}
                rounds.append({"cpu": cpu, "direction": direction, "depth": depth, **result})
                figures = (f"{tool} {result[tool]['iops']:,.0f}/s, {result[tool]['cpu_us']:.2f} µs" for tool in TOOLS)
                print(
                    f"round {number + 1}/{arguments.rounds}, {direction}s at depth {depth} on CPU {cpu}: "
                    f"{', '.join(figures)}",
                    file=sys.stderr, flush=True,
                )
    return rounds


def verdict(metric, ratio, quartiles):
    """Whether the bar is held; open where the quartiles lie neither within it nor on one side of it."""
    low, high = BARS[metric]
    first, third = quartiles
    if low <= first and third <= high:
        return "held"
    if third < low or high < first:
        return "missed"
    return "open, held" if low <= ratio <= high else "open, missed"


def bar_text(metric):
    low, high = BARS[metric]
    if high == math.inf:
        return f"≥ {low:.2f}"
    return f"{low:.2f} … {high:.2f}" if low > 0 else f"≤ {high:.2f}"


def places(cpus):
    """What a row is of: a CPU, or all of them."""
    return [*cpus, "all"] if len(cpus) > 1 else cpus


def pairs_of(rounds, direction, depth, place):
    wanted = [pair for pair in rounds if (pair["direction"], pair["depth"]) == (direction, depth)]
    return [pair for pair in wanted if place in (pair["cpu"], "all")]


def compare(rounds, arguments):
    rng = random.Random(1)
    rows = []
    wanted = [arguments.directions, arguments.depths, METRICS, places(arguments.cpus)]
    for direction, depth, metric, place in itertools.product(*wanted):
        pairs = pairs_of(rounds, direction, depth, place)
        both = [pair for pair in pairs if all(pair[tool].get(metric) for tool in TOOLS)]
        if len(both) < 2:
            continue
        ratios = [pair["outcrop"][metric] / pair["fio"][metric] for pair in both]
        ratio, low, high = median_with_interval(ratios, rng)
        first, _, third = statistics.quantiles(ratios, n=4, method="inclusive")
        rows.append({
            "direction": direction,
            "depth": depth,
            "metric": metric,
            "place": place,
            "pairs": len(both),
            "outcrop": statistics.median(pair["outcrop"][metric] for pair in both),
            "fio": statistics.median(pair["fio"][metric] for pair in both),
            "ratio": ratio,
            "quartiles": (first, third),
            "interval": (low, high),
            "verdict": verdict(metric, ratio, (first, third)),
        })
    return rows


def table(rows):
    lines = [
        "| direction | depth | metric | CPU | outcrop | fio | outcrop ÷ fio | quartiles | 95 % interval | pairs "
        "| bar | |",
        "|---|---:|---|---|---:|---:|---:|---|---|---:|---|---|",
    ]
    for row in rows:
        digits = DIGITS[row["metric"]]
        span = "{:.3f} … {:.3f}".format
        lines.append(
            f"| {row['direction']} | {row['depth']} | {METRICS[row['metric']]} | {row['place']} "
            f"| {row['outcrop']:,.{digits}f} | {row['fio']:,.{digits}f} | {row['ratio']:.3f} "
            f"| {span(*row['quartiles'])} | {span(*row['interval'])} | {row['pairs']} "
            f"| {bar_text(row['metric'])} | {row['verdict']} |"
        )
    return "\n".join(lines)


def result_text(arguments, rows, rounds, served):
    """The Markdown that `cargo xtask bench-record` puts into the record."""
    version = output(["fio", "--version"]).strip()
    what = "one loop device over a file" if arguments.target == "loop" else "a file"
    lines = [
        f"4 KiB random accesses to {what} of {arguments.size_mib} MiB, outcrop beside {version}: medians of "
        f"{arguments.rounds} interleaved pairs of {arguments.seconds} s each, both tools bound to the same CPU, the "
        f"CPUs in turn; the ratio is the median of the ratios within the pairs. {served} The bars are those of the "
        "rows of all CPUs. A bar is *open* where the quartiles lie neither within it nor on one side of it. p50 and p99"
        " have a bar on both sides: where one tool's latency is lower, the two did not find the storage in the same "
        "state.",
        "",
        table(rows),
        "",
    ]
    for direction, depth, cpu in itertools.product(arguments.directions, arguments.depths, arguments.cpus):
        pairs = pairs_of(rounds, direction, depth, cpu)
        ratios = " ".join(f"{pair['outcrop']['iops'] / pair['fio']['iops']:.3f}" for pair in pairs)
        lines.append(f"- IOPS ratio per pair, {direction}s at depth {depth} on CPU {cpu}: {ratios}")
    return "\n".join(lines)


def arguments_of_user():
    words = {"read", "write"}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    turns.add_arguments(parser, rounds=12)
    parser.add_argument("--size-mib", type=int, default=1024)
    parser.add_argument("--directory", type=Path, default=ROOT, help="on the disk to be measured")
    parser.add_argument("--directions", default="read,write", help="read, write, or both")
    parser.add_argument("--depths", default="1,32,256")
    parser.add_argument("--target", choices=("file", "loop"), default="file")
    arguments = parser.parse_args()
    turns.check_arguments(parser, arguments)
    arguments.directions = arguments.directions.split(",")
    if not words.issuperset(arguments.directions):
        parser.error("--directions takes read, write, or read,write")
    arguments.depths = [int(depth) for depth in arguments.depths.split(",")]
    return arguments


def main():
    arguments = arguments_of_user()
    end_cleanly_on_signals()
    need("fio", "fio")
    binary = outcrop()
    with turns.random_file(arguments.directory, arguments.size_mib) as path:
        target = turns.loop_device(path) if arguments.target == "loop" else contextlib.nullcontext(path)
        with target as found:
            before = turns.interrupts()
            rounds = measure(binary, path, found, arguments)
            served = turns.busiest_device(before, turns.interrupts())
    print(result_text(arguments, compare(rounds, arguments), rounds, served))


if __name__ == "__main__":
    main()
