"""Every Python block of the documentation runs as printed, and so does every notebook."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["docs/python.md"]
NOTEBOOKS = sorted((ROOT / "python" / "notebooks").glob("*.ipynb"))
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_every_snippet_runs(page, tmp_path, monkeypatch):
    text = (ROOT / page).read_text()
    blocks = list(BLOCK.finditer(text))
    assert blocks, f"{page} has no block marked python"
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "snippets"}
    # The blocks of a page run in order, as a reader would run them.
    for block in blocks:
        line = text.count("\n", 0, block.start(1))
        exec(compile("\n" * line + block[1], page, "exec"), names)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_notebook_runs_and_draws(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "notebooks are kept without their outputs"
    client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    shown = {kind for output in outputs for kind in output.get("data", {})}
    assert shown & {"image/png", "image/svg+xml"}, f"{path.name} draws no figure"


def test_there_is_a_notebook_for_each_reader():
    assert [path.stem for path in NOTEBOOKS] == ["database-engineer", "storage-engineer", "student"]
