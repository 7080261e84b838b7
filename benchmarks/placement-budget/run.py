#!/usr/bin/env python3
"""Where to compress, with one budget spent in two ways: by doubt (`--budget`), and equally (`--repetitions`).

For each seed both are measured, in turns: which one comes first alternates. Equal effort gets as many repetitions as
fit into the budget by the time that trials really take here, rounded up. Both are clear where all comparisons together
leave one candidate, with the same confidence (`race.leaves_one`). Equal effort is judged by the best rule for it: one
look at the end. `--budget` pays for every look.

    benchmarks/placement-budget/run.py [--seeds 20] [--budget 36s] [--directory DIR] [--quick]

Needs RocksDB (librocksdb-dev). Prints the result as Markdown; `cargo xtask bench-record placement-budget` keeps it.
With 20 seeds it takes about 22 minutes.
"""

import argparse
import collections
import json
import math
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from programs import outcrop

# Fifteen cells of which few can be the answer: snappy and no compression save too little, zlib is far too slow. What
# has to be shown is that lz4 in blocks of 4 KiB is faster than in blocks of 16 KiB, by about a third, where trials of a
# tenth of a second differ by a quarter. It is the case that effort by doubt is made for; docs/design/0016 has others.
PLAN = """
name = "store"
question = "What does compressing in the store cost and save?"
layer = "kv"
budget = "doubt"

[workload]
engine = "rocksdb"
workload = "ycsb-c"
records = 2000
value_size = "fixed:1000B"
threads = 1
processes = 1
block_cache = "64KiB"
write_buffer = "1MiB"
settling = "compacted"
page_cache = "kept"

[factors]
compression = ["none", "snappy", "lz4", "zlib:6", "zlib:9"]
compression_block_size = ["4KiB", "16KiB", "64KiB"]

[trial]
repetitions = 7
warm_up = "20ms"
duration = "100ms"
"""
# Above what snappy reaches, below what lz4 does on values that compress by half.
LEAST_RATIO = "1.84"
MOST_REPETITIONS = 80


def seconds(text):
    """`28s` or `2m` as a number."""
    return float(text.rstrip("sm")) * (60 if text.endswith("m") else 1)


class Bench:
    """The plan in a folder, and runs of it."""

    def __init__(self, program, directory, folder):
        self.program, self.directory, self.folder = program, directory, folder
        self.plan = folder / "store.toml"
        self.plan.write_text(PLAN)

    def run(self, seed, *effort):
        """One run: whether it is clear, its answer, trials, seconds, and the seconds of a trial."""
        out = self.folder / "runs"
        command = [self.program, "run", self.plan, "--path", self.directory, "--seed", seed, "--out", out]
        command += ["--quiet", "--format", "json", "--min-ratio", LEAST_RATIO, *effort]
        began = time.monotonic()
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        took = time.monotonic() - began
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
        placement = json.loads(done.stdout)["details"]["placement"]
        journals = list(out.glob("*/trials.ndjson"))
        trials = [json.loads(line) for journal in journals for line in journal.read_text().splitlines()]
        shutil.rmtree(out)
        best = placement.get("best")
        candidates = placement["candidates"]
        return {
            "clear": placement["race"]["leaves_one"],
            "answer": describe(candidates[best]) if best is not None else "none",
            "trials": len(trials),
            "seconds": took,
            "trial_s": statistics.mean(trial["took_s"] for trial in trials),
            "cells": len({trial["cell"] for trial in trials}),
        }


def describe(candidate):
    """A candidate in a few words."""
    where = candidate["place"]
    return "no compression" if where == "nowhere" else f"{where}: {candidate['what']}"


def sign_test(wins, losses):
    """The two-sided p-value of a sign test with these wins and losses."""
    count = wins + losses
    tail = sum(math.comb(count, hits) for hits in range(max(wins, losses), count + 1)) / 2**count
    return min(1.0, 2 * tail) if count else 1.0


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--seeds", type=int, default=20)
    arguments.add_argument("--budget", default="36s")
    arguments.add_argument("--directory", default=".")
    arguments.add_argument("--quick", action="store_true", help="two seeds, to see that it runs")
    arguments = arguments.parse_args()
    seeds = 2 if arguments.quick else arguments.seeds
    budget_s = seconds(arguments.budget)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(outcrop(), arguments.directory, Path(folder))
        # What a trial takes here; this run counts nowhere.
        trial = bench.run(0, "--repetitions", "2")
        pairs = []
        for seed in range(1, seeds + 1):
            rounds = math.ceil(budget_s / (trial["trial_s"] * trial["cells"]))
            rounds = min(max(rounds, 5), MOST_REPETITIONS)
            arms = {
                "doubt": ("--budget", arguments.budget),
                "equal": ("--repetitions", rounds),
            }
            order = ["doubt", "equal"] if seed % 2 else ["equal", "doubt"]
            pair = {arm: bench.run(seed, *arms[arm]) for arm in order}
            # The next equal run is planned by the last one: the same cells, equally often.
            trial = pair["equal"]
            pairs.append(pair)
            print(f"seed {seed}: {pair}", file=sys.stderr, flush=True)
    report(pairs, arguments.budget)


def report(pairs, budget):
    count = len(pairs)
    print(
        f"{count} seeds, a budget of {budget}; fifteen cells: RocksDB without compression, with snappy, lz4, "
        f"zlib:6 and zlib:9, in blocks of 4, 16 and 64 KiB; reads of 1000 B; a ratio of {LEAST_RATIO} at least.\n"
    )
    print("| effort | clear | trials, median | seconds, median | answers where clear |\n|---|---:|---:|---:|---|")
    for arm, name in [("doubt", "follows doubt (`--budget`)"), ("equal", "equal (`--repetitions`)")]:
        runs = [pair[arm] for pair in pairs]
        clear = [run for run in runs if run["clear"]]
        answers = collections.Counter(run["answer"] for run in clear)
        answers = ", ".join(f"{answer} ({hits})" for answer, hits in answers.most_common()) or "–"
        trials = statistics.median(run["trials"] for run in runs)
        took = statistics.median(run["seconds"] for run in runs)
        print(f"| {name} | {len(clear)} of {count} | {trials:.0f} | {took:.1f} | {answers} |")
    arms = [("doubt", "equal"), ("equal", "doubt")]
    only = [sum(pair[one]["clear"] and not pair[other]["clear"] for pair in pairs) for one, other in arms]
    print(
        f"\nClear by doubt alone: {only[0]} seeds; by equal effort alone: {only[1]} "
        f"(sign test, p = {sign_test(*only):.3g})."
    )
    print("\nReproduce: `benchmarks/placement-budget/run.py`")


if __name__ == "__main__":
    main()
