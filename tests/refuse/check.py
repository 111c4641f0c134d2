"""Gives every case to onnxc and judges the answer: exit status, one line that names the file, no file left, time and memory.

    check.py ONNXC [REGEX]      only the cases whose name matches

ONNXC_UNLIMITED=1 lifts the limits of time and memory, for an onnxc with sanitizers.
"""
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cases import CASES

CPU_SECONDS, MEMORY = 6, 512 << 20  # finds what grows faster than the model: the largest of them take 1.5 s on an idle core, twice that beside others
WALL_SECONDS = 60  # the machine may be busy


UNLIMITED = bool(os.environ.get("ONNXC_UNLIMITED"))


def limit():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if UNLIMITED:
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (30, 30))


def run(command, environment):
    """Exit status (negative: a signal), standard error, CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command, env=os.environ | environment, preexec_fn=limit, stdin=subprocess.DEVNULL, capture_output=True, timeout=WALL_SECONDS * (10 if UNLIMITED else 1))
    except subprocess.TimeoutExpired:
        return None, "", WALL_SECONDS
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.returncode, done.stderr.decode(errors="replace"), cpu


def faults(case, folder, onnxc):
    work = folder / "work"
    work.mkdir()
    case.make(work)
    out = folder / "out"
    out.mkdir()
    places = {"model": work / "model.onnx", "folder": work, "out": out}
    if case.command:
        arguments = [word.format(**places) for word in shlex.split(case.command)]
    else:
        arguments = [str(places["model"]), *case.options, *([] if "-o" in case.options else ["-o", str(out / "model.cpp")])]
    status, errors, cpu = run([str(onnxc), *arguments], {name: value.format(**places) for name, value in case.environment.items()})
    found = []
    allowed = case.exit if isinstance(case.exit, set) else {case.exit}
    if status is None:
        return [f"still running after {WALL_SECONDS} s"], cpu
    if status not in allowed:
        found.append(f"exit status {status}, not {' or '.join(map(str, sorted(allowed)))}: {errors.strip()[:300]}")
    if cpu > CPU_SECONDS and not UNLIMITED:
        found.append(f"{cpu:.1f} s of CPU")
    left = sorted(p.name for p in out.iterdir())
    if status == 0 and left != ["model.cpp", "model.h"]:
        found.append(f"wrote {left}")
    if status != 0:
        if left:
            found.append(f"left {left}")
        lines = errors.splitlines()
        if case.command:  # which may tell of its work before
            lines = [line for line in lines if "error[" in line]
        if case.lines and len(lines) != case.lines:
            found.append(f"{len(lines)} lines on standard error: {errors.strip()[:300]}")
        usage = status == 2 or "-o" in case.options or case.command
        for line in lines if case.lines else []:
            said = re.match(r"onnxc: error\[(E\d{4})\]: ", line)
            if not said:
                found.append(f"the line does not say it is an error: {line[:200]}")
            elif case.code and said[1] != case.code:
                found.append(f"the code is {said[1]}, not {case.code}")
            if len(line) > 2000:
                found.append(f"a line of {len(line)} bytes")
            if not usage and "model.onnx" not in line:
                found.append(f"the line does not name the file: {line[:200]}")
        for piece in case.says:
            if piece not in errors:
                found.append(f"does not say {piece!r}: {errors.strip()[:300]}")
    elif "error" in errors:
        found.append(f"exit status 0 with {errors.strip()[:300]}")
    return found, cpu


def main():
    onnxc, pattern = Path(sys.argv[1]).resolve(), sys.argv[2] if len(sys.argv) > 2 else ""
    failed = passed = 0
    start = time.monotonic()
    for case in CASES:
        if not re.search(pattern, case.name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            found, cpu = faults(case, Path(folder), onnxc)
        if found:
            failed += 1
            print(f"FAILED  {case.name}")
            for fault in found:
                print(f"          {fault}")
        else:
            passed += 1
            if os.environ.get("VERBOSE"):
                print(f"ok      {case.name} ({cpu:.2f} s)")
    print(f"refusals: {passed} passed, {failed} failed, in {time.monotonic() - start:.0f} s")
    sys.exit(1 if failed else 0)


main()
