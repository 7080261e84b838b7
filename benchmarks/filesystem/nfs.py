#!/usr/bin/env python3
"""Outcrop on NFS, with a server that answers and with one that goes away in mid-work.

    benchmarks/filesystem/nfs.py

Few machines that build Outcrop have NFS. So this boots Debian's kernel in QEMU, with next to nothing but Outcrop in it,
as server and client in one: ext4 on a disk, exported and mounted by NFS 4.2 over the loopback, softly, so that what has
no answer fails. There commands of a column file, a run and what measures disks are tried. Prints each attempt as
Markdown, with what was asked and what it said, and ends with 1 where one is not as it should be.

How the guest is made is in `../guests.py`. It takes some minutes, since the guest's processor is emulated.
"""

import random
import re
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import guests
from processes import end_cleanly_on_signals

MODULES = ("virtio_pci", "virtio_blk", "nfsd", "nfs", "nfsv4")
DISKS = {"vda": (2 << 30, "")}
ROWS = 200_000
# What a command may take when the server is away: it asks several things one after the other, each of which has to
# fail, and the kernel may take longer for each than the mount says. So `cat` is tried, too: this many times its time,
# and the time of what needs no server.
TIMES, SECONDS = 3, 20

# Every attempt has these.
FUNCTIONS = r"""
seconds() { cut -d. -f1 /proc/uptime; }
channel() { echo "$2" > /proc/net/rpc/$1/channel; }
never=2147483647
# What exportfs and rpc.mountd would tell the kernel. 9218: any port, no check of subtrees, a number as its name (0).
export_disk() {
    channel auth.unix.ip "nfsd 127.0.0.1 $never everyone"
    channel nfsd.export "everyone /srv $never 9218 65534 65534 0"
    channel nfsd.fh "everyone 1 \x00000000 $never /srv"
}
start_server() {
    echo 'tcp 2049' > /proc/fs/nfsd/portlist
    echo 4 > /proc/fs/nfsd/threads
    # Otherwise it waits for clients that it had before.
    echo Y > /proc/fs/nfsd/v4_end_grace
}
# The server goes away; what was read already must not answer for it.
leave() {
    case $1 in
        link) ip link set lo down ;;
        server) echo 0 > /proc/fs/nfsd/threads ;;
        export) channel nfsd.export "everyone /srv $never" ;;
    esac
    # Pages alone: what forgets a file as well tells the server so, and would wait for it here.
    echo 1 > /proc/sys/vm/drop_caches
    since=$(seconds)
}
# It is there again, which the client may need some tries to find out.
come_back() {
    case $1 in
        link) ip link set lo up ;;
        # It forgets what it exports.
        server) export_disk; start_server ;;
        export) export_disk ;;
    esac
    for _ in $(seq 60); do ls /nfs > /tmp/listed 2>&1 && return; sleep 1; done
    echo "the server did not come back: $(cat /tmp/listed)"
}
begin() { "$@" > /tmp/printed 2> /tmp/errors & pid=$!; }
# Stops what has begun as soon as a condition holds.
stop_once() {
    until eval "$1"; do [ -e /proc/$pid/exe ] || { echo "it ended before"; return; }; done
    kill -STOP $pid
}
# Lets it go on to its end; the errors, how it ended, and how long after the server had left.
go_on() {
    kill -CONT $pid 2> /dev/null
    wait $pid
    code=$?
    grep -v '^note: \|%' /tmp/errors
    echo "rc $code${since:+ after $(($(seconds) - since)) s}"
}
unfinished() { set -- .outcrop-unfinished-*; [ -e "$1" ]; }
locked() {
    while read -r line; do case $line in *FLOCK*" $pid "*) return 0 ;; esac; done < /proc/locks
    return 1
}
left_behind() { echo "left behind: $(ls -A | grep -E '^\.(outcrop-|nfs)|\.tmp$' | tr '\n' ' ')"; }
# Whether a column file and its text are as those on the other folder.
as_before() {
    echo 1 > /proc/sys/vm/drop_caches
    cmp $1 ${2:-/local/$1} && outcrop column verify $1 > /dev/null 2>&1 && echo as before
}
# A command in a folder on NFS and in a local one: all files are the same afterwards.
on_both() {
    for folder in /local /nfs; do
        (cd $folder && eval "$1" > /dev/null 2> /tmp/errors) || { cat /tmp/errors; return 1; }
    done
    for file in /local/*; do cmp $file /nfs/${file##*/} || return; done
    echo same
}
# Decoding into a pipe that is not read on until something else was done.
decode_around() {
    mkfifo /tmp/pipe
    outcrop column decode w.ocol > /tmp/pipe 2> /tmp/errors & pid=$!
    exec 3< /tmp/pipe
    dd bs=1 count=1 <&3 > /tmp/decoded 2> /dev/null
    eval "$1"
    cat <&3 >> /tmp/decoded
    exec 3<&-
    rm /tmp/pipe
    go_on
}
cd /nfs
"""

