#!/usr/bin/env python3
"""Holds Outcrop's cache server to its word: resident memory within the limit and 16 MiB, whatever its clients do.

    benchmarks/cache-memory/run.py [--minutes 10] [--memory-mib 64] [--connections 1000] [--silent 200]

An ETC load with sets on misses over far more keys than fit runs for so long, over all connections but the silent ones.
Those send large multi-gets at once and never read; one that the server gives up comes back. Every second the process's
resident memory (VmRSS of /proc/PID/status) is read, and at the end its peak (VmHWM), which misses nothing.

Prints the result as Markdown; `cargo xtask bench-record cache-memory` keeps it. $OUTCROP is the program (else a release
build is made). Exit status 1 when the peak is beyond the limit and 16 MiB.
"""

import argparse
import contextlib
import json
import re
import resource
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from programs import outcrop

SLACK_BYTES = 16 << 20
VALUE_BYTES = 500_000
# By then all connections of the load are open.
SETTLED_SECONDS = 10
LARGE_KEYS = 8


def status_bytes(process, name):
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(rf"{name}:\s+(\d+) kB", status).group(1)) * 1024


def serve(binary, arguments):
    server = subprocess.Popen(
        [binary, "cache", "serve", "--memory", f"{arguments.memory_mib}MiB", "--threads", "2", "--listen",
         "127.0.0.1:0", "--max-connections", str(arguments.connections + 64)],
        stderr=subprocess.PIPE, text=True,
    )
    line = server.stderr.readline().strip()
    return server, ("127.0.0.1", int(line.rpartition(":")[2]))


def store_large(address):
    with socket.create_connection(address) as client:
        for key in range(LARGE_KEYS):
            client.sendall(f"set big{key} 0 0 {VALUE_BYTES}\r\n".encode() + b"v" * VALUE_BYTES + b"\r\n")
            if client.recv(100) != b"STORED\r\n":
                sys.exit("a large value was not stored")


def silent(address):
    """A client that asks for much and never reads."""
    client = socket.create_connection(address)
    client.setblocking(False)
    asks = ("get " + " ".join(f"big{key}" for key in range(LARGE_KEYS)) + "\r\n") * 20
    with contextlib.suppress(OSError):
        client.send(asks.encode())
    return client


def connections_now(asker):
    """How many connections the server says that it has, this one among them."""
    asker.sendall(b"stats\r\n")
    answer = b""
    while not answer.endswith(b"END\r\n"):
        answer += asker.recv(65536)
    return int(re.search(rb"STAT curr_connections (\d+)", answer).group(1))


def watch(server, address, load, arguments):
    """Resident bytes, each second until the load ends; and how often a silent client came back."""
    # A client that does not read cannot see its end: the kernel still holds replies for it. The server knows.
    asker = socket.create_connection(address)
    clients = [silent(address) for _ in range(arguments.silent)]
    samples, back = [], 0
    while load.poll() is None:
        samples.append(status_bytes(server, "VmRSS"))
        given_up = arguments.connections + 1 - connections_now(asker) if len(samples) > SETTLED_SECONDS else 0
        for _ in range(min(max(given_up, 0), len(clients))):
            clients.pop(0).close()
            clients.append(silent(address))
            back += 1
        if len(samples) % 60 == 0:
            store_large(address)
            print(f"{len(samples)} s: {samples[-1] / (1 << 20):.1f} MiB", file=sys.stderr)
        time.sleep(1)
    for client in [asker, *clients]:
        client.close()
    return samples, back


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--memory-mib", type=int, default=64)
    parser.add_argument("--connections", type=int, default=1000)
    parser.add_argument("--silent", type=int, default=200)
    parser.add_argument("--keys", type=int, default=5_000_000)
    arguments = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    binary = outcrop()
    server, address = serve(binary, arguments)
    try:
        store_large(address)
        load = subprocess.Popen(
            [binary, "cache", "load", "--target", f"memcached://{address[0]}:{address[1]}", "--workload", "etc",
             "--keys", str(arguments.keys), "--connections", str(arguments.connections - arguments.silent),
             "--pipeline", "4", "--warm-up", "none", "--duration", f"{int(arguments.minutes * 60)}s",
             "--format", "json"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        samples, back = watch(server, address, load, arguments)
        said = {row["what"]: row["value"] for row in json.loads(load.stdout.read())["rows"]}
        peak = status_bytes(server, "VmHWM")
    finally:
        server.terminate()
        server.wait()
    mib, limit = 1 << 20, arguments.memory_mib << 20
    print(
        f"{arguments.minutes:g} minutes of ETC with sets on misses over {arguments.connections} connections, "
        f"{arguments.silent} of which ask for 80 MB each and never read (given up and back {back} times).\n\n"
        "| limit MiB | resident peak MiB | over the limit MiB | allowed | median MiB | requests/s | hit ratio |\n"
        "|---:|---:|---:|---:|---:|---:|---:|\n"
        f"| {limit / mib:.0f} | {peak / mib:.1f} | {(peak - limit) / mib:.1f} | 16 "
        f"| {statistics.median(samples) / mib:.1f} | {said['throughput']:,.0f} | {said['hit ratio']:.4f} |"
    )
    sys.exit(0 if peak <= limit + SLACK_BYTES else 1)


if __name__ == "__main__":
    main()
