#!/usr/bin/env python3
"""The driver of outcrop-kv on RocksDB beside a loop written by hand on the same C interface, and db_bench: interleaved.

    python3 benchmarks/kv-engines/run.py [--pairs N] [--records N] [--seconds S] [--only TEXT] [--directory DIR]

Needs librocksdb-dev, rocksdb-tools and a C compiler. Prints a table; databases are made in a separate folder in DIR
and removed.
"""

import argparse
import pathlib
import re
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def built(folder: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path]:
    """The two programs: the loop, and the driver."""
    loop = folder / "loop"
    subprocess.run(["cc", "-O2", "-o", loop, HERE / "loop.c", "-lrocksdb"], check=True)
    command = ["cargo", "build", "--release", "-p", "outcrop-kv", "--example", "rocksdb_speed", "--message-format=json"]
    messages = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    driver = re.findall(r'"executable":"([^"]*rocksdb_speed)"', messages)[-1]
    return loop, pathlib.Path(driver)


def db_bench(place: pathlib.Path, benchmark: str, records: int, seconds: float) -> list[float]:
    """Operations per second of a benchmark of db_bench with the driver's options, on a database without gaps.

    The driver ends its load with a flush. Without one, db_bench leaves a third of the records in the memtable, and
    every read searches its skip list first: 30 % of the CPU time of `readrandom`.
    """
    steps = f"filluniquerandom,flush,waitforcompaction,{benchmark}"
    command = [
        "db_bench", f"--db={place}", f"--benchmarks={steps}", f"--num={records}",
        "--key_size=23", "--value_size=1000", "--compression_type=lz4", "--compression_ratio=0.5", "--block_size=4096",
        f"--cache_size={32 << 20}", "--bloom_bits=10", f"--write_buffer_size={64 << 20}", "--statistics=1",
        "--threads=1", f"--duration={seconds:.0f}", "--stats_dump_period_sec=0",
    ]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return [float(re.search(rf"^{benchmark}\s.*?(\d+) ops/sec", said, re.MULTILINE).group(1))]


def printed(command: list) -> list[float]:
    """The numbers that a program prints: operations per second, and per second of CPU time."""
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [float(word) for word in said.split()]


def row(name: str, pairs: int, place: pathlib.Path, loaded: pathlib.Path | None, ours, peer) -> None:
    """Measures two programs in turns, each on a copy of one database or on a new one, and prints a line."""
    rates = {ours: [], peer: []}
    for pair in range(pairs):
        for program in (peer, ours) if pair % 2 else (ours, peer):
            if loaded:
                subprocess.run(["cp", "-a", loaded, place], check=True)
            rates[program].append(program())
            subprocess.run(["rm", "-rf", place], check=True)

    def quotient(index: int) -> str:
        if any(len(each) <= index for each in rates[peer]):
            return "–"
        ratios = sorted(one[index] / other[index] for one, other in zip(rates[ours], rates[peer]))
        low, high = ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]
        return f"{statistics.median(ratios):.3f} ({low:.3f}–{high:.3f})"

    of_peer, of_ours = (statistics.median(each[0] for each in rates[program]) for program in (peer, ours))
    print(f"| {name} | {of_peer:,.0f} | {of_ours:,.0f} | {quotient(0)} | {quotient(1)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--only", default="", metavar="TEXT", help="only rows whose name has this text")
    parser.add_argument("--directory", type=pathlib.Path, default=pathlib.Path("."))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="outcrop-kv-benchmark-", dir=args.directory) as name:
        folder = pathlib.Path(name)
        loop, driver = built(folder)
        place = folder / "db"
        shape = [place, str(args.records), str(args.seconds)]
        print("Driver ÷ peer: medians of the pairs with their quartiles.\n")
        print("| workload | peer, operations/s | driver, operations/s | per second | per second of CPU time |")
        print("|---|---|---|---|---|")
        # One database for both sides: two that are loaded apart have levels of other shapes, which counts for more
        # than the driver.
        loaded = folder / "loaded"
        subprocess.run([driver, loaded, str(args.records), "0", "100"], check=True)
        rows = {}
        for reads, words in (("100", []), ("100", ["look"]), ("50", []), ("50", ["look"])):
            name = f"{reads} % reads, loop by hand" + (" that looks at values" if words else "")
            rows[name] = (
                loaded,
                lambda reads=reads: printed([driver, *shape, reads]),
                lambda reads=reads, words=words: printed([loop, *shape, reads, *words]),
            )
        for benchmark, words in (("readrandom", ["100"]), ("readwhilewriting", ["100", "while-writing"])):
            rows[f"db_bench {benchmark}"] = (
                None,
                lambda words=words: printed([driver, *shape, *words]),
                lambda benchmark=benchmark: db_bench(place, benchmark, args.records, args.seconds),
            )
        for name, (loaded, ours, peer) in rows.items():
            if args.only in name:
                row(name, args.pairs, place, loaded, ours, peer)


if __name__ == "__main__":
    main()
