"""Arrow data go to and from pyarrow, Polars, pandas and DuckDB, without a copy."""

import datetime
import random

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import outcrop
from outcrop import Column
from outcrop._outcrop import _buffer_addresses

VALUES = ["marl", None, "tuff", "", "marl", "Ünterstein", None, "tuff"]


def written(tmp_path, data, **options):
    Column.encode(data, tmp_path / "c.ocol", **options)
    return Column.open(tmp_path / "c.ocol")


def inputs():
    """The same column as every library has it."""
    arrow = pa.array(VALUES)
    yield "pyarrow array", arrow
    yield "large strings", arrow.cast(pa.large_string())
    yield "string views", arrow.cast(pa.string_view())
    yield "bytes", arrow.cast(pa.binary())
    yield "dictionary", arrow.dictionary_encode()
    yield "chunked", pa.chunked_array([arrow[:3], arrow[3:3], arrow[3:]])
    yield "slice", pa.array(["not this", *VALUES, "nor this"])[1:-1]
    yield "slice of a dictionary", pa.array(["x", *VALUES, "y"]).dictionary_encode()[1:-1]
    yield "pyarrow table", pa.table({"rock": arrow})
    yield "record batch", pa.record_batch({"rock": arrow})
    yield "record batch reader", pa.table({"rock": arrow}).to_reader(max_chunksize=3)
    yield "Polars series", pl.Series("rock", VALUES)
    yield "Polars categorical", pl.Series("rock", VALUES, dtype=pl.Categorical)
    yield "Polars frame", pl.DataFrame({"rock": VALUES})
    yield "Polars slice", pl.Series("rock", ["x", *VALUES]).slice(1)
    yield "pandas series", pd.Series(VALUES, name="rock")
    yield "pandas series with an index", pd.Series(VALUES, index=list("abcdefgh"))
    yield "pandas category", pd.Series(VALUES, dtype="category")
    yield "pandas frame", pd.DataFrame({"rock": VALUES})
    yield "DuckDB relation", duckdb.from_arrow(pa.table({"rock": arrow}))
    yield "list", VALUES
    yield "generator", (value for value in VALUES)


@pytest.mark.parametrize("name", [name for name, _ in inputs()])
def test_every_library_s_strings_are_encoded(tmp_path, name):
    data = dict(inputs())[name]
    assert written(tmp_path, data).array().to_pylist() == VALUES


@pytest.mark.parametrize(
    ("array", "texts"),
    [
        (pa.array([1, None, -3]), ["1", None, "-3"]),
        (pa.array([True, False]), ["true", "false"]),
        (pa.array([datetime.date(2026, 11, 22)]), ["2026-11-22"]),
        (pa.array([None, None]), [None, None]),
        (pa.array([], pa.string()), []),
        (pa.table({"rock": pa.array([], pa.string())}), []),
        (pa.table({"rock": pa.nulls(2)}), [None, None]),
        (pl.DataFrame({"rock": pl.Series([], dtype=pl.String)}), []),
    ],
)
def test_other_types_become_their_text_forms_and_empty_tables_empty_columns(tmp_path, array, texts):
    assert written(tmp_path, array).array().to_pylist() == texts


def test_a_column_of_a_table_is_named_or_the_only_one_of_strings(tmp_path):
    table = pa.table({"id": [1, 2], "rock": ["marl", "tuff"], "weight": [0.5, 1.5]})
    assert written(tmp_path, table).array().to_pylist() == ["marl", "tuff"]
    assert written(tmp_path, table, column="id").array().to_pylist() == ["1", "2"]
    with pytest.raises(outcrop.ColumnError, match="no column \"stone\"; it has id, rock, weight"):
        written(tmp_path, table, column="stone")
    with pytest.raises(outcrop.ColumnError, match="weight.*Float64, which cannot be encoded as text"):
        written(tmp_path, table, column="weight")
    with pytest.raises(TypeError, match="data is a int; expected Arrow data"):
        written(tmp_path, 3)


def test_every_library_reads_what_we_give(tmp_path):
    column = written(tmp_path, VALUES, index="postings")
    assert pa.table(column)["value"].to_pylist() == VALUES
    assert pa.chunked_array(pl.DataFrame(column)["value"].cast(pl.String).to_arrow()).to_pylist() == VALUES
    frame = pd.DataFrame.from_arrow(column)
    assert [None if pd.isna(value) else value for value in frame["value"]] == VALUES
    rocks = column
    assert len(rocks) == 8
    assert [value for (value,) in duckdb.sql("select value from rocks").fetchall()] == VALUES
    rows = column.find("tuff").rows()
    assert pa.array(rows).to_pylist() == list(rows) == [2, 7]
    assert pl.Series(rows).to_list() == [2, 7]
    assert pa.array(column.array()).to_pylist() == VALUES
    counts = column.find_range().values()
    assert len(counts) == 4
    assert duckdb.sql("select sum(rows) from counts").fetchall() == [(6,)]


