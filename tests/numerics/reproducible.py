"""--math=reproducible: units for machines with vectors of 4, 8 and 16 floats, with and without instructions of their own, give the same bits.

    tests/numerics/reproducible.py ONNXC

The models are made here, at random: convolutions of all kinds, pools, products, normalisations, softmax and functions. Results are also compared with those
of ONNX Runtime. What depends on the machine is refused, which is checked too.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ONNXC = sys.argv[1]
FLAGS = set(next(line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags")).split()) if Path("/proc/cpuinfo").exists() else set()
TARGETS = ["generic", *(t for t, flag in (("x86-64-v2", "sse4_1"), ("x86-64-v3", "avx2"), ("x86-64-v4", "avx512f")) if flag in FLAGS)]
random = np.random.default_rng(5)


class Model:
    def __init__(self):
        self.nodes, self.constants = [], []

    def constant(self, *shape, scale=1.0):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array((random.standard_normal(shape) * scale).astype(np.float32), name))
        return name

    def add(self, op, *inputs, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [f"v{len(self.nodes)}"], name=f"n{len(self.nodes)}", **attributes))
        return self.nodes[-1].output[0]

    def conv(self, x, cin, cout, kernel, group=1, **attributes):
        w = self.constant(cout, cin // group, *kernel, scale=1 / np.sqrt(cin // group * np.prod(kernel)))
        return self.add("Conv", x, w, self.constant(cout, scale=0.1), group=group, kernel_shape=kernel, **attributes)

    def save(self, path, shape, output):
        graph = helper.make_graph(self.nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                                  [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)], self.constants)
        onnx.save(onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)), path)


def images(channels, size):
    """A small network over images, with each kind of convolution and pool."""
    m = Model()
    y = m.add("Relu", m.conv("x", channels, 12, [5, 3], pads=[2, 1, 2, 1], strides=[1, 2]))
    y = m.add("Sigmoid", m.conv(y, 12, 12, [3, 3], group=12, pads=[1, 1, 1, 1]))
    z = m.add("Tanh", m.conv(y, 12, 20, [1, 1]))
    z = m.add("MaxPool", z, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    z = m.conv(z, 20, 24, [3, 3], group=4, dilations=[2, 2], pads=[2, 2, 2, 2])
    z = m.add("AveragePool", m.add("HardSwish", z), kernel_shape=[2, 2], strides=[2, 2])
    z = m.add("Relu", m.conv(z, 24, 3, [3, 3], pads=[1, 1, 1, 1]))
    return m, [2, channels, size, size + 3], m.add("Softmax", m.add("Flatten", z), axis=-1)


def rows(k):
    """Products, normalisations and functions of rows."""
    m = Model()
    y = m.add("Erf", m.add("MatMul", "x", m.constant(k, 37, scale=k**-0.5)))
    y = m.add("LayerNormalization", y, m.constant(37), m.constant(37), axis=-1)
    y = m.add("Gemm", y, m.constant(50, 37, scale=0.2), m.constant(50), transB=1)
    y = m.add("Softmax", m.add("MatMul", y, m.add("Transpose", y, perm=[1, 0])), axis=-1)
    y = m.add("ReduceMean", m.add("Exp", y), keepdims=0)
    return m, [7, k], m.add("Softplus", m.add("Log", y))


def outputs(model, target, folder):
    """The bits of the outputs of a unit for that machine."""
    out = Path(folder) / target
    run = subprocess.run([ONNXC, "run", model, f"--target={target}", "--math=reproducible", "--output", out, "--data", Path(folder) / "data"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, (target, run.stdout, run.stderr)
    return (out / "output_0.pb").read_bytes()


def refused(model):
    run = subprocess.run([ONNXC, model, "--math=reproducible", "-o", "/dev/null"], capture_output=True, text=True, check=False)
    assert run.returncode == 1 and "depend on the machine" in run.stderr, (run.returncode, run.stderr)


def main():
    with tempfile.TemporaryDirectory() as folder:
        count = 0
        for m, shape, output in (*(images(c, s) for c, s in ((1, 16), (3, 20), (8, 13), (16, 17))), *(rows(k) for k in (8, 31, 200))):
            model = Path(folder) / "model.onnx"
            m.save(model, shape, output)
            x = random.standard_normal(shape).astype(np.float32)
            data = Path(folder) / "data"
            data.mkdir(exist_ok=True)
            (data / "input_0.pb").write_bytes(numpy_helper.from_array(x, "x").SerializeToString())
            (expected,) = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, {"x": x})
            (data / "output_0.pb").write_bytes(numpy_helper.from_array(expected, output).SerializeToString())
            first, *others = (outputs(model, t, folder) for t in TARGETS)
            assert all(other == first for other in others), f"model {count}: {[t for t, o in zip(TARGETS[1:], others) if o != first]} differ from {TARGETS[0]}"
            count += 1
        m = Model()
        m.save(Path(folder) / "pow.onnx", [4], m.add("Pow", "x", m.constant(4)))
        refused(Path(folder) / "pow.onnx")
    print(f"reproducible: {count} models, the same bits on {', '.join(TARGETS)}")


main()
