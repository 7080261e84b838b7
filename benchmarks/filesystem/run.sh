#!/usr/bin/env bash
# Our cold 4 KiB reads and fio's, on the same mount of btrfs and the same offsets, in turns: IOPS, CPU and bytes read. As root.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

rounds=${ROUNDS:-9}
command -v fio >/dev/null || apt-get install -y -qq fio >&2
cargo build --release --quiet -p outcrop-filesystem --example beside_fio >&2
target=${CARGO_TARGET_DIR:-target}
place=$(mktemp -d "$target/beside-fio-XXXXXX")
trap 'rmdir "$place"' EXIT

printf 'Cold 4 KiB reads, one in each extent of 64 MiB, evicted before each pass; %s rounds in turns, medians of ours ÷ fio (%s).\n\n' \
    "$rounds" "$(fio --version)"
"$target/release/examples/beside_fio" "$place" "$rounds" ${DATA:+"$DATA"}
printf '\nCommand: benchmarks/filesystem/run.sh with ROUNDS=%s.\n' "$rounds"
