"""What a run, a column and a table show in a notebook, as Chromium draws it in a cell as wide as Jupyter's."""

import io
import shutil
from pathlib import Path

import matplotlib.image
import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

import outcrop

ROOT = Path(__file__).resolve().parents[2]
CELL_PX = 800


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    for argument in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars"]:
        options.add_argument(argument)
    programs = [shutil.which("chromedriver"), shutil.which("chromium")]
    assert None not in programs, "chromium and chromedriver are not installed: run scripts/setup.sh test"
    options.binary_location = programs[1]
    driver = webdriver.Chrome(service=webdriver.ChromeService(programs[0]), options=options)
    driver.set_window_size(CELL_PX + 100, 900)
    yield driver
    driver.quit()


def drawn(browser, tmp_path, shown):
    """The output as an element of a page, and its pixels."""
    page = tmp_path / "cell.html"
    cell = f'<div id="cell" style="width: {CELL_PX}px; font: 14px sans-serif">{shown._repr_html_()}</div>'
    page.write_text(f"<!DOCTYPE html><meta charset=utf-8>{cell}")
    browser.get(page.as_uri())
    element = browser.find_element(By.ID, "cell")
    pixels = matplotlib.image.imread(io.BytesIO(element.screenshot_as_png))
    return element, pixels[..., :3]


def share_of_ink(pixels):
    """Pixels that differ from that in the corner."""
    return (abs(pixels - pixels[0, 0]).max(axis=2) > 0.1).mean()


def test_a_run_shows_the_first_page_of_its_report(browser, tmp_path):
    run = outcrop.open_run(ROOT / "tests/fixtures/run-of-records-1")
    cell, pixels = drawn(browser, tmp_path, run)
    frame = cell.find_element(By.TAG_NAME, "iframe")
    assert frame.rect["width"] == CELL_PX and frame.rect["height"] > 400
    assert 0.02 < share_of_ink(pixels) < 0.6
    # Both halves: a page that is narrower or longer than the frame would leave one of them empty.
    middle = pixels.shape[1] // 2
    assert share_of_ink(pixels[:, :middle]) > 0.01 and share_of_ink(pixels[:, middle:]) > 0.01
    browser.switch_to.frame(frame)
    said = browser.find_element(By.TAG_NAME, "body").text
    assert "run-of-records-1" in said and "device" in said, said
    browser.switch_to.default_content()


def test_columns_and_tables_are_tables(browser, tmp_path):
    rocks = ["granite", "<b>basalt</b>", None, "gabbro", "granite"] * 100
    outcrop.Column.encode(rocks, tmp_path / "rocks.ocol")
    column = outcrop.Column.open(tmp_path / "rocks.ocol")
    cell, pixels = drawn(browser, tmp_path, column)
    said = cell.text
    assert "rocks.ocol" in said and "rows 500" in said and "nulls 100" in said, said
    assert share_of_ink(pixels) > 0.005
    cell, _ = drawn(browser, tmp_path, column.values())
    assert cell.text.splitlines()[:2] == ["value rows", "<b>basalt</b> 100"]
    cell, _ = drawn(browser, tmp_path, column.get(range(100)))
    assert cell.text.endswith("20 of 100 rows")
