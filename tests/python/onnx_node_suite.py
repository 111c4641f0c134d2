"""ONNX's own Python runner (onnx.backend.test.BackendTest) over onnxc.backend: its whole node suite.

    tests/python/node_suite.sh [--jobs N] [--filter REGEX]

Each case is compiled alone, as a user's model would be, so this takes long; tests/conformance runs the same cases in a minute. Cases whose outputs
ONNX leaves to chance cannot pass in a runner that compares values; they are named below and must still run. So is the one whose outputs the runner
itself cannot compare.
"""
import argparse
import multiprocessing
import os
import re
import sys
import time
import unittest
import warnings

import numpy as np
import onnx.backend.test

import onnxc.backend

# The expected outputs are one draw of numpy's generator, which no other implementation has; the specification leaves the generator open.
DRAWN = re.compile(r"test_(bernoulli.*|training_dropout(?!_zero).*)_cpu")
# The expected sequence holds a scalar; the runner takes len() of each element, which an array of rank 0 does not have. It is compared here.
WITH_SCALARS = {"test_loop16_seq_none_cpu"}


def sequences_are_equal(outputs, expected):
    """In place of the runner's comparison, for WITH_SCALARS."""
    assert len(outputs) == len(expected)
    for got, wanted in zip(outputs, expected):
        if isinstance(wanted, list):
            sequences_are_equal(got, wanted)
        else:
            np.testing.assert_array_equal(got, wanted, strict=True)


def runs_and_gives_shapes(outputs, expected):
    """In place of the comparison of values, for DRAWN."""
    for got, wanted in zip(outputs, expected):
        if got.shape != wanted.shape or got.dtype != wanted.dtype:
            raise AssertionError(f"{got.dtype}{got.shape}, expected {wanted.dtype}{wanted.shape}")


def collect():
    """The test cases of the suite for the CPU, by name."""
    with warnings.catch_warnings():  # of numpy, about infinities on purpose
        warnings.simplefilter("ignore")
        cases = onnx.backend.test.BackendTest(onnxc.backend, __name__).test_cases["OnnxBackendNodeModelTest"]
    return cases, sorted(name for name in vars(cases) if name.startswith("test_") and name.endswith("_cpu"))


def run_one(name):
    cases, _ = run_one.collected
    result = unittest.TestResult()
    runner = onnx.backend.test.runner.Runner
    compare = runner.assert_similar_outputs
    own = runs_and_gives_shapes if DRAWN.fullmatch(name) else sequences_are_equal if name in WITH_SCALARS else None
    if own is not None:
        runner.assert_similar_outputs = classmethod(lambda cls, ref_outputs, outputs, **_: own(outputs, ref_outputs))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases(name).run(result)
    runner.assert_similar_outputs = compare
    problems = result.failures + result.errors + result.skipped
    return name, problems[0][1].strip().splitlines()[-1][:300] if problems else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--filter", default="")
    options = parser.parse_args()
    run_one.collected = collect()
    names = [name for name in run_one.collected[1] if re.search(options.filter, name)]
    passed, failed, begin = 0, [], time.time()
    with multiprocessing.get_context("fork").Pool(options.jobs) as pool:
        for name, problem in pool.imap_unordered(run_one, names):
            if problem is None:
                passed += 1
            else:
                failed.append(name)
                print(f"FAILED {name}: {problem}", flush=True)
            if sys.stderr.isatty():
                print(f"\r{passed + len(failed)} of {len(names)}, {len(failed)} failed", end="", file=sys.stderr)
    print(f"ONNX's runner over onnxc.backend: {len(names)} collected, {passed} passed, {len(failed)} failed, {time.time() - begin:.0f} s")
    return 1 if failed or not names else 0


if __name__ == "__main__":
    sys.exit(main())
