"""What onnxc itself needs of memory for a large model: peak.py ONNXC [MIB]

Makes a perceptron with MIB of weights (300 by default: more than 256, so that they do not become text), half of them transposed, and compiles it in a
process of its own. Exit status 1 where the peak
of the resident set is more than 2.5 times the model.
"""
import multiprocessing
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MOST = 2.5


def make_model(path, mib):
    n = 1024
    layers = mib // 4
    random = np.random.default_rng(0)
    nodes, weights = [], []
    for k in range(layers):
        weights.append(numpy_helper.from_array(random.standard_normal((n, n), dtype=np.float32), f"w{k}"))
        nodes.append(helper.make_node("Gemm", [f"x{k}", f"w{k}"], [f"x{k + 1}"], transB=k % 2))
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, n])
    graph = helper.make_graph(nodes, "large", [value("x0")], [value(f"x{layers}")], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def main():
    onnxc, mib = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 300
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "large.onnx")
        # In a process of its own: what is started from here would count this one's memory as its own.
        maker = multiprocessing.Process(target=make_model, args=(model, mib))
        maker.start()
        maker.join()
        compiler = subprocess.Popen([onnxc, model, "-o", os.path.join(folder, "large.cpp")])
        _, status, usage = os.wait4(compiler.pid, 0)
        if status != 0:
            return 1
        peak, size = usage.ru_maxrss * 1024, os.path.getsize(model)
    print(f"a model of {size >> 20} MiB: onnxc took {peak >> 20} MiB at most, {peak / size:.2f} times as much; {MOST} are allowed")
    return int(peak > MOST * size)


if __name__ == "__main__":
    sys.exit(main())
