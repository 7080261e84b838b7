"""Draws a run in fio's form with fio-plot, as a user of fio would.

    draw_fio.py OUTCROP FOLDER

FOLDER is made, and holds the run, its results in fio's form and the picture.
"""

import subprocess
import sys
from pathlib import Path


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stdout}{done.stderr}")
    return done.stdout


def main():
    outcrop, folder = Path(sys.argv[1]), Path(sys.argv[2])
    folder.mkdir(parents=True)
    run(
        outcrop, "device", folder, "--size", "16MiB", "--queue-depth", "1,4,16", "--latency-parts", "apart",
        "--repetitions", "1", "--warm-up", "10ms", "--duration", "200ms", "--out", folder / "runs",
    )
    (of_ours,) = (folder / "runs").iterdir()
    # A path that ends in a slash is a folder: a report for each trial.
    run(outcrop, "results", "export", of_ours, "--format", "fio-json", "-o", f"{folder}/plots/")
    picture = folder / "picture.png"
    plot = Path(sys.executable).with_name("fio-plot")
    run(plot, "-i", folder / "plots", "-l", "-r", "randread", "-T", "outcrop", "-d", "1", "4", "16", "-o", picture)
    if picture.read_bytes()[:8] != b"\x89PNG\r\n\x1a\n":
        sys.exit(f"{picture} is no picture")
    print("fio-plot draws a run in fio's form")


if __name__ == "__main__":
    main()
