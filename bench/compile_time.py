#!/usr/bin/env python3
"""How long the system's compiler takes for the unit of one operator.

    compile_time.py [--flags "-O2"] [--every N] [--filter REGEX] [--json FILE]

The units are those of ONNX's node tests, one model each. Time is the compiler's own (user and system, so that a busy machine matters little), the least
of three runs for those that are slow at first. Prints the distribution and the slowest, by name.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[1]


def seconds_of(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flags", default="-O2")
    parser.add_argument("--every", type=int, default=1, help="take each N-th case")
    parser.add_argument("--filter", default="")
    parser.add_argument("--json")
    parser.add_argument("--onnxc", default=os.environ.get("ONNXC_EXECUTABLE", str(ROOT / "build" / "onnxc")))
    options = parser.parse_args()
    cache = pathlib.Path(os.environ.get("ONNXC_CACHE", pathlib.Path.home() / ".cache" / "onnxc"))
    suite = next(iter(sorted(cache.glob("conformance-*/node"))), None)
    if suite is None:
        sys.exit("no node tests: run build/conformance node once")
    cases = [case for case in sorted(suite.iterdir()) if (case / "model.onnx").exists() and re.search(options.filter, case.name)][:: options.every]
    times = {}
    with tempfile.TemporaryDirectory() as folder:
        for number, case in enumerate(cases):
            unit = pathlib.Path(folder) / "unit.cpp"
            made = subprocess.run([options.onnxc, case / "model.onnx", "-o", unit], capture_output=True)
            if made.returncode != 0:
                continue
            command = ["g++", "-std=c++20", "-march=native", *options.flags.split(), f"-I{ROOT / 'runtime_stub'}", "-c", unit, "-o", "/dev/null"]
            times[case.name] = seconds_of(command)
            if times[case.name] > 0.8:
                times[case.name] = min([times[case.name], seconds_of(command), seconds_of(command)])
            if sys.stderr.isatty():
                print(f"\r{number + 1} of {len(cases)}", end="", file=sys.stderr)
    ordered = sorted(times.values())
    if not ordered:
        sys.exit("no case")
    print(f"g++ {options.flags}, {len(ordered)} units: median {ordered[len(ordered) // 2]:.2f} s, 99 % below {ordered[len(ordered) * 99 // 100]:.2f} s, slowest {ordered[-1]:.2f} s")
    print(f"{sum(t > 1 for t in ordered)} take more than 1 s")
    for name in sorted(times, key=times.get, reverse=True)[:15]:
        print(f"  {times[name]:.2f} s  {name}")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(times, indent=1) + "\n")


if __name__ == "__main__":
    main()
