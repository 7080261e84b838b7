#!/usr/bin/env python3
"""Reads a report as people do, in headless Chromium: wide, narrow, light, dark, touched, printed, without scripts.

    read_report.py OUTCROP RUN PAGES WORK

OUTCROP is the program, RUN a run folder (it is copied, not changed), PAGES a folder with the report.html and
one-page.html of six layers, WORK an empty folder for the copy, downloads and screenshots.
"""

import base64
import csv
import io
import json
import re
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path

from pypdf import PdfReader
from selenium import webdriver
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

WIDTHS = {"desktop": (1280, 800), "phone": (375, 812)}
PREFIXES = {"k": 1e3, "M": 1e6, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "µs": 1e3, "ms": 1e6, "s": 1e9}
WAIT_S = 60
MOST_SHEETS = 2
A4 = {"paperWidth": 8.27, "paperHeight": 11.69}
# So low that every long table goes on on a second sheet.
LOW = {"paperWidth": 8.27, "paperHeight": 5}
# What A4 has room for between the page's margins of 12 mm.
PRINTABLE = int((210 - 2 * 12) / 25.4 * 96)


def browser(work):
    options = webdriver.ChromeOptions()
    for argument in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    programs = [shutil.which("chromedriver"), shutil.which("chromium")]
    if None in programs:
        sys.exit("chromium and chromedriver are not installed: run scripts/setup.sh test")
    options.binary_location = programs[1]
    driver = webdriver.Chrome(service=webdriver.ChromeService(programs[0]), options=options)
    behaviour = {"behavior": "allow", "downloadPath": str(work)}
    driver.execute_cdp_cmd("Browser.setDownloadBehavior", behaviour)
    return driver


def show(driver, page, size="desktop", scheme="light", media="", scripts=True):
    """Opens the page anew on a screen of that kind."""
    width, height = WIDTHS[size]
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == "phone"}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not scripts})
    driver.get(page.as_uri())


def shoot(driver, work, name):
    whole = {"captureBeyondViewport": False}
    png = driver.execute_cdp_cmd("Page.captureScreenshot", whole)["data"]
    (work / f"{name}.png").write_bytes(base64.b64decode(png))


def fits(driver, what):
    widths = "return [document.documentElement.scrollWidth, window.innerWidth]"
    content, window = driver.execute_script(widths)
    assert content <= window, f"{what}: {content} pixels of content in {window}"


