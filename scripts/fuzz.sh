#!/usr/bin/env bash
# Runs fuzz targets: scripts/fuzz.sh SECONDS [TARGET…]; all of fuzz/fuzz_targets without a name. Each gets SECONDS.
#
# Needs the nightly compiler and nothing else: the flags are those of cargo-fuzz, with AddressSanitizer. A target that
# asks for more than 64 MB at once, holds more than 1 GB, or is busy with one input for 10 s fails, as a panic does.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:?usage: scripts/fuzz.sh SECONDS [TARGET…]}
shift
target=x86_64-unknown-linux-gnu
[ "$(uname -m)" = x86_64 ] || target=$(uname -m)-unknown-linux-gnu
if [ $# -eq 0 ]; then
    mapfile -t names < <(basename -s .rs fuzz/fuzz_targets/*.rs)
    set -- "${names[@]}"
fi
coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters"
coverage+=" -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares"
# GCC takes zstd's static tables of functions, used after the scope that names them, for stack that is gone.
CFLAGS="${CFLAGS-} -fno-sanitize-address-use-after-scope" RUSTFLAGS="$coverage --cfg fuzzing -Zsanitizer=address -Ccodegen-units=1" \
    cargo +nightly build --quiet --release --manifest-path fuzz/Cargo.toml --target "$target" --bins
# libdeflate includes one template several times, each with static tables of the same name and size.
export ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_odr_violation=0"
for name in "$@"; do
    mkdir -p "fuzz/corpus/$name" "fuzz/artifacts/$name"
    printf '%s: ' "$name" >&2
    log=$(mktemp)
    if ! "fuzz/target/$target/release/$name" -max_total_time="$seconds" -max_len=8192 -timeout=10 -rss_limit_mb=1024 \
        -malloc_limit_mb=64 -artifact_prefix="fuzz/artifacts/$name/" "fuzz/corpus/$name" 2>"$log"; then
        cat "$log" >&2
        exit 1
    fi
    grep '^Done' "$log"
    rm -f "$log"
done