def test_empty_answers_have_their_types(tmp_path):
    column = written(tmp_path, VALUES)
    nothing = column.find("no such rock")
    assert pa.array(nothing.rows()).type == pa.uint64()
    assert pa.table(nothing.values()).num_rows == 0
    empty = written(tmp_path, pa.array([], pa.string()))
    assert pa.table(empty).column_names == ["value"]
    assert pa.table(empty).num_rows == 0
    assert len(pl.DataFrame(empty)) == 0


def test_many_batches_and_segments_of_generated_data_come_back(tmp_path):
    draw = random.Random(11)
    values = draw.choices([None, *map(str, range(5000))], k=200_000)
    column = written(tmp_path, pa.chunked_array([values[:123_456], values[123_456:]]))
    assert pa.table(column)["value"].to_pylist() == values
    assert pa.array(column.array()).to_pylist() == values


def addresses(array):
    return [buffer.address for buffer in array.buffers()[1:] if buffer is not None]


def test_nothing_is_copied_on_the_way_out(tmp_path):
    column = written(tmp_path, [str(number % 3000) for number in range(10_000)], index="postings")
    rows = column.find_prefix("1").rows()
    ours = _buffer_addresses(rows)
    assert addresses(pa.array(rows)) == ours
    assert addresses(pl.Series(rows).to_arrow()) == ours
    array = column.array()
    theirs = pa.array(array)
    assert [*addresses(theirs.indices), *addresses(theirs.dictionary)] == _buffer_addresses(array)
    counts = column.values()
    ours = _buffer_addresses(counts)
    table = pa.table(counts)
    assert [*addresses(table["value"].chunk(0)), *addresses(table["rows"].chunk(0))] == ours
    frame = pl.DataFrame(counts)
    assert addresses(frame["rows"].to_arrow()) == ours[-1:]
    # pandas' own types are copies by its choice; its Arrow types are not.
    series = pd.Series(pd.arrays.ArrowExtensionArray(pa.array(rows)))
    assert addresses(pa.array(series)) == _buffer_addresses(rows)


def test_numbers_are_buffers_for_those_who_know_no_arrow(tmp_path):
    column = written(tmp_path, ["marl", "tuff", "marl", None], index="postings")
    rows = column.find("marl").rows()
    array = np.asarray(rows)
    assert (array.dtype, array.tolist()) == (np.dtype("uint64"), [0, 2])
    assert [array.ctypes.data] == _buffer_addresses(rows)
    assert not array.flags.writeable
    view = memoryview(rows)
    assert (view.format, view.shape, view.strides, view.nbytes) == ("Q", (2,), (8,), 16)
    assert column.get(array)["value"] == column.get(rows)["value"] == ["marl", "marl"]
    assert column.get(np.flatnonzero([0, 1]))["value"] == ["tuff"] and column.get(np.int64(1)) == "tuff"
    assert np.array(["a", "b", "c", "d"])[rows].tolist() == ["a", "c"]
    assert pd.DataFrame({"number": [1, 2, 3, 4]}).iloc[rows]["number"].tolist() == [1, 3]
    assert len(memoryview(column.find("lava").rows())) == 0
    del rows, column
    assert array.tolist() == [0, 2] and view.tolist() == [0, 2]
    with pytest.raises(BufferError, match="only numbers"):
        memoryview(written(tmp_path, ["marl"]).array())


def test_nothing_is_copied_on_the_way_in():
    array = pa.array(["marl", "tuff", None] * 1000)
    assert _buffer_addresses(array) == addresses(array)
    table = pa.table({"rock": array})
    assert _buffer_addresses(table) == addresses(array)
    series = pl.Series([1, 2, 3], dtype=pl.UInt64)
    assert _buffer_addresses(series.to_frame()) == addresses(series.to_arrow())
    frame = pd.DataFrame({"rock": pd.Series(array, dtype=pd.ArrowDtype(pa.string()))})
    assert _buffer_addresses(frame) == addresses(array)
    (batch,) = duckdb.from_arrow(table).to_arrow_reader(4000)
    assert _buffer_addresses(batch) == addresses(batch["rock"])
