#!/usr/bin/env python3
"""Holds Outcrop's codecs beside lzbench's: the same files, the same block sizes, in turns within one run.

    LZBENCH=/path/to/lzbench CORPUS=DIR benchmarks/codec-lzbench/run.py [--rounds 15] [--blocks-kib 4,64]

Both tools compress a file block by block, independently, three passes each way, check each pass and report the fastest,
as lzbench does unless told otherwise. Each round runs both on each file, one right after the other on the same CPU, in
an order that turns: a shared machine changes its speed by a third within seconds, and only what is measured within the
same half second can be compared (the fastest passes of all rounds cannot: one program meets the quiet moments, and the
other does not). A file's figure is the median over rounds of ours ÷ lzbench's; a row has the median of the files'
figures, the least and the most of them, and how many are within 3 %. Fifteen rounds of seven files of Silesia and both
block sizes take forty minutes.

Sizes are compared to the byte. `@fresh` makes a context for every block, as lzbench does with zlib and brotli, and
`@leaking` does not free those that decompress, as lzbench does with libdeflate. The other rows reuse a context, as
lzbench does with zstd, or have none to reuse. Both programs run with an allocator that keeps what it has, in huge
pages: glibc's default may map and unmap memory for each block in one of them and not in the other, which costs more
than some codecs do, and which small pages a process happens to get decides how well its tables fit the caches.

Without LZBENCH the tool says so and compares with `zstd -b` and `lz4 -b`, the benchmarks that libraries among these
ship (those of brotli, zlib, libdeflate and Snappy come with no package).

CORPUS is a folder of files; without it, the sample that is bundled with outcrop-compress. Ends with what measuring
costs: the codec `none` through the profiler beside a plain loop of memcpy, in several processes, since where the
buffers of one lie changes a copy by more than the profiler does.
"""

import argparse
import csv
import io
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from programs import ROOT, example, need, output

# Ours, lzbench's, and whether the library is the same one.
PAIRS = [
    ("zstd:1", "zstd,1", True),
    ("zstd:3", "zstd,3", True),
    ("lz4", "lz4", True),
    ("lz4hc:9", "lz4hc,9", True),
    ("zlib:1@fresh", "zlib,1", True),
    ("deflate-libdeflate:1@leaking", "libdeflate,1", True),
    ("brotli:1", "brotli,1", True),
    ("snappy", "snappy", False),
]
# The libraries' own programs, and the level for each.
OWN_TOOLS = {"zstd:1": ("zstd", 1), "zstd:3": ("zstd", 3), "lz4": ("lz4", 1), "lz4hc:9": ("lz4", 9)}
BAR = 0.03
KEEPING = "glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=4294967296:glibc.malloc.hugetlb=1"
OVERHEAD_PROCESSES, OVERHEAD_ROUNDS = 9, 250


def ours(program, codec, file, block, milliseconds):
    """Compressed bytes, and MB/s both ways: the fastest pass of the time, or of three if that takes longer."""
    text = output([program, block, 1, milliseconds, codec, file], GLIBC_TUNABLES=KEEPING)
    row = next(csv.DictReader(io.StringIO(text)))
    original = int(row["original_bytes"])
    speeds = [original * 1e3 / float(row[field]) for field in ("compress_fastest_ns", "decompress_fastest_ns")]
    return int(row["compressed_bytes"]), *speeds


def lzbench(program, codec, file, block):
    # -t0,0 -i3,3: three passes each way; -p1: the fastest of them; -o4: CSV.
    limits = ["-t0,0", "-i3,3", "-p1", "-o4", "-q"]
    text = output([program, f"-e{codec}", f"-b{block // 1024}", *limits, file], GLIBC_TUNABLES=KEEPING)
    for row in csv.reader(io.StringIO(text)):
        if len(row) >= 6 and re.match(codec.split(",")[0], row[0]):
            return row[0], int(row[4]), float(row[1]), float(row[2])
    sys.exit(f"lzbench has no row for {codec}:\n{text}")


