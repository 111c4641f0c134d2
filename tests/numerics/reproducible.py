"""--math=reproducible: units for machines with vectors of 4, 8 and 16 floats, with and without instructions of their own, give the same bits.

    tests/numerics/reproducible.py ONNXC

The models are made here, at random: convolutions of all kinds, pools, products, normalisations, softmax and functions. Units are built with -O0, -O1 and -O3 in turn, and of each model
with all three. Results are also compared with those of ONNX Runtime. What depends on the machine is refused, which is checked too.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
from host import x86_targets
from layers import Model, networks
from onnx import numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from at_level import at_level  # noqa: E402

ONNXC = sys.argv[1]
TARGETS = ["generic", *x86_targets()]
LEVELS = ["-O0", "-O1", "-O3"]
random = np.random.default_rng(5)


def outputs(model, target, level, folder):
    """The bits of the outputs of a unit for that machine."""
    out = Path(folder) / target
    run = subprocess.run([ONNXC, "run", model, f"--target={target}", "--math=reproducible", "--output", out, "--data", Path(folder) / "data"], capture_output=True, text=True, check=False, env=at_level(level))
    assert run.returncode == 0, (target, run.stdout, run.stderr)
    return (out / "output_0.pb").read_bytes()


def refused(model):
    run = subprocess.run([ONNXC, model, "--math=reproducible", "-o", "/dev/null"], capture_output=True, text=True, check=False)
    assert run.returncode == 1 and "depend on the machine" in run.stderr, (run.returncode, run.stderr)


def main():
    with tempfile.TemporaryDirectory() as folder:
        count = 0
        for m, shape, output in networks(random).values():
            model = Path(folder) / "model.onnx"
            m.save(model, shape, output)
            x = random.standard_normal(shape).astype(np.float32)
            data = Path(folder) / "data"
            data.mkdir(exist_ok=True)
            (data / "input_0.pb").write_bytes(numpy_helper.from_array(x, "x").SerializeToString())
            (expected,) = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, {"x": x})
            (data / "output_0.pb").write_bytes(numpy_helper.from_array(expected, output).SerializeToString())
            first, *others = (outputs(model, t, LEVELS[(k + count) % len(LEVELS)], folder) for k, t in enumerate(TARGETS))
            assert all(other == first for other in others), f"model {count}: {[t for t, o in zip(TARGETS[1:], others) if o != first]} differ from {TARGETS[0]}"
            count += 1
        m = Model(random)
        m.save(Path(folder) / "pow.onnx", [4], m.add("Pow", "x", m.constant(4)))
        refused(Path(folder) / "pow.onnx")
    print(f"reproducible: {count} models, the same bits on {', '.join(TARGETS)} with {', '.join(LEVELS)}")


main()
