"""Columns written and searched from Python give what plain Python gives."""

import errno
import os
import pickle
import random

import numpy as np
import pyarrow as pa
import pytest

import outcrop
from outcrop import Column

ROCKS = ["granite", "basalt", "gabbro", "marl", "tuff", "", "Ünterstein", "a\nb"]


def made(seed, rows):
    """A column of strings, bytes that are not UTF-8, and nulls."""
    draw = random.Random(seed)
    kinds = [*ROCKS, None, b"\xff\x00rock"]
    return [draw.choice(kinds) for _ in range(rows)]


def as_bytes(value):
    return value.encode() if isinstance(value, str) else value


def rows_where(values, wanted):
    return [row for row, value in enumerate(values) if wanted(as_bytes(value))]


@pytest.mark.parametrize("index", ["none", "postings", "only"])
@pytest.mark.parametrize("rows", [0, 1, 5, 70_000])
def test_every_search_finds_the_rows_that_a_scan_finds(tmp_path, index, rows):
    values = made(rows, rows)
    report = Column.encode(values, tmp_path / "c.ocol", index=index, threads=2)
    assert (report.row_count, report.null_count) == (rows, values.count(None))
    assert report.file_bytes == (tmp_path / "c.ocol").stat().st_size
    column = Column.open(tmp_path / "c.ocol")
    assert len(column) == rows
    for value in [*ROCKS, b"\xff\x00rock", "no such rock"]:
        expected = rows_where(values, lambda v, sought=as_bytes(value): v == sought)
        assert column.find(value).rows().to_pylist() == expected
    assert column.find(None).rows().to_pylist() == [row for row, value in enumerate(values) if value is None]
    several = ["tuff", None, b"marl", "tuff", "no such rock"]
    wanted = {as_bytes(value) for value in several}
    assert column.find_in(several).rows().to_pylist() == rows_where(values, wanted.__contains__)
    assert column.find_prefix("g").count() == len(rows_where(values, lambda v: v is not None and v.startswith(b"g")))
    for closed, holds in {
        "left": lambda v: b"b" <= v < b"marl",
        "right": lambda v: b"b" < v <= b"marl",
        "both": lambda v: b"b" <= v <= b"marl",
        "neither": lambda v: b"b" < v < b"marl",
    }.items():
        found = column.find_range("b", "marl", closed=closed).rows().to_pylist()
        assert found == rows_where(values, lambda v, holds=holds: v is not None and holds(v))
    matching = column.matching(lambda value: "a" in value if isinstance(value, str) else False)
    assert matching.count() == sum(isinstance(value, str) and "a" in value for value in values)
    assert column.verify() == []


def test_rows_values_and_counts_come_back(tmp_path):
    values = made(7, 1000)
    Column.encode(values, tmp_path / "c.ocol", index="postings")
    column = Column.open(tmp_path / "c.ocol", preload=True)
    assert [column.get(row) for row in range(1000)] == values
    got = column.get([3, 999, 3])
    assert got.column_names == ["row", "value"]
    assert got["row"] == [3, 999, 3]
    assert [as_bytes(value) for value in got["value"]] == [as_bytes(values[row]) for row in (3, 999, 3)]
    found = column.find("tuff").rows()
    assert {as_bytes(value) for value in column.get(found)["value"]} == {b"tuff"}
    assert [as_bytes(value) for value in column.array().to_pylist()] == [as_bytes(value) for value in values]
    counts = column.values()
    by_value = {as_bytes(value): count for value, count in zip(counts["value"], counts["rows"], strict=True)}
    assert by_value == {as_bytes(value): values.count(value) for value in set(values)}


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.arrow", "t.txt"])
def test_a_column_of_a_file_is_encoded_as_the_command_line_does(tmp_path, name):
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.feather
    import pyarrow.parquet

    table = pa.table({"id": [1, 2, 3], "rock": ["marl", "tuff", "marl"]})
    path = tmp_path / name
    match path.suffix:
        case ".csv":
            pa.csv.write_csv(table, path)
        case ".parquet":
            pa.parquet.write_table(table, path)
        case ".arrow":
            pa.feather.write_feather(table, path)
        case ".txt":
            path.write_text("marl\ntuff\nmarl\n")
    column = None if name == "t.txt" else "rock"
    Column.encode(str(path), tmp_path / "c.ocol", column=column)
    assert Column.open(tmp_path / "c.ocol").array().to_pylist() == ["marl", "tuff", "marl"]