def own_tool(tool, level, file, block):
    """What a library's own program says: `zstd -b1`, `lz4 -b9`; its best pass of a second."""
    command = [tool, f"-b{level}", "-i1", f"-B{block}", file]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    results = re.findall(r"-> *(\d+)[^\r\n]*?([\d.]+) MB/s *, *([\d.]+) MB/s", run.stdout + run.stderr)
    if not results:
        sys.exit(f"{' '.join(map(str, command))} printed no result:\n{run.stdout}{run.stderr}")
    size, compress, decompress = results[-1]
    version = re.search(r"v(\d[\d.]*)", output([tool, "--version"])).group(1)
    return f"{tool} -b{level} {version}", int(size), float(compress), float(decompress)


def interval(samples):
    return f"{statistics.median(samples):.3f} ({min(samples):.3f}–{max(samples):.3f})"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--rounds", type=int, default=15)
    arguments.add_argument("--blocks-kib", default="4,64")
    arguments.add_argument("--codecs", default="", help="ours, by the start of their names [default: all]")
    options = arguments.parse_args()
    corpus = Path(os.environ.get("CORPUS", ROOT / "crates/outcrop-compress/sample"))
    files = sorted(path for path in corpus.iterdir() if path.is_file() and path.stat().st_size > 1 << 16)
    program, harness = (example("outcrop-compress", name) for name in ("codec_blocks", "harness_overhead"))
    # Not before the build, which may have all of them.
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    peer = os.environ.get("LZBENCH")
    pairs = PAIRS if peer else [pair for pair in PAIRS if pair[0] in OWN_TOOLS]
    pairs = [pair for pair in pairs if pair[0].startswith(tuple(options.codecs.split(",")))]
    if not peer:
        for tool in ("zstd", "lz4"):
            need(tool, tool)
        print("LZBENCH names no binary: compared with `zstd -b` and `lz4 -b`, by the best pass of a second.\n")
    print(f"{len(files)} files of {corpus.name}, {options.rounds} rounds; ours ÷ theirs:")
    print("median of the files (least–most), each the median of its rounds; and how many files are within 3 %.\n")
    print("| ours | theirs | block | size | compress | | decompress | |\n" + "|---" * 8 + "|")
    for block in [int(kib) * 1024 for kib in options.blocks_kib.split(",")]:
        for pair in pairs:
            compare(program, peer, pair, files, block, options.rounds)
    print()
    overhead(harness)


def overhead(program):
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
    codec, theirs, same = pair
    speeds = {file: [] for file in files}
    difference, total, name = 0, 0, theirs
    for number in range(rounds):
        for index, file in enumerate(files):
            results = {}
            for who in ("ours", "theirs") if (number + index) % 2 == 0 else ("theirs", "ours"):
                if who == "ours":
                    # As long as the other: three passes of lzbench's, or a second.
                    results[who] = ours(program, codec, file, block, 1 if peer else 1000)
                elif peer:
                    name, *results[who] = lzbench(peer, theirs, file, block)
                else:
                    name, *results[who] = own_tool(*OWN_TOOLS[codec], file, block)
            if number == 0:
                total += results["ours"][0]
                difference += results["ours"][0] - results["theirs"][0]
            speeds[file].append([results[who][1:] for who in ("ours", "theirs")])
        print(f"{codec} {block}: round {number + 1} of {rounds}", file=sys.stderr, flush=True)
    size = "the same to the byte" if difference == 0 else f"{difference:+} B of {total}"
    if not same:
        size += " (another implementation)"
    columns = [codec, name, f"{block // 1024} KiB", size]
    for way in (0, 1):
        medians = {}
        for file, pairs in speeds.items():
            medians[file.name] = statistics.median(mine[way] / other[way] for mine, other in pairs)
        within = sum(abs(ratio - 1) <= BAR for ratio in medians.values())
        columns += [interval(medians.values()), f"{within} of {len(medians)}"]
        rounded = {file: round(ratio, 3) for file, ratio in medians.items()}
        print(codec, block, ("compress", "decompress")[way], rounded, file=sys.stderr, flush=True)
    print("| " + " | ".join(columns) + " |", flush=True)


if __name__ == "__main__":
    main()
