#!/usr/bin/env python3
"""Networks with superfluous channels lose exactly these; what becomes of weights and shapes; goals; clustered weights; data that is no data; trained and large models of the zoo."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import planted
from onnx import helper as h
from onnx import numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "quantize"))
from small_networks import ONNXC, run_onnxc, runtime  # noqa: E402

failed = count = 0
os.environ.update(ZOO_CXX=os.environ.get("ONNXC_CXX", os.environ.get("CXX", "c++")), ONNXC_CXX=str(Path("tests/zoo/at_o1.sh").resolve()))  # small networks build quicker
RANDOM = np.random.default_rng(3)
ZOO = Path(__file__).resolve().parents[3] / "shared" / "zoo"


def expect(holds, what, why=""):
    global failed, count
    count += 1
    if not holds:
        failed += 1
        print(f"FAILED  {what}{': ' + str(why)[:1500] if why != '' else ''}", flush=True)


def compress(path, output, *options, status=0):
    done = subprocess.run([ONNXC, "compress", str(path), "-o", str(output), *map(str, options)], capture_output=True, text=True, errors="replace")
    expect(done.returncode == status, f"compress {path} {options}", f"exit status {done.returncode}, not {status}: {done.stdout[-500:]}{done.stderr[-700:]}")
    return done


def refused(path, output, what, *options, status=1):
    done = compress(path, output, *options, status=status)
    lines = [line for line in done.stderr.strip().splitlines() if "error:" in line]
    expect(len(lines) == 1 and what in lines[0] and lines[0].startswith("onnxc: error:"), f"refused: {what}", done.stderr)
    expect(not Path(output).exists(), f"nothing is written: {what}")


def model(net, shape, opset=17):
    """With the types of all values, whose shapes become wrong where channels go."""
    info = lambda name, dims: h.make_tensor_value_info(name, onnx.TensorProto.FLOAT, dims)
    graph = h.make_graph(net.nodes, "g", [info("x", ["n", *shape])], [info("y", None)], [numpy_helper.from_array(v, k) for k, v in net.weights.items()])
    return onnx.shape_inference.infer_shapes(h.make_model(graph, opset_imports=[h.make_opsetid("", opset)], ir_version=8))


def parameters(path):
    return sum(int(np.prod(t.dims)) for t in onnx.load(path).graph.initializer if t.data_type == onnx.TensorProto.FLOAT)


def check_same(name, path, out, x, bound):
    onnx.checker.check_model(onnx.load(out), full_check=True)
    exact, found, ours = runtime(path).run(None, {"x": x})[0], runtime(out).run(None, {"x": x})[0], run_onnxc(out, {"x": x})
    size = np.abs(exact).max()
    expect(np.abs(exact - found).max() <= bound * size, f"{name}: the output is what it was", np.abs(exact - found).max() / size)
    # Sums of a few hundred products of f32, in another order.
    expect(np.abs(ours - found).max() <= 1e-5 * size, f"{name}: onnxc and ONNX Runtime agree on the result", np.abs(ours - found).max() / size)


def check_planted(folder):
    """A budget of exactly the essential parameters removes the superfluous channels and nothing else, and the output stays."""
    for make in (planted.chain, planted.residual, planted.concat, planted.separable, planted.grouped, planted.rearranged):
        for round_ in range(2):
            essential = make()[0].finish().parameters()
            net, sizes, shape, can_scale = make()
            net.widen(sizes, can_scale)
            name = f"{make.__name__}_{round_}"
            path, out = folder / f"{name}.onnx", folder / f"{name}_c.onnx"
            onnx.save(model(net, shape), path)
            np.save(folder / "x.npy", RANDOM.standard_normal((640, *shape)).astype(np.float32))
            whole = net.parameters()
            percent = 100 * (essential + 0.5) / whole
            done = compress(path, out, "--calibration", folder / "x.npy", "--no-low-rank", f"--parameters={percent:.9g}", "--report", folder / "r.json")
            if done.returncode != 0:
                continue
            # Batch-norm becomes a bias: fewer.
            expect(parameters(out) <= essential < whole, f"{name}: as many parameters are left as are essential", (parameters(out), essential, whole))
            # Channels of which one is a copy are told apart by rounding alone, which the least squares see 1e-7 of the variance of.
            check_same(name, path, out, RANDOM.standard_normal((5, *shape)).astype(np.float32), 1e-4)
            report = json.loads((folder / "r.json").read_text())
            expect(report["parameters"] == parameters(out) and report["bytes"] == out.stat().st_size, f"{name}: the report counts what is there")


def check_low_rank(folder):
    net, factored, shape = planted.low_rank()
    path, out = folder / "low.onnx", folder / "low_c.onnx"
    onnx.save(model(net, shape), path)
    np.save(folder / "x.npy", RANDOM.standard_normal((640, *shape)).astype(np.float32))
    compress(path, out, "--calibration", folder / "x.npy", "--no-channels", f"--parameters={100 * (factored + 0.5) / net.parameters():.9g}")
    expect(parameters(out) == factored, "weights get the ranks that they have", (parameters(out), factored, net.parameters()))
    check_same("low rank", path, out, RANDOM.standard_normal((5, *shape)).astype(np.float32), 1e-4)


with tempfile.TemporaryDirectory() as root:
    for check in (check_planted, check_low_rank):
        place = Path(root) / check.__name__
        place.mkdir()
        check(place)
print(f"compress: {count - failed} of {count} hold")
sys.exit(failed != 0)
