#!/usr/bin/env python3
"""Small networks, made for four threads and run with one to four: results are the same to the bit, and ONNX Runtime's.

They have branches whose steps go without waiting for each other (compiler/lowering/threads/concurrent_steps.h): operands of a Concat side by side, in channels-last images and in
rows, steps too small to be shared, dilated kernels, heads with outputs of their own; that such steps are there is counted. Images of any size have scratch whose size a run tells,
and rows of any number are shared where they are enough.
"""
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnxc

sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
from networks import agree, conv, make_model, node, reference, values, weights  # noqa: E402
from side_by_side import side_by_side  # noqa: E402

THREADS = 4
RUNS = 5  # of each: a race need not show in the first


def inception(dims=None):
    nodes = [conv("x w0", "a", 1), node("Relu", "a", "ra"), conv("ra w1", "b1", 1), conv("ra w2", "b2", 1), conv("b2 w3", "c2"), conv("ra w4", "b3", 1),
             conv("b3 w5", "c3", 5), node("MaxPool", "ra", "b4", kernel_shape=[3, 3], pads=[1] * 4), conv("b4 w6", "c4", 1), node("Concat", "b1 c2 c3 c4", "y", axis=1)]
    constants = dict(w0=weights(48, 16, 1, 1), w1=weights(20, 48, 1, 1), w2=weights(24, 48, 1, 1), w3=weights(36, 24, 3, 3), w4=weights(10, 48, 1, 1),
                     w5=weights(12, 10, 5, 5), w6=weights(15, 48, 1, 1))
    return nodes, constants, "y", dict(x=values(2, 16, 5, 6) if dims else values(1, 16, 19, 23)), dims


def dilated():
    nodes = [node("Relu", "x", "rx")]
    for k, d in enumerate((1, 2, 3, 5)):
        nodes += [conv(f"rx r{k}", f"a{k}", 1), conv(f"a{k} w{k}", f"b{k}", dilations=[d, d], pads=[d] * 4)]
    nodes += [node("Concat", "b0 b1 b2 b3", "c", axis=1), conv("c p", "d", 1), node("Add", "d rx", "y")]
    constants = {f"r{k}": weights(8 + 4 * k, 32, 1, 1) for k in range(4)} | {f"w{k}": weights(16, 8 + 4 * k, 3, 3) for k in range(4)} | {"p": weights(32, 64, 1, 1)}
    return nodes, constants, "y", dict(x=values(1, 32, 30, 40)), None


def heads():
    nodes, constants = [], {}
    for k, (size, channels) in enumerate(((24, 16), (12, 24), (6, 40))):
        for kind, n in (("scores", 2), ("boxes", 4)):
            name = f"{kind}{k}"
            nodes += [conv(f"x{k} d_{name}", f"a_{name}", group=channels), node("Relu", f"a_{name}", f"r_{name}"), conv(f"r_{name} w_{name}", f"c_{name}"),
                      node("Transpose", f"c_{name}", f"t_{name}", perm=[0, 2, 3, 1]), node("Reshape", f"t_{name} list{n}", f"l_{name}")]
            constants |= {f"d_{name}": weights(channels, 1, 3, 3), f"w_{name}": weights(3 * n, channels, 3, 3), f"list{n}": np.array([1, -1, n])}
    for kind in "scores", "boxes":
        nodes.append(node("Concat", " ".join(f"l_{kind}{k}" for k in range(3)), kind, axis=1))
    feeds = {f"x{k}": values(1, channels, size, size) for k, (size, channels) in enumerate(((24, 16), (12, 24), (6, 40)))}
    return nodes, constants, "scores boxes", feeds, None


def towers():
    """Two inputs of their own, products of rows, and what joins them."""
    nodes, constants = [], {}
    for side in "ab":
        nodes += [node("MatMul", f"{side} w1{side}", f"m{side}"), node("Relu", f"m{side}", f"r{side}"), node("MatMul", f"r{side} w2{side}", f"n{side}"),
                  node("Softmax", f"n{side}", f"s{side}"), node("ReduceMean", f"m{side}", f"mean{side}", axes=[1])]
        constants |= {f"w1{side}": weights(96, 200), f"w2{side}": weights(200, 64)}
    nodes += [node("Sub", "sa sb", "d"), node("Concat", "d meana meanb", "y", axis=1), node("Mul", "sa nb", "z")]
    return nodes, constants, "y z", dict(a=values(37, 96), b=values(37, 96)), None