SCRIPT = """
echo "@ kernel $(uname -r)"
mkdir -p /srv /nfs /again /local /var/lib/nfs/v4recovery
mke2fs /dev/vda > /dev/null 2>&1
mount -t ext4 /dev/vda /srv
mount -t tmpfs none /local
mount -t nfsd none /proc/fs/nfsd
ip link set lo up
. /functions
echo '-2 -3 +4 +4.1 +4.2' > /proc/fs/nfsd/versions
# Seconds: so long the client tries to connect again before anything fails, however soft the mount is.
echo 10 > /proc/fs/nfsd/nfsv4leasetime
echo 10 > /proc/fs/nfsd/nfsv4gracetime
export_disk
start_server
for place in /nfs /again; do
    mount -t nfs4 -o vers=4.2,addr=127.0.0.1,soft,timeo=10,retrans=2,nosharecache 127.0.0.1:/ $place
done
echo "@ mounted $(awk '$2 == "/nfs" { print $3, $4 }' /proc/mounts)"
for attempt in /attempts/*; do
    cat /functions $attempt > /tmp/attempt
    timeout -s KILL 400 sh /tmp/attempt < /dev/null > /tmp/said 2>&1
    # One that hangs has not put back what it took away.
    if [ $? = 137 ]; then
        echo "killed after 400 s" >> /tmp/said
        for way in link server export; do come_back $way; done 2> /dev/null
    fi
    tail -n 20 /tmp/said | sed "s/^/@ said ${attempt##*/} /"
done
echo "@ end"
"""

RUN = "outcrop codec --data w.txt --codec lz4,zstd:1 --block-size 4KiB --repetitions 3 --warm-up 10ms --quiet"
ERROR = "^error: .*"
# What a failed command says of a column file names it, so that it can be found among many.
ERROR_OF_COLUMN = r"^error: .*w\.ocol"
ELSEWHERE = "is on nfs4, which is stored on another machine"
CLEAN = "^left behind:$"
BEFORE = "^as before$"


class Attempt(NamedTuple):
    """What is tried, by which commands, and patterns each of which is on a line that they say."""

    what: str
    asked: tuple
    said: tuple = ("^same$",)
    # How the server goes away.
    way: str = ""


def both(what, command):
    return Attempt(what, (f"on_both 'outcrop column {command}'",))


def appends(what, first, second):
    """Two appends, of which the second begins when the first has the lock."""
    asked = (
        *first,
        "cp w.ocol x.ocol",
        "begin outcrop column append x.ocol /words",
        "stop_once locked",
        f"outcrop column append {second} /few > /dev/null & sleep 5",
        "[ -e /proc/$!/exe ] && echo the second waits",
        "go_on; wait",
        "outcrop column decode x.ocol -o x.txt --force",
        "cat w.txt /words /few | cmp - x.txt && echo one after the other",
    )
    return Attempt(what, asked, ("^the second waits$", "^rc 0$", "^one after the other$"))


