"""Runs are measured, interrupted, resumed, read and compared from Python."""

import json
import os
import pickle
import signal
import subprocess
import sys
import types

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from jupyter_client.manager import start_new_kernel

import outcrop

SMALL = {"effort": "quick", "size": "16MiB", "warm_up": "10ms", "duration": "30ms", "progress": False}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    here = tmp_path_factory.mktemp("runs")
    heard = []
    options = {**SMALL, "out": here, "path": here, "seed": 7}
    measured = outcrop.run("ssd-read-write-mix", on_event=heard.append, **options)
    assert {event.kind for event in heard} >= {"preparing", "trial started", "trial finished"}
    assert heard[-1].done == heard[-1].total == measured.trials["completed"]
    return measured


def test_a_run_is_a_folder_that_opens_again(run):
    again = outcrop.open_run(run.path)
    assert again.name == run.name and again.plan == run.plan
    assert again.environment["cpu"] == run.environment["cpu"]
    assert (run.path / "report.html").read_text().startswith("<!DOCTYPE html>")
    assert "Highest IOPS" in str(run)
    assert "ssd-read-write-mix" in repr(run)


def test_tables_are_those_of_the_parquet_files(run):
    for ours, name in [(run.records(), "records"), (run.histograms(), "histograms"), (run.cells(), "cells")]:
        table = pa.table(ours)
        file = duckdb.sql(f"select count(*) from '{run.path / name}.parquet'").fetchall()
        assert [(table.num_rows,)] == file
        described = duckdb.sql(f"describe select * from '{run.path / name}.parquet'").fetchall()
        assert table.column_names == [column for column, *_ in described]
    records = run.records()
    assert "<table>" in records._repr_html_() and len(records["started_at"]) == len(records)
    assert pl.DataFrame(records)["metric"].to_list() == records["metric"]
    assert set(pd.DataFrame.from_arrow(records)["layer"]) == {"device"}
    assert duckdb.sql("select trial, value from records where metric = 'iops'").fetchall()


def test_the_answer_the_figures_and_the_first_page_are_there(run):
    answer = run.answer()["device"]
    assert answer["answer"]["advice"] or answer["findings"]
    json.dumps(answer)
    assert all(svg.startswith("<svg") for svg in run.figures().values())
    page = run._repr_html_()
    assert page.startswith("<iframe") and "srcdoc=" in page
    assert run.to_html().startswith("<!DOCTYPE html>")


def test_a_run_compared_with_itself_is_nowhere_worse(run):
    comparison = outcrop.compare(run, run.path)
    rows = comparison.rows()
    assert len(rows) == len(comparison) > 0
    assert {row["ratio"] for row in rows if row["ratio"] is not None} == {1.0}
    assert comparison.to_csv().count("\n") == len(rows) + 1
    assert "|" in run.compare(run).to_markdown(all=True)
    with pytest.raises(outcrop.PlanError, match="cannot read the condition"):
        run.compare(run, fail_if=["slower"])
    with pytest.raises(ValueError, match="drift is 2; expected a share from 0 to 1"):
        run.compare(run, drift=2)
    with pytest.raises(outcrop.RunError, match="shipped references are"):
        run.compare("no such reference")


def test_a_condition_that_cannot_be_checked_hides_no_other_that_is_met(tmp_path):
    options = {**SMALL, "repetitions": 5, "out": tmp_path, "path": tmp_path}
    measured = outcrop.run("ssd-read-write-mix", **options)
    lacking = "hit_ratio < 0.5"
    for conditions in ([lacking, "iops > 1"], ["iops > 1", lacking]):
        with pytest.raises(outcrop.ConditionMet, match="'iops > 1' is met by"):
            measured.compare(measured, fail_if=conditions)
    with pytest.raises(outcrop.PlanError, match="no metric .hit_ratio. here"):
        measured.compare(measured, fail_if=[lacking, "iops < 1"])


