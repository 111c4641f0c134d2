"""Writes random cases of each operator in the layout of ONNX's backend tests, with what ONNX Runtime and onnx.reference, or another second oracle, say of them.

    generate.py OUT [--cases 400] [--seed 1] [--filter REGEX | --case NAME] [--verbose]

Rounds over all operators until there are enough; case k of an operator is the same whatever else is asked for. A case is written when both oracles agree within its
tolerance, or only one can run it. Where they disagree, disagreements.py must have a row that says why and whom to follow; else this fails.
"""
import argparse
import collections
import json
import pathlib
import re
import shutil
import sys
import traceback
import zlib

import numpy as np
from onnx import helper, numpy_helper

import families
import oracles
from disagreements import row_for
from draw import Draw, type_of
from spec import Case, GENERATORS, arrange, describe, model_of, names_of_outputs


class Tally:
    def __init__(self, disputed):
        self.disputed = disputed
        self.written, self.unusable, self.oracles = collections.Counter(), collections.Counter(), collections.Counter()
        self.rows, self.unexplained, self.errors, self.broken = collections.Counter(), [], [], []


def answers(ask, spec):
    try:
        return ask(spec), None
    except Exception as error:  # of any kind: each oracle has its own
        return None, f"{type(error).__name__}: {error}"


def expectation(name, spec, tally):
    """The outputs that are right and the tolerance they are known with, or None."""
    runtime, why_not_runtime = answers(oracles.ask_runtime, spec)
    coarsest = None
    if runtime is None:
        runtime, _ = answers(oracles.ask_runtime_in_float32, spec)
        coarsest = "float32" if runtime is not None else None
    reference, why_not_reference = answers(spec.second or oracles.ask_reference, spec)
    problem = None
    if runtime is not None and reference is not None:
        allowed = oracles.tolerance(spec, runtime, coarsest)
        problem = next((d for a, b in zip(reference, runtime) if (d := oracles.difference(a, b, allowed))), None)
    # A value of the case's own type is known best.
    exact = (reference, None) if reference is not None and coarsest else (runtime, coarsest) if runtime is not None else (reference, None)
    row = row_for(spec, runtime is not None, reference is not None, problem is not None)
    if row is not None:
        tally.rows[row] += 1
        exact = {"runtime": (runtime, coarsest), "reference": (reference, None), "neither": (None, None)}[row.follow]
    elif problem:
        tally.unexplained.append((f"{name} {describe(spec)}", problem))
        if tally.disputed is not None:  # as either has it, to see whom onnxc follows
            for who, outputs in (("runtime", runtime), ("reference", reference)):
                write(tally.disputed / f"{name}_{who}", Case(name, spec, set(spec.fixed)), outputs, oracles.tolerance(spec, outputs, coarsest))
        return None
    elif exact[0] is not None:
        tally.oracles["both" if runtime is not None and reference is not None else "ONNX Runtime" if runtime is not None else "the second one"] += 1
    else:
        tally.errors.append((f"{name} {describe(spec)}", why_not_runtime, why_not_reference))
    if exact[0] is None:
        tally.unusable[spec.op] += 1
        return None
    return exact[0], oracles.tolerance(spec, exact[0], exact[1])


def proto_of(value, name):
    if isinstance(value, list):
        return numpy_helper.from_list(value, name)
    if isinstance(value, dict):
        return numpy_helper.from_dict(value, name)
    return numpy_helper.from_array(np.asarray(value), name)


def write(folder, case, outputs, tolerance):
    spec = case.spec
    names = [n for n in names_of_outputs(spec) if n]
    infos = []
    for name, value in zip(names, outputs):
        if isinstance(value, np.ndarray):
            infos.append(helper.make_tensor_value_info(name, type_of(value), None if case.names_of_extents else value.shape))
        else:
            infos.append(helper.make_empty_tensor_value_info(name))
    model = model_of(spec, case.initialised, case.names_of_extents, infos)
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    (folder / "data.json").write_text(json.dumps(tolerance))
    given = [i for i, x in enumerate(spec.inputs) if x is not None and i not in case.initialised]
    for k, i in enumerate(given):
        (data / f"input_{k}.pb").write_bytes(proto_of(spec.inputs[i], f"x{i}").SerializeToString())
    for k, (name, value) in enumerate(zip(names, outputs)):
        (data / f"output_{k}.pb").write_bytes(proto_of(value, name).SerializeToString())


def one_case(out, op, number, seed, tally):
    name = f"{op}_{number}"
    draw = Draw(seed, zlib.crc32(op.encode()), number)
    spec = GENERATORS[op][0](draw, op)
    if spec is None:
        return
    known = expectation(name, spec, tally)
    if known is not None:
        write(out / name, arrange(name, spec, draw), *known)
        tally.written[op] += 1


def report(tally, verbose):
    usable = sum(tally.written.values())
    print(f"{usable} cases of {len(tally.written)} operators ({', '.join(f'{n} by {who}' for who, n in sorted(tally.oracles.items()))}, "
          f"{sum(tally.rows.values())} on which the oracles disagree for a known reason), {sum(tally.unusable.values())} that no oracle can judge")
    for row, number in sorted(tally.rows.items(), key=str):
        print(f"  {number} x {row.operators}: {row.follow}, {row.reason}")
    for op, number in tally.unusable.items():
        if not tally.written[op]:
            print(f"  no usable case of {op} among {number}")
    if verbose:
        for name, *errors in tally.errors:
            print(f"unusable {name}: " + " | ".join(str(e).replace("\n", " ")[:200] for e in errors))
    for text in tally.broken:
        print(text)
    for name, problem in tally.unexplained:
        print(f"unexplained {name}: the second oracle and ONNX Runtime: {problem[:200]}")


def rounds(pattern):
    """Names and numbers of cases without end: each operator in turn, with as many as its weight says."""
    wanted = [op for op in GENERATORS if re.search(pattern, op)]
    for turn in range(10000 if wanted else 0):
        for op in wanted:
            weight = GENERATORS[op][1]
            yield from ((op, turn * weight + k) for k in range(weight))


def split_name(name):
    op, number = name.rsplit("_", 1)
    return op, int(number)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--cases", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--filter", default="")
    parser.add_argument("--case", help="one case alone, Conv_17")
    parser.add_argument("--disputed", type=pathlib.Path, help="folder for cases on which the oracles disagree for no known reason")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    shutil.rmtree(options.out, ignore_errors=True)
    options.out.mkdir(parents=True)
    tally = Tally(options.disputed)
    for op, number in [split_name(options.case)] if options.case else rounds(options.filter):
        if sum(tally.written.values()) >= options.cases:
            break
        try:
            one_case(options.out, op, number, options.seed, tally)
        except Exception:
            tally.broken.append(f"generator of {op}, case {number}:\n{traceback.format_exc()}")
    report(tally, options.verbose)
    sys.exit(1 if tally.unexplained or tally.broken else 0)


if __name__ == "__main__":
    main()
