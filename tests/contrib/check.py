"""Small models of operators whose oracle is ONNX Runtime: each is run by both and compared.

    check.py [REGEX]

Cases are in cases_*.py: functions that yield Case, one small model each. A case states how far results may lie apart: `rtol` and `atol` for floats, `off` steps for
integers, where a rounding may fall to the other side.
"""
import importlib
import pathlib
import re
import sys

import numpy as np
import onnxc

FOLDER = pathlib.Path(__file__).parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent)]
from case import expected  # noqa: E402
from record import record  # noqa: E402
from side_by_side import side_by_side  # noqa: E402


def difference(actual, wanted, case):
    """What is wrong with an output, or nothing."""
    if actual.dtype != wanted.dtype or actual.shape != wanted.shape:
        return f"{actual.dtype}{list(actual.shape)}, expected {wanted.dtype}{list(wanted.shape)}"
    a, e = actual.astype(np.float64), wanted.astype(np.float64)
    if np.issubdtype(wanted.dtype, np.integer):
        wrong = np.abs(a - e) > case.off
    else:
        wrong = ~(np.isclose(a, e, rtol=case.rtol, atol=case.atol, equal_nan=True))
    if not wrong.any():
        return None
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{int(wrong.sum())} of {wrong.size} elements differ; {list(at)} is {a[at]}, expected {e[at]}"


def run(case):
    try:
        wanted = case.wanted if case.wanted is not None else expected(case)
    except Exception as error:  # a case that the oracle refuses shows nothing
        return f"ONNX Runtime refuses it: {error}"
    try:
        outputs = onnxc.InferenceSession(case.model.SerializeToString(), options=["-O2"]).run(None, case.feeds)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    for info, a, e in zip(case.model.graph.output, outputs, wanted):
        if problem := difference(np.asarray(a), np.asarray(e), case):
            return f"{info.name}: {problem}"
    return None


def main():
    pattern = re.compile(sys.argv[1] if len(sys.argv) > 1 else "")
    cases = [case for path in sorted(FOLDER.glob("cases_*.py")) for case in importlib.import_module(path.stem).cases() if pattern.search(case.name)]
    failed = 0
    for case, problem in zip(cases, side_by_side(run, cases)):
        record("contrib", case.name, case.model, not problem)
        if problem:
            failed += 1
            print(f"failed {case.name}: {problem[:400]}", flush=True)
    print(f"contrib: {len(cases) - failed} passed, {failed} failed of {len(cases)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
