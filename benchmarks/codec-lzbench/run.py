#!/usr/bin/env python3
"""Holds Outcrop's codecs beside lzbench's: the same files, the same block sizes, in turns within one run.

    LZBENCH=/path/to/lzbench CORPUS=DIR benchmarks/codec-lzbench/run.py [--rounds 5] [--blocks-kib 4,64] [--seconds 1]

Both tools compress a file block by block, independently, pass after pass, and report the median pass; each round
runs both, in an order that turns. The figure is the median over rounds of ours ÷ lzbench's within a round, so that
drift hits both alike.
Sizes are compared to the byte. lzbench's zlib writes a header and a checksum of six bytes per block, which raw deflate
lacks: they are taken off.

Without LZBENCH the tool says so and compares with `zstd -b`, the one benchmark that a library among these ships (ratio
to the byte, speed by its best pass).

CORPUS is a folder of files; without it, the sample that is bundled with outcrop-compress. Ends with what measuring
costs: the codec `none` through the profiler beside a plain loop of memcpy.
"""

import argparse
import csv
import io
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Ours, lzbench's, bytes that lzbench's format has more per block, and whether the library is the same one.
PAIRS = [
    ("zstd:1", "zstd,1", 0, True),
    ("zstd:3", "zstd,3", 0, True),
    ("lz4", "lz4", 0, True),
    ("lz4hc:9", "lz4hc,9", 0, True),
    ("deflate-zlib:1", "zlib,1", 6, True),
    ("deflate-libdeflate:1", "libdeflate,1", 0, True),
    ("snappy", "snappy", 0, False),
    ("brotli:1", "brotli,1", 0, False),
]


def output(command):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout


def example(package, name):
    build = ["cargo", "build", "--quiet", "--release", "--locked", "-p", package, "--example", name]
    subprocess.run(build, check=True, cwd=ROOT, stdout=sys.stderr)
    metadata = json.loads(output(["cargo", "metadata", "--format-version=1", "--no-deps"]))
    return Path(metadata["target_directory"]) / "release/examples" / name


def ours(program, codec, file, block, milliseconds):
    """Compressed bytes, and MB/s both ways."""
    text = output([program, block, 1, milliseconds, codec, file])
    row = next(csv.DictReader(io.StringIO(text)))
    original = int(row["original_bytes"])
    speeds = [original * 1e3 / float(row[field]) for field in ("compress_ns", "decompress_ns")]
    return int(row["compressed_bytes"]), *speeds


def lzbench(program, codec, file, block, milliseconds):
    # -p3: the median of the passes that fit the time; -o4: CSV.
    times = f"-t{milliseconds // 1000},{milliseconds // 1000}"
    text = output([program, f"-e{codec}", f"-b{block // 1024}", times, "-p3", "-o4", "-q", file])
    for row in csv.reader(io.StringIO(text)):
        if len(row) >= 6 and re.match(codec.split(",")[0], row[0]):
            return row[0], int(row[4]), float(row[1]), float(row[2])
    sys.exit(f"lzbench has no row for {codec}:\n{text}")


def zstd_program(codec, file, block):
    if not shutil.which("zstd"):
        sys.exit("neither LZBENCH nor the program zstd is there; run: apt-get install zstd")
    level = codec.split(":")[1]
    run = subprocess.run(["zstd", f"-b{level}", "-i1", f"-B{block}", file], check=True, capture_output=True, text=True)
    line = (run.stdout + run.stderr).replace("\r", "\n").strip().splitlines()[-1]
    size, compress, decompress = re.search(r"-> *(\d+).*?([\d.]+) MB/s *, *([\d.]+) MB/s", line).groups()
    version = output(["zstd", "--version"]).split(",")[0].split()[-1]
    return f"zstd -b{level} {version}", int(size), float(compress), float(decompress)


def interval(samples):
    return f"{statistics.median(samples):.3f} ({min(samples):.3f}–{max(samples):.3f})"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--blocks-kib", default="4,64")
    seconds_help = "each way, codec, file and round; lzbench knows whole ones only"
    arguments.add_argument("--seconds", type=int, default=1, help=seconds_help)
    options = arguments.parse_args()
    options.milliseconds = 1000 * options.seconds
    corpus = Path(os.environ.get("CORPUS", ROOT / "crates/outcrop-compress/sample"))
    files = sorted(path for path in corpus.iterdir() if path.is_file() and path.stat().st_size > 1 << 16)
    program = example("outcrop-compress", "codec_blocks")
    peer = os.environ.get("LZBENCH")
    pairs = PAIRS if peer else [pair for pair in PAIRS if pair[0].startswith("zstd")]
    if not peer:
        print("LZBENCH names no binary: compared with `zstd -b` alone, by its best pass of a second.\n")
    rounds = f"{options.rounds} rounds of {options.seconds} s each way"
    print(f"{len(files)} files of {corpus.name}, {rounds}; ours ÷ theirs,")
    print("median over rounds (least–most) of the harmonic mean over files.\n")
    print("| ours | theirs | block | size | compress | decompress |\n|---|---|---|---|---|---|")
    for block in [int(kib) * 1024 for kib in options.blocks_kib.split(",")]:
        for codec, theirs, header, same in pairs:
            compare(program, peer, (codec, theirs, header, same), files, block, options)
    print()
    print(output([example("outcrop-compress", "harness_overhead")]).strip())


def compare(program, peer, pair, files, block, options):
    codec, theirs, header, same = pair
    ratios, difference, total, name = ([], []), 0, 0, theirs
    for number in range(options.rounds):
        seconds = {"ours": [0.0, 0.0], "theirs": [0.0, 0.0]}
        for file in files:
            results = {}
            for who in ("ours", "theirs") if number % 2 == 0 else ("theirs", "ours"):
                if who == "ours":
                    results[who] = ours(program, codec, file, block, options.milliseconds)
                elif peer:
                    name, *results[who] = lzbench(peer, theirs, file, block, options.milliseconds)
                else:
                    name, *results[who] = zstd_program(codec, file, block)
            blocks = -(-file.stat().st_size // block)
            if number == 0:
                total += results["ours"][0]
                difference += results["ours"][0] + header * blocks - results["theirs"][0]
            for who, result in results.items():
                for way in (0, 1):
                    seconds[who][way] += 1 / result[1 + way]
        for way in (0, 1):
            ratios[way].append(seconds["theirs"][way] / seconds["ours"][way])
        print(f"{codec} {block}: round {number + 1}", file=sys.stderr, flush=True)
    size = "the same to the byte" if difference == 0 else f"{difference:+} B of {total}"
    if not same:
        size += " (another implementation)"
    speeds = f"{interval(ratios[0])} | {interval(ratios[1])}"
    print(f"| {codec} | {name} | {block // 1024} KiB | {size} | {speeds} |", flush=True)


if __name__ == "__main__":
    main()
