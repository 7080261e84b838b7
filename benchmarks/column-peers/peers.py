"""The stores that hold one string column each: how each is written, opened, searched and read back.

Every store answers with the number of rows it found, which the driver holds against the others', and materialises
row numbers where its interface gives them.
"""

import os
import re
import shutil
import subprocess
import threading
import time
from importlib.metadata import version
from pathlib import Path

import duckdb
import lance
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import vortex
import vortex.expr as vortex_expr


def timed(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def size_of(path):
    path = Path(path)
    return sum(f.stat().st_size for f in path.rglob("*") if f.is_file()) if path.is_dir() else path.stat().st_size


def drop_pages(path):
    """Writes back and forgets the pages of a file or folder, so that the next reader goes to the device."""
    path = Path(path)
    for file in [f for f in path.rglob("*") if f.is_file()] if path.is_dir() else [path]:
        descriptor = os.open(file, os.O_RDONLY)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def read_lines(text):
    """The column as an Arrow table, as the Python peers take it: reading the text is not in their times."""
    lines = Path(text).read_bytes().removesuffix(b"\n").decode()
    return pa.table({"v": pc.split_pattern(pa.scalar(lines), "\n").values})


class Store:
    """One way to keep a column. `note` says what a reader of the figures must know."""

    note = ""

    def __init__(self, name, folder):
        self.name, self.path = name, Path(folder) / name.replace(" ", "-").replace("+", "").replace(",", "")

    def build(self, column):
        raise NotImplementedError

    def open(self):
        pass

    def close(self):
        pass

    def find(self, value):
        return None

    def prefix(self, prefix):
        return None

    def decode(self):
        return None

    def clear(self):
        if self.path.is_dir():
            shutil.rmtree(self.path)
        else:
            self.path.unlink(missing_ok=True)

    def cold(self, value):
        """Seconds from closed and out of the page cache to the rows of a value."""
        self.close()
        drop_pages(self.path)

        def search():
            self.open()
            return self.find(value)

        return timed(search)


class Ocol(Store):
    """Outcrop, in a process of its own that answers requests with the time they took inside it."""

    server, lock = None, threading.Lock()

    def __init__(self, name, folder, index, profile, mode):
        super().__init__(name, folder)
        self.index, self.profile, self.mode = index, profile, mode

    @classmethod
    def start(cls, program):
        cls.server = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    @classmethod
    def ask(cls, *fields):
        with cls.lock:
            cls.server.stdin.write("\t".join(map(str, fields)) + "\n")
            cls.server.stdin.flush()
            answer = cls.server.stdout.readline().split("\t")
        if answer[0] == "error":
            raise RuntimeError(answer[1])
        return float(answer[0]), int(answer[1])

    def build(self, column):
        return self.ask("encode", column.text, self.path, self.index, self.profile, os.cpu_count())[0]

    def open(self):
        self.opened = self.ask("open", self.name, self.path, self.mode)[0]

    def find(self, value):
        return self.ask("scan" if self.mode == "mapped" else "find", self.name, value.encode().hex())

    def prefix(self, prefix):
        return self.ask("prefix", self.name, prefix.encode().hex())

    def decode(self):
        return self.ask("decode", self.name)[0]

    def cold(self, value):
        drop_pages(self.path)
        return self.ask("cold", self.path, value.encode().hex())


class Parquet(Store):
    def __init__(self, name, folder, tuned):
        super().__init__(name, folder)
        self.options = {}
        if tuned:
            self.options = {
                "dictionary_pagesize_limit": 1 << 30, "row_group_size": 1 << 30, "compression": "zstd",
                "compression_level": 19,
            }

    def build(self, column):
        return timed(lambda: pq.write_table(column.table, self.path, **self.options))[0]

    def read(self):
        return pq.read_table(self.path, read_dictionary=["v"]).column("v")

    def rows(self, test):
        found = 0
        first = 0
        for chunk in self.read().chunks:
            rows = pc.add(pc.indices_nonzero(test(chunk)), first)
            found, first = found + len(rows), first + len(chunk)
        return found

    def find(self, value):
        # One comparison of the dictionary, then one of the codes: the quickest way that pyarrow has.
        def test(chunk):
            code = pc.index(chunk.dictionary, value).as_py()
            return pc.equal(chunk.indices, code)

        return timed(lambda: self.rows(test))

    def prefix(self, prefix):
        def test(chunk):
            wanted = pc.indices_nonzero(pc.starts_with(chunk.dictionary, prefix))
            return pc.is_in(chunk.indices, pc.cast(wanted, chunk.indices.type))

        return timed(lambda: self.rows(test))

    def decode(self):
        return timed(lambda: pq.read_table(self.path))[0]


class DuckDb(Store):
    def __init__(self, name, folder, index):
        super().__init__(name, folder)
        self.index, self.connection = index, None

    def build(self, column):
        table = column.table

        def write():
            connection = duckdb.connect(str(self.path))
            connection.register("source", table)
            connection.execute("CREATE TABLE t AS SELECT v FROM source")
            if self.index:
                connection.execute("CREATE INDEX by_value ON t (v)")
            connection.execute("CHECKPOINT")
            connection.close()

        return timed(write)[0]

    def open(self):
        self.connection = duckdb.connect(str(self.path), read_only=True)

    def close(self):
        if self.connection:
            self.connection.close()
            self.connection = None

    def ask(self, condition, value):
        query = f"SELECT rowid FROM t WHERE {condition}"
        return timed(lambda: len(self.connection.execute(query, [value]).fetchnumpy()["rowid"]))

    def find(self, value):
        return self.ask("v = ?", value)

    def prefix(self, prefix):
        return self.ask("starts_with(v, ?)", prefix)

    def decode(self):
        return timed(lambda: self.connection.sql("SELECT v FROM t").to_arrow_table())[0]


class Vortex(Store):
    note = "Vortex's Python interface gives the values found, not their row numbers."

    def build(self, column):
        return timed(lambda: vortex.io.write(column.table, str(self.path)))[0]

    def open(self):
        self.file = vortex.open(str(self.path))

    def find(self, value):
        return timed(lambda: len(self.file.scan(expr=vortex_expr.column("v") == value).read_all()))

    def prefix(self, prefix):
        # Of the pattern's own signs in a prefix, each stands for itself.
        literal = re.sub(r"([\\%_])", r"\\\1", prefix)
        pattern = vortex_expr.literal(vortex.utf8(), literal + "%")
        return timed(lambda: len(self.file.scan(expr=vortex_expr.like(vortex_expr.column("v"), pattern)).read_all()))

    def decode(self):
        return timed(lambda: self.file.scan().read_all().to_arrow_array())[0]


class Lance(Store):
    def build(self, column):
        def write():
            data = lance.write_dataset(column.table, str(self.path))
            data.create_scalar_index("v", "BTREE")

        return timed(write)[0]

    def open(self):
        self.data = lance.dataset(str(self.path))

    def ask(self, condition):
        return timed(lambda: self.data.to_table(columns=[], filter=condition, with_row_id=True).num_rows)

    def find(self, value):
        return self.ask("v = '{}'".format(value.replace("'", "''")))

    def prefix(self, prefix):
        return self.ask("starts_with(v, '{}')".format(prefix.replace("'", "''")))

    def decode(self):
        return timed(lambda: self.data.to_table())[0]


class Archive(Store):
    """The text under a general compressor: nothing to search in."""

    def __init__(self, name, folder, ending, pack, unpack):
        super().__init__(name, folder)
        self.path, self.pack, self.unpack = self.path.with_suffix(ending), pack, unpack

    def run(self, command, column=None):
        values = {"text": column.text if column else "", "file": self.path}
        command = [part.format(**values) for part in command]
        return timed(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))[0]

    def build(self, column):
        return self.run(self.pack, column)

    def decode(self):
        return self.run(self.unpack)


