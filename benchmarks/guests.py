"""Emulated machines with Debian's kernel and next to nothing but Outcrop: for what the kernel of this one lacks.

QEMU is installed with apt where it is missing and it may; the kernel and busybox are only fetched and unpacked.
"""

import lzma
import re
import stat
import subprocess
import sys
from pathlib import Path

from processes import output
from programs import need, outcrop

# What comes before the script of a guest. Messages of the kernel would stand in the middle of what it prints.
BEGINNING = """#!/bin/busybox sh
export PATH=/bin HOME=/tmp
/bin/busybox --install -s /bin
mkdir -p /proc /sys /dev /tmp
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t tmpfs none /tmp
dmesg -n 1
"""


def printed(folder, script, modules, *, options=None, disks=None, files=None, seconds=300):
    """What a guest prints that runs a script of busybox's shell, in which `outcrop` is a command, and is off then.

    `modules` of the kernel are loaded with `options`. A disk has bytes and what QEMU is told of it: the first is vda.
    `files` are there beside the programs. What is needed meanwhile lies in `folder`.
    """
    options, disks = options or {}, disks or {}
    kernel, busybox = fetched(kernel_package(), folder), fetched("busybox-static", folder)
    initial = folder / "initial"
    loaded = with_dependencies(kernel, modules)
    loading = [f"insmod /modules/{name}.ko {options.get(name, '')}" for name in loaded]
    contents = programs(busybox, folder) | {f"modules/{name}.ko": content for name, content in loaded.items()}
    contents["init"] = "\n".join([BEGINNING, *loading, script, "poweroff -f\n"]).encode()
    initial.write_bytes(archive(contents | (files or {})))
    # Where a module is built in, its options are the kernel's.
    words = ["console=ttyS0", "quiet", "panic=-1", *(f"{name}.{option}" for name, option in options.items())]
    command = [
        # Not with KVM: where it is there within a virtual machine, QEMU often cannot use it.
        "qemu-system-x86_64", "-machine", "q35", "-accel", "tcg", "-cpu", "max", "-smp", "2",
        "-m", "1536", "-nographic", "-no-reboot", "-nic", "none", "-kernel", next(kernel.glob("boot/vmlinuz-*")),
        "-initrd", initial, "-append", " ".join(words),
    ]
    for name, (size_bytes, told) in disks.items():
        image = folder / name
        with image.open("wb") as file:
            file.truncate(size_bytes)
        command += ["-drive", f"if=none,id={name},format=raw,file={image}"]
        command += ["-device", f"virtio-blk-pci,drive={name}{told}"]
    return output(["timeout", str(seconds), *command])


def need_programs():
    """Installs what guests are made and run with, or ends with what to run."""
    need("qemu-system-x86_64", "qemu-system-x86")
    need("strip", "binutils")


def under(text):
    """Kernel of a guest, from the line `@ kernel` with what `uname -r` says, and the emulator that it ran under."""
    release = re.search(r"@ kernel (\S+)", text)
    version = output(["qemu-system-x86_64", "--version"]).splitlines()[0]
    return f"Linux {release[1] if release else '(not said)'} under {version}"


def fetched(package, folder):
    """Downloads a Debian package, unpacks it into its own folder and returns that folder."""
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
    # Files may have either of `-` and `_` where the names of modules have `_`.
    pattern = re.sub("[-_]", "[-_]", name)
    found = [path for end in ("ko", "ko.xz") for path in kernel.glob(f"lib/modules/*/kernel/**/{pattern}.{end}")]
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


def programs(busybox, folder):
    """Outcrop and busybox, with what they load."""
    binary = Path(outcrop())
    stripped = folder / "outcrop"
    output(["strip", "-o", stripped, binary])
    files = {"bin/outcrop": stripped.read_bytes(), "bin/busybox": (busybox / "bin/busybox").read_bytes()}
    return files | {str(path).lstrip("/"): path.resolve().read_bytes() for path in libraries(binary)}


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
