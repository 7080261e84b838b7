#!/usr/bin/env bash
# Cold 4 KiB reads of btrfs: ours and fio's on the same mount and offsets, in turns; then what components predict of them. As root.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

rounds=${ROUNDS:-15}
repetitions=${REPETITIONS:-3}
command -v fio >/dev/null || apt-get install -y -qq fio >&2
cargo build --release --quiet -p outcrop-filesystem --example beside_fio >&2
cargo build --release --quiet -p outcrop >&2
target=${CARGO_TARGET_DIR:-target}
place=$(mktemp -d "$target/beside-fio-XXXXXX")
trap 'rmdir "$place"' EXIT

printf 'Cold 4 KiB reads, one in each extent of 256 MiB, evicted 0.3 s before each pass; %s rounds in turns, medians of ours ÷ fio (%s).\n\n' \
    "$rounds" "$(fio --version)"
# A job of fio begins a session, which the scheduler weighs as a group of its own (sched_autogroup_enabled). Ours must have one too: in that of
# a terminal it shares one weight with all that runs there, and gets less of the CPUs than the kernel threads that decompress for it.
setsid --wait "$target/release/examples/beside_fio" "$place" "$rounds" ${DATA:+"$DATA"}

printf '\nWhat components predict of cold 4 KiB reads (64 MiB, %s trials), and what was measured:\n\n' "$repetitions"
setsid --wait "$target/release/outcrop" filesystem "$place" ${DATA:+--data "$DATA"} --compression zstd:1,zstd:3,zstd:15,zlib:3 \
    --engine io_uring --queue-depth 1,16 --repetitions "$repetitions" --no-save --quiet --format json |
    python3 benchmarks/filesystem/predicted.py
printf '\nCommand: benchmarks/filesystem/run.sh with ROUNDS=%s REPETITIONS=%s.\n' "$rounds" "$repetitions"
