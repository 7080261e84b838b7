#!/usr/bin/env python3
"""The driver of outcrop-kv on RocksDB beside a loop written by hand on the same C interface, and db_bench: interleaved.

    python3 benchmarks/kv-engines/run.py [--rounds N] [--slices N] [--pairs N] [--records N] [--only TEXT]

Needs librocksdb-dev, rocksdb-tools and a C compiler. Prints a table; databases are made in a separate folder in DIR
and removed.
"""

import argparse
import math
import os
import pathlib
import re
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def built(folder: pathlib.Path) -> tuple[pathlib.Path, dict[str, pathlib.Path]]:
    """The loop, and the examples of outcrop-kv by name."""
    loop = folder / "loop.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", loop, HERE / "loop.c", "-lrocksdb", "-ldl"], check=True)
    names = ["rocksdb_by_hand", "rocksdb_speed"]
    examples = [word for name in names for word in ("--example", name)]
    command = ["cargo", "build", "--release", "-p", "outcrop-kv", *examples, "--message-format=json"]
    messages = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    paths = (pathlib.Path(path) for path in re.findall(r'"executable":"([^"]*)"', messages))
    return loop, {path.name: path for path in paths}


def db_bench(place: pathlib.Path, benchmark: str, records: int, seconds: float) -> list[float]:
    """Operations per second of a benchmark of db_bench with the driver's options, on a database without gaps.

    The driver ends its load with a flush. Without one, db_bench leaves a third of the records in the memtable, and
    every read searches its skip list first: 30 % of the CPU time of `readrandom`.
    """
    steps = f"filluniquerandom,flush,waitforcompaction,{benchmark}"
    command = [
        "db_bench",
        f"--db={place}",
        f"--benchmarks={steps}",
        f"--num={records}",
        "--key_size=23",
        "--value_size=1000",
        "--compression_type=lz4",
        "--compression_ratio=0.5",
        "--block_size=4096",
        f"--cache_size={32 << 20}",
        "--bloom_bits=10",
        f"--write_buffer_size={64 << 20}",
        "--statistics=1",
        "--threads=1",
        f"--duration={seconds:.0f}",
        "--stats_dump_period_sec=0",
    ]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return [float(re.search(rf"^{benchmark}\s.*?(\d+) ops/sec", said, re.MULTILINE).group(1))]


def printed(command: list) -> list[float]:
    """The numbers that a program prints: operations per second, and per second of CPU time."""
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [float(word) for word in said.split()]


def told(ratios: list[float]) -> str:
    """The median with its 95 % interval, by the ranks of the sign test."""
    ratios, n = sorted(ratios), len(ratios)
    reach = math.ceil(0.98 * math.sqrt(n))
    low, high = max(n // 2 - reach, 0), min((n - 1) // 2 + reach, n - 1)
    return f"{statistics.median(ratios):.3f} ({ratios[low]:.3f}–{ratios[high]:.3f})"


def by_hand(name: str, loop: pathlib.Path, command: list, place: pathlib.Path, rounds: int) -> None:
    """Measures the driver and the loop in turns on one database, anew in each round, and prints a line.

    Slices of a round share a database with its levels, so a round gives one ratio: the median of its pairs.
    """
    ratios, rates = {1: [], 2: []}, []
    for _ in range(rounds):
        lines = subprocess.run(
            command,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"OUTCROP_ROCKSDB_LIB": str(loop)},
        ).stdout.splitlines()
        subprocess.run(["rm", "-rf", place], check=True)
        pairs = [[float(word) for word in line.split()] for line in lines]
        for part, of_part in ratios.items():
            of_part.append(statistics.median(each[0] / each[part] / (each[3] / each[3 + part]) for each in pairs))
        rates += [(each[0] / each[1] * 1e9, each[3] / each[4] * 1e9) for each in pairs]
    per_second, per_cpu_second = (told(ratios[part]) for part in (1, 2))
    of_ours, of_peer = (statistics.median(pair[side] for pair in rates) for side in (0, 1))
    print(f"| {name} | {rounds} | {of_peer:,.0f} | {of_ours:,.0f} | {per_second} | {per_cpu_second} |", flush=True)


def beside_db_bench(name: str, pairs: int, place: pathlib.Path, ours, peer) -> None:
    """Measures the driver and db_bench in turns, each on a new database, and prints a line."""
    rates = {ours: [], peer: []}
    for pair in range(pairs):
        for program in (peer, ours) if pair % 2 else (ours, peer):
            rates[program].append(program())
            subprocess.run(["rm", "-rf", place], check=True)
    of_peer, of_ours = (statistics.median(each[0] for each in rates[program]) for program in (peer, ours))
    per_second = told([one[0] / other[0] for one, other in zip(rates[ours], rates[peer])])
    print(f"| {name} | {pairs} | {of_peer:,.0f} | {of_ours:,.0f} | {per_second} | – |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9, help="new databases for each row with the loop")
    parser.add_argument("--slices", type=int, default=20, help="pairs of slices of a quarter of a second in a round")
    parser.add_argument("--pairs", type=int, default=9, help="pairs of runs for each row with db_bench")
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=3.0, help="of a run with db_bench")
    parser.add_argument("--only", default="", metavar="TEXT", help="only rows whose name has this text")
    parser.add_argument("--directory", type=pathlib.Path, default=pathlib.Path("."))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="outcrop-kv-benchmark-", dir=args.directory) as name:
        folder = pathlib.Path(name)
        loop, examples = built(folder)
        place = folder / "db"
        print("Driver ÷ peer: medians of n rounds or pairs with their 95 % intervals.\n")
        print("| workload | n | peer, operations/s | driver, operations/s | per second | per second of CPU time |")
        print("|---|---|---|---|---|---|")
        for reads, words in (("100", []), ("100", ["look"]), ("50", []), ("50", ["look"])):
            name = f"{reads} % reads, loop by hand" + (" that looks at values" if words else "")
            shape = [place, str(args.records), "0.25", reads, str(args.slices), *words]
            if args.only in name:
                by_hand(name, loop, [examples["rocksdb_by_hand"], *shape], place, args.rounds)
        driver = [examples["rocksdb_speed"], place, str(args.records), str(args.seconds), "100"]
        for benchmark, words in (("readrandom", []), ("readwhilewriting", ["while-writing"])):
            name = f"db_bench {benchmark}"
            if args.only in name:
                beside_db_bench(
                    name,
                    args.pairs,
                    place,
                    lambda words=words: printed([*driver, *words]),
                    lambda benchmark=benchmark: db_bench(place, benchmark, args.records, args.seconds),
                )


if __name__ == "__main__":
    main()
