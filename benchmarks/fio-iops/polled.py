#!/usr/bin/env python3
"""Reads a device that can be polled: a disk of an emulated machine, since few machines have one.

    benchmarks/fio-iops/polled.py

Linux gives virtio disks queues to poll when it is told to. So this boots Debian's kernel in QEMU, with next to nothing
but Outcrop in it, and two disks: one with a queue to poll and one without. On the first Outcrop reads by interrupt and
polled; the interrupts that the kernel counted show which it was. On the second it has to refuse. Prints both as
Markdown, and ends with 1 where one of them is not so. Rates say nothing here.

QEMU is installed with apt where it is missing and it may; the kernel and busybox are fetched and unpacked, not
installed. It takes a minute.
"""

import lzma
import re
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import turns
from programs import need, outcrop
from turns import output

DISK_BYTES = 64 << 20
MODULES = ("virtio_pci", "virtio_blk")
QUEUES = {"vda": 2, "vdb": 1}
# The last queue of a disk is one to poll, if it has another.
OPTIONS = {"virtio_blk": "poll_queues=1"}

INIT = """#!/bin/busybox sh
export PATH=/bin HOME=/tmp
busybox mkdir -p /proc /sys /dev /tmp
busybox mount -t proc none /proc
busybox mount -t sysfs none /sys
busybox mount -t devtmpfs none /dev
busybox mount -t tmpfs none /tmp
{modules}
# Requests that were answered, interrupts of the disks' queues.
count() {{
    busybox awk '{{ print $1 }}' /sys/block/$1/stat
    busybox awk '/virtio[0-9]+-req/ {{ sum += $2 + $3 }} END {{ print sum + 0 }}' /proc/interrupts
}}
try() {{
    echo "@ before $1 $2 $(busybox cat /sys/block/$1/queue/io_poll)" $(count $1)
    /outcrop device --read-only /dev/$1 --engine io_uring --completions $2 --io-block-size 4KiB --queue-depth 1 \\
        --duration 2s --warm-up 100ms --repetitions 1 --read-write-mix 100:0 --out /tmp/run-$1-$2 --quiet 2>&1 |
        busybox sed 's/^/@ said /'
    echo "@ after" $(count $1)
}}
echo "@ kernel $(busybox uname -r)"
try vda interrupt
try vda polled
try vdb polled
busybox poweroff -f
"""


def fetched(package, folder):
    """The files of a Debian package, unpacked into a folder of their own."""
    place = folder / package
    place.mkdir()
    # apt has a user of its own for fetching; as root it would warn that this one cannot write here.
    fetch = ["apt-get", "-o", "APT::Sandbox::User=root", "download", "-qq", package]
    subprocess.run(fetch, check=True, cwd=place, stdout=sys.stderr)
    (archive,) = place.glob("*.deb")
    output(["dpkg-deb", "--extract", archive, place])
    return place


def kernel_package():
    """The package that Debian's newest kernel for virtual machines is in."""
    names = re.findall(r"Depends: (linux-image-\S+)", output(["apt-cache", "depends", "linux-image-cloud-amd64"]))
    if not names:
        sys.exit("apt knows no linux-image-cloud-amd64; run: apt-get update")
    return names[0]


def module(kernel, name):
    """The bytes of a kernel module; None where the kernel has it built in."""
    found = [*kernel.glob(f"lib/modules/*/kernel/**/{name}.ko"), *kernel.glob(f"lib/modules/*/kernel/**/{name}.ko.xz")]
    if not found:
        return None
    content = found[0].read_bytes()
    return lzma.decompress(content) if found[0].suffix == ".xz" else content


def with_dependencies(kernel, names):
    """Kernel modules in the order in which they can be loaded, each after what it names."""
    loaded = {}
    for name in names:
        content = module(kernel, name)
        if content is None:
            continue
        stated = re.search(rb"\0depends=([^\0]*)\0", content)
        others = stated[1].decode().split(",") if stated and stated[1] else []
        loaded |= with_dependencies(kernel, [other for other in others if other not in loaded])
        loaded[name] = content
    return loaded


def libraries(binary):
    """The shared libraries that a program loads, with the loader itself."""
    words = output(["ldd", binary]).split()
    return [Path(word) for word in words if word.startswith("/")]


def archive_entry(number, name, mode, content=b""):
    """One file of an archive as the kernel unpacks it at boot (cpio, newc)."""
    path = name.encode() + b"\0"
    fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(path), 0)
    entry = b"070701" + "".join(f"{field:08x}" for field in fields).encode() + path
    return pad(entry) + pad(content)


def pad(content):
    return content + b"\0" * (-len(content) % 4)


def archive(files):
    """An archive of programs, with the folders that they are in."""
    folders = {str(parent) for name in files for parent in Path(name).parents if str(parent) != "."}
    entries = [(name, stat.S_IFDIR | 0o755, b"") for name in sorted(folders)]
    entries += [(name, stat.S_IFREG | 0o755, content) for name, content in files.items()]
    numbered = [archive_entry(number, *entry) for number, entry in enumerate(entries, 1)]
    return b"".join([*numbered, archive_entry(0, "TRAILER!!!", 0)])


def initial_files(kernel, busybox, folder):
    """What the guest has instead of a root filesystem."""
    binary = Path(outcrop())
    stripped = folder / "outcrop"
    output(["strip", "-o", stripped, binary])
    files = {"outcrop": stripped.read_bytes(), "bin/busybox": (busybox / "bin/busybox").read_bytes()}
    files |= {str(path).lstrip("/"): path.resolve().read_bytes() for path in libraries(binary)}
    loaded = with_dependencies(kernel, MODULES)
    files |= {f"modules/{name}.ko": content for name, content in loaded.items()}
    lines = [f"busybox insmod /modules/{name}.ko {OPTIONS.get(name, '')}" for name in loaded]
    return files | {"init": INIT.format(modules="\n".join(lines)).encode()}


def boot(kernel, initial, folder):
    """What the guest prints."""
    command = [
        # Not with KVM: where it is there within a virtual machine, QEMU often cannot use it.
        "qemu-system-x86_64", "-machine", "q35", "-accel", "tcg", "-cpu", "max", "-smp", "2",
        "-m", "1536", "-nographic", "-no-reboot", "-nic", "none", "-kernel", next(kernel.glob("boot/vmlinuz-*")),
        "-initrd", initial, "-append", "console=ttyS0 quiet panic=-1 virtio_blk.poll_queues=1",
    ]
    for name, queues in QUEUES.items():
        image = folder / name
        with image.open("wb") as file:
            file.truncate(DISK_BYTES)
        command += ["-drive", f"if=none,id={name},format=raw,file={image}"]
        command += ["-device", f"virtio-blk-pci,drive={name},num-queues={queues}"]
    return output(["timeout", "300", *command])


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
    turns.end_cleanly_on_signals()
    need("qemu-system-x86_64", "qemu-system-x86")
    need("strip", "binutils")
    with tempfile.TemporaryDirectory(prefix="fio-iops-polled-") as name:
        folder = Path(name)
        kernel, busybox = fetched(kernel_package(), folder), fetched("busybox-static", folder)
        initial = folder / "initial"
        initial.write_bytes(archive(initial_files(kernel, busybox, folder)))
        text = boot(kernel, initial, folder)
    found = attempts_of(text)
    release = re.search(r"@ kernel (\S+)", text)
    version = output(["qemu-system-x86_64", "--version"]).splitlines()[0]
    print(f"4 KiB random reads at depth 1 of disks of a guest with Linux {release[1]} under {version}.\n")
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