def test_mistakes_are_named_before_anything_is_measured(tmp_path):
    with pytest.raises(outcrop.PlanError, match="there is no plan `ssd-queue-dept`"):
        outcrop.run("ssd-queue-dept", out=tmp_path)
    with pytest.raises(ValueError, match="effort is \"slow\"; expected one of quick, default, full"):
        outcrop.run("ssd-max", effort="slow", out=tmp_path)
    with pytest.raises(outcrop.PlanError, match="the profile has no layer \"devic\""):
        outcrop.profile(tmp_path, layer="devic", out=tmp_path)
    with pytest.raises(FileNotFoundError, match="is not a run folder"):
        outcrop.open_run(tmp_path / "nothing")
    with pytest.raises(outcrop.PlanError, match="codecs have no factor \"level\""):
        outcrop.codec(level=3)
    assert list(tmp_path.iterdir()) == []


def test_a_profile_of_one_layer_is_a_run(tmp_path):
    measured = outcrop.profile(
        tmp_path, layer="column", effort="quick", out=tmp_path, repetitions=1, budget="4s", progress=False
    )
    assert list(measured.answer()) == ["column"]


def test_codecs_give_a_table_and_leave_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").write_bytes(b"granite basalt gabbro " * 20_000)
    table = outcrop.codec(
        tmp_path / "data", codec=["lz4", "zstd:1"], compression_block_size="4KiB", repetitions=2, duration="20ms"
    )
    assert sorted(table["codec"]) == ["lz4", "zstd:1"]
    assert all(ratio > 2 for ratio in table["compression_ratio"])
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_key_value_engines_hold_their_databases_in_processes_that_python_starts(tmp_path):
    measured = outcrop.run(
        "kv-compression", effort="quick", warm_up="20ms", duration="100ms", repetitions=1, out=tmp_path, path=tmp_path,
        progress=False,
    )
    trials = measured.trials
    assert trials["completed"] > 0 and trials["failed"] == 0, measured.to_html()


# A shell starts what runs in the background with SIGINT ignored.
HEARS_SIGINT = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
INTERRUPTED = """
import sys, outcrop
def heard(event):
    print(event.kind, flush=True)
outcrop.run("ssd-read-write-mix", effort="quick", size="16MiB", duration="300ms", out=sys.argv[1], path=sys.argv[1],
            on_event=heard)
"""