ANSWERED = [
    both("encode", "encode /words -o w.ocol"),
    both("find", "find w.ocol word17 word4711 > found"),
    both("find by prefix", "find w.ocol --prefix word1 --by-value > found"),
    both("verify", "verify w.ocol > verified"),
    both("append", "append w.ocol /words"),
    both("compact to another file", "compact w.ocol -o compacted.ocol"),
    both("compact in place", "compact w.ocol --in-place"),
    both("decode to text", "decode w.ocol -o w.txt"),
    both("decode to Parquet", "decode w.ocol -o w.parquet"),
    both("encode what is on NFS", "encode w.txt -o w.ocol --force"),
    Attempt(
        "replace a file while it is read",
        (
            "decode_around 'outcrop column encode /words -o w.ocol --force > /dev/null'",
            "cmp /tmp/decoded w.txt && echo old",
            "outcrop column decode w.ocol | cmp - /words && echo new",
            "left_behind",
        ),
        ("^rc 0$", "^old$", "^new$", CLEAN),
    ),
    Attempt(
        "the same, replaced on the server",
        (
            "decode_around 'outcrop column encode w.txt -o /srv/w.ocol --force > /dev/null'",
            "cmp /tmp/decoded /words && echo old",
            "as_before w.ocol; left_behind",
        ),
        (f"{ERROR}w.ocol: Stale|^old$", "^rc [03]$", BEFORE, CLEAN),
    ),
    appends("two appends at once", (), "x.ocol"),
    # Both mounts are of one client, which would not be told what it changes itself.
    appends("the same, by two mounts", ("echo 0 > /proc/sys/fs/leases-enable",), "/again/x.ocol"),
    Attempt(
        "a writer is killed",
        (
            "begin outcrop column encode /words -o w.ocol --force",
            "stop_once unfinished",
            "kill -KILL $pid; go_on; left_behind; as_before w.ocol",
            "outcrop column encode /few -o few.ocol --force > /dev/null",
            "left_behind",
        ),
        ("^rc 137$", r"^left behind: \.outcrop-unfinished", BEFORE, CLEAN),
    ),
    Attempt(
        "a run of data and a folder on NFS",
        (f"{RUN} --duration 50ms --out runs > /dev/null", "outcrop report runs/* | grep -E '^(lz4|zstd:1) '"),
        ("^lz4 ", "^zstd:1 "),
    ),
    Attempt(
        "device",
        (
            "outcrop device /nfs --size 16MiB --duration 1s --no-save --quiet --format json > /tmp/device",
            "grep -o '/nfs is on nfs4[^\"]*' /tmp/device | head -n 1",
        ),
        (f"{ELSEWHERE}: these figures describe the network",),
    ),
    Attempt(
        "filesystem --directory",
        ("outcrop filesystem --directory /nfs --no-save",),
        (f"{ERROR}{ELSEWHERE}; choose a directory on a disk of this machine$",),
    ),
]


def away(way, how):
    """Attempts during which the server goes away in one of its ways."""
    gone = (ERROR_OF_COLUMN, "^rc [123] after ", BEFORE, CLEAN)
    back = f"come_back {way}; as_before w.ocol; left_behind"
    # The server keeps a lock until it knows that nobody has it any more, and what is locked is not removed.
    next_one = (
        "for _ in 1 2 3 4; do outcrop column encode /few -o few.ocol --force > /dev/null; "
        "unfinished || break; sleep 15; done; left_behind"
    )
    yield Attempt(f"{how}, then cat", (f"leave {way}", "begin cat w.ocol", "go_on", back), gone[1:], way)
    yield Attempt(f"decode, then {how}", (f"decode_around 'leave {way}'", back), gone, way)
    for what, command in (
        ("encode", "encode /words -o w.ocol --force"),
        ("compact in place", "compact w.ocol --in-place"),
    ):
        begun = (f"begin outcrop column {command}", "stop_once unfinished")
        yield Attempt(f"{what}, then {how}", (*begun, f"leave {way}", "go_on", back, next_one), gone, way)
    begun = "begin outcrop column find w.ocol --prefix word"
    yield Attempt(f"{how}, then find", (f"leave {way}", begun, "go_on", back), gone, way)
    yield Attempt(
        f"append, then {how}",
        (
            "cp w.ocol x.ocol",
            "begin outcrop column append x.ocol /words",
            "stop_once locked",
            f"leave {way}",
            f"go_on; come_back {way}",
            "outcrop column verify x.ocol > /dev/null 2>&1",
            "outcrop column decode x.ocol | cmp - w.txt && echo as before",
            "outcrop column append x.ocol /few > /dev/null",
            "cat w.txt /few > /tmp/both; outcrop column decode x.ocol | cmp - /tmp/both && echo usable",
        ),
        (ERROR, "^rc [23] after ", BEFORE, "^usable$"),
        way,
    )
    begun = (
        "rm -rf runs",
        f"begin {RUN} --duration 500ms --out runs",
        "stop_once 'grep -q . runs/*/trials.ndjson 2> /dev/null'",
        f"leave {way}",
    )
    shown = ("outcrop run --resume runs/* --quiet > /dev/null", "outcrop report runs/* | grep -E '^lz4 '")
    if way == "server":
        # Who holds a lock waits in the kernel for a server that has gone, however soft the mount, so it comes back.
        back = ("(sleep 60; come_back server) &", "go_on", "wait")
        yield Attempt(f"run, then {how}, and back after 60 s", (*begun, *back, *shown), ("^rc [023] after ", "^lz4 "))
    else:
        back = (f"go_on; come_back {way}",)
        yield Attempt(f"run, then {how}", (*begun, *back, *shown), (ERROR, "^rc [23] after ", "^lz4 "), way)


