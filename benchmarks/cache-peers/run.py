#!/usr/bin/env python3
"""Holds Outcrop's cache server, asked in memcached's protocol and in Redis's, beside Redis, memcached and MEMCACHED.

    benchmarks/cache-peers/run.py [--part cpu|memory|all] [--only TEXT] [--rounds 9] [--seconds 1] [--memory-mib 64]

CPU: each server on CPU 0, the driver (`outcrop cache load`) on the last one, in turns: A B C, C B A, A B C, …
Server CPU per request is what the kernel's scheduler charged all of the server's threads over the measured time
(/proc/PID/task/*/schedstat, in nanoseconds), divided by the answers. Figures are medians over rounds. A comparison is
the median of the ratios within rounds, with a 95 % bootstrap interval, and next to it the ratio of the medians: where
they disagree, neither is known. The pooled p99 is that of all answers of all rounds together. The open loop wants more
and longer rounds: --only 'open loop' --rounds 60 --seconds 2.

Memory: ETC sets of --keys keys under one limit; then each other server again with its limit set so that it is as large
as memcached *resident*; items kept, and the hit ratio of ETC with sets on misses.

Prints the result as Markdown; `cargo xtask bench-record cache-peers` keeps it. $OUTCROP is the program (else a release
build is made); $CACHE_SERVER, if set, serves in its place: a command in which {port} and {memory} are replaced, such as
the example `bare_server` of outcrop-cache; it is not asked in Redis's protocol then. $MEMCACHED names another build of
memcached. $FLOOR names a build of floor.c, which does nothing but the system calls of a request; it takes --part cpu
--only 'small gets'. memcached and redis-server come from the system's packages.
"""

import argparse
import json
import os
import random
import re
import shlex
import socket
import statistics
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from programs import need, outcrop

SMALL = ["--key-size", "fixed:16", "--value-size", "fixed:16", "--mix", "1:0", "--popularity", "uniform"]
ETC = ["--workload", "etc"]
# Name, workload, connections, pipeline, offered rate (none: closed loop).
CASES = [
    ("small gets", SMALL, 1, 1, None),
    ("small gets", SMALL, 16, 1, None),
    ("small gets", SMALL, 64, 1, None),
    ("small gets", SMALL, 16, 16, None),
    ("small gets", SMALL, 64, 16, None),
    ("ETC", ETC, 50, 1, None),
    ("ETC", ETC, 50, 16, None),
    ("ETC", ETC, 50, 1, "poisson:15k"),
]
CPU_MEMORY_MIB = 512


