#!/usr/bin/env python3
"""Each integer kernel in 60 or 200 random forms (forms.py), on what onnxc emits, against sums in numpy's 64 bits: equal to the bit.

  check.py [--all]          all kinds, in 60 forms or 200
  check.py KIND [NUMBER]    one of them, or one of its forms, which its kind and number tell alone

Many nodes are one model, and so one unit, and most products give their sums as they are: so kernels of one tile are built once. That the kernels which a kind is about are the ones that its nodes call is
checked, too.
"""
import pathlib
import re
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from forms import KINDS, Draw, Model  # noqa: E402
from units import Unit, emit, judged_in_groups  # noqa: E402

FORMS, ALL_FORMS = 60, 200
IN_MODEL = 100  # forms
CPU = pathlib.Path("/proc/cpuinfo")
# Products of 16 bits are made of bytes where these are fast; elsewhere they are products of floats, whose sums are not exact.
NEEDS_DOT_PRODUCTS = set() if CPU.is_file() and "avx512_vnni" in CPU.read_text() else {"words"}
KERNELS = {"dense": "conv_quads", "pointwise": "gemm_quads", "grouped": "conv_quads", "depthwise": "depthwise_bytes", "stem": "conv_quads_planar",
           "matmul": "gemm_quads", "words": "(?:conv|gemm)_quads", "values": "matmul_quads", "greatest": "max_pool_bytes", "average": "sum_bytes_(?:last|middle)"}


def models_of(names, numbers):
    for name in names:
        model = None
        for count, number in enumerate(numbers):
            model = model or Model()
            KINDS[name](model, Draw(name, number), (name, number))
            if (count + 1) % IN_MODEL == 0 or count + 1 == len(numbers):
                yield model
                model = None


def judge(model, session):
    """What is wrong, a line for each form."""
    if isinstance(session, Exception):
        return [f"{sorted(set(model.owners.values()))[0]} and its neighbours: {session}"]
    faults = []
    for (name, expected), actual in zip(model.expected.items(), session.run(None, model.feeds), strict=True):
        actual = np.asarray(actual)
        if actual.dtype == expected.dtype and actual.shape == expected.shape and (actual == expected).all():
            continue
        what = f"{actual.dtype}{list(actual.shape)} is not {expected.dtype}{list(expected.shape)}"
        if actual.dtype == expected.dtype and actual.shape == expected.shape:
            at = tuple(int(i) for i in np.argwhere(actual != expected)[0])
            what = f"{int((actual != expected).sum())} of {expected.size} differ; {list(at)} is {actual[at]}, not {expected[at]}"
        faults.append(f"{' '.join(map(str, model.owners[name]))}: {what}")
    return faults


def unreached(name):
    """What is wrong where fewer than a quarter of a kind's forms call its kernel."""
    model = next(models_of([name], range(IN_MODEL)))
    source = emit(Unit(model.proto()), "forms")
    if isinstance(source, Exception):
        return [f"{name}: {source}"]
    calls = len(re.findall(rf"onnxc::{KERNELS[name]}[<(]", source.files["forms.cpp"].decode()))
    return [] if calls >= IN_MODEL // 4 else [f"{name}: {calls} of {IN_MODEL} forms call {KERNELS[name]}"]


def main(names, numbers):
    start, faults = time.monotonic(), []
    if skipped := NEEDS_DOT_PRODUCTS.intersection(names):
        names = [name for name in names if name not in skipped]
        print(f"without {', '.join(skipped)}: this machine has no dot products of bytes")
    models = list(models_of(names, numbers))
    # Every other one on two threads.
    units = {id(model): Unit(model.proto(), (), 1 + number % 2) for number, model in enumerate(models)}
    for found in judged_in_groups(models, lambda model: [units[id(model)]], judge, of=1):
        faults += found
        for fault in found:
            print(f"FAILED {fault}", flush=True)
    for name in KERNELS.keys() & names if len(numbers) > 1 else ():
        for fault in unreached(name):
            faults.append(fault)
            print(f"FAILED {fault}", flush=True)
    print(f"{len(names) * len(numbers)} forms of {len(names)} kinds ({', '.join(names)}), {len(faults)} wrong ({time.monotonic() - start:.0f} s)")
    return 1 if faults else 0


if __name__ == "__main__":
    if sys.argv[1:] in ([], ["--all"]):
        sys.exit(main(list(KINDS), range(ALL_FORMS if sys.argv[1:] else FORMS)))
    if len(sys.argv) > 3 or sys.argv[1] not in KINDS or (len(sys.argv) == 3 and not sys.argv[2].isdigit()):
        print(f"check.py [KIND [NUMBER]]; kinds: {', '.join(KINDS)}", file=sys.stderr)
        sys.exit(2)
    sys.exit(main([sys.argv[1]], [int(sys.argv[2])] if len(sys.argv) == 3 else range(ALL_FORMS)))
