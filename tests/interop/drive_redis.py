#!/usr/bin/env python3
"""Drives `outcrop cache serve --redis` with redis-py, which knows nothing of it.

    drive_redis.py OUTCROP

Starts the server on free ports of the loopback interface and ends it again. Every operation of the client is held
against what Redis is documented to answer, in both versions of the protocol. Needs redis-py:

    python3 -m venv venv && venv/bin/pip install redis

Exit status: 0 when all agree, 1 when one does not, 2 on wrong usage.
"""

import subprocess
import sys
import tempfile

import redis


def serve(outcrop, *more):
    """The running server and the port of Redis's protocol that it says it listens on."""
    server = subprocess.Popen(
        [outcrop, "cache", "serve", "--memory", "64MiB", "--threads", "2", "--listen", "127.0.0.1:0"]
        + ["--redis", "127.0.0.1:0", *more],
        stderr=subprocess.PIPE, text=True,
    )
    for line in server.stderr:
        if line.startswith("redis on "):
            return server, int(line.strip().rpartition(":")[2])
    raise SystemExit("the server did not say where it speaks Redis")


def agree(what, seen, expected):
    if seen != expected:
        raise SystemExit(f"{what}: {seen!r}, expected {expected!r}")


def refused(what, error, ask):
    try:
        ask()
    except error:
        return
    raise SystemExit(f"{what}: no {error.__name__}")


def strings(client):
    agree("ping", client.ping(), True)
    agree("echo", client.echo("rock"), b"rock")
    agree("get of nothing", client.get("rock"), None)
    agree("set", client.set("rock", b"granite", ex=100), True)
    agree("get", client.get("rock"), b"granite")
    agree("set px", client.set("rock", b"granite", px=100_000), True)
    agree("ttl of px", client.ttl("rock") in (99, 100), True)
    agree("set nx", client.set("rock", b"x", nx=True), None)
    agree("set xx", client.set("nothing", b"x", xx=True), None)
    agree("set keepttl", client.set("rock", b"basalt", keepttl=True), True)
    agree("set get", client.set("rock", b"chalk", keepttl=True, get=True), b"basalt")
    agree("ttl", client.ttl("rock") in (99, 100), True)
    agree("pttl", 98_000 <= client.pttl("rock") <= 100_000, True)
    agree("persist", client.persist("rock"), True)
    agree("ttl without end", client.ttl("rock"), -1)
    agree("expire", client.expire("rock", 50), True)
    agree("pexpire", client.pexpire("rock", 60_000), True)
    agree("append", client.append("rock", "!"), 6)
    agree("strlen", client.strlen("rock"), 6)
    agree("getex", client.getex("rock", persist=True), b"chalk!")
    agree("getdel", client.getdel("rock"), b"chalk!")
    agree("incr", client.incr("count"), 1)
    agree("incrby", client.incrby("count", 41), 42)
    agree("decr", client.execute_command("DECR", "count"), 41)
    agree("decrby", client.decr("count", 49), -8)
    agree("getex with an end", client.getex("count", ex=30), b"-8")
    agree("pttl of getex", 28_000 <= client.pttl("count") <= 30_000, True)
    agree("select of the database that there is", client.select(0), True)
    agree("exists", client.exists("count", "nothing"), 1)
    client.set("text", "abc")
    refused("incr of text", redis.ResponseError, lambda: client.incr("text"))
    refused("a list", redis.ResponseError, lambda: client.lpush("l", 1))
    refused("another database", redis.ResponseError, lambda: client.select(1))


def many(client):
    values = {f"key-{number}": str(number).encode() * 100 for number in range(1000)}
    agree("mset", client.mset(values), True)
    agree("mget", client.mget(list(values)), list(values.values()))
    agree("delete", client.delete(*list(values)[:500]), 500)
    pipeline = client.pipeline(transaction=False)
    for key in values:
        pipeline.get(key)
    agree("a pipeline", sum(value is not None for value in pipeline.execute()), 500)
    transaction = client.pipeline()
    transaction.set("sum", 1)
    transaction.incr("sum")
    agree("a transaction", transaction.execute(), [True, 2])
    large = b"v" * 1_000_000
    agree("set of a megabyte", client.set("large", large), True)
    agree("get of a megabyte", client.get("large"), large)
    refused("too large", redis.ResponseError, lambda: client.set("large", large * 2))
    agree("the next command", client.exists("count"), 1)


def about(client):
    agree("client_setname", client.client_setname("driver"), True)
    agree("client_getname", client.client_getname() in ("driver", b"driver"), True)
    agree("info", client.info()["maxmemory"], 64 << 20)
    agree("command_count", client.command_count() > 30, True)
    agree("command", "get" in client.command(), True)
    hello = client.execute_command("HELLO")
    agree("hello", b"outcrop" in (hello.values() if isinstance(hello, dict) else hello), True)
    agree("flushall", client.flushall(), True)
    agree("dbsize", client.dbsize(), 0)


def logins(outcrop):
    """Only who has the password is served, in both versions of the protocol."""
    with tempfile.NamedTemporaryFile("w") as users:
        users.write("anna:secret\n")
        users.flush()
        server, port = serve(outcrop, "--login-file", users.name)
        try:
            for protocol in (2, 3):
                at = {"host": "127.0.0.1", "port": port, "protocol": protocol}
                agree("auth", redis.Redis(username="anna", password="secret", **at).ping(), True)
                wrong = redis.Redis(username="anna", password="wrong", **at)
                refused("a wrong password", redis.AuthenticationError, wrong.ping)
                refused("no password", redis.AuthenticationError, redis.Redis(**at).ping)
        finally:
            server.terminate()
            server.stderr.close()
            agree("exit status", server.wait(), 0)


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        raise SystemExit(2)
    server, port = serve(sys.argv[1])
    try:
        for protocol in (2, 3):
            client = redis.Redis(host="127.0.0.1", port=port, protocol=protocol)
            strings(client)
            many(client)
            about(client)
            client.close()
    finally:
        server.terminate()
        server.stderr.close()
        agree("exit status", server.wait(), 0)
    logins(sys.argv[1])


if __name__ == "__main__":
    main()
