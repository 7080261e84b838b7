#!/usr/bin/env bash
# Compares encoding, the equality scan and Arrow arrays with programs that only make the necessary memory accesses, in turn
# (A B A B …), on generated columns, uniform and zipf, and prints the result as Markdown.
#
# ROWS and DISTINCT set the size: 14 M rows of 97,577 words by default (a minute); ROWS=139999654 DISTINCT=975773 is the case that the
# targets are about (eight minutes on two cores, 6 GB of memory, 2 GB of scratch files). ROUNDS is the number of samples of each.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

rows="${ROWS:-14000000}"
distinct="${DISTINCT:-97577}"
threads="${THREADS:-2}"
rounds="${ROUNDS:-9}"
folder=$(mktemp -d "${TMPDIR:-/tmp}/outcrop-bounds.XXXXXX")
trap 'rm -rf "$folder"' EXIT

cargo build --quiet --release --locked --package outcrop-workload --example column_text 1>&2
cargo build --quiet --release --locked --package outcrop-column --example memory_bound 1>&2
examples="$(cargo metadata --format-version 1 --no-deps | python3 -c 'import json,sys; print(json.load(sys.stdin)["target_directory"])')/release/examples"

echo "Load of the machine at the start: $(cut -d' ' -f1-3 /proc/loadavg). $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | sed 's/^ *//')."
for skew in 0 1; do
    echo
    echo "Skew $skew:"
    "$examples/column_text" "$rows" "$distinct" "$skew" >"$folder/text"
    "$examples/memory_bound" "$folder/text" "$threads" "$rounds" "$folder"
done
