#!/usr/bin/env python3
"""Holds Outcrop's column codec beside its peers on the same string columns, in one run.

Size, time to write, all rows of a value (warm and cold), all rows of a prefix, and reading everything back, of:
Outcrop without and with postings; Parquet at pyarrow's defaults and tuned (dictionary limit lifted, one row group,
zstd 19); DuckDB without and with its ART index; Vortex; Lance with a BTREE; the text under zstd -19 and 7-Zip's PPMd.

    benchmarks/column-peers/run.py [--rows 14000000] [--distinct 97577] [--rounds 3] [--skews 0,1] [--real DIR|none]
                                   [--text FILE] [--minutes 7] [--directory DIR] [--journal FILE]
                                   [--build release|dev]

Rounds are interleaved: each goes through all stores, in an order that turns by one each time. Searches of a round look
for the same values in every store, and every store must find as many rows. A figure is the median over rounds with
their range; the two general compressors write once, since they take a minute. Cold: closed, pages dropped with
posix_fadvise, opened anew. Reading back: Outcrop gives text, the others Arrow arrays, which some leave encoded.

--text measures a column of your own as well, a value a line, in the order of the file: the words of a source tree, say,
whose order a general compressor uses and a dictionary of single values does not.

No round of a generated column begins that would end after --minutes (the first always does; building our programs is
not in them). Every figure goes to the journal as it is measured, and Ctrl-C or SIGTERM prints what there is and says
so: nothing is lost.
Progress, with the time passed, goes to stderr.

Prints Markdown; `cargo xtask bench-record column-peers` keeps it. Needs zstd and 7z (installed with apt where it may),
and the Python packages of requirements.txt: in the interpreter that $PEERS_PYTHON names, else in an environment it
makes under target/.
"""

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from programs import ROOT, example, need, target_directory

HERE = Path(__file__).resolve().parent
# Warm searches of a store in a round: so many, or as many as fit this time.
SEARCHES, SEARCH_SECONDS = 20, 0.3
# How far above `zstd -19` of its text the smallest file of a column with an order of rows may lie.
ORDER_BAR = 1.10
METRICS = ["encode s", "value µs", "value cold ms", "prefix µs", "decode s"]


STARTED = time.monotonic()


def progress(text):
    print(f"[{time.monotonic() - STARTED:5.0f} s] {text}", file=sys.stderr, flush=True)


