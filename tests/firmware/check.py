#!/usr/bin/env python3
"""Runs models on small machines in emulators: whether results are right, instructions, code, memory.

  tests/firmware/check.py [--machines cortex-m4,...] [--models NAME,...] [--levels O3,Os] [--json FILE]
  tests/firmware/check.py --machines cortex-m4 --models mlperf_tiny_ad_fp32 --target generic --option=--memory=min --keep /tmp/here

Each line: instructions of one run and for each multiply-add; bytes of code, of constants beside weights, of weights, of the arena and of the stack; the largest frame.
"""
import argparse
import json
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness import golden, models
from harness.image import ROOT
from harness.machines import MACHINES
from harness.measure import head, line, measure


def chosen(text, names):
    """Those of the names that begin with one of the words, or are all."""
    words = text.split(",")
    found = [name for name in names if text == "all" or any(name.startswith(word) for word in words)]
    if unknown := [word for word in words if text != "all" and not any(name.startswith(word) for name in names)]:
        raise SystemExit(f"unknown: {', '.join(unknown)}; there are {', '.join(names)}")
    return found


def differ(rows):
    """Whether a model's right results are not the same bits everywhere; says which machines go together."""
    found = {}
    for row in rows:
        if "wrong" not in row:
            found.setdefault(row["model"], {}).setdefault(row["result"], []).append(f"{row['machine']} {row['level']}")
    for model, groups in found.items():
        if len(groups) > 1:
            print(f"{model}: different bits: " + " | ".join(", ".join(where) for where in groups.values()))
    return any(len(groups) > 1 for groups in found.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machines", default="cortex-m4", help="names of --target, or `all`")
    parser.add_argument("--models", default="all", help="names of models, or how these begin; `all`: fourteen of the zoo, or those that are made")
    parser.add_argument("--levels", default="O3", help="of onnxc and of the compiler")
    parser.add_argument("--target", help="what onnxc compiles for, if not the machine: generic")
    parser.add_argument("--option", action="append", default=[], help="one more for onnxc; may be repeated")
    parser.add_argument("--golden", action="store_true", help="compares with golden/figures.txt; with UPDATE_GOLDEN=1 writes it")
    parser.add_argument("--same-bits", action="store_true", help="each model has to give the same bits on all machines and levels: with --option=--math=reproducible")
    parser.add_argument("--json", type=Path, help="writes the rows there")
    parser.add_argument("--keep", type=Path, help="leaves units, objects and images in this folder")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("ONNXC_JOBS", os.cpu_count() or 1)))
    options = parser.parse_args()
    folders = models.folders()
    names = [name for name in models.FOURTEEN if name in folders] or models.MADE
    cases = [models.case(folders[name]) for name in (names if options.models == "all" else chosen(options.models, list(folders)))]
    machines = [MACHINES[name] for name in (list(MACHINES) if options.machines == "all" else options.machines.split(","))]
    for machine in machines:
        if missing := machine.missing():
            print(f"skipped: no {missing} for {machine.name}; tools/setup.sh --cross-deps installs it")
            return 77
    onnxc = Path(os.environ.get("ONNXC_EXECUTABLE", ROOT / "build/onnxc"))
    rows = []
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(options.jobs) as pool:
        work = options.keep or Path(scratch)
        jobs = [(case, machine, level) for machine in machines for case in cases for level in options.levels.split(",")]
        made = lambda case, machine, level: measure(onnxc, case, machine, level, work / f"{case.name}-{machine.name}-{level}", options.target, options.option)
        print(head(), flush=True)
        for row in pool.map(lambda job: made(*job), jobs):
            print(line(row), flush=True)
            rows.append(row)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    fine = golden.check(rows, machines) if options.golden else True
    fine &= not (options.same_bits and differ(rows))
    return 0 if fine and not any("wrong" in row for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
