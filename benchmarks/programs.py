"""The programs that benchmarks run: ours, built from this checkout, and others, installed where that is allowed."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def output(command, **variables):
    """What a command prints, run with `variables` added to the environment."""
    command = [str(part) for part in command]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | variables).stdout


def target_directory():
    """Where cargo puts what it builds from this checkout."""
    metadata = ["cargo", "metadata", "--format-version=1", "--no-deps"]
    return Path(json.loads(subprocess.check_output(metadata, cwd=ROOT))["target_directory"])


def build(profile, *what):
    """Builds with cargo; gives the folder that the build is in. Said on stderr, since a release build takes minutes."""
    print(f"building {' '.join(what)} ({profile})", file=sys.stderr, flush=True)
    command = ["cargo", "build", "--quiet", "--profile", profile, "--locked", *what]
    subprocess.run(command, check=True, cwd=ROOT, stdout=sys.stderr)
    return target_directory() / {"dev": "debug"}.get(profile, profile)


def outcrop():
    """The program named by $OUTCROP, or a release build of this checkout."""
    if os.environ.get("OUTCROP"):
        return os.environ["OUTCROP"]
    return str(build("release", "-p", "outcrop") / "outcrop")


def example(package, name, profile="release"):
    """An example program of one of our crates."""
    return build(profile, "-p", package, "--example", name) / "examples" / name


def need(program, package):
    """Installs `package` where `program` is missing, or ends with what to run."""
    if shutil.which(program):
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        sys.exit(f"{program} is missing and cannot be installed from here; run: sudo apt-get install {package}")
    subprocess.run(["apt-get", "install", "-y", "-qq", package], check=True, stdout=sys.stderr)
