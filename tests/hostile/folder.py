#!/usr/bin/env python3
"""Gives onnxc every model of a folder, whoever made it, and says how each ended.

  folder.py [--binary BUILD/onnxc] FOLDER    *.onnx in it and in folders below; external data is read where a model lies

A line for each: how it ended, exit status, seconds, MB, the file and what onnxc said. What is accepted has to be C++ that compiles. Exit status 1 if something is neither refused in one
line nor compiled. With a build of sanitizers what they report counts as crashed, and memory that is not given back as leaked.
"""
import argparse
import collections
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from judge import Runner

COMPILER = os.environ.get("ONNXC_CXX") or os.environ.get("CXX") or "c++"
RUNTIME = pathlib.Path(__file__).resolve().parents[2] / "runtime_stub"


def kind_of(fault):
    """Of what judge.py calls a fault."""
    if not fault:
        return None
    if fault.startswith("time"):
        return "hung"
    if "LeakSanitizer" in fault:
        return "leaked"
    return "crashed" if fault.startswith(("signal", "sanitizer", "internal", "memory", "exit")) else "unclear"


def compiles(unit):
    """None, or the compiler's first error."""
    done = subprocess.run([COMPILER, "-std=c++20", "-O0", "-fsyntax-only", f"-I{RUNTIME}", str(unit)], capture_output=True, text=True)
    return None if done.returncode == 0 else next((line for line in done.stderr.splitlines() if "error" in line), "the compiler failed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="build/onnxc")
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    binary = pathlib.Path(options.binary).resolve()
    files = sorted(path for path in options.folder.rglob("*.onnx") if path.is_file())
    if not files:
        print(f"there is no *.onnx in {options.folder}", file=sys.stderr)
        return 2
    sanitized = b"__asan_init" in binary.read_bytes()
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as scratch:
        for file in files:
            work = pathlib.Path(scratch) / "work"
            shutil.rmtree(work, ignore_errors=True)
            runner = Runner(binary, work, sanitized)
            ended = runner.run_file(file.resolve(), ["--target=generic"])
            kind, said = kind_of(ended.fault), (ended.fault + ": " if ended.fault else "") + ended.said.replace("\n", " ")[:200]
            strays = [path.name for path in work.iterdir() if not path.name.startswith("unit") and path.name != "errors"]
            if kind is None and strays:
                kind, said = "leaked", f"it left {strays[0]}"
            if kind is None and ended.status != 0:
                kind = "refused"
            if kind is None:
                wrong = compiles(work / "unit.cpp")
                kind, said = ("accepted", said) if wrong is None else ("broken", wrong)
            counts[kind] += 1
            print(f"{kind:<9} {ended.status:>4} {ended.seconds:6.2f} s {ended.mebibytes:6.0f} MB  {file.relative_to(options.folder)}  {said}", flush=True)
    print(f"{len(files)} files: {counts['refused']} refused cleanly, {counts['accepted']} accepted and compiled, {counts['crashed']} crashed, {counts['hung']} hung, {counts['leaked']} leaked"
          + "".join(f", {counts[kind]} {text}" for kind, text in (("unclear", "with an unclear message"), ("broken", "accepted as C++ that does not compile")) if counts[kind]))
    return 0 if counts["refused"] + counts["accepted"] == len(files) else 1


if __name__ == "__main__":
    sys.exit(main())
