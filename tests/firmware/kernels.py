#!/usr/bin/env python3
"""Runs the tests of kernels that have instructions of a microcontroller: each program of this folder on each core that it is for.

  tests/firmware/kernels.py [--machines cortex-m4,...]

A program prints what is wrong and ends with the number of cases that are.
"""
import argparse
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness import image
from harness.machines import MACHINES, PARTS, SHARED

HERE = Path(__file__).resolve().parent
PACKING = [image.ROOT / "compiler/select/weights/pack_columns.cpp"]
PROGRAMS = [  # source, others, cores
    (HERE / "columns.cpp", PACKING, ["cortex-m0", "cortex-m3", "cortex-m4", "cortex-m33", "cortex-m55"]),
    (HERE / "float_tiles.cpp", [], ["cortex-m4", "cortex-m7", "cortex-m33"]),
]


def check(job):
    """What the program said, and whether all is right."""
    source, others, machine, level = job
    name = f"{source.stem} on {machine.name}, {level}"
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "image"
        try:
            image.command(machine.compiler, machine.flags, machine.more, image.USUAL, image.CPP, image.WARNINGS, f"-{level}", f"-I{image.ROOT}", f"-I{PARTS}", f"-I{SHARED}",
                          f"-I{image.ROOT / 'runtime_stub'}", [source, *others, PARTS / "newlib.cpp", SHARED / "board.cpp"], "-Wl,--gc-sections",
                          image.placement(machine, 64 << 10), "-o", out)
        except image.Failed as failure:
            return False, f"{name}: {failure}"
        done = subprocess.run([*machine.emulator.split(), str(out)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    return done.returncode == 0, f"{name}: {(done.stdout + done.stderr).strip()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machines", type=lambda names: names.split(","))
    args = parser.parse_args()
    jobs = [(source, others, MACHINES[core], level) for source, others, cores in PROGRAMS for core in cores for level in ("O2", "Os")
            if (args.machines is None or core in args.machines) and MACHINES[core].missing() is None]
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(check, jobs))
    for _, said in results:
        print(said)
    sys.exit(0 if jobs and all(right for right, _ in results) else 1)


if __name__ == "__main__":
    main()
