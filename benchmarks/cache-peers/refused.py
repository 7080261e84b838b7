#!/usr/bin/env python3
"""What a set costs a server that refuses it: CPU time beside that of a set that is stored.

    benchmarks/cache-peers/refused.py [--rounds 12] [--sets 200000] [--value-bytes 100]

Four servers of one thread on CPU 0, asked in turns (A B C D, D C B A, …) by one client on the last CPU, 1,000 new keys
a write: `--policy none` with room for all (stored), `--policy none` when it is full (refused), the same where items
end all the time so that it has to look for them (refused, sweeping), and the default policy when it is full (stored,
evicting). The server's CPU time, user and system, is what the kernel's scheduler charged its threads
(/proc/PID/task/*/schedstat). Figures are medians over rounds; ratios are medians of the ratios within rounds, with
95 % bootstrap intervals.

Prints the result as Markdown. $OUTCROP is the program (else a release build is made); $CACHE_SERVER, if set, serves in
its place: a command in which {port}, {memory} and {policy} are replaced, such as the example `bare_server` of
outcrop-cache. Exit status 1 when a refused set takes more than twice the CPU time of a stored one.
"""

import argparse
import os
import random
import shlex
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from programs import outcrop

BATCH = 1000
MOST_RATIO = 2
OVERHEAD_BYTES = 16
# Name, limit in MiB, policy, filled first, sets of a batch that end at once.
SERVERS = [
    ("stored", 2048, "none", False, 0),
    ("refused", 64, "none", True, 0),
    ("refused, sweeping", 64, "none", True, 1),
    ("stored, evicting", 64, "s3-fifo", True, 0),
]


class Server:
    def __init__(self, command, row, value_bytes):
        self.name, mib, policy, is_filled, self.ending = row
        self.value = b"v" * value_bytes
        self.number = 0
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            port = listener.getsockname()[1]
        words = shlex.split(command.format(port=port, memory=mib << 20, policy=policy))
        self.process = subprocess.Popen(
            ["taskset", "-c", "0", *words], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.client = self.connect(port)
        self.replies = self.client.makefile("rb")
        # More than fits, by what an item takes besides its value at the least.
        for _ in range(1 + (mib << 20) // ((value_bytes + OVERHEAD_BYTES) * BATCH) if is_filled else 0):
            self.batch()

    def connect(self, port):
        deadline = time.monotonic() + 20
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port))
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    sys.exit(f"the server does not listen: {self.process.args}")

    def batch(self):
        """Sets new keys; gives how many were stored."""
        first = self.number
        self.number += BATCH
        head = f" 0 0 {len(self.value)}\r\n".encode()
        sets = b"".join(b"set k%d%s%s\r\n" % (key, head, self.value) for key in range(first, self.number))
        sets += b"set ended 0 -1 1\r\nx\r\n" * self.ending
        self.client.sendall(sets)
        answers = [self.replies.readline() for _ in range(BATCH + self.ending)]
        return sum(answer == b"STORED\r\n" for answer in answers[:BATCH])

    def cpu_ns(self):
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks)

    def round(self, sets):
        """CPU time of a set, in nanoseconds, and the share that was stored."""
        before, stored = self.cpu_ns(), 0
        for _ in range(sets // BATCH):
            stored += self.batch()
        return (self.cpu_ns() - before) / sets, stored / sets

    def stop(self):
        self.process.terminate()
        self.process.wait()


def bootstrap(values, rng):
    medians = sorted(statistics.median(rng.choices(values, k=len(values))) for _ in range(4000))
    return statistics.median(values), medians[100], medians[-101]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--sets", type=int, default=200_000)
    parser.add_argument("--value-bytes", type=int, default=100)
    arguments = parser.parse_args()
    command = os.environ.get("CACHE_SERVER") or (
        f"{outcrop()} cache serve --threads 1 --memory {{memory}} --policy {{policy}} --listen 127.0.0.1:{{port}}"
    )
    servers = [Server(command, row, arguments.value_bytes) for row in SERVERS]
    cpu, stored = ({server.name: [] for server in servers} for _ in range(2))
    try:
        for number in range(arguments.rounds):
            for server in servers if number % 2 == 0 else reversed(servers):
                nanoseconds, share = server.round(arguments.sets)
                cpu[server.name].append(nanoseconds)
                stored[server.name].append(share)
            print(f"round {number + 1}/{arguments.rounds}", file=sys.stderr)
    finally:
        for server in servers:
            server.stop()
    rng, worst = random.Random(1), 0
    print(
        f"{arguments.rounds} interleaved rounds of {arguments.sets:,} sets of new keys, {arguments.value_bytes} bytes "
        "each, 1,000 a write; server on CPU 0, client on another.\n\n"
        "| server | stored | CPU µs/set | ÷ a stored one | 95 % |\n|---|---:|---:|---:|---|"
    )
    for name, of_rounds in cpu.items():
        ratios = [one / base for one, base in zip(of_rounds, cpu["stored"], strict=True)]
        ratio, low, high = bootstrap(ratios, rng)
        share = statistics.median(stored[name])
        cpu_us = statistics.median(of_rounds) / 1e3
        print(f"| {name} | {share:.0%} | {cpu_us:.2f} | {ratio:.2f} | {low:.2f} … {high:.2f} |")
        if name.startswith("refused"):
            worst = max(worst, ratio)
    if worst > MOST_RATIO:
        sys.exit(f"a refused set takes {worst:.2f} times the CPU time of a stored one; asked for: {MOST_RATIO}")


if __name__ == "__main__":
    main()
