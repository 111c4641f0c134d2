"""Runs each case on every target that this machine has. Equal shapes and types; values equal, but for sums, whose tolerance the case states."""
import pathlib
import sys

import numpy as np

import onnxc

FOLDER = pathlib.Path(__file__).parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent)]
import branches  # noqa: E402, F401
import broadcasting  # noqa: E402, F401
import edges  # noqa: E402, F401
import found  # noqa: E402, F401
import functions  # noqa: E402, F401
import loops  # noqa: E402, F401
from case import CASES  # noqa: E402
from units import Unit, judged_in_groups  # noqa: E402

TARGETS = ("native", "x86-64-v3", "generic") if "avx2" in pathlib.Path("/proc/cpuinfo").read_text() else ("native", "generic")


def same(actual, wanted, near):
    actual, wanted = np.asarray(actual), np.asarray(wanted)
    if actual.shape != wanted.shape or actual.dtype != wanted.dtype:
        return f"{actual.dtype}{list(actual.shape)} where {wanted.dtype}{list(wanted.shape)} is right"
    equal = np.array_equal(actual, wanted) if wanted.dtype == object else np.allclose(actual, wanted, rtol=near, atol=near, equal_nan=True)
    if not equal:
        return f"{actual.tolist()} where {wanted.tolist()} is right"
    return None


def units(job):
    case, target = job
    return [Unit(case.model, ("-O2", f"--target={target}", *case.options))]


def judge(job, session):
    """What is wrong with the session, which may be why there is none; or nothing."""
    case, _ = job
    if isinstance(session, onnxc.CompileError):
        return f"{type(session).__name__}: {session}"
    for number, (feeds, wanted) in enumerate(case.runs):
        try:
            outputs = session.run(None, feeds)
        except Exception as error:
            if isinstance(wanted, str) and wanted in str(error):
                continue
            return f"run {number}: {error}"
        if isinstance(wanted, str):
            return f"run {number} ends well, where '{wanted}' is to be said"
        for actual, expected in zip(outputs, wanted, strict=True):
            if problem := same(actual, expected, case.near):
                return f"run {number}: {problem}"
    return None


def main():
    jobs = [(case, target) for target in TARGETS for case in CASES]
    failed = 0
    for (case, target), problem in zip(jobs, judged_in_groups(jobs, units, judge), strict=True):
        if problem is not None:
            print(f"FAILED {case.title} on {target}: {problem}")
            failed += 1
    print(f"{len(jobs) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