def test_ctrl_c_ends_a_run_cleanly_and_resuming_loses_nothing(tmp_path):
    command = [sys.executable, "-c", HEARS_SIGINT + INTERRUPTED, str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    finished = 0
    for line in process.stdout:
        finished += line.strip() == "trial finished"
        if finished == 2:
            process.send_signal(signal.SIGINT)
            break
    _, said = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in said and "resume with outcrop.resume(" in said
    (folder,) = [path for path in tmp_path.iterdir() if path.is_dir()]
    before = pa.table(outcrop.open_run(folder).records())
    resumed = outcrop.resume(folder, progress=False)
    trials = resumed.trials
    assert trials["completed"] > 2 and trials["failed"] == 0
    after = pa.table(resumed.records())
    # What was measured before is there, to the bit, and nothing was measured twice.
    lost = duckdb.sql("select * from before except all select * from after").fetchall()
    assert before.num_rows > 0 and after.num_rows > before.num_rows and lost == []
    journal = [json.loads(line) for line in (folder / "trials.ndjson").read_text().splitlines()]
    completed = [(entry["cell"], entry["repetition"]) for entry in journal if entry["outcome"] == "completed"]
    assert len(completed) == len(set(completed)) == trials["completed"]


ENCODED = """
import sys, outcrop
def heard(step, done, total):
    print(step, flush=True)
    sys.stdin.readline()
outcrop.Column.encode((str(n % 90_000) for n in range(300_000)), sys.argv[1], index="postings", progress=heard)
"""


def test_ctrl_c_ends_an_encode_and_leaves_no_file(tmp_path):
    command = [sys.executable, "-c", HEARS_SIGINT + ENCODED, str(tmp_path / "c.ocol")]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    assert process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert said.rstrip().endswith("KeyboardInterrupt") and process.returncode != 0
    assert list(tmp_path.iterdir()) == []


ENCODED_AGAIN_AND_AGAIN = """
import itertools, sys, outcrop, pyarrow as pa
table = pa.chunked_array([[str(n % 90_000) for n in range(200_000)]] * 4)
for number in itertools.count():
    print(number, flush=True)
    outcrop.Column.encode(table, f"{sys.argv[1]}/{number}.ocol", index="postings")
"""


def test_ctrl_c_ends_an_encode_of_arrays_that_nobody_watches(tmp_path):
    command = [sys.executable, "-c", HEARS_SIGINT + ENCODED_AGAIN_AND_AGAIN, str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # The first file is written, the second is begun.
    assert [process.stdout.readline() for _ in range(2)] == ["0\n", "1\n"]
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert said.rstrip().endswith("KeyboardInterrupt")
    files = list(tmp_path.iterdir())
    assert tmp_path / "0.ocol" in files
    assert all(path.suffix == ".ocol" and outcrop.Column.open(path).verify() == [] for path in files)


NOTEBOOK = """
import outcrop
print("measuring", flush=True)
outcrop.run("ssd-read-write-mix", effort="quick", size="16MiB", duration="300ms", progress=False,
            on_event=lambda event: print(event.kind, flush=True))
"""


def test_interrupting_a_notebook_s_kernel_ends_the_cell_and_the_kernel_goes_on(tmp_path):
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(tmp_path))
    try:
        is_interrupted = False

        def heard(message):
            nonlocal is_interrupted
            said = message["content"].get("text", "")
            if "trial finished" in said and not is_interrupted:
                is_interrupted = True
                manager.interrupt_kernel()

        answer = client.execute_interactive(NOTEBOOK, output_hook=heard, timeout=60)["content"]
        assert (answer["status"], answer["ename"]) == ("error", "KeyboardInterrupt")
        assert "resume with outcrop.resume(" in answer["evalue"]
        go_on = "import pathlib; (one,) = pathlib.Path('runs').iterdir(); outcrop.resume(one, progress=False).trials"
        answer = client.execute_interactive(go_on, output_hook=lambda _: None, timeout=60)["content"]
        assert answer["status"] == "ok", answer
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    (folder,) = (tmp_path / "runs").iterdir()
    assert outcrop.open_run(folder).trials["failed"] == 0


def test_progress_is_a_line_that_is_written_again_or_a_bar_of_tqdm(tmp_path, capsys, monkeypatch):
    options = SMALL | {"progress": True, "out": tmp_path, "path": tmp_path, "repetitions": 1}
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    outcrop.run("ssd-read-write-mix", **options)
    said = capsys.readouterr()
    assert said.out == "", "stdout is for data"
    lines = said.err.split("\r")
    assert lines[-1].startswith("100 %  0 s left") and said.err.endswith("\n")
    bars = []

    class Bar:
        def __init__(self, **options):
            self.total, self.n, self.said = None, None, []
            bars.append(self)

        def set_description_str(self, text):
            self.said.append((self.n, self.total, text))

        def write(self, line, file):
            self.said.append(line)

        def close(self):
            self.said.append("closed")

    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    outcrop.run("ssd-read-write-mix", **options)
    (bar,) = bars
    assert bar.said[-1] == "closed" and bar.n == bar.total > 1


def test_what_an_event_s_function_raises_stops_the_run(tmp_path):
    def refuse(event):
        if event.kind == "trial finished":
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        outcrop.run("ssd-read-write-mix", on_event=refuse, out=tmp_path, path=tmp_path, **SMALL)
    (folder,) = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert outcrop.open_run(folder).trials["completed"] >= 1


def test_runs_are_not_pickled_by_accident(run):
    with pytest.raises(TypeError):
        pickle.dumps(run)
    assert os.path.isdir(run.path)