def stores(folder):
    """All of them, in the order of the tables."""
    return [
        Ocol("ocol", folder, "none", "balanced", "mapped"),
        Ocol("ocol smallest", folder, "none", "smallest", "mapped"),
        Ocol("ocol, postings built in memory", folder, "none", "balanced", "in-memory"),
        Ocol("ocol + postings", folder, "postings", "balanced", "in-memory"),
        Parquet("Parquet default", folder, tuned=False),
        Parquet("Parquet tuned", folder, tuned=True),
        DuckDb("DuckDB", folder, index=False),
        DuckDb("DuckDB + ART", folder, index=True),
        Vortex("Vortex", folder),
        Lance("Lance + BTREE", folder),
        Archive("zstd -19", folder, ".zst", ["zstd", "-19", "-q", "-f", "{text}", "-o", "{file}"],
                ["zstd", "-dc", "-q", "{file}"]),
        Archive("7z PPMd", folder, ".7z",
                ["7z", "a", "-bso0", "-bsp0", "-t7z", "-m0=PPMd", "-mx=9", "{file}", "{text}"],
                ["7z", "e", "-so", "-bso0", "-bsp0", "{file}"]),
    ]


def versions():
    packages = ["pyarrow", "duckdb", "vortex-data", "pylance"]
    lines = [f"{package} {version(package)}" for package in packages]
    zstd = subprocess.run(["zstd", "--version"], capture_output=True, text=True, check=True).stdout
    seven = subprocess.run(["7z", "i"], capture_output=True, text=True, check=True).stdout
    return lines + [zstd.strip("* \n").split(" by ")[0], next(line for line in seven.splitlines() if "7-Zip" in line)]
