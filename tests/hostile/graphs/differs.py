"""Whether onnxc and ONNX Runtime give different results for a model on random inputs: exit status 0 if they do. For `onnxc reduce --check`.

    differs.py MODEL [--options='-O0 --memory=min'] [--says TEXT] [--threads N] [--near 1e-3]

Symbols are 3 at first, then 1, 6 and 8. --says: instead, whether onnxc refuses the model with that text. Where ONNX Runtime runs it with none of these nothing is known of a model.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import helper

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS), str(TESTS.parent / "python"), str(pathlib.Path(__file__).parent)]
import onnxc  # noqa: E402
from cases import LIMITS, inlined, matches  # noqa: E402
from units import Unit, sessions  # noqa: E402
from grow import WORDS, session_of  # noqa: E402

EXTENTS = (3, 1, 6, 8)


def inputs(model, extent):
    random, feeds = np.random.default_rng(3), {}
    known = {t.name for t in model.graph.initializer}
    for info in model.graph.input:
        kind = info.type.tensor_type.elem_type
        shape = [d.dim_value if d.HasField("dim_value") else extent for d in info.type.tensor_type.shape.dim]
        if info.name in known:
            continue
        if kind == onnx.TensorProto.STRING:
            feeds[info.name] = np.array([WORDS[i % len(WORDS)] for i in range(int(np.prod(shape)))], object).reshape(shape)
            continue
        dtype = helper.tensor_dtype_to_np_dtype(kind)
        values = random.standard_normal(shape) if dtype.kind == "f" else random.integers(0, 2 if dtype == bool else 5, shape)
        feeds[info.name] = np.asarray(values).astype(dtype)
    return feeds


def answers(session, model):
    """What ONNX Runtime gives, for each extent with which the model runs."""
    found = []
    for extent in EXTENTS:
        feeds = inputs(model, extent)
        try:
            found.append((feeds, session.run(None, feeds)))
        except Exception:  # of any kind: the model does not fit this extent
            continue
    return found


def differ(a, b, near):
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return True
    if a.dtype.kind != "f":
        return not np.array_equal(a, b)
    return not np.allclose(a.astype(np.float64), b.astype(np.float64), rtol=near, atol=near, equal_nan=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("model")
    parser.add_argument("--options", default="")
    parser.add_argument("--says")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--near", type=float, default=1e-3)
    options = parser.parse_args()
    model = onnx.load(options.model)
    session = session_of(inlined(model))  # throws where ONNX Runtime refuses it
    with tempfile.TemporaryDirectory() as work:
        if options.says is not None:
            done = subprocess.run([onnxc.find_executable(), options.model, "-o", f"{work}/unit.cpp", *options.options.split()], capture_output=True, text=True)
            return 0 if done.returncode and options.says in done.stderr and answers(session, model) else 1
        os.environ["ONNXC_CACHE"] = work
        mine, = sessions([Unit(model, tuple(options.options.split()), options.threads)])
        if isinstance(mine, Exception):
            return 1
        for feeds, wanted in answers(session, model):
            try:
                got = mine.run([o.name for o in session.get_outputs()], {i.name: feeds[i.name] for i in mine.get_inputs()})
            except Exception as error:
                if matches(str(error), LIMITS):
                    continue
                return 0
            if any(differ(a, b, options.near) for a, b in zip(got, wanted)):
                return 0
    return 1


if __name__ == "__main__":
    onnxruntime.set_default_logger_severity(4)
    sys.exit(main())
