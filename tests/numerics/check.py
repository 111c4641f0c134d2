#!/usr/bin/env python3
"""What docs/numerics.md promises, on small networks for this machine, x86-64-v3 and plain C++.

Images with NaN, infinities and outliers: what is not finite is where ONNX Runtime has it, with the same sign, and the rest is within a share of the norms of its window and the weights, by sums in double.
Readers that have no limit at zero (comparisons, Log, Sqrt, Reciprocal, Sign, Floor, NonZero): where windows are zero, results are those of zero. --math=strict: each element is within gamma(k + 2) times
the sum of its magnitudes, and no step mixes values. --math=bf16: it is within 2^-8 of that sum. Numbers below the smallest normal one: zeros by --subnormals=flush, and in what exp and softmax give.

Many units are built in one (tests/units.py), with the level of optimisation that run.sh says.
"""
import functools
import json
import os
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np
import onnx
import onnx.reference
import onnxc
import onnxruntime as ort

sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
import host  # noqa: E402
from networks import conv, make_model, node, values, weights  # noqa: E402
from units import Unit, judged_in_groups  # noqa: E402

TARGETS = ("native", "x86-64-v3", "generic")
NORMS = 2e-5  # "some 2^-16", which docs/numerics.md promises
SPECIAL = dict(nan=[np.nan], infinities=[np.inf, -np.inf], outliers=[1e7, -9999, 3e18], all=[np.nan, 1e7, np.inf, -9999, -np.inf])


