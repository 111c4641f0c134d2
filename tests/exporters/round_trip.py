"""What every check of this folder shares: a model that a framework trained or made is exported, compiled and run, and gives what the framework gives.

    @exported
    def forest():                       # the name that a fault is told with
        ...
        return Case(model, feeds, expected)

    if __name__ == "__main__": main(__doc__)

Frameworks compute in double, or in f32 in another order. Numbers may differ by 1e-4 of themselves and by 1e-5 of the largest: some hundred roundings of f32 on the way. Labels and categories are equal.
"""
import argparse
import sys
import traceback
import warnings
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))
warnings.simplefilter("ignore")

import numpy as np  # noqa: E402
from units import Unit, judged_in_groups  # noqa: E402

RELATIVE, OF_LARGEST = 1e-4, 1e-5
CASES = {}


class Case(NamedTuple):
    model: object  # onnx.ModelProto
    feeds: dict
    expected: list  # of what the framework gives for each output: arrays, lists of dicts of what ends in a ZipMap; None is not looked at
    options: tuple = ()  # of onnxc


def exported(function):
    CASES[function.__name__] = function
    return function


def difference(got, wanted):
    """What is different, or None."""
    if isinstance(wanted, list) and wanted and isinstance(wanted[0], dict):  # a ZipMap's
        if [list(row) for row in got] != [list(row) for row in wanted]:
            return f"maps of {list(got[0])}, not of {list(wanted[0])}"
        got, wanted = ([list(row.values()) for row in rows] for rows in (got, wanted))
    got, wanted = np.asarray(got), np.asarray(wanted)
    if got.shape != wanted.shape:
        return f"the shape is {got.shape}, not {wanted.shape}"
    if wanted.dtype.kind not in "fc":
        wrong = got != wanted if wanted.dtype.kind in "iub" else got.astype(str) != wanted.astype(str)
    else:
        largest = np.max(np.abs(wanted), initial=0, where=np.isfinite(wanted))
        wrong = ~np.isclose(got, wanted, RELATIVE, OF_LARGEST * largest, equal_nan=True)
    if not np.any(wrong):
        return None
    first = tuple(int(i[0]) for i in np.nonzero(wrong))
    return f"{np.sum(wrong)} of {wrong.size} are wrong; {list(first)} is {got[first]}, not {wanted[first]}"


def judge(named, session):
    name, case = named
    if isinstance(session, Exception):
        return f"{name}: {session}"
    try:
        outputs = session.run(None, case.feeds)
    except Exception as error:
        return f"{name}: {error}"
    if len(outputs) != len(case.expected):
        return f"{name}: {len(outputs)} outputs, not {len(case.expected)}"
    for output, got, wanted in zip(session.get_outputs(), outputs, case.expected):
        fault = None if wanted is None else difference(got, wanted)
        if fault:
            return f"{name}, {output.name}: {fault}"
    return None


def main(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="these; by default all")
    parser.add_argument("--list", action="store_true", help="print the names and end")
    parser.add_argument("--keep", metavar="DIR", type=Path, help="write the models there")
    options = parser.parse_args()
    if options.list:
        print("\n".join(CASES))
        return 0
    cases, faults = [], []
    for name in options.names or CASES:
        try:
            cases.append((name, CASES[name]()))
        except Exception:
            faults.append(f"{name} was not exported: {traceback.format_exc(limit=-3)}")
    for name, case in cases if options.keep else []:
        options.keep.mkdir(parents=True, exist_ok=True)
        (options.keep / f"{name}.onnx").write_bytes(case.model.SerializeToString())
    faults += [fault for fault in judged_in_groups(cases, lambda named: [Unit(named[1].model, named[1].options)], judge) if fault]
    for fault in faults:
        print(f"FAILED {fault}")
    print(f"{Path(sys.argv[0]).stem}: {len(cases)} models, {len(faults)} wrong")
    return 1 if faults else 0