class Journal:
    """What was measured, a line a store and round, written at once."""

    def __init__(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path, self.file = path, open(path, "a", buffering=1)

    def add(self, column, number, store, size, samples):
        line = {"column": column, "round": number + 1, "store": store, "bytes": size}
        line.update({metric: samples[metric][-1] for metric in METRICS if samples[metric]})
        self.file.write(json.dumps(line) + "\n")


def with_peers():
    """Runs again in an interpreter that has the packages, unless this one has them."""
    try:
        import duckdb  # noqa: F401
        import lance  # noqa: F401
        import pyarrow  # noqa: F401
        import vortex  # noqa: F401
    except ImportError:
        python = os.environ.get("PEERS_PYTHON")
        if not python:
            environment = target_directory() / "column-peers-python"
            python = environment / "bin/python"
            if not python.exists():
                subprocess.run([sys.executable, "-m", "venv", environment], check=True)
            command = [python, "-m", "pip", "install", "--quiet", "-r", HERE / "requirements.txt"]
            subprocess.run(command, check=True, stdout=sys.stderr)
        if Path(sys.executable) == Path(python):
            raise
        os.execv(python, [str(python), *sys.argv])


class Column:
    def __init__(self, name, text, read_lines, has_order=False):
        self.name, self.text, self.has_order = name, text, has_order
        self.table = read_lines(text)
        self.text_bytes = text.stat().st_size
        self.values = sorted(value for value in self.table.column("v").unique().to_pylist() if value)


def figure(samples):
    """Median and range, as text of three digits."""
    if not samples:
        return "–"
    low, middle, high = min(samples), statistics.median(samples), max(samples)
    digits = [f"{value:.3g}" if value < 1000 else f"{value:.0f}" for value in (middle, low, high)]
    return digits[0] if len(samples) == 1 else f"{digits[0]} ({digits[1]}–{digits[2]})"


def search(ask, wanted, counts, what):
    """Median time of one search over distinct targets; every store must find what the first one found."""
    times, start = [], time.perf_counter()
    for target in wanted:
        answer = ask(target)
        if answer is None:
            return None
        seconds, count = answer
        if counts.setdefault((what, target), count) != count:
            sys.exit(f"{ask.__self__.name} finds {count} rows of {what} {target!r}, not {counts[what, target]}")
        times.append(seconds)
        if time.perf_counter() - start > SEARCH_SECONDS:
            break
    return statistics.median(times)


def measure(column, stores, rounds, seed, journal, seconds=float("inf")):
    """Sizes, and the samples of every metric, by store; and what cut it short, if something did."""
    sizes, samples = {}, {store.name: {metric: [] for metric in METRICS} for store in stores}
    choose = random.Random(seed)
    counts, start, longest = {}, time.monotonic(), 0
    try:
        for number in range(rounds):
            before = time.monotonic()
            if number and before - start + longest > seconds:
                return sizes, samples, f"{number} of {rounds} rounds: another would not end in {seconds:.0f} s"
            once = measure_round(column, stores, number, choose, counts, sizes, samples, journal)
            longest = max(longest, time.monotonic() - before - once)
    except KeyboardInterrupt:
        return sizes, samples, "ended from outside: what was measured until then"
    return sizes, samples, None


def measure_round(column, stores, number, choose, counts, sizes, samples, journal):
    """Every store once, in an order that turns by one each round; the seconds of those of the first round only."""
    import peers

    once = 0
    values = choose.sample(column.values, min(SEARCHES, len(column.values)))
    prefixes = list(dict.fromkeys(value[:3] for value in values))
    turn = number % len(stores)
    for store in stores[turn:] + stores[:turn]:
        if isinstance(store, peers.Archive) and number:
            continue
        before = time.monotonic()
        progress(f"{column.name}, round {number + 1}: {store.name} …")
        store.clear()
        mine = samples[store.name]
        mine["encode s"].append(store.build(column))
        sizes[store.name] = peers.size_of(store.path)
        store.open()
        for metric, ask, wanted in (("value µs", store.find, values), ("prefix µs", store.prefix, prefixes)):
            seconds = search(ask, wanted, counts, metric.split()[0])
            if seconds is not None:
                mine[metric].append(seconds * 1e6)
        decoded = store.decode()
        if decoded is not None:
            mine["decode s"].append(decoded)
        if mine["value µs"]:
            cold = [store.cold(value)[0] for value in values[:3]]
            mine["value cold ms"].append(statistics.median(cold) * 1e3)
        store.close()
        journal.add(column.name, number, store.name, sizes[store.name], mine)
        progress(f"{column.name}, round {number + 1}: {store.name}: {sizes[store.name]:,} B, "
                 + ", ".join(f"{metric} {mine[metric][-1]:.3g}" for metric in METRICS if mine[metric]))
        store.clear()
        once += time.monotonic() - before if isinstance(store, peers.Archive) else 0
    return once


def table(head, rows):
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    return "\n".join(lines + [f"| {' | '.join(map(str, row))} |" for row in rows])


def generated(program, folder, arguments, skew, read_lines):
    path = folder / "generated.txt"
    with open(path, "wb") as out:
        subprocess.run([program, str(arguments.rows), str(arguments.distinct), skew], check=True, stdout=out)
    kind = "uniform" if float(skew) == 0 else f"zipf({skew})"
    return Column(f"Generated, {kind}", path, read_lines)


def large_columns(program, folder, arguments, read_lines):
    """The generated columns, and the one that was given."""
    for skew in filter(None, arguments.skews.split(",")):
        progress(f"making {arguments.rows:,} rows of {arguments.distinct:,} words, skew {skew}")
        yield generated(program, folder, arguments, skew, read_lines)
    if arguments.text:
        progress(f"reading {arguments.text}")
        yield Column(arguments.text.name, arguments.text, read_lines, has_order=True)


def report_column(column, sizes, samples, notes, cut):
    rows = len(column.table)
    words = len(column.values)
    print(f"\n### {column.name}: {rows:,} rows, {words:,} words, {column.text_bytes:,} B of text\n")
    ours = sizes.get("ocol")
    ratio = (lambda size: f"{size / ours:.2f}") if ours else (lambda size: "–")
    body = [
        [name, f"{size:,}", ratio(size), *(figure(samples[name][metric]) for metric in METRICS)]
        for name, size in sizes.items()
    ]
    print(table(["store", "size B", "÷ ocol", *METRICS], body))
    beside_zstd(column, sizes)
    for note in notes + ([f"Cut short: {cut}."] if cut else []):
        print(f"\n{note}")
    sys.stdout.flush()


def beside_zstd(column, sizes):
    """The smallest file beside the text under a general compressor, whose bar is for columns with an order to use."""
    if "ocol smallest" in sizes and "zstd -19" in sizes:
        ratio = sizes["ocol smallest"] / sizes["zstd -19"]
        bar = f", bar {ORDER_BAR:.2f}: {'reached' if ratio <= ORDER_BAR else 'missed'}" if column.has_order else ""
        print(f"\nocol smallest ÷ zstd -19 of the text: {ratio:.3f}{bar}.")


def real_columns(folder, source, read_lines):
    """Every string column of the tables: those with a value that is no number."""
    for path in sorted(source.glob("*.csv.zst")):
        text = subprocess.check_output(["zstd", "-dcq", path]).decode()
        rows = [line.split("|") for line in text.removesuffix("\n").split("\n")]
        for number in range(len(rows[0])):
            values = [row[number] if number < len(row) else "" for row in rows]
            if all(is_number(value) for value in values if value):
                continue
            lines = folder / "real.txt"
            lines.write_text("\n".join(values) + "\n")
            yield Column(f"{path.name.removesuffix('.csv.zst')}.{number}", lines, read_lines)


def is_number(value):
    try:
        float(value)
        return True
    except ValueError:
        return False


def report_real(measured, names):
    print("\n### Real columns: bytes\n")
    print("Bold: smaller than the smaller of our two without an index. `m.n` is column n, from 0, of table m.\n")
    body, larger = [], []
    for column, sizes, _ in measured:
        ours = min(sizes["ocol"], sizes["ocol smallest"])
        cells = [f"**{sizes[name]:,}**" if sizes[name] < ours else f"{sizes[name]:,}" for name in names]
        counts = [len(column.table), len(column.values), column.text_bytes]
        body.append([column.name, *(f"{count:,}" for count in counts), *cells])
        rivals = {name: sizes[name] for name in ("Parquet tuned", "zstd -19") if sizes[name] < ours}
        for name, size in rivals.items():
            larger.append(f"{column.name}: {name} {size:,}, ours {ours:,} ({ours / size:.2f} ×)")
    print(table(["column", "rows", "distinct", "text", *names], body))
    total = {name: sum(sizes[name] for _, sizes, _ in measured) for name in names}
    print("\nAll together: " + ", ".join(f"{name} {size:,}" for name, size in total.items()) + ".")
    print("\nLarger than tuned Parquet or zstd -19: " + ("; ".join(larger) if larger else "none") + ".")
    print("\n### Real columns: times, the median over columns of each store's median\n")
    rows = []
    for name in names:
        cells = []
        for metric in METRICS:
            medians = [statistics.median(s[name][metric]) for _, _, s in measured if s[name][metric]]
            cells.append(figure([statistics.median(medians)]) if medians else "–")
        rows.append([name, *cells])
    print(table(["store", *METRICS], rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=14_000_000)
    parser.add_argument("--distinct", type=int, default=97_577)
    parser.add_argument("--skews", default="0,1")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--real", default=str(ROOT / "../shared/data/columns"))
    parser.add_argument("--text", type=Path, help="also a text of your own, a value a line")
    parser.add_argument("--minutes", type=float, default=7, help="no further round of a generated column after it")
    parser.add_argument("--journal", type=Path, help="where each figure goes at once [default: under target/]")
    parser.add_argument("--build", choices=["release", "dev"], default="release", help="cargo's profile of ours")
    parser.add_argument("--directory", default=None, help="where the stores are written")
    arguments = parser.parse_args()
    with_peers()
    need("zstd", "zstd")
    need("7z", "7zip")
    import peers

    # Whatever ends the run from outside, what was measured is printed.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    journal = Journal(arguments.journal or target_directory() / "column-peers" / f"{stamp}.ndjson")
    progress(f"every figure goes to {journal.path}")
    peers.Ocol.start(example("outcrop-column-bench", "column_peer", arguments.build))
    column_text = example("outcrop-workload", "column_text", arguments.build)
    print(f"Versions: {'; '.join(peers.versions())}. {arguments.rounds} rounds; median (range). "
          f"Load of the machine at the start: {' '.join(Path('/proc/loadavg').read_text().split()[:3])}.")
    with tempfile.TemporaryDirectory(prefix="column-peers-", dir=arguments.directory) as folder:
        folder = Path(folder)
        stores = peers.stores(folder)
        notes = sorted({store.note for store in stores if store.note})
        begun = time.monotonic()
        for column in large_columns(column_text, folder, arguments, peers.read_lines):
            left = 60 * arguments.minutes - (time.monotonic() - begun)
            sizes, samples, cut = measure(column, stores, arguments.rounds, column.name, journal, left)
            in_order = {store.name: sizes[store.name] for store in stores if store.name in sizes}
            report_column(column, in_order, samples, notes, cut)
            if cut and cut.startswith("ended"):
                return
        real = Path(arguments.real)
        if arguments.real != "none" and not real.is_dir():
            print(f"\nThe real columns were left out: there is no folder {real.name} (--real DIR).")
        elif arguments.real != "none":
            measured = []
            for column in real_columns(folder, real, peers.read_lines):
                sizes, samples, cut = measure(column, stores, min(arguments.rounds, 3), column.name, journal)
                if cut:
                    print(f"\nEnded from outside after {len(measured)} real columns.")
                    break
                # The table of a column is needed no more, its sizes are.
                measured.append((column, sizes, samples))
            if measured:
                report_real(measured, [store.name for store in stores])


if __name__ == "__main__":
    main()