def reference(model, feeds):
    """ONNX Runtime's outputs, of its plain kernels."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, feeds)


def in_double(model, feeds):
    """The same network with f64 in the place of f32."""
    double = onnx.ModelProto()
    double.CopyFrom(model)
    for value in list(double.graph.input) + list(double.graph.output):
        value.type.tensor_type.elem_type = onnx.TensorProto.DOUBLE
    for tensor in double.graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT:
            tensor.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(tensor).astype(np.float64), tensor.name))
    return onnx.reference.ReferenceEvaluator(double).run(None, {k: v.astype(np.float64) for k, v in feeds.items()})[0]


def magnitudes(model, feeds):
    """Of the network of one product, the sums of the magnitudes of what it adds."""
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    for tensor in changed.graph.initializer:
        tensor.CopyFrom(onnx.numpy_helper.from_array(np.abs(onnx.numpy_helper.to_array(tensor)), tensor.name))
    return in_double(changed, {k: np.abs(v) for k, v in feeds.items()})


def norms(nodes, constants, x):
    """Of each element of the result of one product, the norm of its window times that of its weights."""
    w = constants["w"].astype(np.float64)
    of_weights = np.sqrt((w * w).sum(axis=0)) if nodes[0].op_type == "MatMul" else np.sqrt((w * w).reshape(w.shape[0], -1).sum(axis=1)).reshape(1, -1, *[1] * (x.ndim - 2))
    ones = model_of(nodes, dict(w=np.ones_like(constants["w"])), onnx.TensorProto.FLOAT, x)
    return np.sqrt(in_double(ones, dict(x=x.astype(np.float64) ** 2))) * of_weights


def layers_of(model, *options):
    """What `onnxc info` says of each step."""
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "model.onnx")
        onnx.save(model, path)
        return json.loads(subprocess.run([os.environ["ONNXC_EXECUTABLE"], "info", path, "--json", *options], check=True, capture_output=True, text=True).stdout)["layers"]


def kernels_of(model):
    """Of the steps that multiply."""
    return ", ".join(layer["kernel"] for layer in layers_of(model) if layer["macs"] != 0)


def unit(model, *options, target="native", threads=1):
    return Unit(model, (f"--target={target}", *options), threads)


def spoiled(x, specials):
    """Specials at some pixels of each channel-first image, or rows of a matrix."""
    x = x.copy()
    flat = x.reshape(-1)
    at = np.random.default_rng(11).choice(flat.size, max(1, flat.size // 1500) * len(specials), replace=False)
    flat[at] = np.resize(np.float32(specials), at.size)
    return x


PRODUCTS = {  # what a model has, and its input
    "3x3": ([conv("x w", "y")], dict(w=weights(32, 16, 3, 3)), values(2, 16, 30, 29)),
    "3x3, many channels": ([conv("x w", "y")], dict(w=weights(64, 64, 3, 3)), values(1, 64, 14, 14)),
    "3x3 of stride 2": ([conv("x w", "y", strides=[2, 2])], dict(w=weights(32, 16, 3, 3)), values(2, 16, 41, 40)),
    "5x5": ([conv("x w", "y", 5)], dict(w=weights(32, 16, 5, 5)), values(1, 16, 33, 28)),
    "4x4": ([conv("x w", "y", 4)], dict(w=weights(16, 16, 4, 4)), values(1, 16, 24, 25)),
    "7x7, in pieces": ([conv("x w", "y", 7)], dict(w=weights(24, 16, 7, 7)), values(1, 16, 22, 23)),
    "1x7": ([node("Conv", "x w", "y", pads=[0, 3, 0, 3])], dict(w=weights(32, 32, 1, 7)), values(1, 32, 17, 34)),
    "a signal": ([node("Conv", "x w", "y", pads=[7, 7])], dict(w=weights(32, 16, 15)), values(2, 16, 300)),
    "a dilated signal": ([node("Conv", "x w", "y", pads=[4, 4], dilations=[4])], dict(w=weights(32, 16, 3)), values(2, 16, 300)),
    "a volume": ([node("Conv", "x w", "y", pads=[1] * 6)], dict(w=weights(16, 8, 3, 3, 3)), values(1, 8, 6, 18, 20)),
    "a stem": ([conv("x w", "y", 7, strides=[2, 2])], dict(w=weights(64, 3, 7, 7)), values(2, 3, 64, 60)),
    "a stem of 3x3": ([conv("x w", "y")], dict(w=weights(32, 1, 3, 3)), values(1, 1, 50, 64)),
    "depthwise": ([conv("x w", "y", group=32)], dict(w=weights(32, 1, 3, 3)), values(1, 32, 30, 28)),
    "groups": ([conv("x w", "y", group=2)], dict(w=weights(32, 16, 3, 3)), values(1, 32, 30, 28)),
    "1x1": ([conv("x w", "y", 1)], dict(w=weights(128, 128, 1, 1)), values(2, 128, 14, 14)),
    "MatMul": ([node("MatMul", "x w", "y")], dict(w=values(256, 128) * np.float32(.1)), values(3, 98, 256)),
}

READERS = {  # behind a convolution c of windows of zeros and others
    "Greater": [node("Greater", "c nil", "y")],
    "Log of Relu": [node("Relu", "c", "r"), node("Add", "r tiny", "s"), node("Log", "s", "y")],
    "Sqrt": [node("Sqrt", "c", "y")],
    "Reciprocal": [node("Reciprocal", "c", "y")],
    "Div": [node("Div", "one c", "y")],
    "Sign of a pool": [node("MaxPool", "c", "p", kernel_shape=[2, 2]), node("Sign", "p", "y")],
    "Floor of a scale": [node("Mul", "c two", "s"), node("Neg", "s", "n"), node("Floor", "n", "y")],
    "Equal of a Concat": [node("Concat", "c c", "d", axis=1), node("Equal", "d nil", "y")],
    "NonZero": [node("NonZero", "c", "y")],
    "a cast to bool": [node("Cast", "c", "y", to=onnx.TensorProto.BOOL)],
    "a second convolution": [node("Relu", "c", "r"), conv("r v", "d"), node("Greater", "d nil", "y")],
    "Where, not continuous": [node("Greater", "c nil", "g"), node("Where", "g one nil", "y")],
}


def model_of(nodes, constants, output_type, x):
    model = make_model("numerics", nodes, constants, "y", dict(x=x))
    model.graph.output[0].type.tensor_type.elem_type = output_type
    return model


def product_model(title):
    nodes, constants, x = PRODUCTS[title]
    return model_of(nodes, constants, onnx.TensorProto.FLOAT, x)


@functools.cache
def spoilt(title, special):
    """Feeds, what ONNX Runtime gives, sums in double where what is not finite is zero, and how far from these a result may be."""
    model, feeds = product_model(title), dict(x=spoiled(PRODUCTS[title][2], SPECIAL[special]))
    clean = dict(x=np.where(np.isfinite(feeds["x"]), feeds["x"], 0).astype(np.float64))
    return feeds, reference(model, feeds)[0], in_double(model, clean), NORMS * norms(PRODUCTS[title][0], PRODUCTS[title][1], clean["x"])


def spoilt_units(item):
    title, target, threads = item
    return [unit(product_model(title), target=target, threads=threads)]


def spoilt_faults(item, compiled):
    title, target, _ = item
    faults = []
    for special in SPECIAL:
        feeds, expected, sums, bounds = spoilt(title, special)
        got = compiled.run(None, feeds)[0]
        finite = np.isfinite(expected)
        same = (got == expected) | (np.isnan(got) & np.isnan(expected))
        if not finite.any() or not same[~finite].all():
            faults.append(f"{title}, {special}, {target}: {np.sum(~same[~finite])} of {np.sum(~finite)} places that are not finite differ")
        wrong = ~(np.abs(got - sums) <= bounds)[finite]
        if wrong.any():
            faults.append(f"{title}, {special}, {target}: {wrong.sum()} of {wrong.size} elements are further off than their windows allow")
    return faults


@functools.cache
def reader(title):
    """A model and its feeds."""
    random = np.random.default_rng(5)
    x = ((random.random((1, 32, 28, 28)) < .02) * 255).astype(np.float32)
    x[..., 9:19] = 0
    eighths = np.ceil(random.random((32, 32, 3, 3)) * 8).astype(np.float32) / 8  # sums in any order are exact
    constants = dict(w=eighths, v=eighths, nil=np.float32(0), one=np.float32(1), two=np.float32(2), tiny=np.float32(1e-6))
    nodes = [conv("x w", "c"), *READERS[title]]
    used = {name for each in nodes for name in each.input}
    types = {"Greater": onnx.TensorProto.BOOL, "Equal": onnx.TensorProto.BOOL, "Cast": onnx.TensorProto.BOOL, "NonZero": onnx.TensorProto.INT64}
    model = model_of(nodes, {k: v for k, v in constants.items() if k in used}, types.get(nodes[-1].op_type, onnx.TensorProto.FLOAT), x)
    return model, dict(x=x)


def reader_units(item):
    title, target = item
    return [unit(reader(title)[0], target=target)]


def reader_faults(item, compiled):
    title, target = item
    model, feeds = reader(title)
    got, expected = compiled.run(None, feeds)[0], reference(model, feeds)[0]
    same = got.shape == expected.shape and np.allclose(got, expected, rtol=1e-5, atol=0, equal_nan=True)
    return [] if same else [f"{title}, {target}: differs where windows are zero"]


def strict_units(item):
    title, target = item
    return [unit(product_model(title), "--math=strict", target=target)]


def strict_faults(item, compiled):
    title, target = item
    constants, x = PRODUCTS[title][1:]
    model, feeds = product_model(title), dict(x=spoiled(x, SPECIAL["outliers"]))
    got = compiled.run(None, feeds)[0]
    k, u = constants["w"].size // got.shape[-1 if title == "MatMul" else 1], 2.0**-24
    bound = (k + 2) * u / (1 - (k + 2) * u) * magnitudes(model, feeds)
    wrong = np.abs(got - in_double(model, feeds)) > bound
    return [f"{title}, {target}, strict: {wrong.sum()} of {wrong.size} elements are out of bounds"] if wrong.any() else []


def bf16_units(item):
    return [unit(product_model("MatMul"), "--math=bf16", target=item)]


def bf16_faults(item, compiled):
    """Each element is within 2^-8 of the sum of its magnitudes, twice what rounding an operand costs; where the target has products of bfloat16, it is the sum of the rounded operands."""
    constants, x = PRODUCTS["MatMul"][1:]
    model, feeds = product_model("MatMul"), dict(x=x)
    k, u = x.shape[-1], 2.0**-24
    gamma = (2 * k + 2) * u / (1 - (2 * k + 2) * u)  # the instruction rounds each sum, and subnormals are zeros
    got, sums = compiled.run(None, feeds)[0], magnitudes(model, feeds)
    faults = [] if (np.abs(got - in_double(model, feeds)) <= (2.0**-8 + gamma) * sums).all() else [f"MatMul, {item}, bf16: out of bounds"]
    if item.startswith("zen"):
        rounded = model_of(PRODUCTS["MatMul"][0], {name: to_bf16(w) for name, w in constants.items()}, onnx.TensorProto.FLOAT, x)
        if not (np.abs(got - in_double(rounded, dict(x=to_bf16(x)))) <= gamma * sums).all():
            faults.append(f"MatMul, {item}, bf16: not the sum of rounded operands")
    return faults


def to_bf16(x):
    return x.astype(ml_dtypes.bfloat16).astype(np.float32)


@functools.cache
def subnormal_networks():
    """Of each its title: nodes, constants, input, what is right of it, and --subnormals."""
    least, x = np.finfo(np.float32).tiny, np.linspace(-110, 5, 3 * 128).astype(np.float32).reshape(3, 128)
    small = np.resize(np.float32([1e-39, -3e-42, 1e-38, 2.0]), (64, 1024))
    taps = np.where(values(32, 16, 3, 3) > 0, np.float32(1e-39), np.float32(0.25))
    image, zeros = values(1, 16, 24, 24), np.where(np.abs(taps) < least, 0, taps).astype(np.float32)
    networks = {
        "Exp": ([node("Exp", "x", "y")], {}, x, lambda x: np.where(np.exp(x.astype(np.float64)) < least, 0, np.exp(x.astype(np.float64))), None),
        "Softmax": ([node("Softmax", "x", "y", axis=-1)], {}, x * 2, lambda x: np.where((s := np.exp(x.astype(np.float64) - x.max(-1, keepdims=True)) / np.exp(x.astype(np.float64) - x.max(-1, keepdims=True)).sum(-1, keepdims=True)) < least, 0, s), None),
        "operands, flushed": ([node("Mul", "x one", "y")], dict(one=np.full(1024, 1.5, np.float32)), small, lambda x: np.where(np.abs(x) < least, 0, x * 1.5), "flush"),
        "operands, kept": ([node("Mul", "x one", "y")], dict(one=np.full(1024, 1.5, np.float32)), small, lambda x: x * np.float32(1.5), "keep"),
        "weights, flushed": ([conv("x w", "y")], dict(w=taps), image, lambda x: in_double(model_of([conv("x w", "y")], dict(w=zeros), onnx.TensorProto.FLOAT, x), dict(x=x)), "flush"),
    }
    has_mode = os.uname().machine in ("x86_64", "aarch64")
    return {title: network for title, network in networks.items() if network[4] != "flush" or has_mode or "weights" in title}


def subnormal_units(item):
    target, threads = item
    return [unit(model_of(nodes, constants, onnx.TensorProto.FLOAT, x), *([f"--subnormals={mode}"] if mode else []), target=target, threads=threads)
            for nodes, constants, x, _, mode in subnormal_networks().values()]


def subnormal_faults(item, *compiled):
    """exp and softmax end at the smallest normal number; with `flush` so do operands, results and packed weights, on every thread; the caller's mode is as it was."""
    target, threads = item
    faults = []
    for (title, (_, _, x, right, _)), session in zip(subnormal_networks().items(), compiled, strict=True):
        got = session.run(None, dict(x=x))[0]
        expected = right(x)
        # An exponent is rounded once, by 2^-24 of up to 230; sums of a convolution come in another order.
        rtol, atol = (2e-6 if title == "Exp" else 1.5e-5), (1e-5 if "weights" in title else 0)
        if not np.allclose(got, expected, rtol=rtol, atol=atol) or (atol == 0 and not np.array_equal(got == 0, expected == 0)):
            faults.append(f"{title}, {target}, {threads} threads: {np.sum((got == 0) != (expected == 0))} places are zero on one side alone")
        if np.float32(1e-39) * np.float32(1.0) == 0:
            faults.append(f"{title}, {target}, {threads} threads: the caller's mode was not restored")
    return faults


