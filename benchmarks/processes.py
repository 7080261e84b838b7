"""Programs that benchmarks start, and that have to be gone however the benchmark ends."""

import os
import signal
import subprocess
import sys

ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def end_cleanly_on_signals():
    """What ends the benchmark ends it as an exception would, so that files, devices and programs of ours go with it."""

    def leave(number, _):
        # The next one must not interrupt the removal.
        for each in ENDING:
            signal.signal(each, signal.SIG_IGN)
        sys.exit(128 + number)

    for each in ENDING:
        signal.signal(each, leave)


def end(process):
    """Ends a program and what it started: with the chance to clean up, and then without."""
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)


def output(command):
    """Runs a command and returns its output. If this script ends first, it also ends what the command started."""
    command = [str(part) for part in command]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, start_new_session=True, **pipes) as process:
        try:
            text, errors = process.communicate()
        except BaseException:
            end(process)
            raise
    if process.returncode != 0:
        sys.exit(f"`{' '.join(command)}` ended with {process.returncode}: {errors.strip() or text.strip()}")
    return text
