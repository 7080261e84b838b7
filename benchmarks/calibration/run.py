#!/usr/bin/env python3
"""How often `--fail-if` fails where nothing changed: pairs of equal runs (A/A) of device, codec and cache.

For each layer, `--pairs` times: two runs of one plan, one after the other, held together by `outcrop compare`, with its
allowance for drift and, the same two runs, without (`--drift 0%`); and one run of `outcrop ab` whose two variants are
alike. A pair is a false alarm where any condition is met (exit code 1). At most 5 % should be. Without the allowance,
`compare` also sees what the machine did between its two runs, and `ab` should not. A gate that does not decide cannot
fail: how many figures were undecided, because the two runs may differ as much by drift, because the machine was busier
on one side or for want of trials, stands beside the alarms: in the table of a run that finishes, and in the line on
standard error after each pair, which a run that is stopped leaves.

`compare` corrects for the rows of the conditions: 8 in device and codec (two metrics of four cells), 4 in cache. With
five repetitions a side the least p-value is 2 / 252, and a single row can alarm only where at most six are corrected
for.

    benchmarks/calibration/run.py [--pairs 40] [--duration 500ms] [--repetitions 5]
        [--directory DIR] [--layers device,codec,cache]

Prints the result as Markdown; `cargo xtask bench-record calibration` keeps it. With 40 pairs it takes about an hour and
a half. The interval of a share is Clopper and Pearson's, at 95 %.
"""

import argparse
import math
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from programs import outcrop

PLANS = {
    "device": """
layer = "device"
[subject]
kind = "scratch-file"
size = "64MiB"
[factors]
queue_depth = [1, 8]
io_block_size = ["4KiB", "64KiB"]
""",
    "codec": """
layer = "compression"
[factors]
codec = ["lz4", "zstd:1"]
compression_block_size = ["4KiB", "64KiB"]
""",
    "cache": """
layer = "cache"
[workload]
keys = 10000
[factors]
connections = [1, 4]
""",
}
# What a gate of each layer would ask for, and a factor that both variants set to what it is anyway.
CONDITIONS = {
    "device": ["iops < -3%", "p99 > +5%"],
    "codec": ["compress_speed < -3%", "decompress_speed < -3%"],
    "cache": ["throughput < -3%", "p99 > +5%"],
}
# What a condition says of the cells that it was checked on.
COUNTS = {
    "checked": re.compile(r"--fail-if '[^']*': met by \d+ of (\d+)"),
    "drift": re.compile(r"(\d+) undecided because two separate runs"),
    "load": re.compile(r"(\d+) undecided because the machine was busier"),
    "trials": re.compile(r"(\d+) undecided, which pass"),
}
# How a gate is asked: of two separate runs, with and without the allowance for drift, and in pairs.
GATES = ("compare", "compare --drift 0%", "ab")
SAME = {"device": "engine=io_uring", "codec": "threads=1", "cache": "pipeline=1"}


def at_most(hits, count, probability):
    """P(at most `hits` of `count`), each with `probability`."""
    return sum(math.comb(count, k) * probability**k * (1 - probability) ** (count - k) for k in range(hits + 1))


def bisect(is_below):
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return low


def interval(hits, count):
    """Clopper and Pearson's interval of a share."""
    low = 0.0 if hits == 0 else bisect(lambda p: 1 - at_most(hits - 1, count, p) < 0.025)
    high = 1.0 if hits == count else bisect(lambda p: at_most(hits, count, p) > 0.025)
    return low, high


def row(head, alarms, pairs):
    """A row of the table: alarms of each gate, with the interval of their share."""
    cells = list(head)
    for hits in alarms.values():
        low, high = interval(hits, pairs)
        cells += [f"{hits} of {pairs}", f"{low:.1%} to {high:.1%}"]
    return f"| {' | '.join(cells)} |"