def is_quiet(driver, what):
    loud = [entry for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    assert not loud, f"{what}: {loud}"


def number(words):
    """The value of `97.9 k` or `62.8 µs`, in the unit of the data."""
    found = re.match(r"(-?[\d.]+) ?(\S*)$", words)
    assert found, words
    return float(found[1]) * PREFIXES.get(found[2], 1)


def reads_values(driver, spec):
    """The pointer on a marker shows the value, the interval and n that the specification has."""
    figure = driver.find_element(By.ID, f"figure-{spec['id']}")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", figure)
    svg = figure.find_element(By.CSS_SELECTOR, ".plot > svg")
    marks = svg.find_elements(By.CSS_SELECTOR, "circle[fill^='#'], polygon[stroke='#ffffff']")
    seen = 0
    series = {one["name"]: one["points"] for one in spec["chart"]["series"]}
    y = spec["chart"]["y"]
    for mark in marks[:6]:
        ActionChains(driver).move_to_element(mark).perform()
        tip = figure.find_element(By.CSS_SELECTOR, ".tip")
        assert tip.is_displayed(), f"{spec['id']}: no value is shown on a marker"
        name, *lines = tip.text.split("\n")
        said = dict(line.split(": ", 1) for line in lines if ": " in line)
        value = number(said[y["label"]])
        near = [point for point in series[name] if abs(point["y"] - value) <= 0.01 * abs(value)]
        assert near, f"{spec['id']}: {name} has no {value} in its data"
        counts = {f"n = {point['n']}" for point in near}
        assert any(count in tip.text for count in counts), f"{tip.text}: {counts}"
        assert "interval" in tip.text, tip.text
        seen += 1
    assert seen >= 3, f"{spec['id']}: {seen} markers"


def shows_a_value_on_tap(driver, spec):
    """A finger on a marker shows its value, which stays when the finger is lifted."""
    figure = driver.find_element(By.ID, f"figure-{spec['id']}")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", figure)
    mark = figure.find_element(By.CSS_SELECTOR, ".plot circle[fill^='#'], .plot polygon[stroke='#ffffff']")
    middle = "const box = arguments[0].getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]"
    x, y = driver.execute_script(middle, mark)
    tip = figure.find_element(By.CSS_SELECTOR, ".tip")
    assert not tip.is_displayed(), f"{spec['id']}: a value is shown before anybody asks"
    driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    for kind, points in (("touchStart", [{"x": x, "y": y}]), ("touchEnd", [])):
        driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
    assert tip.is_displayed() and "n = " in tip.text, f"{spec['id']}: no value on tap"


def answers_the_keyboard(driver, spec):
    figure = driver.find_element(By.ID, f"figure-{spec['id']}")
    svg = figure.find_element(By.CSS_SELECTOR, ".plot > svg")
    driver.execute_script("arguments[0].focus()", svg)
    told = set()
    for _ in range(3):
        driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
        told.add(figure.find_element(By.CSS_SELECTOR, ".tip").text)
    assert len(told) == 3 and "" not in told, told


def switches_series(driver, spec):
    figure = driver.find_element(By.ID, f"figure-{spec['id']}")

    def lines():
        return len(figure.find_elements(By.CSS_SELECTOR, ".plot polyline"))

    before = lines()
    toggle = figure.find_element(By.CSS_SELECTOR, ".legend button")
    toggle.click()
    assert (lines(), toggle.get_attribute("aria-pressed")) == (before - 1, "false")
    toggle.click()
    assert (lines(), toggle.get_attribute("aria-pressed")) == (before, "true")


def switches_scales(driver, spec):
    figure = driver.find_element(By.ID, f"figure-{spec['id']}")

    def ticks():
        return [text.text for text in figure.find_elements(By.CSS_SELECTOR, ".plot text")]

    before = ticks()
    figure.find_element(By.CSS_SELECTOR, "[data-axis=y]").click()
    assert ticks() != before, "another scale has other ticks"
    figure.find_element(By.CSS_SELECTOR, "[data-axis=y]").click()
    assert ticks() == before, "and back"


# Hands what a button would save to the test instead of to a file.
CATCH = """
const [button, done] = arguments;
const [make, click] = [URL.createObjectURL, HTMLAnchorElement.prototype.click];
URL.createObjectURL = (blob) => { blob.text().then(done); return make.call(URL, blob); };
HTMLAnchorElement.prototype.click = () => {};
button.click();
[URL.createObjectURL, HTMLAnchorElement.prototype.click] = [make, click];
"""


def button(driver, spec, ending):
    figure = driver.find_element(By.ID, f"figure-{spec['id']}")
    return figure.find_element(By.CSS_SELECTOR, f"[data-save={ending}]")


def saved(driver, spec, ending):
    return driver.execute_async_script(CATCH, button(driver, spec, ending))


def downloads(driver, spec, ending, work):
    """The file that a button brings to the disk; Chromium loses one in some hundreds, hence three tries."""
    path = work / f"{spec['id']}.{ending}"
    for _ in range(3):
        driver.execute_script("arguments[0].click()", button(driver, spec, ending))
        try:
            WebDriverWait(driver, WAIT_S / 3).until(lambda _: path.exists() and path.stat().st_size > 0)
            return path.read_bytes()
        except TimeoutException:
            print(f"{path.name}: no download after {WAIT_S / 3:.0f} s", file=sys.stderr)
    raise AssertionError(f"{path.name} was not downloaded")


def same_rows(downloaded, printed, name):
    def rows(text):
        return list(csv.reader(io.StringIO(text)))

    ours, theirs = rows(downloaded), rows(printed)
    assert len(ours) == len(theirs) > 1, f"{name}: {len(ours)} and {len(theirs)} rows"
    for one, other in zip(ours, theirs, strict=True):
        for left, right in zip(one, other, strict=True):
            try:
                assert float(left) == float(right), f"{name}: {one} {other}"
            except ValueError:
                assert left == right, f"{name}: {one} {other}"


def unpacked(data):
    """The specifications, with the points of lines as dictionaries instead of columns."""
    for spec in data["figures"]:
        chart = spec["chart"]
        shared = {key: chart[key] for key in ("n", "confidence") if key in chart}
        for line in chart.get("series", []):
            columns = line["points"].items()
            rows = range(len(line["points"]["x"]))
            cells = [{key: column[row] for key, column in columns if row < len(column)} for row in rows]
            points = [shared | {key: value for key, value in cell.items() if value is not None} for cell in cells]
            line["points"] = points
    return data["figures"]


def specifications(driver):
    return unpacked(json.loads(driver.find_element(By.ID, "figure-data").get_attribute("textContent")))


def has_intervals(chart):
    points = [point for series in chart.get("series", []) for point in series["points"]]
    return any("interval" in point for point in points)


def with_scripts(driver, page, work, outcrop, run):
    for size in WIDTHS:
        for scheme in ("light", "dark"):
            what = f"{size}-{scheme}"
            show(driver, page, size, scheme)
            fits(driver, what)
            first = driver.find_element(By.CSS_SELECTOR, ".stack tbody tr td")
            assert first.rect["y"] < WIDTHS[size][1] / 2, f"{what}: the first figure is below the first half screen"
            shoot(driver, work, what)
            figure = driver.find_element(By.CSS_SELECTOR, "figure")
            assert figure.find_element(By.CSS_SELECTOR, ".plot svg").is_displayed(), what
            assert not figure.find_element(By.CSS_SELECTOR, ".drawing > svg").is_displayed(), what
            driver.execute_script("arguments[0].scrollIntoView()", figure)
            shoot(driver, work, f"{what}-figures")
            is_quiet(driver, what)
    show(driver, page)
    specs = specifications(driver)
    spec = next(spec for spec in specs if has_intervals(spec["chart"]))
    reads_values(driver, spec)
    answers_the_keyboard(driver, spec)
    switches_series(driver, spec)
    switches_scales(driver, spec)
    for each in specs:
        command = [outcrop, "figure", run, each["id"], "--csv", "-o", "-"]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        same_rows(saved(driver, each, "csv"), printed, each["id"])
    assert downloads(driver, specs[0], "csv", work).decode() == saved(driver, specs[0], "csv"), "a CSV"
    assert downloads(driver, specs[0], "svg", work).startswith(b"<svg"), "an SVG"
    assert downloads(driver, specs[0], "png", work).startswith(b"\x89PNG"), "a PNG"
    is_quiet(driver, "after all that")
    show(driver, page, "phone")
    shows_a_value_on_tap(driver, spec)
    return len(specs)


def begins_with_the_stack(driver, page, work):
    """The first screen of six layers: the table of them, then the contents, before anything else."""
    for size in WIDTHS:
        for scheme in ("light", "dark"):
            what = f"six-layers-{size}-{scheme}"
            show(driver, page, size, scheme)
            fits(driver, what)
            first = driver.find_element(By.CSS_SELECTOR, ".stack tbody tr td")
            assert first.rect["y"] < WIDTHS[size][1] / 2, f"{what}: the first figure is below the first half screen"
            rows = driver.find_elements(By.CSS_SELECTOR, ".stack tbody th[scope=row] a")
            assert len(rows) >= 6, f"{what}: {len(rows)} rows"
            second = rows[1].rect["y"]
            assert second < WIDTHS[size][1], f"{what}: the first layer is at {second}, below the first screen"
            after = [driver.find_element(By.CSS_SELECTOR, part).rect["y"] for part in ("nav", "#placement", "main")]
            assert rows[-1].rect["y"] < after[0] and after == sorted(after), f"{what}: {after}"
            shoot(driver, work, what)
            is_quiet(driver, what)


def figures_of_six_layers_answer(driver, page):
    """Pointer, finger and buttons reach the figures of a page with many of them."""
    for size in WIDTHS:
        show(driver, page, size)
        spec = next(spec for spec in specifications(driver) if has_intervals(spec["chart"]))
        if size == "phone":
            shows_a_value_on_tap(driver, spec)
        else:
            reads_values(driver, spec)
            switches_series(driver, spec)
            switches_scales(driver, spec)
        is_quiet(driver, f"six-layers-{size}")


# Name and right edge of each table, and the words of the heading of the one with the most rows.
TABLES = """
document.querySelectorAll('details').forEach((one) => { one.open = true; });
const shown = [...document.querySelectorAll('table')].filter((table) => table.offsetWidth);
const name = (table) => `${table.className}: ${table.textContent.trim().slice(0, 60)}`;
const edges = shown.map((table) => [name(table), table.getBoundingClientRect().left + table.scrollWidth]);
const longest = shown.reduce((one, next) => (next.rows.length > one.rows.length ? next : one));
return [edges, longest.tHead.innerText.trim().split(/\\s+/)];
"""


# The key-value table of a quick profile of the user's data has as many.
MOST_COLUMNS = 19
# The right edge of the table with the most columns, once it has as many as a table may have.
WIDEST = """
const columns = (table) => table.rows[0].cells.length;
const shown = [...document.querySelectorAll('table.dense')];
const widest = shown.reduce((one, next) => (columns(next) > columns(one) ? next : one));
widest.classList.add('densest');
for (const row of widest.rows) {
  for (let at = 1; row.cells.length < arguments[0]; at += 1) row.append(row.cells[at].cloneNode(true));
}
return widest.getBoundingClientRect().left + widest.scrollWidth;
"""


def prints_whole_tables(driver, page, work):
    """Paper does not scroll: no table is wider than a sheet, and one that goes on has its heading on the next, too."""
    show(driver, page, media="print")
    metrics = {"width": PRINTABLE, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    edges, heading = driver.execute_script(TABLES)
    cut = [(name, edge) for name, edge in edges if edge > PRINTABLE + 1]
    assert edges and not cut, f"wider than a sheet of {PRINTABLE} pixels: {cut}"
    pdf = base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", LOW)["data"])
    (work / "six-layers-low.pdf").write_bytes(pdf)
    # NFKC: the font has one glyph for ff.
    texts = (sheet.extract_text() for sheet in PdfReader(io.BytesIO(pdf)).pages)
    sheets = [unicodedata.normalize("NFKC", text).split() for text in texts]
    with_heading = [number for number, words in enumerate(sheets, 1) if set(heading) <= set(words)]
    assert len(with_heading) > 1, f"the heading {heading} stands on the sheets {with_heading} of {len(sheets)} alone"
    edge = driver.execute_script(WIDEST, MOST_COLUMNS)
    assert edge <= PRINTABLE + 1, f"a table of {MOST_COLUMNS} columns is {edge} pixels wide, a sheet {PRINTABLE}"


def fits_two_sheets(driver, page, work):
    show(driver, page)
    pdf = base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", A4)["data"])
    (work / "one-page.pdf").write_bytes(pdf)
    sheets = len(re.findall(rb"/Type\s*/Page\b", pdf))
    assert 1 <= sheets <= MOST_SHEETS, f"{page.name} of six layers prints on {sheets} sheets"
    return sheets


def without_scripts(driver, page, work):
    for size in WIDTHS:
        show(driver, page, size, scripts=False)
        fits(driver, f"{size} without scripts")
        assert not driver.find_elements(By.CSS_SELECTOR, ".live"), "scripts ran"
        drawing = driver.find_element(By.CSS_SELECTOR, ".drawing > svg")
        assert drawing.is_displayed() and drawing.rect["height"] > 150, size
        shoot(driver, work, f"{size}-without-scripts")


def printed(driver, page, work):
    show(driver, page, media="print")
    drawing = driver.find_element(By.CSS_SELECTOR, ".drawing > svg")
    assert drawing.is_displayed() and not driver.find_element(By.CSS_SELECTOR, ".live").is_displayed()
    assert not driver.find_element(By.CSS_SELECTOR, "nav").is_displayed()
    shoot(driver, work, "print")
    pdf = driver.execute_cdp_cmd("Page.printToPDF", A4)["data"]
    (work / "print.pdf").write_bytes(base64.b64decode(pdf))


def main():
    outcrop, run, pages, work = (Path(argument).resolve() for argument in sys.argv[1:])
    copy = work / "run"
    shutil.copytree(run, copy)
    subprocess.run([outcrop, "report", copy], check=True, stdout=subprocess.DEVNULL)
    page = copy / "report.html"
    driver = browser(work)
    try:
        count = with_scripts(driver, page, work, outcrop, copy)
        without_scripts(driver, page, work)
        printed(driver, page, work)
        begins_with_the_stack(driver, pages / "report.html", work)
        figures_of_six_layers_answer(driver, pages / "report.html")
        prints_whole_tables(driver, pages / "report.html", work)
        sheets = fits_two_sheets(driver, pages / "one-page.html", work)
    finally:
        driver.quit()
    size = page.stat().st_size
    print(f"the report reads well in Chromium: {count} figures, {size} bytes; of six layers on {sheets} sheets")


main()
