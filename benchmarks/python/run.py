#!/usr/bin/env python3
"""Outcrop for Python beside the same work in Rust: wheel, import, find, encode, decode; and how soon Ctrl-C ends a run.

    benchmarks/python/run.py [WHEEL]     without WHEEL, `cargo xtask wheel` builds one, which takes minutes
"""

import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
PACKAGES = ["pyarrow>=17", "polars>=1"]
ROWS, DISTINCT, LOOKUPS, ROUNDS = 5_000_000, 100_000, 20_000, 41
# Of 41 values, the 14th and the 28th enclose the median with 97 % confidence.
RANK = 13
# What is timed, in Rust and in Python, with the unit of one of them.
ACTIONS = {
    "encode": ("s", 1),
    "find": ("µs", 1e6 / LOOKUPS),
    "find and rows": ("µs", 1e6 / LOOKUPS),
    # As `Column.open` has it where nothing else is said; in Rust mapped, as above.
    "find on disk": ("µs", 1e6 / LOOKUPS),
    "decode": ("ms", 1e3),
}
INTERRUPTED = """
import signal, sys, time, outcrop
# A shell starts what runs in the background with SIGINT ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
def heard(event):
    print(event.kind, flush=True)
try:
    outcrop.run("ssd-read-write-mix", size="64MiB", out=sys.argv[1], path=sys.argv[1], on_event=heard)
except KeyboardInterrupt:
    print("ended", time.monotonic(), flush=True)
"""


def environment(folder):
    """The interpreter of a new virtual environment."""
    venv.create(folder, with_pip=True)
    return str(folder / "bin" / "python")


def built():
    """The wheel of this checkout, as `cargo xtask wheel` makes it."""
    from programs import target_directory

    subprocess.run(["cargo", "xtask", "wheel"], check=True, cwd=ROOT, stdout=sys.stderr)
    wheels = (target_directory() / "wheels").glob("*.whl")
    return max(wheels, key=lambda wheel: wheel.stat().st_mtime)


def median(values, digits=2):
    """A median with an interval of 97 %."""
    ordered = sorted(values)
    low, high = ordered[RANK], ordered[-1 - RANK]
    return f"{statistics.median(ordered):.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def starts(python):
    """Milliseconds that `import outcrop` adds to the start of an interpreter, by pairs."""
    added = []
    for _ in range(ROUNDS):
        times = []
        for script in ["pass", "import outcrop"]:
            start = time.perf_counter()
            subprocess.run([python, "-I", "-c", script], check=True)
            times.append((time.perf_counter() - start) * 1e3)
        added.append(times[1] - times[0])
    return added


def import_times(python):
    """Milliseconds of `-X importtime` for the package, what it imports included; and whether numpy is among it."""
    times, has_numpy = [], False
    for _ in range(ROUNDS):
        command = [python, "-I", "-X", "importtime", "-c", "import outcrop"]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stderr.splitlines()
        (line,) = [line for line in lines if line.endswith("| outcrop")]
        times.append(int(line.split("|")[1]) / 1e3)
        has_numpy |= any("numpy" in line for line in lines)
    return times, has_numpy