@dataclass
class Server:
    """How to start one, and how it is spoken to."""

    name: str
    scheme: str
    command: str
    is_ours: bool = False

    def start(self, memory_bytes):
        port = free_port()
        words = [
            word.format(port=port, memory=memory_bytes, mib=max(1, round(memory_bytes / (1 << 20))))
            for word in shlex.split(self.command)
        ]
        process = subprocess.Popen(
            ["taskset", "-c", "0", *words], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        return Running(self, process, port)


class Running:
    def __init__(self, server, process, port):
        self.server, self.process, self.port = server, process, port
        deadline = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return
            except OSError:
                if process.poll() is not None or time.monotonic() > deadline:
                    sys.exit(f"{server.name} does not listen: {server.command}")

    @property
    def target(self):
        return f"{self.server.scheme}://127.0.0.1:{self.port}"

    def resident_bytes(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) * 1024

    def items(self):
        if self.server.scheme == "redis":
            return int(self.ask(b"DBSIZE\r\n", b"\r\n").strip().lstrip(b":"))
        stats = self.ask(b"stats\r\n", b"END\r\n").decode()
        return int(re.search(r"STAT curr_items (\d+)", stats).group(1))

    def ask(self, request, end):
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as connection:
            connection.sendall(request)
            answer = b""
            while not answer.endswith(end):
                answer += connection.recv(65536)
        return answer

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def version(program, *arguments):
    said = subprocess.run([program, *arguments], capture_output=True, text=True, check=False).stdout
    found = re.search(r"\d+\.\d+\.\d+", said)
    return found.group(0) if found else "of unknown version"


def servers(binary):
    need("redis-server", "redis-server")
    need("memcached", "memcached")
    ours = os.environ.get("CACHE_SERVER") or (
        f"{binary} cache serve --threads 1 --memory {{memory}} --listen 127.0.0.1:{{port}}"
    )
    redis = (
        "redis-server --bind 127.0.0.1 --port {port} --save '' --appendonly no --maxmemory {memory} "
        "--maxmemory-policy allkeys-lru"
    )
    memcached = "{} -u root -t 1 -l 127.0.0.1 -U 0 -p {{port}} -m {{mib}} -c 4096"
    found = [
        Server("outcrop", "memcached", ours, is_ours=True),
        Server(f"Redis {version('redis-server', '--version')}", "redis", redis),
        Server(f"memcached {version('memcached', '-V')} (Debian)", "memcached", memcached.format("memcached")),
    ]
    if os.environ.get("FLOOR"):
        found.append(Server("bare system calls", "memcached", f"{shlex.quote(os.environ['FLOOR'])} {{port}} et"))
    named = os.environ.get("MEMCACHED")
    if named:
        found.append(Server(f"memcached {version(named, '-V')}", "memcached", memcached.format(shlex.quote(named))))
    if not os.environ.get("CACHE_SERVER"):
        # Its memcached port, which nobody asks, is any that is free.
        asked_as_redis = ours.replace("127.0.0.1:{port}", "127.0.0.1:0 --redis 127.0.0.1:{port}")
        found.append(Server("outcrop --redis", "redis", asked_as_redis, is_ours=True))
    return found


def built(program):
    """How a memcached was built, as far as its build folder says so."""
    folder = Path(program).resolve().parent
    found = []
    for file, pattern, what in [
        ("config.log", r"^  \$ (.*configure.*)$", "by `{}`"),
        ("Makefile", r"^CFLAGS = (.*)$", "with CFLAGS `{}`"),
    ]:
        text = (folder / file).read_text(errors="replace") if (folder / file).is_file() else ""
        line = re.search(pattern, text, re.MULTILINE)
        found += [what.format(line.group(1).strip())] if line else []
    return " ".join(found) or "in a way that is not known: its folder has no config.log"


def load(binary, running, *arguments):
    """What the driver says, by name."""
    said = subprocess.run(
        [binary, "cache", "load", "--target", running.target, "--format", "json", *arguments],
        capture_output=True, text=True, check=False,
    )
    if said.returncode != 0:
        sys.exit(f"{running.server.name}: {said.stderr}")
    document = json.loads(said.stdout)
    said = {row["what"]: row["value"] for row in document["rows"]}
    said["counts"] = counts(said, document["details"]["distribution"])
    if not isinstance(said["latency p99"], float | int):
        sys.exit(f"{running.server.name}: too few answers for a p99: {said}")
    return said


def counts(said, distribution):
    """How many answers took how long, of the kinds of requests that say how many they are."""
    found, before = Counter(), {}
    for point in distribution:
        kind, share = point["request"], point["share_ratio"]
        # Hits and misses are gets once more.
        number = said.get(f"{kind}s")
        if number is not None:
            found[point["latency_ns"]] += (share - before.get(kind, 0)) * number
            before[kind] = share
    return found


def pooled_p99_us(rounds):
    """Of all answers of all rounds together."""
    together = sum((one["counts"] for one in rounds), Counter())
    left = 0.99 * sum(together.values())
    for latency in sorted(together):
        left -= together[latency]
        if left <= 0:
            return latency / 1e3
    return float("nan")


def bootstrap(values, rng):
    medians = sorted(statistics.median(rng.choices(values, k=len(values))) for _ in range(4000))
    return statistics.median(values), medians[100], medians[-101]


def one_round(binary, all_running, case, seconds, number):
    _, workload, connections, pipeline, rate = case
    result = {}
    for running in all_running if number % 2 == 0 else reversed(all_running):
        arguments = [
            *workload, "--connections", str(connections), "--pipeline", str(pipeline), "--warm-up", "100ms",
            "--duration", f"{seconds}s", "--seed", str(number + 1),
        ]
        if rate:
            arguments += ["--arrival", rate]
        said = load(binary, running, *arguments)
        result[running.server.name] = {
            "cpu_us": said["server CPU"] / 1e3,
            "p99_us": said["latency p99"] / 1e3,
            "throughput": said["throughput"],
            "answered": said["answered"] / said["offered"] if rate else None,
            "driver_share": said["driver CPU share"],
            "counts": said["counts"],
        }
    return result


def label(case):
    name, _, _, _, rate = case
    return name + (f", {rate} open loop" if rate else "")


def cpu_part(binary, found, arguments):
    chosen = [index for index, case in enumerate(CASES) if arguments.only in label(case)]
    if not chosen:
        sys.exit(f"no load is named {arguments.only!r}; there are: {', '.join(map(label, CASES))}")
    rounds = {index: [] for index in chosen}
    for workload in (SMALL, ETC):
        if all(CASES[index][1] is not workload for index in chosen):
            continue
        all_running = [server.start(CPU_MEMORY_MIB << 20) for server in found]
        try:
            for running in all_running:
                load(binary, running, *workload, "--duration", "100ms", "--pipeline", "16")
            for number in range(arguments.rounds):
                for index, case in ((index, CASES[index]) for index in chosen):
                    if case[1] is workload:
                        rounds[index].append(one_round(binary, all_running, case, arguments.seconds, number))
                        print(f"round {number + 1}/{arguments.rounds}, {case[0]} {case[2:]}", file=sys.stderr)
        finally:
            for running in all_running:
                running.stop()
    return rounds


def table(head, rows):
    """Markdown, from the name and the line of each column and from rows of texts."""
    lines = [[name for name, _ in head], [line for _, line in head], *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def medians(of_rounds, server):
    of = [one[server.name] for one in of_rounds]
    keys = ("cpu_us", "p99_us", "throughput", "driver_share")
    found = {key: statistics.median(one[key] for one in of) for key in keys}
    answered = [one["answered"] for one in of if one["answered"] is not None]
    found["answered"] = f"{statistics.median(answered):.4f}" if answered else "–"
    found["pooled_us"] = pooled_p99_us(of)
    return found


def cpu_table(rounds, found):
    left, right = "---", "---:"
    head = [
        ("load", left), ("connections", right), ("pipeline", right), ("server", left), ("CPU µs/request", right),
        ("p99 µs", right), ("p99 µs, pooled", right), ("requests/s", right), ("answered ÷ offered", right),
        ("driver's CPU", right),
    ]
    rows = []
    for index, of_rounds in rounds.items():
        _, _, connections, pipeline, _ = CASES[index]
        for server in found:
            of = medians(of_rounds, server)
            rows.append([
                label(CASES[index]), str(connections), str(pipeline), server.name, f"{of['cpu_us']:.2f}",
                f"{of['p99_us']:,.0f}", f"{of['pooled_us']:,.0f}", f"{of['throughput']:,.0f}", of["answered"],
                f"{of['driver_share']:.2f}",
            ])
    return table(head, rows)


def pairs(found):
    """Ours beside each peer, and asked in its own protocol beside Redis."""
    for ours in (server for server in found if server.is_ours):
        for peer in (server for server in found if not server.is_ours):
            if ours is found[0] or ours.scheme == peer.scheme:
                yield ours, peer


def ratio_table(rounds, found):
    rng = random.Random(1)
    left, right = "---", "---:"
    head = [
        ("load", left), ("connections", right), ("pipeline", right), ("ours ÷ peer", left),
        ("CPU, median of ratios", right), ("95 %", left), ("ratio of medians", right),
        ("p99, median of ratios", right), ("95 %", left), ("ratio of medians", right), ("pooled", right),
    ]
    rows = []
    for index, of_rounds in rounds.items():
        _, _, connections, pipeline, _ = CASES[index]
        for ours, peer in pairs(found):
            of, of_peer = medians(of_rounds, ours), medians(of_rounds, peer)
            cells = [label(CASES[index]), str(connections), str(pipeline), f"{ours.name} ÷ {peer.name}"]
            for metric in ("cpu_us", "p99_us"):
                ratios = [one[ours.name][metric] / one[peer.name][metric] for one in of_rounds]
                ratio, low, high = bootstrap(ratios, rng)
                cells += [f"{ratio:.2f}", f"{low:.2f} … {high:.2f}", f"{of[metric] / of_peer[metric]:.2f}"]
            rows.append([*cells, f"{of['pooled_us'] / of_peer['pooled_us']:.2f}"])
    return table(head, rows)


def fill(binary, server, memory_bytes, arguments):
    """Fills a server with ETC, and asks it: items, resident bytes, hit ratio."""
    with server.start(memory_bytes) as running:
        keys = ["--keys", str(arguments.keys), "--pipeline", "16", "--connections", "16"]
        said = load(binary, running, *ETC, *keys, "--warm-up", "auto", "--duration", f"{arguments.fill_seconds}s")
        return {
            "limit": memory_bytes, "items": running.items(), "resident": running.resident_bytes(),
            "hits": said["hit ratio"], "byte_hits": said["byte hit ratio"],
        }


def memory_part(binary, found, arguments):
    limit = arguments.memory_mib << 20
    plain = {}
    for server in found:
        print(f"filling {server.name}", file=sys.stderr)
        plain[server.name] = fill(binary, server, limit, arguments)
    rows = [(server.name, plain[server.name]) for server in found]
    wanted = next(plain[server.name]["resident"] for server in found if server.name.startswith("memcached"))
    for server in found[:2]:
        # Resident memory follows the limit: moved by what is missing, twice.
        seen = plain[server.name]
        for _ in range(2):
            print(f"filling {server.name}, as large as memcached resident", file=sys.stderr)
            seen = fill(binary, server, seen["limit"] + wanted - seen["resident"], arguments)
        rows.append((f"{server.name}, as large as memcached", seen))
    return rows


def memory_table(rows):
    memcached = next(row for name, row in rows if name.startswith("memcached"))
    lines = [
        "| server | limit MiB | resident MiB | items | items ÷ memcached's | hit ratio | byte hit ratio |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, row in rows:
        mib = 1 << 20
        lines.append(
            f"| {name} | {row['limit'] / mib:.1f} | {row['resident'] / mib:.1f} | {row['items']:,} "
            f"| {row['items'] / memcached['items']:.3f} | {row['hits']:.4f} | {row['byte_hits']:.4f} |"
        )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=("cpu", "memory", "all"), default="all")
    parser.add_argument("--only", default="", help="CPU: only the loads whose name has this text")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--memory-mib", type=int, default=64)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--fill-seconds", type=int, default=10)
    arguments = parser.parse_args()
    if os.environ.get("FLOOR") and (arguments.part, arguments.only) != ("cpu", "small gets"):
        sys.exit("FLOOR answers small gets alone: give --part cpu --only 'small gets'")
    binary = outcrop()
    found = servers(binary)
    named = os.environ.get("MEMCACHED")
    if named:
        print(f"The memcached {version(named, '-V')} of MEMCACHED was built {built(named)}.\n")
    else:
        print("MEMCACHED is not set: no other memcached than Debian's is compared.\n")
    if arguments.part != "memory":
        rounds = cpu_part(binary, found, arguments)
        print(
            f"Server CPU per request and p99, server on CPU 0, driver on the last CPU: {arguments.rounds} interleaved "
            f"rounds of {arguments.seconds} s.\n\n{cpu_table(rounds, found)}\n\n{ratio_table(rounds, found)}\n"
        )
        print("Debian's memcached writes each reply with a separate system call, so it is not a fair peer for")
        print("pipelined loads; its figures are for information.\n")
    if arguments.part != "cpu":
        rows = memory_part(binary, found, arguments)
        print(
            f"ETC, {arguments.keys:,} keys, set on miss; filled, then measured for {arguments.fill_seconds} s.\n\n"
            f"{memory_table(rows)}"
        )


if __name__ == "__main__":
    main()
