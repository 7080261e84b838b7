#!/usr/bin/env python3
"""Holds Outcrop's codecs beside lzbench's: the same files, the same block sizes, in turns within one run.

    LZBENCH=/path/to/lzbench CORPUS=DIR benchmarks/codec-lzbench/run.py [--rounds 5] [--blocks-kib 4,64]

Both tools compress a file block by block, independently, pass after pass, and report the median pass; each round
runs both on each file, one right after the other, in an order that turns. A file's figure is the median over
rounds of ours ÷ lzbench's; a row's is the median of its files', and how many of them are within 3 %.
With five rounds, seven files of Silesia and both block sizes it takes a quarter of an hour.

Sizes are compared to the byte. lzbench's zlib writes a header and a checksum of six bytes per block, which raw deflate
lacks: they are taken off. The checksum's time is not: lzbench's zlib has it, ours has not.

`@fresh` makes a context for every block, as lzbench does with zlib, libdeflate and brotli (it never frees libdeflate's
decompressors). The other rows reuse a context, as lzbench does with zstd, or have none to reuse. Both programs run with
an allocator that keeps what it has: glibc's default may map and unmap memory for each block in one of them and not in
the other, which costs more than some codecs do.

Without LZBENCH the tool says so and compares with `zstd -b`, the one benchmark that a library among these ships (ratio
to the byte, speed by its best pass).

CORPUS is a folder of files; without it, the sample that is bundled with outcrop-compress. Ends with what measuring
costs: the codec `none` through the profiler beside a plain loop of memcpy, in several processes, since where the
buffers of one lie changes a copy by more than the profiler does.
"""

import argparse
import csv
import io
import os
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from programs import ROOT, example, output

# Ours, lzbench's, bytes that lzbench's format has more per block, and whether the library is the same one.
PAIRS = [
    ("zstd:1", "zstd,1", 0, True),
    ("zstd:3", "zstd,3", 0, True),
    ("lz4", "lz4", 0, True),
    ("lz4hc:9", "lz4hc,9", 0, True),
    ("deflate-zlib:1@fresh", "zlib,1", 6, True),
    ("deflate-libdeflate:1@fresh", "libdeflate,1", 0, True),
    ("brotli:1", "brotli,1", 0, True),
    ("snappy", "snappy", 0, False),
]
BAR = 0.03
KEEPING = "glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=4294967296:glibc.malloc.top_pad=1048576"
OVERHEAD_PROCESSES, OVERHEAD_ROUNDS = 9, 250


def ours(program, codec, file, block):
    """Compressed bytes, and MB/s both ways: the median pass of three at least, and of 0.1 s."""
    text = output([program, block, 1, 100, codec, file], GLIBC_TUNABLES=KEEPING)
    row = next(csv.DictReader(io.StringIO(text)))
    original = int(row["original_bytes"])
    speeds = [original * 1e3 / float(row[field]) for field in ("compress_ns", "decompress_ns")]
    return int(row["compressed_bytes"]), *speeds


def lzbench(program, codec, file, block):
    # -p3: the median of the passes; at least three of them and 0.1 s each way, as ours; -o4: CSV.
    limits = ["-t0,0", "-i3,3", "-p3", "-o4", "-q"]
    text = output([program, f"-e{codec}", f"-b{block // 1024}", *limits, file], GLIBC_TUNABLES=KEEPING)
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
    arguments.add_argument("--codecs", default="", help="ours, by the start of their names [default: all]")
    options = arguments.parse_args()
    corpus = Path(os.environ.get("CORPUS", ROOT / "crates/outcrop-compress/sample"))
    files = sorted(path for path in corpus.iterdir() if path.is_file() and path.stat().st_size > 1 << 16)
    program = example("outcrop-compress", "codec_blocks")
    peer = os.environ.get("LZBENCH")
    pairs = PAIRS if peer else [pair for pair in PAIRS if pair[0].startswith("zstd")]
    pairs = [pair for pair in pairs if pair[0].startswith(tuple(options.codecs.split(",")))]
    if not peer:
        print("LZBENCH names no binary: compared with `zstd -b` alone, by its best pass of a second.\n")
    print(f"{len(files)} files of {corpus.name}, {options.rounds} rounds; ours ÷ theirs:")
    print("median of the files (least–most), each the median of its rounds; and how many files are within 3 %.\n")
    print("| ours | theirs | block | size | compress | | decompress | |\n|---|---|---|---|---|---|---|---|")
    for block in [int(kib) * 1024 for kib in options.blocks_kib.split(",")]:
        for pair in pairs:
            compare(program, peer, pair, files, block, options.rounds)
    print()
    overhead()


def overhead():
    program = example("outcrop-compress", "harness_overhead")
    # How far source and target lie apart modulo a page decides a memcpy by 2 %: give both buffers whole pages.
    pages = "glibc.malloc.mmap_threshold=131072"
    ratios = []
    for number in range(OVERHEAD_PROCESSES):
        text = output([program, OVERHEAD_ROUNDS], GLIBC_TUNABLES=pages).strip()
        ratios.append(float(re.search(r"takes ([\d.]+)", text).group(1)))
        print(f"overhead, process {number + 1}: {text}", file=sys.stderr, flush=True)
    print(f"`none` through the profiler takes {interval(ratios)} of a memcpy's CPU time at 4 KiB: median of")
    print(f"{OVERHEAD_PROCESSES} processes (least–most), each the median of {OVERHEAD_ROUNDS} rounds.")
    print(f"The last: {text.splitlines()[-1]}.")


def compare(program, peer, pair, files, block, rounds):
    codec, theirs, header, same = pair
    ratios, difference, total, name = ({}, {}), 0, 0, theirs
    for number in range(rounds):
        for file in files:
            results = {}
            for who in ("ours", "theirs") if number % 2 == 0 else ("theirs", "ours"):
                if who == "ours":
                    results[who] = ours(program, codec, file, block)
                elif peer:
                    name, *results[who] = lzbench(peer, theirs, file, block)
                else:
                    name, *results[who] = zstd_program(codec, file, block)
            if number == 0:
                blocks = -(-file.stat().st_size // block)
                total += results["ours"][0]
                difference += results["ours"][0] + header * blocks - results["theirs"][0]
            for way in (0, 1):
                ratio = results["ours"][1 + way] / results["theirs"][1 + way]
                ratios[way].setdefault(file.name, []).append(ratio)
        print(f"{codec} {block}: round {number + 1}", file=sys.stderr, flush=True)
    size = "the same to the byte" if difference == 0 else f"{difference:+} B of {total}"
    if not same:
        size += " (another implementation)"
    columns = [codec, name, f"{block // 1024} KiB", size]
    for way in (0, 1):
        medians = {file: statistics.median(samples) for file, samples in ratios[way].items()}
        within = sum(abs(ratio - 1) <= BAR for ratio in medians.values())
        columns += [interval(list(medians.values())), f"{within} of {len(medians)}"]
        rounded = {file: round(ratio, 3) for file, ratio in medians.items()}
        print(codec, block, ("compress", "decompress")[way], rounded, file=sys.stderr)
    print("| " + " | ".join(columns) + " |", flush=True)


if __name__ == "__main__":
    main()
