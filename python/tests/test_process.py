"""Threads, forks and a bare interpreter: what notebooks do to an extension."""

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
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
assert column.find_prefix("6999").values()["rows"] == [15] + [14] * 10
print(len(column.find("17").rows()), column.get(3), "numpy" in sys.modules)
"""
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["15", "3", "False"]


def test_threads_share_a_column(column):
    def find(number):
        return column.find(str(number)).rows().to_pylist() == list(range(number, 1_000_000, 70_000))

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(find, range(0, 70_000, 97)))


LOCK_FREE = {
    "find": lambda column, folder: column.find_prefix("1").count(),
    "rows": lambda column, folder: column.find_range("2", "4").rows(),
    "values": lambda column, folder: column.values(),
    "get": lambda column, folder: column.get(ROW_NUMBERS),
    "array": lambda column, folder: column.array(),
    "stream": lambda column, folder: column.__arrow_c_stream__(),
    "report": lambda column, folder: column.report(),
    "verify": lambda column, folder: column.verify(),
    "open": lambda column, folder: Column.open(column.path, preload=True),
    "encode": lambda column, folder: Column.encode(STRINGS, folder / "again.ocol", index="postings"),
}
ROW_NUMBERS = pa.array(range(0, 1_000_000, 100))
STRINGS = pa.array([str(number % 999) for number in range(100_000)])


@pytest.mark.parametrize("name", LOCK_FREE)
def test_other_threads_run_while_outcrop_works(column, tmp_path, name):
    working, is_enough = threading.Event(), threading.Event()
    most, rounds = 2000, 0

    def work():
        nonlocal rounds
        working.set()
        while rounds < most and not is_enough.is_set():
            LOCK_FREE[name](column, tmp_path)
            rounds += 1

    worker = threading.Thread(target=work)
    interval = sys.getswitchinterval()
    # No thread is made to give the interpreter's lock away: only releasing it lets this one go on.
    sys.setswitchinterval(1000)
    try:
        worker.start()
        working.wait()
        is_enough.set()
    finally:
        worker.join()
        sys.setswitchinterval(interval)
    assert rounds < most


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


def find_in(column):
    return column.find("17").rows().to_pylist()[:2]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_pool_of_processes_searches_pickled_columns_while_threads_search(column, method):
    is_enough = threading.Event()

    def search():
        while not is_enough.is_set():
            column.find_prefix("1").rows()

    threads = [threading.Thread(target=search) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(find_in, [column] * 8) == [[17, 70_017]] * 8
    finally:
        is_enough.set()
        for thread in threads:
            thread.join()


def test_a_fork_in_the_middle_of_a_run_searches_measures_and_ends(column, tmp_path):
    """A run holds threads and a lock on its folder; a fork has neither."""
    children = []

    def fork_once(event):
        if event.kind != "trial started" or children:
            return
        child = os.fork()
        if child == 0:
            status = 1
            try:
                assert column.find("17").count() == 15
                assert len(outcrop.codec(codec="lz4", repetitions=1, duration="10ms", warm_up=0)) > 0
                status = 0
            finally:
                os._exit(status)
        children.append(child)

    run = outcrop.run(
        "ssd-read-write-mix", effort="quick", size="16MiB", warm_up="10ms", duration="30ms", repetitions=1,
        out=tmp_path, path=tmp_path, on_event=fork_once,
    )  # fmt: skip
    assert os.waitpid(children[0], 0)[1] == 0
    assert run.trials["failed"] == 0


@pytest.mark.parametrize("protocol", ["memcached", "http"])
def test_forks_that_share_a_client_read_their_own_values(protocol):
    with outcrop.Cache(memory="16MiB") as cache:
        client = outcrop.CacheClient(cache.url if protocol == "memcached" else cache.http_url)
        for number in range(50):
            client.set(f"key-{number}", f"value-{number}".encode())
        children = []
        for _ in range(4):
            child = os.fork()
            if child == 0:
                wrong = 1
                try:
                    keys = [number % 50 for number in range(2_000)]
                    wrong = sum(client.get(f"key-{key}") != f"value-{key}".encode() for key in keys)
                finally:
                    os._exit(min(wrong, 255))
            children.append(child)
        assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4


def test_a_fork_that_comes_back_from_on_event_gets_an_error(tmp_path):
    measuring, children = os.getpid(), []

    def fork_once(event):
        if event.kind == "trial started" and not children:
            children.append(os.fork())
            if children == [0]:
                # A fork that waits for the run would be ended by this signal.
                signal.alarm(60)

    try:
        run = outcrop.run(
            "ssd-read-write-mix", effort="quick", size="16MiB", warm_up="10ms", duration="30ms", repetitions=1,
            out=tmp_path, path=tmp_path, on_event=fork_once,
        )  # fmt: skip
    except RuntimeError as error:
        if os.getpid() == measuring:
            raise
        os._exit(0 if "forked in on_event" in str(error) else 1)
    finally:
        if os.getpid() != measuring:
            os._exit(2)
    assert os.waitpid(children[0], 0)[1] == 0
    assert run.trials["failed"] == 0


def test_runs_are_measured_in_threads_that_are_not_the_main_one(tmp_path):
    def measure(number):
        table = outcrop.codec(codec="lz4", repetitions=1, duration="10ms", warm_up=0)
        return number, len(table)

    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(measure, range(2))) == [(0, 1), (1, 1)]


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
