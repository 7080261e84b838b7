#!/usr/bin/env python3
"""Holds dpzip beside zstd -1 at 4 KiB: space, speed, and the distribution over pages beside the published one.

    CORPUS=DIR benchmarks/dpzip-page/run.py [--rounds 5] [--milliseconds 200]

CORPUS is a folder of files (Silesia is what the published figures are nearest to); without it, the sample that is
bundled with outcrop-compress. Codecs take turns round by round in one process; a speed is the median of rounds,
each the median pass, and the table has the harmonic mean over files. What is divided by zstd:1 is divided round by
round: the median, and in brackets the least and the most of the rounds. Share left, and speed ÷ zstd:1, are given
twice: mean of the files, and of all bytes; the latter is what the profiler reports, which knows blocks and no
files.
"""

import argparse
import csv
import io
import os
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from programs import ROOT, example, output

CODECS = ["zstd:1", "dpzip:256x4", "dpzip:512x4+longest+lazy", "dpzip:1024x4+longest+lazy", "deflate-libdeflate:1"]


def published():
    """Compressed bytes of a 4 KiB page by percentile of sizes: dpzip's ÷ zstd's.

    The reference has ratios, the inverse, so that its p99 is the p1 of sizes."""
    ratios = {}
    with open(ROOT / "references/compression/asic-ratio-percentiles.csv") as file:
        for row in csv.DictReader(file):
            if row["compression_block_size_kib"] == "4" and row["metric"].startswith("block_ratio_p"):
                at = 100 - int(row["metric"].removeprefix("block_ratio_p"))
                ratios[row["subject"].split()[0].lower(), at] = float(row["value"])
    return {at: ratios["zstd", at] / ratios["dpzip", at] for (subject, at) in ratios if subject == "zstd"}


def measure(program, rounds, milliseconds, codecs, files):
    text = output([program, 4096, rounds, milliseconds, ",".join(codecs), *files])
    table, rest = text.split("codec,percentile,compressed_block_bytes\n")
    curve, by_round = rest.split("codec,file,round,", 1)
    rows = list(csv.DictReader(io.StringIO(table)))
    for row in rows:
        row["rounds"] = []
    for round_row in csv.DictReader(io.StringIO("codec,file,round," + by_round)):
        for row in rows:
            if (row["codec"], row["file"]) == (round_row["codec"], round_row["file"]):
                row["rounds"].append(round_row)
    percentiles = {}
    for codec, percentile, size in csv.reader(io.StringIO(curve)):
        percentiles.setdefault(codec, {})[int(percentile)] = float(size)
    return rows, percentiles


def harmonic(rows, codec, field):
    mine = [row for row in rows if row["codec"] == codec]
    return len(mine) * 1e3 / sum(float(row[field]) / int(row["original_bytes"]) for row in mine)


def against_zstd(rows, codec, field, weigh):
    """Speed ÷ zstd:1's, round by round: median, least and most. `weigh` gives a file's weight from its bytes."""

    def seconds(codec, index):
        mine = [row for row in rows if row["codec"] == codec]
        return sum(
            float(row["rounds"][index][field]) * weigh(int(row["original_bytes"])) / int(row["original_bytes"])
            for row in mine
        )

    count = min(len(row["rounds"]) for row in rows)
    ratios = [seconds("zstd:1", index) / seconds(codec, index) for index in range(count)]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--milliseconds", type=int, default=200)
    options = arguments.parse_args()
    corpus = Path(os.environ.get("CORPUS", ROOT / "crates/outcrop-compress/sample"))
    files = sorted(path for path in corpus.iterdir() if path.is_file() and path.stat().st_size > 1 << 16)
    program = example("outcrop-compress", "codec_blocks")
    rows, percentiles = measure(program, options.rounds, options.milliseconds, CODECS, files)
    rounds = f"{options.rounds} rounds of {options.milliseconds} ms"
    print(f"{len(files)} files of {corpus.name}, pages of 4 KiB, {rounds}.\n")
    shares = "share left: mean of files | of all bytes"
    ratios = "÷ zstd:1, files | ÷ zstd:1, bytes"
    print(f"| codec | {shares} | compress MB/s | {ratios} | decompress MB/s | {ratios} |")
    print("|---|---|---|---|---|---|---|---|---|")
    for codec in dict.fromkeys(row["codec"] for row in rows):
        mine = [row for row in rows if row["codec"] == codec]
        shares = [int(row["compressed_bytes"]) / int(row["original_bytes"]) for row in mine]
        whole = sum(int(row["compressed_bytes"]) for row in mine) / sum(int(row["original_bytes"]) for row in mine)
        cells = [f"{100 * sum(shares) / len(shares):.2f} %", f"{100 * whole:.2f} %"]
        for field in ("compress_ns", "decompress_ns"):
            speed = harmonic(rows, codec, field)
            by_file = against_zstd(rows, codec, field, lambda _: 1)
            by_byte = against_zstd(rows, codec, field, lambda size: size)
            cells += [f"{speed:.0f}", by_file, by_byte]
        print(f"| {codec} | {' | '.join(cells)} |")
    print_curve(percentiles)
    print_incompressible(program, options, files)


def print_curve(percentiles):
    reference = published()
    print("\nCompressed size of a page, dpzip:256x4 ÷ zstd:1, by percentile of pages:\n")
    print("| percentile | ours | published | difference |\n|---|---|---|---|")
    for at, size in percentiles["dpzip:256x4"].items():
        ratio = size / percentiles["zstd:1"][at]
        outside = " (outside 0.15)" if abs(ratio - reference[at]) > 0.15 else ""
        print(f"| p{at} | {ratio:.3f} | {reference[at]:.3f} | {ratio - reference[at]:+.3f}{outside} |")


def print_incompressible(program, options, files):
    with tempfile.NamedTemporaryFile() as noise:
        noise.write(os.urandom(8 << 20))
        noise.flush()
        rows, _ = measure(program, options.rounds, options.milliseconds, ["dpzip:256x4"], [noise.name])
        compressible, _ = measure(program, 1, options.milliseconds, ["dpzip:256x4"], files)
    codec = rows[0]["codec"]
    fast, usual = harmonic(rows, codec, "compress_ns"), harmonic(compressible, codec, "compress_ns")
    print(f"\nIncompressible pages: {fast:.0f} MB/s, {fast / usual:.1f} × as fast as compressible ones.")


if __name__ == "__main__":
    main()