def info_faults():
    nodes, constants, x = PRODUCTS["3x3, many channels"]
    model = model_of(nodes, constants, onnx.TensorProto.FLOAT, x)
    mixing = {math: any(layer["mixes"] for layer in layers_of(model, f"--math={math}")) for math in ("default", "strict")}
    return [] if mixing == {"default": True, "strict": False} else [f"info says of steps that mix: {mixing}"]


@functools.cache
def edge(item):
    """Images of bytes with outliers in rows and columns of their own, which must not vouch for each other, and at the corner of a tile, which has the least part in what is looked at."""
    channels, places, outlier = item
    random = np.random.default_rng(0)
    x, w = random.integers(0, 256, (1, channels, 28, 28)).astype(np.float32), random.standard_normal((16, channels, 3, 3)).astype(np.float32)
    for row, column in places:
        x[0, 0, row, column] = outlier
    return [conv("x w", "y")], dict(w=w), x


def edge_units(item):
    nodes, constants, x = edge(item)
    return [unit(model_of(nodes, constants, onnx.TensorProto.FLOAT, x))]


def edge_faults(item, compiled):
    channels, places, outlier = item
    nodes, constants, x = edge(item)
    model = model_of(nodes, constants, onnx.TensorProto.FLOAT, x)
    error = np.abs(compiled.run(None, dict(x=x))[0] - in_double(model, dict(x=x))) / norms(nodes, constants, x.astype(np.float64))
    return [f"bytes of {channels} channels, {outlier:g} at {places}: off by {error.max():.2g} of the norms"] if error.max() > NORMS else []