class Lab:
    def __init__(self, program, directory, options):
        self.program, self.directory, self.options = program, directory, options

    def command(self, *arguments):
        return subprocess.run(
            [self.program, *map(str, arguments)], cwd=self.directory, capture_output=True, text=True, check=False
        )

    def asked(self, layer):
        return [part for condition in CONDITIONS[layer] for part in ("--fail-if", condition)]

    def judged(self, result):
        """Whether a gate failed, and what it decided; anything but met or not met ends the benchmark."""
        if result.returncode not in (0, 1):
            sys.exit(f"{' '.join(result.args)}: exit code {result.returncode}\n{result.stderr}")
        counts = {name: sum(map(int, pattern.findall(result.stderr))) for name, pattern in COUNTS.items()}
        if not counts["checked"]:
            sys.exit(f"{' '.join(result.args)}: no condition says on how many cells it was checked\n{result.stderr}")
        return Counter(alarms=int(result.returncode == 1), **counts)

    def times(self):
        return ["--duration", self.options.duration, "--warm-up", "100ms"]

    def run_of(self, layer, out):
        folder = self.directory / out
        shutil.rmtree(folder, ignore_errors=True)
        repetitions = ["--repetitions", self.options.repetitions]
        result = self.command("run", f"{layer}.toml", *self.times(), *repetitions, "--out", folder)
        if result.returncode != 0:
            sys.exit(f"{' '.join(result.args)}: exit code {result.returncode}\n{result.stderr}")
        return next(folder.iterdir())

    def compare(self, layer):
        """The same two runs, judged with the allowance for drift and without."""
        first, second = self.run_of(layer, "first"), self.run_of(layer, "second")
        gates = ("compare", "compare --drift 0%")
        return {gate: self.judged(self.command(*gate.split(), first, second, *self.asked(layer))) for gate in gates}

    def ab(self, layer):
        folder = self.directory / "pairs"
        shutil.rmtree(folder, ignore_errors=True)
        same = ["--a", SAME[layer], "--b", SAME[layer]]
        ab = ["ab", f"{layer}.toml", *same, *self.times(), "--out", folder]
        return {"ab": self.judged(self.command(*ab, *self.asked(layer)))}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--duration", default="500ms")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--directory", type=Path, default=Path.cwd())
    parser.add_argument("--layers", default=",".join(PLANS))
    options = parser.parse_args()
    layers = options.layers.split(",")
    program = outcrop()
    found = {(layer, how): Counter() for layer in layers for how in GATES}
    with tempfile.TemporaryDirectory(prefix="calibration-", dir=options.directory) as directory:
        lab = Lab(program, Path(directory), options)
        for layer in layers:
            text = f'name = "{layer}"\nquestion = "Does a gate fail where nothing changed?"\n{PLANS[layer]}'
            (Path(directory) / f"{layer}.toml").write_text(text)
        for pair in range(options.pairs):
            for layer in layers:
                for how, counts in (lab.compare(layer) | lab.ab(layer)).items():
                    found[layer, how] += counts
            so_far = {" ".join(key): dict(counts) for key, counts in found.items()}
            print(f"pair {pair + 1} of {options.pairs}: {so_far}", file=sys.stderr, flush=True)

    print(f"False alarms of `--fail-if` in {options.pairs} pairs of equal runs each: trials of {options.duration},")
    print(f"{options.repetitions} repetitions a side for `compare`, 10 pairs for `ab`.\n")
    print(f"| layer | conditions |{''.join(f' `{how}` | 95 % interval |' for how in GATES)}")
    print(f"|---|---|{'---|---|' * len(GATES)}")
    for layer in layers:
        conditions = " or ".join(f"`{condition}`" for condition in CONDITIONS[layer])
        print(row([layer, conditions], {how: found[layer, how]["alarms"] for how in GATES}, options.pairs))
    alarms = {how: sum(found[layer, how]["alarms"] for layer in layers) for how in GATES}
    print(row(["all", ""], alarms, options.pairs * len(layers)))
    print("\nOf the figures that these conditions were checked on, so many were undecided and could not fail:\n")
    print("| layer | gate | figures | within drift | machine busier on the worse side | too few trials |")
    print("|---|---|---|---|---|---|")
    for (layer, how), counts in found.items():
        checked = counts["checked"]
        shares = [f"{counts[why]} ({counts[why] / checked:.1%})" for why in ("drift", "load", "trials")]
        print(f"| {layer} | `{how}` | {checked} | {' | '.join(shares)} |")
    print(f"\n`benchmarks/calibration/run.py --pairs {options.pairs} --duration {options.duration} "
          f"--repetitions {options.repetitions} --layers {options.layers}`")


if __name__ == "__main__":
    main()
