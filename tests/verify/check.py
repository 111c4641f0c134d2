"""onnxc verify on small models: what it says of right units, and that it finds faults.

    check.py         with $ONNXC_EXECUTABLE; run.sh sets it

Faults are planted where no build of onnxc has to be wrong: in the expected values of a data set, and in C++ that a model calls as a custom operator, which crashes,
never ends, or writes beyond its output. What passes do wrong is planted in tests/verify/pass_watch.cpp.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from at_level import at_level  # noqa: E402
from expectations import Expectations  # noqa: E402

ONNXC = Path(os.environ["ONNXC_EXECUTABLE"])
node = helper.make_node
CHECKS = Expectations("onnxc verify")
expect = CHECKS.expect


def verify(model, *options, status=0):
    """What it says, without a compiler that optimises."""
    done = subprocess.run([ONNXC, "verify", model, *options], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=at_level("-O0"), cwd=model.parent)
    said = done.stdout + done.stderr
    expect(done.returncode == status, f"{model.parent.name} {' '.join(options)}", f"exit status {done.returncode}, not {status}: {said}")
    return said


def random(*shape, seed=0):
    return (np.random.default_rng(seed).standard_normal(shape) / 2).astype(np.float32)


def save(folder, nodes, inputs, outputs, weights=None, opsets=(("", 17),)):
    folder.mkdir(parents=True)

    def info(item):
        return helper.make_tensor_value_info(item[0], item[2] if len(item) > 2 else T.FLOAT, item[1])

    graph = helper.make_graph(nodes, "g", [info(i) for i in inputs], [info(o) for o in outputs], [numpy_helper.from_array(a, n) for n, a in (weights or {}).items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid(*o) for o in opsets])
    model.ir_version = 10
    onnx.save(model, folder / "model.onnx")
    return folder / "model.onnx"


def save_data(model, feeds, outputs=None):
    folder = model.parent / "test_data_set_0"
    folder.mkdir()
    for k, (name, value) in enumerate(feeds.items()):
        (folder / f"input_{k}.pb").write_bytes(numpy_helper.from_array(value, name).SerializeToString())
    for k, value in enumerate(outputs if outputs is not None else ReferenceEvaluator(onnx.load(model)).run(None, feeds)):
        (folder / f"output_{k}.pb").write_bytes(numpy_helper.from_array(value).SerializeToString())


def line_of(said, label):
    found = [line for line in said.splitlines() if line.strip().startswith(label)]
    return found[0] if found else f"no line '{label}' in:\n{said}"


def network(folder):
    """Convolutions, a normalisation that folds into weights, a product: with a dynamic batch."""
    weights = {"w": random(8, 3, 3, 3), "scale": random(8), "shift": random(8), "mean": random(8), "var": np.abs(random(8)) + 1, "f": random(8, 5), "g": random(5)}
    nodes = [node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]), node("BatchNormalization", ["c", "scale", "shift", "mean", "var"], ["n"]), node("Relu", ["n"], ["r"]),
             node("GlobalAveragePool", ["r"], ["p"]), node("Flatten", ["p"], ["q"]), node("Gemm", ["q", "f", "g"], ["y"])]
    return save(folder, nodes, [("x", ["batch", 3, 9, 7])], [("y", ["batch", 5])], weights)


def check_right(root):
    model = network(root / "network")
    save_data(model, {"x": random(2, 3, 9, 7, seed=1)})
    said = verify(model, "--each-pass", "--no-code")
    for label in ("test_data_set_0", "ordinary, batch=1", "ordinary, batch=3", "empty, batch=0", "NaN in test_data_set_0", "infinities in", "subnormals in", "extremes in"):
        expect(re.search(r" right +", line_of(said, label)), f"{label} is right", line_of(said, label))
    expect("1 by the data set" in line_of(said, "test_data_set_0") and "1 by the evaluator" in line_of(said, "test_data_set_0"), "both oracles are named", said)
    for name in ("infer_shapes", "fold_scales", "fuse_expressions"):
        expect(re.search(r"right +8 sets", line_of(said, name)), f"{name} is judged", line_of(said, name))
    expect("8 sets of inputs: 8 right, 0 wrong, 0 not compared" in said, "the summary", said)
    quiet = verify(model, "--quiet", "--no-code", "--no-made")
    expect(quiet.splitlines()[1:] == ["1 sets of inputs: 1 right, 0 wrong, 0 not compared"], "--quiet leaves out what is right", quiet)
    few = verify(model, "--no-made", "--no-code")
    expect("1 sets of inputs: 1 right" in few, "--no-made leaves data sets alone", few)
    for options in (["--math=strict"], ["-O0"], ["--threads=2"]):
        verify(model, "--no-made", "--no-code", *options)
    verify(model, "--no-code", f"--data={root}", status=3)


def check_data(root):
    """One wrong number among the expected ones."""
    model = network(root / "data")
    feeds = {"x": random(2, 3, 9, 7, seed=1)}
    outputs = ReferenceEvaluator(onnx.load(model)).run(None, feeds)
    outputs[0] = outputs[0].copy()
    outputs[0][1, 3] += 0.25
    save_data(model, feeds, outputs)
    said = verify(model, "--no-made", "--each-pass", "--no-code", status=1)
    expect(re.search(r"WRONG +against the data set: 'y': 1 of 10 elements differ.*\[1, 3\] is .*; 1 by the evaluator", line_of(said, "test_data_set_0")), "the wrong value is named", said)
    expect("0 right, 1 wrong" in said and "no pass departs" in said, "passes are not to blame", said)
    said = verify(model, "--no-made", "--no-code", "--atol=0.5")
    expect("1 right" in said, "the tolerance is that of the command line", said)


def check_answers(root):
    """Errors where they are due, Loops, what has no answer."""
    gather = save(root / "gather", [node("Gather", ["x", "i"], ["y"])], [("x", [4]), ("i", [2], T.INT64)], [("y", [2])])
    said = verify(gather, "--no-code")
    expect(re.search(r"right +an error, as the evaluator gives: an index is out of range", line_of(said, "extremes")), "an index out of range is an error on both sides", said)

    body = helper.make_graph([node("Add", ["v", "v"], ["w"]), node("Identity", ["c"], ["d"]), node("Identity", ["w"], ["s"])], "body",
                             [helper.make_tensor_value_info("i", T.INT64, []), helper.make_tensor_value_info("c", T.BOOL, []), helper.make_tensor_value_info("v", T.FLOAT, [3])],
                             [helper.make_tensor_value_info("d", T.BOOL, []), helper.make_tensor_value_info("w", T.FLOAT, [3]), helper.make_tensor_value_info("s", T.FLOAT, [3])])
    loop = save(root / "loop", [node("Loop", ["five", "", "x"], ["y", "z"], body=body)], [("x", [3])], [("y", [3]), ("z", ["n", 3])], {"five": np.array(5, np.int64)})
    said = verify(loop, "--each-pass", "--no-code")
    expect("2 by the evaluator" in line_of(said, "ordinary"), "Loops are evaluated", said)

    noise = save(root / "noise", [node("RandomNormalLike", ["x"], ["n"], seed=1.0), node("Relu", ["x"], ["y"])], [("x", [3])], [("n", [3]), ("y", [3])])
    said = verify(noise, "--no-code")
    expect("1 by the evaluator" in line_of(said, "ordinary") and "left out: 'n': RandomNormalLike has no reference value" in line_of(said, "ordinary"), "what is left out is told", said)

    quantised = save(root / "quantised", [node("QuantizeLinear", ["x", "s"], ["q"])], [("x", [64])], [("q", [64], T.UINT8)], {"s": np.array(0.1, np.float32)})
    said = verify(quantised, "--no-code")
    expect("WRONG" not in said and "0 wrong" in said, "a NaN that becomes an integer is nobody's fault", said)

    trees = 24  # each asks whether its feature is negative
    forest = save(root / "forest", [node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", n_targets=1, nodes_treeids=[t for t in range(trees) for _ in range(3)],
                                         nodes_nodeids=[0, 1, 2] * trees, nodes_featureids=[f for t in range(trees) for f in (t % 4, 0, 0)], nodes_modes=["BRANCH_LT", "LEAF", "LEAF"] * trees,
                                         nodes_values=[0.0] * 3 * trees, nodes_truenodeids=[1, 0, 0] * trees, nodes_falsenodeids=[2, 0, 0] * trees,
                                         target_treeids=[t for t in range(trees) for _ in range(2)], target_nodeids=[1, 2] * trees, target_ids=[0] * 2 * trees,
                                         target_weights=[float(t) for t in range(2 * trees)])],
                  [("x", ["rows", 4])], [("y", ["rows", 1])], opsets=(("", 17), ("ai.onnx.ml", 3)))
    save_data(forest, {"x": random(64, 4)})
    said = verify(forest, "--no-code", "--each-pass")
    expect("8 right, 0 wrong, 0 not compared" in said, "the evaluator has forests, and subnormal numbers may count as they are", said)

    resize = save(root / "resize", [node("Resize", ["x", "", "", "sizes"], ["y"], axes=[2, 3], keep_aspect_ratio_policy="not_smaller", mode="nearest")],
                  [("x", [1, 1, 2, 4]), ("sizes", [2], T.INT64)], [("y", [1, 1, "h", "w"])], opsets=(("", 19),))
    save_data(resize, {"x": random(1, 1, 2, 4), "sizes": np.array([1, 3])})
    said = verify(resize, "--no-made", "--no-code", "--each-pass")
    expect("WRONG" not in said, "a common scale is rounded in its own way, whoever finds it", said)

    sequence = save(root / "sequence", [node("SequenceConstruct", ["x", "x"], ["s"]), node("ConcatFromSequence", ["s"], ["y"], axis=0)], [("x", [3])], [("y", [6])])
    said = verify(sequence, "--no-code", status=1)
    expect("not compared" in line_of(said, "ordinary") and "nothing could be compared" in said, "no answer is no success", said)
    save_data(sequence, {"x": random(3)}, [np.tile(random(3), 2)])
    said = verify(sequence, "--no-made", "--no-code")
    expect("1 by the data set" in said and "1 right" in said, "a data set is an answer", said)


def check_states(root):
    """A cache lies in another order than in the model, and grows; another state is replaced."""
    nodes = [node("Concat", ["past", "x"], ["present"], axis=2), node("ReduceMean", ["present"], ["m"], axes=[2], keepdims=0), node("Add", ["m", "h_in"], ["h_out"]), node("Tanh", ["h_out"], ["y"])]
    cache, state = ["batch", 2, "past", 3], ["batch", 2, 3]
    model = save(root / "states", nodes, [("x", ["batch", 2, "tokens", 3]), ("past", cache), ("h_in", state)], [("y", state), ("present", ["batch", 2, "all", 3]), ("h_out", state)])
    save_data(model, {"x": random(4, 2, 1, 3), "past": random(4, 2, 6, 3, seed=1), "h_in": random(4, 2, 3, seed=2)})
    said = verify(model, "--each-pass", "--no-code", "--state=auto")
    expect("3 by the data set" in line_of(said, "test_data_set_0"), "data sets have states as the model has them", said)
    expect("WRONG" not in said and re.search(r"3 by the evaluator", line_of(said, "ordinary, batch=3, tokens=5, past=7")), "states are as the unit has them", said)
    expect(re.search(r"right +\d+ sets", line_of(said, "lower_elementwise")), "passes behind place_states are judged", said)


def check_faults(root):
    """Custom operators that misbehave."""
    faults = {"crashes": ("*(volatile int*)nullptr = 1;", "the run crashed: SIGSEGV"), "writes": ("std::memset(y.data, 1, 12 + 64);", "bytes behind"),
              "exits": ("std::_Exit(3);", "the run ended the program with status 3")}
    for name, (statement, told) in faults.items():
        model = save(root / name, [node("Fault", ["x"], ["y"], domain="my")], [("x", [3])], [("y", [3])], opsets=[("", 17), ("my", 1)])
        (model.parent / "fault.hpp").write_text(f"#include <cstdlib>\n#include <cstring>\n#include <onnxc/custom.hpp>\nnamespace my {{\n"
                                                f"inline onnxc::Status fault(onnxc::Tensor<const float> x, onnxc::Tensor<float> y, const onnxc::Attributes&) {{\n"
                                                f"  for (int i = 0; i < 3; ++i) y.data[i] = x.data[i];\n  {statement}\n  return {{}};\n}}\n}}\n")
        said = verify(model, "--no-code", "--custom-op", "my.Fault=fault.hpp:my::fault, y0 = x0", status=1)
        expect(told in line_of(said, "ordinary"), f"{name}: {told}", said)


def check_code(root):
    """The rules for emitted code, where the program is; else a word about it."""
    model = network(root / "code")
    said = verify(model)
    if (ONNXC.parent / "check_emitted").exists():
        expect(re.search(r"rules for emitted code: .* 0 violations", said), "the rules hold", said)
    else:
        expect("rules for emitted code: not checked, since there is no check_emitted" in said, "it is told that nothing was checked", said)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for check in (check_right, check_data, check_answers, check_states, check_faults, check_code):
            check(Path(folder).resolve())
    CHECKS.end()


main()
