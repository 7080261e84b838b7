"""A cache server in this process, and a client of caches."""

import urllib.request

import pytest
from pymemcache.client.base import Client

import outcrop


def test_a_cache_serves_ours_and_others_clients():
    with outcrop.Cache(memory="64MiB", policy="s3-fifo") as cache:
        client = cache.client()
        client.set("rock", "granite")
        client.set(b"\xc3\x9cber", b"\x00\xff", ttl=60)
        assert client.get("rock") == b"granite"
        assert client.get("Über") == b"\x00\xff"
        assert client.get("nothing") is None
        theirs = Client(cache.url.removeprefix("memcached://"))
        assert theirs.get("rock") == b"granite"
        theirs.close()
        with urllib.request.urlopen(f"{cache.http_url}/rock") as answer:
            assert answer.read() == b"granite"
        assert outcrop.CacheClient(cache.http_url).get("rock") == b"granite"
        assert client.delete("rock") and not client.delete("rock")
        stats = cache.stats()
        assert stats["items"] == 1 and stats["limit_bytes"] <= 64 << 20
    with pytest.raises(outcrop.CacheError, match="the cache has ended"):
        cache.stats()
    with pytest.raises(outcrop.CacheError, match="is the server running"):
        outcrop.CacheClient(cache.url, timeout=0.5).get("rock")


def test_keys_of_several_servers_belong_to_one_each():
    with outcrop.Cache(memory="8MiB") as one, outcrop.Cache(memory="8MiB") as other:
        client = outcrop.CacheClient(one.url, other.url)
        keys = [f"{number * 2654435761 % 2**32:08x}" for number in range(200)]
        for key in keys:
            client.set(key, key[::-1])
        assert all(client.get(key) == key[::-1].encode() for key in keys)
        assert one.stats()["items"] + other.stats()["items"] == 200
        assert one.stats()["items"] > 0 < other.stats()["items"]


def test_the_memory_limit_holds():
    with outcrop.Cache(memory="4MiB") as cache:
        client = cache.client()
        for number in range(100):
            client.set(f"key{number}", b"x" * 200_000)
        stats = cache.stats()
        assert stats["memory_bytes"] <= 4 << 20 and stats["evicted"] > 50


def test_mistakes_are_named():
    with pytest.raises(outcrop.CacheError, match="expected one of none, fifo, lru, sieve, s3-fifo, w-tinylfu"):
        outcrop.Cache(policy="mru")
    with pytest.raises(ValueError, match="memory"):
        outcrop.Cache(memory="much")
    with pytest.raises(outcrop.CacheError, match="write memcached://HOST:PORT"):
        outcrop.CacheClient("localhost:11211")
    with outcrop.Cache(memory="4MiB") as cache, pytest.raises(ValueError, match="without blanks"):
        cache.client().get("two words")
