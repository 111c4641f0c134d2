"""Commands with limits, and where files of a run lie."""
import contextlib
import hashlib
import json
import os
import resource
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = (ROOT / os.environ.get("ONNXC_BUILD", "build")).resolve()
PLACE = BUILD / "mutation"
CXX = os.environ.get("CXX", "g++")
MEMORY = 6 << 30  # bytes that a mutant may take before it counts as noticed


@dataclass
class Ended:
    code: int  # of the process; negative: a signal; None: no end
    output: str
    seconds: float  # of the processor

    def why(self):
        return "no end" if self.code is None else f"signal {-self.code}" if self.code < 0 else f"exit code {self.code}"


def run(command, seconds=600, memory=None, **more):
    """Seconds are the processor's: other work on the machine changes nothing. By the clock ten times as many may pass."""

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    with tempfile.TemporaryFile() as written:
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=written, stderr=subprocess.STDOUT, preexec_fn=limit, start_new_session=True, **more)
        timer = threading.Timer(10 * seconds + 60, os.killpg, (process.pid, signal.SIGKILL))
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        written.seek(0)
        output = written.read().decode(errors="replace")
    ends = process.returncode not in (-signal.SIGXCPU, -signal.SIGKILL)
    return Ended(process.returncode if ends else None, output, usage.ru_utime + usage.ru_stime)


def link_command(program):
    """How Ninja links a program of the build folder: the words up to its objects, and the libraries behind them."""
    lines = run(["ninja", "-C", BUILD, "-t", "commands", program]).output.strip().splitlines()
    words = shlex.split(lines[-1].removeprefix(": && ").split(" && ")[0])
    out = words.index("-o")
    objects = [word for word in words[:out] if word.endswith(".o")]
    return words[:words.index(objects[0])], objects, words[out + 2:]


def digest(paths, more=""):
    """Changes with the files."""
    found = hashlib.sha256(more.encode())
    for path in paths:
        found.update(path.read_bytes())
    return found.hexdigest()[:16]


def remembered(name, make):
    """What `make` finds out once; a file of PLACE holds it."""
    path = PLACE / name
    if not path.exists():
        found = make()
        PLACE.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(".new")
        temporary.write_text(json.dumps(found))
        os.replace(temporary, path)
    return json.loads(path.read_text())


@contextlib.contextmanager
def scratch():
    """A folder for one mutant, in the build folder."""
    PLACE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="mutant-", dir=PLACE, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def now():
    return time.strftime("%H:%M:%S")
