#!/usr/bin/env python3
"""Runs models on small machines in emulators: whether results are right, instructions, code, memory.

  tests/firmware/check.py [--machines cortex-m4,...] [--models NAME,...] [--levels O3,Os] [--json FILE]
  tests/firmware/check.py --machines cortex-m4 --models mlperf_tiny_ad_fp32 --target generic --option=--memory=min --keep /tmp/here

Each line: instructions of one run and for each multiply-add; bytes of code, of other constants, of weights, of the arena and of the stack; the largest frame.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness import emulate, image, models
from harness.machines import MACHINES


def measure(onnxc, case, machine, level, folder, target=None, options=()):
    """A row: what was found of the model on the machine. `wrong` is there if something is."""
    row = {"model": case.name, "machine": machine.name, "level": level, "macs": case.macs}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        unit = image.onnxc_unit(onnxc, case, machine, level, folder, target, options)
        return {**row, **measure_unit(case, machine, level, unit, folder)}
    except image.Failed as failure:
        return {**row, "wrong": str(failure)}


def measure_unit(case, machine, level, unit, folder):
    """The same for a unit of whatever origin."""
    made, sizes = image.build(case, machine, level, unit, folder)
    ran = emulate.run(case, machine, made)
    row = {"instructions": ran["instructions"], "arena": unit.arena, "stack": ran["stack"], **sizes, "frames": image.frames(folder)}
    wrong = f"status {ran['status']}" if ran["status"] != 0 else case.error(ran["outputs"])
    return row if wrong is None else {**row, "wrong": wrong}


COLUMNS = ["instructions", "per mac", "text", "rodata", "weights", "data", "bss", "arena", "stack", "frame"]


def line(row):
    """A row as text."""
    if "text" not in row:
        figures = ""
    else:
        counted = row["instructions"]
        cells = [f"{counted:,}" if counted else "", f"{counted / row['macs']:.2f}" if counted and row["macs"] else "",
                 *(f"{row[key]:,}" for key in COLUMNS[2:-1]), str(row["frames"][0][0])]
        figures = " ".join(f"{cell:>{width}}" for cell, width in zip(cells, [13, 7, *[9] * 7, 6], strict=True))
    return f"{row['model']:<22} {row['machine']:<15} {row['level']:<3} {figures}  {'WRONG: ' + row['wrong'] if 'wrong' in row else 'right'}"


def head():
    return f"{'model':<22} {'machine':<15} {'':<3} " + " ".join(f"{name:>{width}}" for name, width in zip(COLUMNS, [13, 7, *[9] * 7, 6], strict=True))


def zoo():
    """The folder with the models."""
    run = subprocess.run([image.ROOT / "tests/zoo/folder.sh"], stdout=subprocess.PIPE, text=True)
    if run.returncode != 0:
        sys.exit(run.returncode)
    return Path(run.stdout.strip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machines", default="cortex-m4", help="names of --target, or `all`")
    parser.add_argument("--models", default="all", help="names of models, or parts of them, or `all`")
    parser.add_argument("--levels", default="O3", help="of onnxc and of the compiler")
    parser.add_argument("--target", help="what onnxc compiles for, if not the machine: generic")
    parser.add_argument("--option", action="append", default=[], help="one more for onnxc; may be repeated")
    parser.add_argument("--zoo", type=Path, help="a folder with the models")
    parser.add_argument("--json", type=Path, help="writes the rows there")
    parser.add_argument("--keep", type=Path, help="leaves units, objects and images in this folder")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("ONNXC_JOBS", os.cpu_count() or 1)))
    options = parser.parse_args()
    folder = options.zoo or zoo()
    names = models.FOURTEEN if options.models == "all" else [name for part in options.models.split(",") for name in models.FOURTEEN if part in name]
    machines = list(MACHINES.values()) if options.machines == "all" else [MACHINES[name] for name in options.machines.split(",")]
    for machine in machines:
        if missing := machine.missing():
            print(f"no {missing} for {machine.name}: tools/setup.sh --cross-deps")
            return 77
    onnxc = Path(os.environ.get("ONNXC_EXECUTABLE", image.ROOT / "build/onnxc"))
    cases = [models.case(folder / name) for name in names]
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(options.jobs) as pool:
        work = options.keep or Path(scratch)
        rows = pool.map(lambda job: measure(onnxc, job[0], job[1], job[2], work / f"{job[0].name}-{job[1].name}-{job[2]}", options.target, options.option),
                        [(case, machine, level) for machine in machines for case in cases for level in options.levels.split(",")])
        print(head(), flush=True)
        done = []
        for row in rows:
            print(line(row), flush=True)
            done.append(row)
    if options.json:
        options.json.write_text(json.dumps(done, indent=1))
    return 1 if any("wrong" in row for row in done) else 0


if __name__ == "__main__":
    sys.exit(main())
