#!/usr/bin/env bash
# Brings a fresh Debian or Ubuntu machine with a Rust toolchain to where Outcrop builds (`profile`) or all its
# tests run (`test`). Does nothing, quickly, when nothing is missing. `make profile` and `make test` call it.
#
#   scripts/setup.sh profile|test

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf 'setup: %s\n' "$*" >&2; }

die() {
    say "$@"
    exit 1
}

# Runs as root, or as whoever may become it without being asked for a password.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo -n "$@"
    fi
}

may_install() {
    command -v apt-get >/dev/null && { [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null; }
}

# On disk, not a builtin of this shell; sbin is not on every user's PATH.
has_program() { PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin" type -P "$1" >/dev/null; }

# A shared library by its bare name, where the distribution puts it.
has_library() { compgen -G "/usr/lib/*/$1" >/dev/null || compgen -G "/usr/lib*/$1" >/dev/null; }

has_venv() { python3 -c 'import ensurepip, venv' 2>/dev/null; }

# Prints the Debian packages that are missing for the goal $1, one per line.
missing_packages() {
    has_program cc || echo build-essential
    [ "$1" = test ] || return 0
    has_program git || echo git
    has_program mkfs.ext4 || echo e2fsprogs
    { has_program mount && has_program losetup; } || echo mount
    has_program setpriv || echo util-linux
    has_program kill || echo procps
    # The filesystems that are measured, and the programs that ours is compared with.
    has_program mkfs.btrfs || echo btrfs-progs
    has_program mkfs.xfs || echo xfsprogs
    has_program mksquashfs || echo squashfs-tools
    has_program mkfs.erofs || echo erofs-utils
    has_program mkfs.f2fs || echo f2fs-tools
    has_program compsize || echo btrfs-compsize
    # A filesystem in user space to write to.
    has_program bindfs || echo bindfs
    has_program fio || echo fio
    has_program python3 || echo python3
    has_venv || echo python3-venv
    # The browser that reads a report.
    has_program chromium || echo chromium
    has_program chromedriver || echo chromium-driver
    # The caches that ours and the load driver are tested with.
    has_program curl || echo curl
    has_program memccapable || echo libmemcached-tools
    has_program memcached || echo memcached
    has_program redis-server || echo redis-server
    has_program nutcracker || echo nutcracker
    # The key-value engine that people deploy, and its own benchmark.
    has_library librocksdb.so || echo librocksdb-dev
    has_program db_bench || echo rocksdb-tools
}

install_packages() {
    local -a packages
    mapfile -t packages < <(missing_packages "$1")
    [ "${#packages[@]}" -gt 0 ] || return 0
    may_install || die "missing: ${packages[*]}. Run: sudo apt-get install -y ${packages[*]}"
    say "installing ${packages[*]}"
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=60 "${packages[@]}" >/dev/null
    mapfile -t packages < <(missing_packages "$1")
    [ "${#packages[@]}" -eq 0 ] || die "apt-get reported success, but these are still missing: ${packages[*]}"
}

# True when version $1 is at least version $2.
at_least() { [ "$(printf '%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

need_rust() {
    local wanted found
    # One source of truth: the workspace's own minimum.
    wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    if ! command -v rustc >/dev/null && [ -r "${HOME-}/.cargo/env" ]; then
        die "Rust is installed but not on PATH. Run: . \"\$HOME/.cargo/env\""
    fi
    if ! command -v cargo >/dev/null || ! command -v rustc >/dev/null; then
        die "no Rust toolchain. Install one of $wanted or newer from https://rustup.rs"
    fi
    found=$(rustc --version | cut -d' ' -f2)
    at_least "$found" "$wanted" ||
        die "rustc is $found ($(command -v rustc)), Outcrop needs $wanted or newer. Run: rustup update stable"
}

# rustfmt and clippy are not in rustup's minimal profile.
need_rust_component() {
    local program=$1 component=$2
    cargo "$program" --version >/dev/null 2>&1 && return 0
    command -v rustup >/dev/null ||
        die "cargo $program is missing, and there is no rustup to install it. Install the package of $component"
    say "installing $component"
    rustup component add "$component" >&2
}

main() {
    case "${1-}" in
    profile | test) ;;
    *) die "usage: scripts/setup.sh profile|test" ;;
    esac
    need_rust
    install_packages "$1"
    if [ "$1" = test ]; then
        need_rust_component fmt rustfmt
        need_rust_component clippy clippy
    fi
}

main "$@"
