"""Where and with what figures were measured."""
import datetime
import os
import platform
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def first_line(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.strip().splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "unknown"


def processor():
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def commit():
    """Of this source tree; `+` at its end: with changes that are not committed."""
    return first_line("git", "describe", "--always", "--exclude=*", "--abbrev=10", "--dirty=+")


def describe(onnxc_executable, peers):
    """All of it, for a report; `peers`: {name: version}."""
    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "system": platform.platform(terse=True),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": commit(),
        "onnxc": first_line(onnxc_executable, "--version"),
        "compiler": first_line(os.environ.get("CXX", "c++"), "--version"),
        "peers": peers,
        "python": platform.python_version(),
    }
