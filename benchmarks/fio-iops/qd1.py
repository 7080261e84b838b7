#!/usr/bin/env python3
"""CPU time per read at depth 1: fio, Outcrop, and a short loop in C that counts next to nothing (minimal.c), in turn.

Where a lone request is waited for, next to all CPU time is the kernel's: the system call, the block layer, the
interrupt, going to sleep and waking up. The short loop shows how much of it remains without a tool's own work. It is a
comparison and no bound: another way of waiting or of setting up the ring may cost the kernel less, and Outcrop has
been measured below it. All three read the same file with direct I/O, a registered file, buffer and ring, bound to the
same CPU, another one in each pair of rounds; the second round of a pair has the order of the first from behind. Ratios
are taken within a round, so that the drift of a shared machine hits all alike.

    benchmarks/fio-iops/qd1.py [--rounds 24] [--seconds 2] [--size-mib 1024] [--directory DIR] [--cpus 0,1]

Prints the result as Markdown; five minutes with what it does by default. CPU time is that of the whole process in
Outcrop and minimal.c, and that of its job's thread in fio, as fio reports it, cut to whole milliseconds. Interrupts
between CPUs are those of the whole machine from the start of a program to its end, over its reads with those of the
warm-up.
"""

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import turns
from processes import end_cleanly_on_signals, output
from programs import ROOT, need, outcrop
from run import WARM_UP_S, median_with_interval, places, run_fio, run_outcrop

TOOLS = ["fio", "outcrop", "minimal"]
RATIOS = (("outcrop", "fio"), ("minimal", "fio"), ("outcrop", "minimal"))


def build_minimal(folder):
    binary = Path(folder) / "minimal"
    source = Path(__file__).with_name("minimal.c")
    subprocess.run(["cc", "-O2", "-o", binary, source], check=True, stdout=sys.stderr)
    return binary


def run_minimal(binary, cpu, path, seconds):
    iops, cpu_us, _ = output([*turns.bound(cpu), binary, path, seconds]).split()
    return {"iops": float(iops), "cpu_us": float(cpu_us)}


def with_interrupts(tool, seconds):
    """The result of a tool, and the interrupts between CPUs for each of its reads."""
    before = turns.interrupts()
    result = tool()
    between = turns.between_cpus(before, turns.interrupts())
    reads = result["iops"] * (seconds + WARM_UP_S)
    return result | ({} if between is None else {"between_cpus": between / reads})


def measure(path, programs, arguments):
    rounds = []
    for number in range(arguments.rounds):
        cpu, order = turns.turn(number, arguments.cpus, TOOLS)
        how = (cpu, "read", 1, arguments.seconds, number + 1)
        tools = {
            "fio": lambda how=how: run_fio(path, *how),
            "outcrop": lambda how=how: run_outcrop(programs["outcrop"], ["--read-only", path], *how),
            "minimal": lambda cpu=cpu: run_minimal(programs["minimal"], cpu, path, arguments.seconds),
        }
        result = {tool: with_interrupts(tools[tool], arguments.seconds) for tool in order}
        # fio has been seen to report no CPU time of a job at all.
        if all(one["cpu_us"] > 0 for one in result.values()):
            rounds.append({"cpu": cpu, **result})
        figures = ", ".join(f"{tool} {result[tool]['cpu_us']:.2f}" for tool in TOOLS)
        print(
            f"round {number + 1}/{arguments.rounds} on CPU {cpu}, CPU µs per read: {figures}",
            file=sys.stderr, flush=True,
        )
    return rounds


def rounds_on(rounds, place):
    return [one for one in rounds if place in (one["cpu"], "all")]


def program_row(rounds, tool, place):
    def middle(metric, digits):
        values = [one[tool][metric] for one in rounds_on(rounds, place) if metric in one[tool]]
        return f"{statistics.median(values):,.{digits}f}" if values else "not counted here"

    figures = [middle("cpu_us", 2), middle("iops", 0), middle("between_cpus", 2)]
    return f"| {tool} | {place} | {' | '.join(figures)} | {len(rounds_on(rounds, place))} |"


def ratio_row(rounds, ours, base, place, rng):
    ratios = [one[ours]["cpu_us"] / one[base]["cpu_us"] for one in rounds_on(rounds, place)]
    ratio, low, high = median_with_interval(ratios, rng)
    first, _, third = statistics.quantiles(ratios, n=4, method="inclusive")
    return (
        f"| {ours} ÷ {base} | {place} | {ratio:.3f} | {first:.3f} … {third:.3f} | {low:.3f} … {high:.3f} "
        f"| {len(ratios)} |"
    )


def result_text(arguments, rounds, served):
    version = output(["fio", "--version"]).strip()
    rng = random.Random(1)
    # A CPU on which fio reported nothing has no row.
    shown = [place for place in places(arguments.cpus) if len(rounds_on(rounds, place)) >= 2]
    lines = [
        f"4 KiB random reads of a file of {arguments.size_mib} MiB at depth 1: medians of {arguments.rounds} rounds of "
        f"{arguments.seconds} s for each of {version}, outcrop and benchmarks/fio-iops/minimal.c, in turn, bound to "
        f"the same CPU. {served}",
        "",
        "| program | CPU | CPU time per read, µs | IOPS, 1/s | interrupts between CPUs per read | rounds |",
        "|---|---|---:|---:|---:|---:|",
        *(program_row(rounds, tool, place) for tool in TOOLS for place in shown),
        "",
        "| CPU time per read | CPU | ratio | quartiles | 95 % interval | rounds |",
        "|---|---|---:|---|---|---:|",
        *(ratio_row(rounds, ours, base, place, rng) for ours, base in RATIOS for place in shown),
    ]
    return "\n".join(lines)


def arguments_of_user():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    turns.add_arguments(parser, rounds=24)
    parser.add_argument("--size-mib", type=int, default=1024)
    parser.add_argument("--directory", type=Path, default=ROOT, help="on the disk to be measured")
    arguments = parser.parse_args()
    turns.check_arguments(parser, arguments)
    return arguments


def main():
    arguments = arguments_of_user()
    end_cleanly_on_signals()
    need("fio", "fio")
    need("cc", "gcc")
    binary = outcrop()
    with (
        turns.random_file(arguments.directory, arguments.size_mib) as path,
        tempfile.TemporaryDirectory(prefix="fio-iops-minimal-") as folder,
    ):
        programs = {"outcrop": binary, "minimal": build_minimal(folder)}
        before = turns.interrupts()
        rounds = measure(path, programs, arguments)
        served = turns.busiest_device(before, turns.interrupts())
    print(result_text(arguments, rounds, served))


if __name__ == "__main__":
    main()
