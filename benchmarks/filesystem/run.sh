#!/usr/bin/env bash
# Cold 4 KiB reads of btrfs, as root: ours and fio's on the same mount, offsets and CPU, in turns (`run.sh fio`); what components predict of them
# and what was measured (`run.sh predicted`). Without a word both. ROUNDS, DEPTHS, REPETITIONS and DATA change what is measured.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

part=${1:-both}
rounds=${ROUNDS:-42}
depths=${DEPTHS:-1,16}
repetitions=${REPETITIONS:-7}
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
place=$(mktemp -d "$target/beside-fio-XXXXXX")
trap 'rmdir "$place"' EXIT

# A job of fio begins a session, which the scheduler weighs as a group of its own (sched_autogroup_enabled). Ours must have one too: in that of
# a terminal it shares one weight with all that runs there, and gets less of the CPUs than the kernel threads that decompress for it.
beside_fio() {
    command -v fio >/dev/null || apt-get install -y -qq fio >&2
    cargo build --release --quiet -p outcrop-filesystem --example beside_fio >&2
    local data=${DATA:-the built-in sample}
    printf 'Cold 4 KiB reads, one in each extent of 256 MiB (%s), evicted 0.3 s before each pass. %s rounds in turns, every second in the reverse order (A B B A); in a third of them both readers are bound to one CPU, in a third to another, in a third to none, by pairs of rounds. CPU of the process is counted from the first read to the last, of both. Medians of ours ÷ fio (%s), in parentheses their 95 %% intervals (of few rounds the range).\n\n' \
        "${data##*/}" "$rounds" "$(fio --version)"
    setsid --wait "$target/release/examples/beside_fio" "$place" "$rounds" "$depths" ${DATA:+"$DATA"}
    printf '\nCommand: ROUNDS=%s DEPTHS=%s benchmarks/filesystem/run.sh fio\n' "$rounds" "$depths"
}

predicted() {
    local outcrop=${OUTCROP:-}
    if [ -z "$outcrop" ]; then
        cargo build --release --quiet -p outcrop >&2
        outcrop=$target/release/outcrop
    fi
    printf 'What components predict of cold 4 KiB reads (64 MiB, %s trials), and what was measured. Depth 1: p50; deeper: reads per second. In parentheses the intervals of the medians.\n\n' \
        "$repetitions"
    setsid --wait "$outcrop" filesystem "$place" ${DATA:+--data "$DATA"} --compression zstd:1,zstd:3,zstd:15,zlib:3 \
        --engine io_uring --queue-depth "$depths" --repetitions "$repetitions" --no-save --quiet --format json |
        python3 benchmarks/filesystem/predicted.py
    printf '\nCommand: REPETITIONS=%s DEPTHS=%s benchmarks/filesystem/run.sh predicted\n' "$repetitions" "$depths"
}

case $part in
fio) beside_fio ;;
predicted) predicted ;;
both)
    beside_fio
    echo
    predicted
    ;;
*)
    echo "usage: $0 [fio|predicted]" >&2
    exit 2
    ;;
esac
