"""Whose turn it is, on which CPU, and files and devices that are gone however a benchmark beside fio ends."""

import contextlib
import os
import signal
import tempfile
from pathlib import Path

from processes import ENDING, output


@contextlib.contextmanager
def random_file(directory, size_mib):
    """A file of random bytes, for as long as it is needed."""
    # Between making something and promising to remove it no signal may come.
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    handle, path = tempfile.mkstemp(prefix="fio-iops-", dir=directory)
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        with os.fdopen(handle, "wb") as file:
            for _ in range(size_mib):
                file.write(os.urandom(1 << 20))
            file.flush()
            os.fsync(file.fileno())
            # fio drops the pages of its file before it reads; whoever comes before it should find none either.
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        yield Path(path)
    finally:
        os.unlink(path)


@contextlib.contextmanager
def loop_device(path):
    """A loop device over a file, past the page cache, for as long as it is needed."""
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    device = output(["losetup", "--find", "--show", "--direct-io=on", path]).strip()
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        yield device
    finally:
        output(["losetup", "--detach", device])


def default_cpus():
    """The first and the last CPU that this process may use: often only one of them serves the disk's interrupts."""
    allowed = sorted(os.sched_getaffinity(0))
    return sorted({allowed[0], allowed[-1]})


def add_arguments(parser, rounds):
    cpus = ",".join(map(str, default_cpus()))
    parser.add_argument("--rounds", type=int, default=rounds, help="twice the number of CPUs, or a multiple of that")
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--cpus", default=cpus, help="to which programs are bound, in turn")


def check_arguments(parser, arguments):
    """Replaces the text of `--cpus` by their numbers."""
    allowed = os.sched_getaffinity(0)
    try:
        arguments.cpus = [int(cpu) for cpu in arguments.cpus.split(",")]
    except ValueError:
        parser.error("--cpus takes numbers with commas between them")
    if not arguments.cpus or not allowed.issuperset(arguments.cpus):
        parser.error(f"--cpus takes CPUs that this process may use: {','.join(map(str, sorted(allowed)))}")
    cycle = 2 * len(arguments.cpus)
    if arguments.rounds < cycle or arguments.rounds % cycle:
        parser.error(f"--rounds must be a multiple of {cycle}: on each CPU a round, and one in the reverse order")


def turn(number, cpus, tools):
    """The CPU that all tools are bound to in a round, and their order.

    CPUs change from pair to pair of rounds. The second round of a pair has the order of the first from behind
    (A B B A), so that a machine that grows slower all the while slows each as much; the pairs of a CPU begin with
    another tool each, since what the first one leaves behind would be the others' advantage.
    """
    pair = number // 2
    first = pair // len(cpus) % len(tools)
    order = tools[first:] + tools[:first]
    return cpus[pair % len(cpus)], order if number % 2 == 0 else order[::-1]


def bound(cpu):
    """Binds a program with all of its threads, and with the io_uring workers that serve them, as fio's option does."""
    return ["taskset", "--cpu-list", str(cpu)]


def interrupts():
    """How many interrupts each CPU has served so far, by their name in /proc/interrupts."""
    header, *lines = Path("/proc/interrupts").read_text().splitlines()
    cpus = [int(word.removeprefix("CPU")) for word in header.split()]
    counts = {}
    for line in lines:
        name, *words = line.split()
        numbers = [int(word) for word in words[: len(cpus)] if word.isdigit()]
        if len(numbers) == len(cpus):
            key = name.rstrip(":")
            # Those of devices have a number; the device is named last.
            counts[words[-1] if key.isdigit() else key] = dict(zip(cpus, numbers, strict=True))
    return counts


def between_cpus(before, after):
    """Interrupts by which one CPU woke another (RES) or had it do something (CAL); None where they have other names."""
    names = [name for name in ("RES", "CAL") if name in before]
    return sum(sum(after[name].values()) - sum(before[name].values()) for name in names) if names else None


def busiest_device(before, after):
    """A sentence on which CPU served the device that interrupted most."""
    devices = [name for name in after if name in before and not name.isupper()]
    served = {name: {cpu: after[name][cpu] - before[name][cpu] for cpu in after[name]} for name in devices}
    if not served:
        return "/proc/interrupts names no device."
    name = max(served, key=lambda name: sum(served[name].values()))
    total = max(sum(served[name].values()), 1)
    shares = [f"{100 * count / total:.0f} % by CPU {cpu}" for cpu, count in served[name].items() if count]
    return f"The device that interrupted most meanwhile is {name}: {total:,} times, served {', '.join(shares)}."