def test_a_page_whose_checksum_does_not_fit_is_damage(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet

    table = pa.table({"rock": [f"marl {number}" for number in range(1000)]})
    path = tmp_path / "t.parquet"
    plain = {"compression": None, "use_dictionary": False, "write_statistics": False}
    pa.parquet.write_table(table, path, write_page_checksum=True, **plain)
    Column.encode(str(path), tmp_path / "c.ocol", column="rock")
    # As valid a text, and another one.
    path.write_bytes(path.read_bytes().replace(b"marl 500", b"marl 900", 1))
    with pytest.raises(outcrop.OutcropError, match="damaged: .*checksum"):
        Column.encode(str(path), tmp_path / "d.ocol", column="rock")
    assert not (tmp_path / "d.ocol").exists()


def test_a_pickled_column_is_opened_again(tmp_path, monkeypatch):
    Column.encode(["marl"], tmp_path / "c.ocol")
    monkeypatch.chdir(tmp_path)
    pickled = pickle.dumps(Column.open("c.ocol"))
    monkeypatch.chdir("/")
    assert pickle.loads(pickled).get(0) == "marl"


def test_a_column_is_read_on_disk_or_mapped_and_a_pickle_remembers_how(tmp_path):
    Column.encode(["marl", "tuff"], tmp_path / "c.ocol")
    for memory in ["on-disk", "in-memory"]:
        column = Column.open(tmp_path / "c.ocol", memory=memory)
        assert column.find("tuff").rows().to_pylist() == [1]
        assert pickle.loads(pickle.dumps(column)).get(0) == "marl"
        assert memory in str(column.__reduce__()[1])
    with pytest.raises(ValueError, match="expected one of on-disk, in-memory"):
        Column.open(tmp_path / "c.ocol", memory="mapped")


def test_a_column_that_is_cut_while_it_is_open_is_an_error(tmp_path):
    path = tmp_path / "c.ocol"
    Column.encode([f"rock {number * 7919 % 99991}" for number in range(200_000)], path, index="postings")
    column = Column.open(path)
    os.truncate(path, path.stat().st_size // 3)
    # With the file mapped this process would end here.
    with pytest.raises((outcrop.OutcropError, OSError), match="shorter"):
        column.array()
    with pytest.raises((outcrop.OutcropError, OSError), match="shorter"):
        column.find_prefix("rock 9").rows()


def test_progress_is_heard_and_what_it_raises_leaves_no_file(tmp_path):
    values = [str(number % 50_000) for number in range(300_000)]
    heard = []
    Column.encode(values, tmp_path / "c.ocol", index="postings", progress=lambda *step: heard.append(step))
    assert {step for step, _, _ in heard} >= {"codes", "postings"}
    assert all(done <= total for _, done, total in heard)

    def refuse(*_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        Column.encode(values, tmp_path / "refused.ocol", index="postings", progress=refuse)
    assert [path.name for path in tmp_path.iterdir()] == ["c.ocol"]


def test_a_column_shows_itself_in_a_notebook(tmp_path):
    Column.encode(["marl", None], tmp_path / "<c>.ocol")
    column = Column.open(tmp_path / "<c>.ocol")
    html = column._repr_html_()
    assert "&lt;c&gt;.ocol" in html and "<c>" not in html
    assert "marl" in column.values()._repr_html_()
    assert column.report()["segments"][0]["null_count"] == 1


def test_a_column_keeps_the_name_that_was_given(tmp_path):
    table = pa.table({"rock": ["marl", "tuff"], "place": ["a", "b"]})
    Column.encode(table, tmp_path / "named.ocol", column="rock")
    Column.encode(["marl"], tmp_path / "unnamed.ocol")
    names = [Column.open(tmp_path / f"{file}.ocol").report()["name"] for file in ["named", "unnamed"]]
    assert names == ["rock", None]


def test_rows_are_whole_numbers_and_a_mask_is_refused(tmp_path):
    Column.encode(["a", "b", None], tmp_path / "c.ocol")
    column = Column.open(tmp_path / "c.ocol")
    assert [column.get(number) for number in [1, np.int64(1), np.uint8(1)]] == ["b"] * 3
    for mask in [
        True, [True, False], pa.array([True, False, True]), pa.array([1.9]), pa.array(["1"]), b"\x01", "1", ["1"],
        pa.table({"a": [1], "b": [2]}), 1.5,
    ]:  # fmt: skip
        with pytest.raises(TypeError, match="row"):
            column.get(mask)
    for row in [-1, [-1], pa.array([-1]), 2**63, [2**63], 3, [3]]:
        with pytest.raises(IndexError):
            column.get(row)


def test_many_rows_are_read_as_single_ones_are(tmp_path):
    rows = [None if number % 11 == 0 else f"value {number % 5_000:04}" for number in range(200_000)]
    Column.encode(rows, tmp_path / "c.ocol")
    column = Column.open(tmp_path / "c.ocol")
    wanted = [199_999, 0, 3, 3, *range(0, 200_000, 97)]
    table = pa.table(column.get(wanted))
    assert table["row"].to_pylist() == wanted
    assert table["value"].to_pylist() == [rows[row] for row in wanted]
    with pytest.raises(IndexError, match="200000"):
        column.get([*wanted, 200_000])


def test_what_has_no_rows_to_encode_is_refused_by_its_type(tmp_path):
    for data in [
        {"rock": ["granite"]}, pa.array([{"a": "x"}, None]), pa.array([1.5]), pa.array([["a"]]),
    ]:  # fmt: skip
        with pytest.raises(TypeError, match="data is a"):
            Column.encode(data, tmp_path / "c.ocol")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(TypeError, match="values are one str"):
        Column.encode(["a"], tmp_path / "d.ocol")
        Column.open(tmp_path / "d.ocol").find_in("ab")


def test_errors_say_what_was_seen_and_what_is_expected(tmp_path):
    Column.encode(["marl", "tuff"], tmp_path / "c.ocol", index="only")
    column = Column.open(tmp_path / "c.ocol")
    with pytest.raises(FileNotFoundError, match="No such file or directory: '.*nothing.ocol'") as raised:
        Column.open(tmp_path / "nothing.ocol")
    assert (raised.value.errno, raised.value.filename) == (errno.ENOENT, str(tmp_path / "nothing.ocol"))
    with pytest.raises(FileNotFoundError):
        Column.encode(["marl"], tmp_path / "no folder" / "c.ocol")
    with pytest.raises(outcrop.ColumnError, match="postings but no forward codes"):
        column.get(0)
    with pytest.raises(TypeError, match="expected str, bytes or None"):
        column.find(3)
    with pytest.raises(TypeError, match="row 1 is a float"):
        Column.encode(["a", 1.5], tmp_path / "d.ocol")
    with pytest.raises(ValueError, match="expected one of none, postings, only"):
        Column.encode(["a"], tmp_path / "d.ocol", index="some")
    with pytest.raises(ZeroDivisionError):
        column.matching(lambda _: 1 / 0)
    Column.encode(["marl", "tuff"], tmp_path / "e.ocol")
    with pytest.raises(IndexError, match="row 2 does not exist: the column has 2 rows"):
        Column.open(tmp_path / "e.ocol").get(2)
    (tmp_path / "not.ocol").write_bytes(b"marl and tuff and much more than a header has, so that it can be read" * 9)
    with pytest.raises(outcrop.DamagedError, match="not an .ocol file"):
        Column.open(tmp_path / "not.ocol")
    assert issubclass(outcrop.DamagedError, outcrop.OutcropError)


def test_flipped_bits_are_reported_and_never_crash(tmp_path):
    path = tmp_path / "c.ocol"
    Column.encode(made(3, 5000), path, index="postings")
    sound = path.read_bytes()
    draw = random.Random(3)
    for _ in range(200):
        damaged = bytearray(sound)
        damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
        (tmp_path / "damaged.ocol").write_bytes(damaged)
        try:
            column = Column.open(tmp_path / "damaged.ocol")
            if not column.verify():
                column.array()
        except outcrop.ColumnError:
            pass