def judge(check, *sessions):
    """What is wrong, a line each."""
    _, faults_of, item = check
    errors = [f"{item}: {session}" for session in sessions if isinstance(session, onnxc.CompileError)]
    return errors or faults_of(item, *sessions)


def main():
    few = lambda of, step: [(title, target) for title in list(of)[::step] for target in TARGETS[1:]]
    native = lambda of: [(title, "native") for title in of]
    edges = [(1, ((9, 6), (10, 10)), 1e7), (1, ((12, 12),), 4e5), (3, ((9, 6), (10, 10)), 1e8), (16, ((15, 23),), 1e6), (64, ((16, 20),), 1e6),
             *((channels, ((12, 12),), outlier) for channels in (1, 3, 16, 64) for outlier in (5e4, 1e5, 2e5))]  # about where tiles begin to count as spoilt
    zen = ["zen4", "zen5"] if {"avx512_bf16", "avx512_vnni"} <= host.flags() else []
    checks = [(spoilt_units, spoilt_faults, [(title, target, threads) for title in PRODUCTS for target, threads in (("native", 2), ("x86-64-v3", 1), ("generic", 1))]),
              (reader_units, reader_faults, native(READERS) + few(READERS, 5)), (strict_units, strict_faults, native(PRODUCTS) + few(PRODUCTS, 5)), (bf16_units, bf16_faults, [*TARGETS, *zen]), (edge_units, edge_faults, edges),
              (subnormal_units, subnormal_faults, [("native", 1), ("native", 2), ("x86-64-v3", 1), ("generic", 1)])]
    each = [(units, faults_of, item) for units, faults_of, items in checks for item in items]
    each.sort(key=lambda check: next((target for target in TARGETS if target in check[2]), "native"))  # units of one target are built together
    failed = total = 0
    for faults in judged_in_groups(each, lambda check: check[0](check[2]), judge):
        total += 1
        failed += len(faults)
        for fault in faults:
            print(f"FAILED {fault}", flush=True)
    for fault in info_faults():
        failed += 1
        print(f"FAILED {fault}")
    print(f"{total} runs, {failed} of them not as docs/numerics.md promises")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