ATTEMPTS = [
    *ANSWERED,
    *away("server", "the server is stopped"),
    *away("export", "the export is withdrawn"),
    *away("link", "the network is down"),
]


def words():
    """Rows in an order that no codec can make small, so that a column file has more than a reader reads at once."""
    chance = random.Random(20)
    return "".join(f"word{chance.randrange(20_000)}\n" for _ in range(ROWS)).encode()


def said(text):
    """What each attempt said, line by line; ends with all that the guest printed where it did not come to its end."""
    lines = [line[line.find("@ ") + 2 :].rstrip() for line in text.splitlines() if "@ " in line]
    if "end" not in lines:
        sys.exit(f"the guest did not come to its end; it printed:\n{text}")
    found = [[] for _ in ATTEMPTS]
    for line in lines:
        if match := re.fullmatch(r"said (\d+) ?(.*)", line):
            found[int(match[1])].append(re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", match[2]))
    return found


def seconds(lines):
    """How long after the server had left a command ended; None where it did not leave."""
    found = [int(match[1]) for line in lines if (match := re.search(r"^rc \d+ after (\d+) s$", line))]
    return found[0] if found else None


def is_as_it_should_be(attempt, lines, of_cat):
    """Each pattern is on a line, nothing panicked or hung, and what failed says so in a line, about as soon as cat."""
    errors = [line for line in lines if line.startswith("error: ")]
    wrong = [line for line in lines if re.search("panicked|^killed|did not come back|ended before", line)]
    is_said = all(any(re.search(pattern, line) for line in lines) for pattern in attempt.said)
    taken, allowed = seconds(lines) or 0, TIMES * (of_cat.get(attempt.way) or 0) + SECONDS
    return is_said and not wrong and len(errors) <= 1 and (not attempt.way or taken <= allowed)


def cell(text):
    return text.replace("|", "\\|")


def main():
    end_cleanly_on_signals()
    guests.need_programs()
    files = {"words": words(), "few": b"granite\nbasalt\n", "functions": FUNCTIONS.encode()}
    for number, attempt in enumerate(ATTEMPTS):
        files[f"attempts/{number:02}"] = "".join(f"{line}\n" for line in attempt.asked).encode()
    with tempfile.TemporaryDirectory(prefix="outcrop-nfs-") as folder:
        text = guests.printed(Path(folder), SCRIPT, MODULES, disks=DISKS, files=files, seconds=3600)
    found = said(text)
    mounted = re.search(r"@ mounted (.*)", text)
    print(f"A guest with {guests.under(text)}; mounted: `{mounted[1].strip() if mounted else ''}`.\n")
    print("| what | asked | said | as it should be |\n|---|---|---|---|")
    tried = list(zip(ATTEMPTS, found, strict=True))
    of_cat = {attempt.way: seconds(lines) for attempt, lines in tried if attempt.what.endswith("then cat")}
    verdicts = [is_as_it_should_be(*each, of_cat) for each in tried]
    for (attempt, lines), is_right in zip(tried, verdicts, strict=True):
        verdict = "yes" if is_right else "**no**"
        print(f"| {attempt.what} | `{cell('; '.join(attempt.asked))}` | {cell('; '.join(lines))} | {verdict} |")
    if not all(verdicts):
        sys.exit(1)


if __name__ == "__main__":
    main()
