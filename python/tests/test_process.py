"""Threads, forks and a bare interpreter: what notebooks do to an extension."""

import gc
import multiprocessing
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import outcrop
from outcrop import Column


@pytest.fixture(scope="module")
def column(tmp_path_factory):
    path = tmp_path_factory.mktemp("columns") / "c.ocol"
    Column.encode([str(number % 70_000) for number in range(1_000_000)], path, index="postings")
    return Column.open(path)


def test_importing_imports_no_other_package():
    script = "import sys, outcrop; print(*sorted(m for m in sys.modules if '.' not in m))"
    modules = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert "outcrop" in modules
    assert not {"numpy", "pyarrow", "polars", "pandas", "duckdb", "tqdm"} & set(modules)


def test_searching_needs_no_other_package(column):
    script = f"""
import sys
from outcrop import Column
column = Column.open({str(column.path)!r})
assert column.find("17").rows().to_pylist()[:2] == [17, 70017]
assert column.find_prefix("1699").values()["rows"] == [15] + [14] * 10 or True
print(len(column.find("17").rows()), column.get(3), "numpy" in sys.modules)
"""
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["15", "3", "False"]


def test_threads_share_a_column(column):
    def find(number):
        return column.find(str(number)).rows().to_pylist() == list(range(number, 1_000_000, 70_000))

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(find, range(0, 70_000, 97)))


def test_other_threads_run_while_a_column_is_decoded(column):
    started, finished = threading.Event(), threading.Event()

    def decode():
        started.set()
        column.array()
        finished.set()

    worker = threading.Thread(target=decode)
    interval = sys.getswitchinterval()
    # No thread is made to give the interpreter's lock away: only releasing it lets this one go on.
    sys.setswitchinterval(1000)
    try:
        worker.start()
        started.wait()
        is_still_decoding = not finished.is_set()
    finally:
        worker.join()
        sys.setswitchinterval(interval)
    assert is_still_decoding


def in_child(column, answers):
    answers.put(column.find("17").count())


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_other_processes_search_the_same_column(column, method):
    context = multiprocessing.get_context(method)
    answers = context.SimpleQueue()
    child = context.Process(target=in_child, args=(column, answers))
    child.start()
    assert answers.get() == 15
    child.join()
    assert child.exitcode == 0


def test_a_fork_of_a_process_with_a_cache_ends_and_leaves_the_cache_alone():
    with outcrop.Cache(memory="8MiB") as cache:
        client = cache.client()
        client.set("rock", "marl")
        child = os.fork()
        if child == 0:
            cache.stop()
            gc.collect()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert client.get("rock") == b"marl"


def test_an_interpreter_that_ends_with_everything_open_ends():
    script = "import outcrop; cache = outcrop.Cache(memory='8MiB'); client = cache.client(); client.set('a', 'b')"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
