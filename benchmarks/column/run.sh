#!/usr/bin/env bash
# Measures the column codec on generated columns, uniform and zipf, and prints the result as Markdown.
#
# ROWS and DISTINCT set the size: 14 M rows of 97,577 words by default (a minute, 300 MB of scratch files);
# ROWS=139999654 DISTINCT=975773 is the case that the size targets are about (ten minutes, 6 GB). Encoding without index and the scans,
# which are near their targets, are measured again in ROUNDS rounds (9 by default), the two columns in turn, each in a process of its own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

rows="${ROWS:-14000000}"
distinct="${DISTINCT:-97577}"
threads="${THREADS:-2}"
rounds="${ROUNDS:-9}"
folder=$(mktemp -d "${TMPDIR:-/tmp}/outcrop-column.XXXXXX")
trap 'rm -rf "$folder"' EXIT

cargo build --quiet --release --locked --package outcrop-workload --example column_text 1>&2
cargo build --quiet --release --locked --package outcrop-column --example measure_column 1>&2
examples="$(cargo metadata --format-version 1 --no-deps | python3 -c 'import json,sys; print(json.load(sys.stdin)["target_directory"])')/release/examples"

echo "$rows rows, $distinct distinct words, $threads threads to encode, 1 to search and decode. Load of the machine at the start: $(cut -d' ' -f1-3 /proc/loadavg)."
echo
for skew in 0 1; do
    echo "generating the column of skew $skew" 1>&2
    mkdir "$folder/$skew"
    "$examples/column_text" "$rows" "$distinct" "$skew" >"$folder/$skew/text"
    "$examples/measure_column" "$folder/$skew/text" "$folder/$skew" "$threads" >"$folder/skew-$skew.csv"
    rm -f "$folder/$skew/only.ocol"
done
mkdir "$folder/again"
for round in $(seq "$rounds"); do
    echo "encoding and scans, round $round of $rounds" 1>&2
    order="0 1"
    if ((round % 2 == 0)); then order="1 0"; fi
    for skew in $order; do
        "$examples/measure_column" "$folder/$skew/text" "$folder/again" "$threads" encode-none >>"$folder/rounds-$skew.csv"
        rm -f "$folder/again/none.ocol"
        "$examples/measure_column" "$folder/$skew/text" "$folder/$skew" "$threads" scan >>"$folder/rounds-$skew.csv"
    done
done
python3 benchmarks/column/tables.py "$folder" "$threads"
