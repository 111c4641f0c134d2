#!/usr/bin/env python3
"""--math=reproducible: a table of the results' bits, models by machines, with hosts, boards and other processors in emulators.

    tests/numerics/bits.py                  one network: each machine of this host, whose compilers and levels take turns, and a Cortex-M4
    tests/numerics/bits.py --all            every network on every machine that has its compiler and emulator here
    tests/numerics/bits.py --machines x86-64-v3,cortex-m4 --models made_kws,rows

Each cell is the beginning of the SHA-256 of all outputs' bytes. Models are those of layers.py and, with --all, those of MLPerf Tiny; results are also compared with ONNX Runtime's. The exit
status is 1 where the cells of a row differ or a result is wrong. --control makes units without --math=reproducible, and shows that the table can tell: their bits differ.
"""
import argparse
import json
import os
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime
from host import flags, x86_targets
from layers import networks
from onnx import numpy_helper

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "firmware"), str(Path(__file__).resolve().parents[1])]
from harness import emulate, image, models  # noqa: E402
from harness.machines import MACHINES, Machine  # noqa: E402
from networks import TOLERANCE  # noqa: E402

ONNXC = Path(os.environ["ONNXC_EXECUTABLE"])
DIGITS = 10  # of a hash
COLUMNS = 8  # of a table
ONE = ["images_3x20"]  # what a quick run takes


@dataclass(frozen=True)
class Column:
    """Where a unit runs, and who compiles it."""
    machine: Machine
    compiler: str
    level: str  # of the compiler. onnxc has the same for all, since its passes round weights.

    def title(self):
        return f"{self.machine.name} {self.compiler} -{self.level}"


def hosts():
    """The x86 machines that this processor is, with both compilers and levels."""
    machines = [("generic", "")] + [(name, f"-march={name}") for name in x86_targets()]
    clang = next((name for name in ("clang++-19", "clang++") if shutil.which(name)), None)
    for name, march in machines if flags() else []:
        for cpp, c, levels in (("g++", "gcc", ("O0", "O3")), (clang, clang and clang.replace("++", ""), ("O0", "O3"))):
            if cpp and shutil.which(cpp):
                machine = Machine(name, cpp, march, "env", c, kind="linux", counts=False)
                yield from (Column(machine, cpp, level) for level in levels)


def few():
    """A column for each machine of this host, and a Cortex-M4."""
    of = {}
    for column in hosts():
        of.setdefault(column.machine.name, []).append(column)
    return [same[k % len(same)] for k, same in enumerate(of.values())] + columns("cortex-m4")


def columns(wanted):
    """Those of all machines, or of some names, that can be made here."""
    found = [*hosts(), *(Column(m, m.compiler.rsplit("-", 1)[-1] if m.compiler.endswith("g++") else m.compiler, "Os" if m.kind == "board" else "O3") for m in MACHINES.values())]
    chosen = [c for c in found if wanted == "all" or any(c.machine.name == name for name in wanted.split(","))]
    for column in [c for c in chosen if c.machine.missing()]:
        print(f"(no {column.machine.missing()} for {column.machine.name})")
    return [c for c in chosen if not c.machine.missing()]


def make_cases(folder):
    """Of the networks with each kind of layer: {name: folder}."""
    random, made = np.random.default_rng(5), {}
    for name, (model, shape, output) in networks(random).items():
        made[name] = folder / name
        data = made[name] / "test_data_set_0"
        data.mkdir(parents=True)
        model.save(made[name] / "model.onnx", shape, output)
        x = random.standard_normal(shape).astype(np.float32)
        (expected,) = onnxruntime.InferenceSession(made[name] / "model.onnx", providers=["CPUExecutionProvider"]).run(None, {"x": x})
        (data / "input_0.pb").write_bytes(numpy_helper.from_array(x, "x").SerializeToString())
        (data / "output_0.pb").write_bytes(numpy_helper.from_array(expected, output).SerializeToString())
        (made[name] / "case.json").write_text(json.dumps(TOLERANCE))
    return made


def cell(case, column, folder, math):
    """The hash of the results' bytes, or what is wrong."""
    folder.mkdir(parents=True)
    try:
        unit = image.onnxc_unit(ONNXC, case, column.machine, "O3", folder, options=math)
        made, _ = image.build(case, column.machine, column.level, unit, folder)
        ran = emulate.run(case, column.machine, made)
        wrong = f"status {ran['status']}" if ran["status"] != 0 else case.error(ran["outputs"])
    except image.Failed as failure:
        wrong = str(failure)
    shutil.rmtree(folder)
    return f"WRONG: {wrong}" if wrong else ran["digest"][:DIGITS]


def print_table(cases, chosen, cells):
    for at in range(0, len(chosen), COLUMNS):
        some = chosen[at:at + COLUMNS]
        print("| model | " + " | ".join(c.title() for c in some) + " |\n|---|" + "---|" * len(some))
        for case in cases:
            print(f"| {case.name} | " + " | ".join("WRONG" if cells[case.name, c].startswith("WRONG") else cells[case.name, c] for c in some) + " |")
        print()


def judge(cases, chosen, cells):
    """The number of rows that are not one and the same right result; says which machines go together."""
    failed = 0
    for case in cases:
        groups = {}
        for column in chosen:
            groups.setdefault(cells[case.name, column], []).append(column.title())
        if len(groups) > 1 or any(found.startswith("WRONG") for found in groups):
            failed += 1
            print(f"FAILED  {case.name}: " + " | ".join(f"{found}: {', '.join(where)}" for found, where in groups.items()))
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--machines", help="names of --target, or `all`")
    parser.add_argument("--models", help="how their names begin, or `all`")
    parser.add_argument("--control", action="store_true", help="units without --math=reproducible")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("ONNXC_JOBS", os.cpu_count() or 1)))
    options = parser.parse_args()
    chosen = columns(options.machines or "all") if options.machines or options.all else few()
    if not chosen:
        print("skipped: no compiler for any of these machines")
        return 77
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(options.jobs) as pool:
        folders = make_cases(Path(work, "models"))
        if options.all or options.models:
            of_zoo = models.folders()
            folders |= {name: of_zoo[name] for name in (models.FOURTEEN if models.FOURTEEN[0] in of_zoo else models.MADE) if name in of_zoo}
        wanted = ["" if options.models == "all" else name for name in options.models.split(",")] if options.models else [""] if options.all else ONE
        cases = [models.case(folder) for name, folder in folders.items() if name.startswith(tuple(wanted))]
        math = [] if options.control else ["--math=reproducible"]
        keys = [(case.name, column) for case in cases for column in chosen]
        found = pool.map(lambda job: cell(*job), [(case, column, Path(work, "cells", f"{case.name}-{k}"), math) for case in cases for k, column in enumerate(chosen)])
        cells = {}
        for key, result in zip(keys, found, strict=True):
            cells[key] = result
            if key[1] is chosen[-1] and (options.all or options.models):  # it may take an hour
                print(f"(done: {key[0]})", flush=True)
        print_table(cases, chosen, cells)
        failed = judge(cases, chosen, cells)
    print(f"reproducible bits: {len(cases)} models in {len(chosen)} columns, {len(cases) - failed} rows of one and the same result, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
