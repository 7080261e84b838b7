#!/usr/bin/env python3
"""Reads a device that can be polled: a disk of an emulated machine, since few machines have one.

    benchmarks/fio-iops/polled.py

Linux gives virtio disks queues to poll when it is told to. So this boots Debian's kernel in QEMU, with next to nothing
but Outcrop in it, and two disks: one with a queue to poll and one without. On the first Outcrop reads by interrupt and
polled; the interrupts that the kernel counted show which it was. On the second it has to refuse. Prints both as
Markdown, and ends with 1 where one of them is not so. Rates say nothing here.

How the guest is made is in `../guests.py`. It takes a minute.
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import guests
from processes import end_cleanly_on_signals

MODULES = ("virtio_pci", "virtio_blk")
# The last queue of a disk is one to poll, if it has another.
OPTIONS = {"virtio_blk": "poll_queues=1"}
DISKS = {name: (64 << 20, f",num-queues={queues}") for name, queues in (("vda", 2), ("vdb", 1))}

SCRIPT = """
# Requests that were answered, interrupts of the disks' queues.
count() {
    awk '{ print $1 }' /sys/block/$1/stat
    awk '/virtio[0-9]+-req/ { sum += $2 + $3 } END { print sum + 0 }' /proc/interrupts
}
try() {
    echo "@ before $1 $2 $(cat /sys/block/$1/queue/io_poll)" $(count $1)
    outcrop device --read-only /dev/$1 --engine io_uring --completions $2 --io-block-size 4KiB --queue-depth 1 \\
        --duration 2s --warm-up 100ms --repetitions 1 --read-write-mix 100:0 --out /tmp/run-$1-$2 --quiet 2>&1 |
        sed 's/^/@ said /'
    echo "@ after" $(count $1)
}
echo "@ kernel $(uname -r)"
try vda interrupt
try vda polled
try vdb polled
"""


def attempts(text):
    """Of each attempt: disk, completions, whether it can be polled, requests answered, interrupts, what was said."""
    found = []
    for line in text.splitlines():
        kind, *words = line[line.find("@ ") + 2 :].split() if "@ " in line else [""]
        if kind == "before":
            disk, completions, is_pollable, *counts = words
            found.append({"disk": disk, "completions": completions, "is_pollable": is_pollable == "1", "said": []})
            found[-1]["before"] = [int(count) for count in counts]
        elif kind == "said":
            found[-1]["said"].append(" ".join(words))
        elif kind == "after":
            requests, interrupts = (int(now) - then for now, then in zip(words, found[-1]["before"], strict=True))
            found[-1] |= {"requests": requests, "interrupts": interrupts}
    return found


def attempts_of(text):
    """The three attempts; ends with all that the guest printed where it did not come to make them."""
    try:
        found = attempts(text)
    except ValueError:
        found = []
    if len(found) != 3 or any("requests" not in attempt for attempt in found):
        sys.exit(f"the guest did not come to its end; it printed:\n{text}")
    return found


def is_as_it_should_be(attempt):
    """By interrupt about one for each request; polled next to none; and without a queue to poll a refusal."""
    said = " ".join(attempt["said"])
    if attempt["completions"] == "interrupt":
        return attempt["requests"] > 100 and attempt["interrupts"] > attempt["requests"] / 2
    if attempt["disk"] == "vda":
        return attempt["requests"] > 100 and attempt["interrupts"] < attempt["requests"] / 20
    return not attempt["is_pollable"] and "has no queues to poll" in said


def main():
    end_cleanly_on_signals()
    guests.need_programs()
    with tempfile.TemporaryDirectory(prefix="fio-iops-polled-") as folder:
        text = guests.printed(Path(folder), SCRIPT, MODULES, options=OPTIONS, disks=DISKS)
    found = attempts_of(text)
    print(f"4 KiB random reads at depth 1 of disks of a guest with {guests.under(text)}.\n")
    print("| disk | queues to poll | completions | requests answered | interrupts | as it should be | said |")
    print("|---|---|---|---:|---:|---|---|")
    for attempt in found:
        words = ["yes" if attempt["is_pollable"] else "no", attempt["completions"]]
        counts = [f"{attempt['requests']:,}", f"{attempt['interrupts']:,}"]
        verdict = "yes" if is_as_it_should_be(attempt) else "**no**"
        # Where it ran there is a report of figures that say nothing here.
        said = " ".join(line for line in attempt["said"] if line.startswith("error: "))
        print(f"| {' | '.join([attempt['disk'], *words, *counts, verdict, said])} |")
    if not all(is_as_it_should_be(attempt) for attempt in found):
        sys.exit(1)


if __name__ == "__main__":
    main()