def interrupts(python, folder):
    """Seconds from SIGINT to `KeyboardInterrupt`, in the middle of trials of a run with the plan's own durations."""
    times = []
    for round_number in range(5):
        out = folder / f"interrupted-{round_number}"
        out.mkdir()
        command = [python, "-c", INTERRUPTED, str(out)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        sent = None
        for line in process.stdout:
            if line.startswith("trial started") and sent is None:
                # Into the trial, each time a little further.
                time.sleep(0.3 + 0.15 * round_number)
                sent = time.monotonic()
                process.send_signal(signal.SIGINT)
            if line.startswith("ended"):
                times.append(float(line.split()[1]) - sent)
        process.wait()
    return times


class Rust:
    """The same work in a program without Python."""

    def __init__(self, program, *arguments):
        command = [program, *arguments]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def timed(self, action):
        """Seconds of CPU time that it took."""
        print(action, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())


def measured(program):
    """The rows of the table that compare; run by the environment's interpreter."""
    import pyarrow as pa

    from outcrop import Column

    draw = random.Random(7)
    words = [f"word-{number:06d}" for number in range(DISTINCT)]
    data = pa.array(draw.choices(words, k=ROWS))
    wanted = draw.choices(words, k=LOOKUPS)
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        ours, theirs = os.path.join(folder, "python.ocol"), os.path.join(folder, "rust.ocol")
        table, list_of_words = os.path.join(folder, "table.arrow"), os.path.join(folder, "words.txt")
        batch = pa.record_batch({"word": data})
        with pa.OSFile(table, "wb") as file, pa.ipc.new_file(file, batch.schema) as writer:
            writer.write_batch(batch)
        Path(list_of_words).write_text("\n".join(wanted))
        rust = Rust(program, table, list_of_words, theirs)

        def find():
            for word in wanted:
                column.find(word)

        def find_on_disk():
            for word in wanted:
                on_disk.find(word)

        def find_and_rows():
            for word in wanted:
                column.find(word).rows()

        python = {
            "encode": lambda: Column.encode(data, ours, index="postings", threads=1),
            "find": find,
            "find and rows": find_and_rows,
            "find on disk": find_on_disk,
            "decode": lambda: pa.table(column),
        }
        print("| | Rust | Python | Python ÷ Rust, by pairs |\n|---|---|---|---|")
        for action, (unit, scale) in ACTIONS.items():
            if action == "find":
                rust.timed("open")
                column = Column.open(ours, preload=True, memory="in-memory")
                on_disk = Column.open(ours, preload=True)
            times = {"rust": [], "python": []}
            # One pair more than is kept: pages come in, caches fill.
            for _ in range(ROUNDS + 1):
                times["rust"].append(rust.timed(action.removesuffix(" on disk")))
                start = time.process_time()
                python[action]()
                times["python"].append(time.process_time() - start)
            rust_times, python_times = times["rust"][1:], times["python"][1:]
            ratios = [one / other for one, other in zip(python_times, rust_times, strict=True)]
            columns = [
                median([seconds * scale for seconds in rust_times]),
                median([seconds * scale for seconds in python_times]),
                median(ratios, 3),
            ]
            print(f"| {action}, {unit} | {' | '.join(columns)} |", flush=True)
        assert Path(ours).read_bytes() == Path(theirs).read_bytes(), "both write the same file"


def main():
    from programs import build

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        wheel = Path(sys.argv[1]).absolute() if len(sys.argv) > 1 else built()
        # Both packages are named, so that what they share is compiled once, with the features that the wheel has.
        packages = ["-p", "outcrop-python", "-p", "outcrop-column"]
        program = build("wheel", *packages, "--example", "timed_column") / "examples/timed_column"
        python = environment(folder / "environment")
        subprocess.run([python, "-m", "pip", "install", "-q", str(wheel)], check=True, stdout=sys.stderr)
        print(
            f"{ROWS:,} rows, {DISTINCT:,} distinct values of 11 bytes, postings, 1 thread; {LOOKUPS:,} lookups a round "
            "in a preloaded column, mapped but for `find on disk`; decoded into a `pyarrow.Table`, in Rust into a list "
            "of Arrow arrays. "
            f"{ROUNDS} rounds, Rust and Python in turn, both with the profile `wheel`, files in memory. CPU time of "
            "the process, so that what others do is not in it; medians with intervals of 97 %. "
            f"Load average at the start: {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs.\n"
        )
        times, has_numpy = import_times(python)
        print("| what | target | seen |\n|---|---|---|")
        print(f"| wheel, MB | ≤ 12 | {wheel.stat().st_size / 1e6:.2f} |")
        print(f"| `import outcrop` by `-X importtime`, ms | ≤ 60 | {median(times, 1)}, numpy: {has_numpy} |")
        print(f"| what it adds to the start of an interpreter, ms | | {median(starts(python), 1)} |", flush=True)
        # On a disk: files in memory take no direct I/O.
        with tempfile.TemporaryDirectory(dir=ROOT) as disk:
            times = [f"{seconds:.2f}" for seconds in interrupts(python, Path(disk))]
        print(f"| Ctrl-C in `run` to `KeyboardInterrupt`, s | ≤ 1 | {', '.join(times)} |\n", flush=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True, stdout=sys.stderr)
        subprocess.run([python, __file__, "--measure", str(program)], check=True)


if __name__ == "__main__":
    measured(sys.argv[2]) if sys.argv[1:2] == ["--measure"] else main()
