#!/usr/bin/env python3
"""Drives `outcrop cache serve` with pymemcache, which knows nothing of it.

    drive_cache.py OUTCROP

Starts the server on a free port of the loopback interface and ends it again. Every operation of the client is held
against what memcached is documented to answer. Needs pymemcache:

    python3 -m venv venv && venv/bin/pip install pymemcache

Exit status: 0 when all agree, 1 when one does not, 2 on wrong usage.
"""

import subprocess
import sys

from pymemcache.client.base import Client, PooledClient
from pymemcache.client.hash import HashClient
from pymemcache.exceptions import MemcacheIllegalInputError, MemcacheServerError


def serve(outcrop):
    """The running server and the address that it says it listens on."""
    server = subprocess.Popen(
        [outcrop, "cache", "serve", "--memory", "64MiB", "--threads", "2", "--listen", "127.0.0.1:0"],
        stderr=subprocess.PIPE, text=True,
    )
    line = server.stderr.readline().strip()
    prefix = "memcached on "
    if not line.startswith(prefix):
        raise SystemExit(f"the server said: {line}")
    host, _, port = line.removeprefix(prefix).rpartition(":")
    return server, (host, int(port))


def agree(what, seen, expected):
    if seen != expected:
        raise SystemExit(f"{what}: {seen!r}, expected {expected!r}")


def single(client):
    agree("get of nothing", client.get("rock"), None)
    agree("set", client.set("rock", b"granite", expire=100, noreply=False), True)
    agree("get", client.get("rock"), b"granite")
    agree("add", client.add("rock", b"basalt", noreply=False), False)
    agree("replace", client.replace("rock", b"basalt", noreply=False), True)
    agree("append", client.append("rock", b"!", noreply=False), True)
    agree("prepend", client.prepend("rock", b"?", noreply=False), True)
    agree("get", client.get("rock"), b"?basalt!")
    value, cas = client.gets("rock")
    agree("cas", client.cas("rock", b"chalk", cas, noreply=False), True)
    agree("cas too late", client.cas("rock", value, cas, noreply=False), False)
    agree("touch", client.touch("rock", 1000, noreply=False), True)
    agree("delete", client.delete("rock", noreply=False), True)
    agree("delete of nothing", client.delete("rock", noreply=False), False)
    client.set("count", b"10", noreply=False)
    agree("incr", client.incr("count", 5), 15)
    agree("decr", client.decr("count", 100), 0)
    agree("incr of nothing", client.incr("nothing", 1), None)


def many(client):
    values = {f"key-{number}": str(number).encode() * 100 for number in range(1000)}
    agree("set_many", client.set_many(values, noreply=False), [])
    agree("get_many", client.get_many(list(values)), values)
    agree("delete_many", client.delete_many(list(values)[:500], noreply=False), True)
    agree("get_many of half", len(client.get_many(list(values))), 500)


def limits(client):
    large = b"v" * 1_000_000
    agree("set of a megabyte", client.set("large", large, noreply=False), True)
    agree("get of a megabyte", client.get("large"), large)
    for what, wrong, error in (
        ("too large", lambda: client.set("large", large * 2, noreply=False), MemcacheServerError),
        ("long key", lambda: client.get("k" * 251), MemcacheIllegalInputError),
    ):
        try:
            wrong()
        except error:
            continue
        raise SystemExit(f"{what}: no {error.__name__}")
    agree("the next command", client.get("count"), b"0 ")


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        raise SystemExit(2)
    server, address = serve(sys.argv[1])
    try:
        for client in (Client(address), PooledClient(address, max_pool_size=4), HashClient([address])):
            single(client)
            many(client)
            client.flush_all(noreply=False)
            client.close()
        client = Client(address)
        client.set("count", b"10", noreply=False)
        client.decr("count", 100)
        limits(client)
        agree("stats", int(client.stats()[b"limit_maxbytes"]), 64 << 20)
        if not client.version():
            raise SystemExit("no version")
        client.quit()
    finally:
        server.terminate()
        server.stderr.close()
        agree("exit status", server.wait(), 0)


if __name__ == "__main__":
    main()
