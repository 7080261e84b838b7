#!/usr/bin/env python3
"""CPU time per read at depth 1: fio, Outcrop, and a short loop in C that counts next to nothing (minimal.c), in turn.

Where a lone request is waited for, next to all CPU time is the kernel's: the system call, the block layer, the
interrupt, going to sleep and waking up. The short loop shows how much of it remains without a tool's own work. It is a
comparison and no bound: another way of waiting or of setting up the ring may cost the kernel less, and Outcrop has
been measured below it. All three read the same file with direct I/O, a registered file, buffer and ring. Their order
turns with each round, and ratios are taken within a round, so that the drift of a shared machine hits all alike.

    benchmarks/fio-iops/qd1.py [--rounds 15] [--seconds 2] [--size-mib 1024] [--directory DIR]

Prints the result as Markdown. CPU time is that of the whole process in Outcrop and minimal.c, and that of
its job's thread in fio, as fio reports it.
"""

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from programs import ROOT, need, outcrop, output
from run import make_file, median_with_interval, run_fio, run_outcrop

TOOLS = ("fio", "outcrop", "minimal")
RATIOS = (("outcrop", "fio"), ("minimal", "fio"), ("outcrop", "minimal"))


def build_minimal(folder):
    binary = Path(folder) / "minimal"
    source = Path(__file__).with_name("minimal.c")
    subprocess.run(["cc", "-O2", "-o", binary, source], check=True, stdout=sys.stderr)
    return binary


def run_minimal(binary, path, seconds):
    iops, cpu_us, _ = output([binary, path, seconds]).split()
    return {"iops": float(iops), "cpu_us": float(cpu_us)}


def measure(path, programs, arguments):
    rounds = []
    for number in range(arguments.rounds):
        how = ("read", 1, arguments.seconds, number + 1)
        tools = {
            "fio": lambda how=how: run_fio(path, *how),
            "outcrop": lambda how=how: run_outcrop(programs["outcrop"], ["--read-only", path], *how),
            "minimal": lambda: run_minimal(programs["minimal"], path, arguments.seconds),
        }
        turn = number % len(TOOLS)
        order = TOOLS[turn:] + TOOLS[:turn]
        result = {tool: tools[tool]() for tool in order}
        # fio has been seen to report no CPU time of a job at all.
        if all(one["cpu_us"] > 0 for one in result.values()):
            rounds.append(result)
        figures = ", ".join(f"{tool} {result[tool]['cpu_us']:.2f}" for tool in TOOLS)
        print(f"round {number + 1}/{arguments.rounds}, CPU µs per read: {figures}", file=sys.stderr, flush=True)
    return rounds


def result_text(arguments, rounds):
    version = output(["fio", "--version"]).strip()
    rng = random.Random(1)
    lines = [
        f"4 KiB random reads of a file of {arguments.size_mib} MiB at depth 1: medians of {arguments.rounds} rounds of "
        f"{arguments.seconds} s for each of {version}, outcrop and benchmarks/fio-iops/minimal.c, in turn.",
        "",
        "| program | CPU µs per read | IOPS |",
        "|---|---:|---:|",
    ]
    for tool in TOOLS:
        median = {metric: statistics.median(one[tool][metric] for one in rounds) for metric in ("cpu_us", "iops")}
        lines.append(f"| {tool} | {median['cpu_us']:.2f} | {median['iops']:,.0f} |")
    lines += ["", "| CPU per read | ratio | quartiles | 95 % interval |", "|---|---:|---|---|"]
    for ours, base in RATIOS:
        ratios = [one[ours]["cpu_us"] / one[base]["cpu_us"] for one in rounds]
        ratio, low, high = median_with_interval(ratios, rng)
        first, _, third = statistics.quantiles(ratios, n=4, method="inclusive")
        lines.append(f"| {ours} ÷ {base} | {ratio:.3f} | {first:.3f} … {third:.3f} | {low:.3f} … {high:.3f} |")
    return "\n".join(lines)


def arguments_of_user():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15, help="at least 5")
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--size-mib", type=int, default=1024)
    parser.add_argument("--directory", type=Path, default=ROOT, help="on the disk to be measured")
    arguments = parser.parse_args()
    if arguments.rounds < 5:
        parser.error("--rounds must be at least 5: fewer give no interval worth printing")
    return arguments


def main():
    arguments = arguments_of_user()
    need("fio", "fio")
    need("cc", "gcc")
    binary = outcrop()
    path = make_file(arguments.directory, arguments.size_mib)
    try:
        with tempfile.TemporaryDirectory(prefix="fio-iops-minimal-") as folder:
            programs = {"outcrop": binary, "minimal": build_minimal(folder)}
            rounds = measure(path, programs, arguments)
    finally:
        path.unlink()
    print(result_text(arguments, rounds))


if __name__ == "__main__":
    main()