def images():
    """Of any height and width, on which the scratch of each thread depends: stems by Winograd, and kernels that copy bands of rows."""
    nodes = [conv("x w0", "a", 5), node("Tanh", "a", "ta"), conv("x w1", "b"), node("Relu", "b", "rb"), conv("ta w2", "c"), conv("rb w3", "d"), node("Concat", "c d", "e", axis=1),
             conv("e w4", "f", dilations=[2, 2], pads=[2] * 4, group=40), conv("f w5", "y", 1), conv("e w6", "z", 1)]
    constants = dict(w0=weights(64, 1, 5, 5), w1=weights(24, 1, 3, 3), w2=weights(32, 64, 3, 3), w3=weights(8, 24, 3, 3), w4=weights(40, 1, 3, 3), w5=weights(12, 40, 1, 1), w6=weights(7, 40, 1, 1) / 4)  # values of the size of 1 again
    return nodes, constants, "y z", dict(x=values(1, 1, 61, 107)), {2: "height", 3: "width"}


def perceptron(rows=None):
    nodes = [node("MatMul", "x w0", "a"), node("Relu", "a", "ra"), node("MatMul", "ra w1", "b"), node("Softmax", "b", "y")]
    return nodes, dict(w0=weights(64, 128), w1=weights(128, 10)), "y", dict(x=values(700, 64)), rows


def emitted(model):
    """The unit's text."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        with open(path, "wb") as file:
            file.write(model.SerializeToString())
        subprocess.run([os.environ["ONNXC_EXECUTABLE"], path, "--threads", str(THREADS), "-o", os.path.join(folder, "unit.cpp")], check=True)
        with open(os.path.join(folder, "unit.cpp")) as file:
            return file.read()


def groups(model):
    """Forks with several steps in the emitted unit."""
    return len(re.findall(r"threads\.run\(\[&\]\(onnxc::Share share\) \{\n", emitted(model)))


def check_rows():
    """A step of any number of rows is shared on a condition that a run tells, one of many rows always; what it gives is the same. Gives the number of failures."""
    failed = 0
    condition = re.compile(r"threads\.where\(\d+ \* dims\.rows >= \d+")
    for dims in None, {0: "rows"}:
        nodes, constants, outputs, feeds, _ = perceptron(dims)
        model = make_model("perceptron", nodes, constants, outputs, feeds, dims)
        if bool(condition.search(emitted(model))) != (dims is not None):
            failed += 1
            print(f"FAILED perceptron with {dims}: shared on a condition where its rows are known, or always where they are not")
    library = onnxc.compile(model, threads=THREADS)
    for rows in 1, 3, 40, 700:
        some = {"x": feeds["x"][:rows]}
        expected = reference(model, some)
        for threads in 1, 2, THREADS:
            if not agree(onnxc.InferenceSession(library, threads=threads).run(None, some), expected):
                failed += 1
                print(f"FAILED perceptron: {rows} rows on {threads} threads give other values than ONNX Runtime's")
    return failed


def main():
    networks = {"inception": inception(), "inception of any batch": inception({0: "batch"}), "dilated": dilated(), "heads": heads(), "towers": towers(), "images of any size": images()}
    models = {title: make_model(title.replace(" ", "_"), nodes, constants, outputs, feeds, dims) for title, (nodes, constants, outputs, feeds, dims) in networks.items()}
    failed, found = 0, 0
    for (title, model), library in zip(models.items(), side_by_side(lambda model: onnxc.compile(model, threads=THREADS), models.values())):
        feeds = networks[title][3]
        forks = groups(model)
        found += forks
        if forks == 0:
            failed += 1
            print(f"FAILED {title}: no steps are concurrent")
        first = onnxc.InferenceSession(library).run(None, feeds)
        expected = reference(model, feeds)
        if not agree(first, expected):
            failed += 1
            print(f"FAILED {title}: other values than ONNX Runtime's")
        for threads in range(2, THREADS + 1):
            session = onnxc.InferenceSession(library, threads=threads)
            if not all(np.array_equal(a, e) for _ in range(RUNS) for a, e in zip(session.run(None, feeds), first)):
                failed += 1
                print(f"FAILED {title}: {threads} threads give other values than one")
    failed += check_rows()
    print(f"{len(networks)} networks with {found} groups of concurrent steps, on 1 to {THREADS} threads: {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
