"""Random valid graphs of 10 to 40 nodes, compiled as they are, with --memory=min and at -O0, against ONNX Runtime.

    random_graphs.py [--count 100] [--seed 1] [--keep FOLDER]    --keep writes those that differ, with data, for onnxc run MODEL --data FOLDER and onnxc bisect
    random_graphs.py --only SEED --keep FOLDER                   one of them

Results are compared within the bound that goes with each value (grow.py); integers and booleans exactly. Graphs that ONNX's checker or ONNX Runtime refuses, and runs
that end with a stated limit, are counted, and may be one in twenty.
"""
import argparse
import collections
import pathlib
import sys

import numpy as np
import onnx
from onnx import numpy_helper

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS.parent / "python")]

import onnxc  # noqa: E402

import grow  # noqa: E402
from units import Unit, judged_in_groups  # noqa: E402

# A run may end with this status, in place of a result: the rank of what a unit computes is fixed when it is compiled.
LIMIT = "without axes it would drop an extent of 1, and the rank of its result is fixed"
VARIANTS = {"default": (), "memory": ("--memory=min",), "O0": ("-O0",)}


class Case:
    def __init__(self, seed):
        self.seed = seed
        self.graph, self.model = grow.make(seed)
        self.feeds = {v.name: v.array for v in self.graph.inputs}
        self.refused, self.limited = "", False
        try:
            onnx.checker.check_model(self.model)
            self.wanted = grow.session_of(self.model).run(None, self.feeds)
        except Exception as error:
            self.refused = f"{type(error).__name__}: {error}"

    def judge(self, variant, session):
        """What is wrong, or nothing."""
        if isinstance(session, onnxc.CompileError):
            return str(session)
        try:
            got = session.run(None, self.feeds)
        except Exception as error:
            self.limited = LIMIT in str(error)
            return "" if self.limited else f"the run ends with {error}"
        for value, a, e in zip(self.graph.outputs, got, self.wanted, strict=True):
            a, e = np.asarray(a), np.asarray(e)
            if a.shape != e.shape or a.dtype != e.dtype:
                return f"{value.name}: {a.dtype}{list(a.shape)}, expected {e.dtype}{list(e.shape)}"
            wide = np.float64 if value.is_float else object
            if a.size and not (np.abs(a.astype(wide) - e.astype(wide)) <= value.error).all():
                off = np.abs(a.astype(np.float64) - e.astype(np.float64)).max()
                return f"{value.name}: differs by up to {off:.3g}, bound {value.error:.3g}"
        return ""

    def sees(self, session):
        """Is a result that lies twice the bound away, or an integer that is off by one, found?"""
        twin = object.__new__(Case)
        twin.__dict__.update(self.__dict__)
        for k, (value, array) in enumerate(zip(self.graph.outputs, self.wanted)):
            array = np.array(array)
            if array.size:
                array.reshape(-1)[-1] = ~array.reshape(-1)[-1] if array.dtype == bool else array.reshape(-1)[-1] + (2 * value.error + 1e-6 * (1 + value.size) if value.is_float else 1)
                twin.wanted = [array if i == k else w for i, w in enumerate(self.wanted)]
                if not twin.judge("", session):
                    return False
        return True

    def write(self, folder):
        data = folder / f"graph_{self.seed}" / "test_data_set_0"
        data.mkdir(parents=True, exist_ok=True)
        onnx.save(self.model, data.parent / "model.onnx")
        for kind, names, arrays in (("input", list(self.feeds), self.feeds.values()), ("output", [v.name for v in self.graph.outputs], self.wanted)):
            for k, (name, array) in enumerate(zip(names, arrays)):
                (data / f"{kind}_{k}.pb").write_bytes(numpy_helper.from_array(np.asarray(array), name).SerializeToString())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    cases = [Case(seed) for seed in ([options.only] if options.only is not None else range(options.seed, options.seed + options.count))]
    refused = [case for case in cases if case.refused]
    for case in refused:
        print(f"refused by the oracle: graph {case.seed}: {case.refused.splitlines()[0][:200]}")
    usable = [case for case in cases if not case.refused]
    count = collections.Counter(node.op_type for case in usable for node in case.graph.nodes)
    print(f"{len(usable)} graphs, {sum(count.values())} nodes of {len(count)} operators, {sum(case.graph.refused for case in cases)} more that ONNX Runtime has no kernel for; {len(refused)} graphs refused")
    failed = 0

    def judge(case, *sessions):
        found = [(variant, fault) for variant, session in zip(VARIANTS, sessions) if (fault := case.judge(variant, session))]
        return found or ([] if case.limited or case.sees(sessions[0]) else [("default", "a result that is wrong would not be seen")])

    for case, faults in zip(usable, judged_in_groups(usable, lambda case: [Unit(case.model, flags) for flags in VARIANTS.values()], judge, of=24), strict=True):
        for variant, fault in faults:
            print(f"FAILED graph {case.seed} {' '.join(VARIANTS[variant])}: {fault[:300]}", flush=True)
        failed += bool(faults)
        if options.keep and (faults or options.only is not None):
            case.write(options.keep)
    limited = sum(case.limited for case in usable)
    print(f"{len(usable) - failed} of {len(usable)} passed; of {limited} the run ends with: {LIMIT}")
    return 1 if failed or (len(refused) + limited) * 20 > len(cases) else 0


if __name__ == "__main__":
    sys.exit(main())
