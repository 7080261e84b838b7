#!/usr/bin/env python3
"""Holds dpzip beside zstd -1 at 4 KiB: space, speed, and the distribution over pages beside the published one.

    CORPUS=DIR benchmarks/dpzip-page/run.py [--rounds 5] [--milliseconds 200]

CORPUS is a folder of files (Silesia is what the published figures are nearest to); without it, the sample that is
bundled with outcrop-compress. Codecs take turns round by round; a speed is the median of rounds, each the median pass,
and the table has the harmonic mean over files. Share left is given twice: mean of the files, and of all bytes.
"""

import argparse
import csv
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODECS = ["zstd:1", "dpzip:256x4", "dpzip:512x4+longest+lazy", "dpzip:1024x4+longest+lazy", "deflate-libdeflate:1"]


def output(command):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout


def example(package, name):
    build = ["cargo", "build", "--quiet", "--release", "--locked", "-p", package, "--example", name]
    subprocess.run(build, check=True, cwd=ROOT, stdout=sys.stderr)
    metadata = json.loads(output(["cargo", "metadata", "--format-version=1", "--no-deps"]))
    return Path(metadata["target_directory"]) / "release/examples" / name


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
    table, curve = text.split("codec,percentile,compressed_block_bytes\n")
    rows = list(csv.DictReader(io.StringIO(table)))
    percentiles = {}
    for codec, percentile, size in csv.reader(io.StringIO(curve)):
        percentiles.setdefault(codec, {})[int(percentile)] = float(size)
    return rows, percentiles


def harmonic(rows, codec, field):
    mine = [row for row in rows if row["codec"] == codec]
    return len(mine) * 1e3 / sum(float(row[field]) / int(row["original_bytes"]) for row in mine)


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
    print(f"| codec | {shares} | compress MB/s | ÷ zstd:1 | decompress MB/s | ÷ zstd:1 |")
    print("|---|---|---|---|---|---|---|")
    for codec in dict.fromkeys(row["codec"] for row in rows):
        mine = [row for row in rows if row["codec"] == codec]
        shares = [int(row["compressed_bytes"]) / int(row["original_bytes"]) for row in mine]
        whole = sum(int(row["compressed_bytes"]) for row in mine) / sum(int(row["original_bytes"]) for row in mine)
        cells = [f"{100 * sum(shares) / len(shares):.2f} %", f"{100 * whole:.2f} %"]
        for field in ("compress_ns", "decompress_ns"):
            speed = harmonic(rows, codec, field)
            cells += [f"{speed:.0f}", f"{speed / harmonic(rows, 'zstd:1', field):.2f}"]
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
