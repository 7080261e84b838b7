#!/usr/bin/env python3
"""Outcrop for Python: size of the wheel, time to import, to find, to encode and to decode.

    benchmarks/python/run.py [WHEEL]     without WHEEL, a release wheel is built by maturin, which takes minutes
"""

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ["pyarrow>=17", "polars>=1"]
ROWS, DISTINCT, LOOKUPS, ROUNDS = 5_000_000, 100_000, 20_000, 9


def environment(folder):
    """The interpreter of a new virtual environment."""
    venv.create(folder, with_pip=True)
    return str(folder / "bin" / "python")


def built(python, folder):
    """A release wheel of this checkout."""
    print("building the wheel (release)", file=sys.stderr, flush=True)
    pip = [python, "-m", "pip", "install", "-q", "maturin>=1.9,<2"]
    subprocess.run(pip, check=True, stdout=sys.stderr)
    maturin = [str(Path(python).with_name("maturin")), "build", "--release", "--locked", "--out", str(folder)]
    subprocess.run(maturin, check=True, cwd=ROOT / "python", stdout=sys.stderr)
    (wheel,) = folder.glob("*.whl")
    return wheel


def starts(python):
    """Milliseconds that `import outcrop` adds to the start of an interpreter: median of pairs, interleaved."""
    added = []
    for _ in range(21):
        times = []
        for script in ["pass", "import outcrop"]:
            start = time.perf_counter()
            subprocess.run([python, "-I", "-c", script], check=True)
            times.append((time.perf_counter() - start) * 1e3)
        added.append(times[1] - times[0])
    return added


def median(values, digits=2):
    """A median with the least and the greatest of the values."""
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def measured():
    """The table's rows that need the package; run by the environment's interpreter."""
    import polars as pl
    import pyarrow as pa

    from outcrop import Column

    draw = random.Random(7)
    words = [f"word-{number:06d}" for number in range(DISTINCT)]
    data = pa.array(draw.choices(words, k=ROWS))
    wanted = draw.choices(words, k=LOOKUPS)
    times = {name: [] for name in ["encode", "find", "find and rows", "to pyarrow", "to Polars"]}

    def timed(name, action, count=1):
        start = time.perf_counter()
        action()
        times[name].append((time.perf_counter() - start) / count)

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "c.ocol")
        for _ in range(ROUNDS):
            timed("encode", lambda: Column.encode(data, path, index="postings", threads=1))
        column = Column.open(path, preload=True)
        for _ in range(ROUNDS):
            timed("find", lambda: [column.find(word) for word in wanted], LOOKUPS)
            timed("find and rows", lambda: [column.find(word).rows() for word in wanted], LOOKUPS)
            timed("to pyarrow", lambda: pa.table(column))
            timed("to Polars", lambda: pl.DataFrame(column))
    for name, unit, scale in [
        ("encode", "s", 1),
        ("find", "µs", 1e6),
        ("find and rows", "µs", 1e6),
        ("to pyarrow", "ms", 1e3),
        ("to Polars", "ms", 1e3),
    ]:
        print(f"| {name}, {unit} | {median([value * scale for value in times[name]])} |")


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        python = environment(folder / "environment")
        wheel = Path(sys.argv[1]) if len(sys.argv) > 1 else built(python, folder)
        subprocess.run([python, "-m", "pip", "install", "-q", str(wheel), *PACKAGES], check=True, stdout=sys.stderr)
        load = os.getloadavg()[0]
        print(f"{ROWS:,} rows, {DISTINCT:,} distinct values, {LOOKUPS:,} lookups a round, {ROUNDS} rounds; one thread.")
        print(f"Median (least to greatest). Load average before: {load:.1f} on {os.cpu_count()} CPUs.\n")
        print("| what | |\n|---|---|")
        print(f"| wheel, MB | {wheel.stat().st_size / 1e6:.2f} |")
        print(f"| import, ms | {median(starts(python), 1)} |", flush=True)
        subprocess.run([python, __file__, "--measure"], check=True)


if __name__ == "__main__":
    measured() if sys.argv[1:] == ["--measure"] else main()
