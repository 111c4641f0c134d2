#!/usr/bin/env python3
"""Networks with superfluous channels lose exactly these; goals and budgets; clustered weights; what is not understood; data that is no data; trained and large models of the zoo."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import planted
from onnx import helper as h
from onnx import numpy_helper

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[1] / "quantize")]
from rewriting import ALL, Checks  # noqa: E402
from small_networks import ONNXC, run_onnxc, runtime  # noqa: E402

RANDOM = np.random.default_rng(3)
CHECKS = Checks("compress")
expect, compress, refused = CHECKS.expect, CHECKS.run, CHECKS.refused
ZOO = Path(__file__).resolve().parents[3] / "shared" / "zoo"


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
        for round_ in range(2 if ALL else 1):
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


def mlp(widths=(16, 48, 32, 6)):
    """A network that is wider than it has to be, with samples and the classes that it names."""
    net = planted.Net()
    x = "x"
    for k, (n, m) in enumerate(zip(widths, widths[1:])):
        x = net.gemm(x, f"g{k}" if k + 2 < len(widths) else "y", None, None, m, n)
        x = net.add("Relu", [x], f"r{k}") if k + 2 < len(widths) else x
    return net


def check_goals(folder):
    net = mlp()
    path, out = folder / "mlp.onnx", folder / "mlp_c.onnx"
    onnx.save(model(net, [16]), path)
    x = RANDOM.standard_normal((800, 16)).astype(np.float32)
    exact = runtime(path).run(None, {"x": x})[0]
    np.save(folder / "x.npy", x)
    np.save(folder / "labels.npy", exact.argmax(1))
    sizes = []
    for points in (2, 10):
        done = compress(path, out, "--calibration", folder / "x.npy", f"--keep-accuracy={points}", "--labels", folder / "labels.npy", "--report", folder / "r.json")
        lost = 100 * (runtime(out).run(None, {"x": x})[0].argmax(1) != exact.argmax(1)).mean()
        report = json.loads((folder / "r.json").read_text())
        # One sample may be named differently by another engine.
        expect(lost <= points + 0.13 and abs(100 - report["accuracy"]["after"] - lost) < 0.13, "--keep-accuracy keeps it", (lost, done.stdout, done.stderr))
        sizes.append(report["parameters"])
    expect(sizes[1] < sizes[0] < net.parameters(), "what may lose more has fewer parameters", sizes)
    compress(path, out, "--calibration", folder / "x.npy", "--keep-cosine=0.98")
    found = runtime(out).run(None, {"x": x[:64]})[0]
    cosines = (found * exact[:64]).sum(1) / np.linalg.norm(found, axis=1) / np.linalg.norm(exact[:64], axis=1)
    expect(cosines.min() >= 0.9799 and parameters(out) < net.parameters(), "--keep-cosine keeps each of the first 64 samples", cosines.min())
    first = out.read_bytes()
    compress(path, out, "--calibration", folder / "x.npy", "--keep-cosine=0.98")
    expect(first == out.read_bytes(), "the same samples give the same model")

    net = mlp((16, 32, 1))  # one probability
    net.nodes[-1].output[0] = "score"
    net.add("Sigmoid", ["score"], "y")
    onnx.save(model(net, [16]), path)
    np.save(folder / "labels.npy", (runtime(path).run(None, {"x": x})[0][:, 0] > 0.5).astype(np.int64))
    compress(path, out, "--calibration", folder / "x.npy", "--keep-accuracy=3", "--labels", folder / "labels.npy", "--report", folder / "r.json")
    report = json.loads((folder / "r.json").read_text())
    expect(report["accuracy"]["before"] == 100 and 97 <= report["accuracy"]["after"] < 100, "one probability names class 1 where it is more than a half", report["accuracy"])


def check_budgets(folder):
    """Half of the parameters with each means, against leaving channels out and nothing else."""
    net = mlp((16, 64, 48, 6))
    path, out = folder / "mlp.onnx", folder / "mlp_c.onnx"
    onnx.save(model(net, [16]), path)
    np.savez(folder / "x.npz", x=RANDOM.standard_normal((1500, 16)).astype(np.float32))
    fresh = RANDOM.standard_normal((500, 16)).astype(np.float32)
    exact = runtime(path).run(None, {"x": fresh})[0]
    noise = {}
    for options in ((), ("--no-low-rank",), ("--no-channels",)):
        compress(path, out, "--calibration", folder / "x.npz", "--parameters=50", *options)
        expect(parameters(out) <= net.parameters() / 2, f"half are gone {options}", parameters(out))
        noise[options] = ((runtime(out).run(None, {"x": fresh})[0] - exact) ** 2).mean() / exact.var()
    # What smallest weights leave, removed from both hidden layers by the norms of their rows without anything being solved.
    keep0, keep1 = (np.argsort(-np.linalg.norm(net.weights[f"g{k}_w"], axis=1) * np.linalg.norm(net.weights[after], axis=0))[:n] for k, after, n in ((0, "g1_w", 42), (1, "y_w", 28)))
    w = net.weights
    a = np.maximum(fresh @ w["g0_w"][keep0].T + w["g0_b"][keep0], 0)
    b = np.maximum(a @ w["g1_w"][np.ix_(keep1, keep0)].T + w["g1_b"][keep1], 0)
    plain = ((b @ w["y_w"][:, keep1].T + w["y_b"] - exact) ** 2).mean() / exact.var()
    expect(max(noise.values()) < plain / 2, "weights that are solved anew make less than half of the error", (noise, plain))
    expect(noise[()] <= 1.1 * min(noise.values()), "both means together are no worse than one", noise)


def check_clusters(folder):
    net, shape = planted.separable()[0].finish(), [3, 8, 8]
    net.weight("wide_w", planted.values(64, 6, 3, 3))
    net.nodes[-1].output[0] = "y0"
    net.add("Conv", ["y0", "wide_w"], "y")
    path, out = folder / "c.onnx", folder / "cc.onnx"
    onnx.save(model(net, shape), path)
    np.save(folder / "x.npy", RANDOM.standard_normal((64, *shape)).astype(np.float32))
    weights = net.weights["wide_w"]
    for n, bits in ((256, 8), (5, 4)):
        compress(path, out, "--calibration", folder / "x.npy", "--no-channels", "--no-low-rank", f"--cluster={n}")
        stored = {t.name: t for t in onnx.load(out).graph.initializer}
        table, indices = numpy_helper.to_array(stored["wide_w_values"]), stored["wide_w_indices"]
        expect("wide_w" not in stored and len(table) <= n, f"{n} values are stored instead of the weights", list(stored))
        expect(len(indices.raw_data) == (weights.size * bits + 7) // 8, f"{n} values: {bits} bits for each", len(indices.raw_data))
        expect(np.array_equal(table, table.astype(np.float16).astype(np.float32)), "values are such that 16 bits hold them")
        x = RANDOM.standard_normal((3, *shape)).astype(np.float32)
        exact, found, ours = runtime(path).run(None, {"x": x})[0], runtime(out).run(None, {"x": x})[0], run_onnxc(out, {"x": x})
        # n values of normal weights: 3 / n of their deviation each way.
        expect(np.linalg.norm(exact - found) < 4 / n * np.linalg.norm(exact), f"{n} values are near the weights", np.linalg.norm(exact - found) / np.linalg.norm(exact))
        expect(np.abs(ours - found).max() <= 1e-5 * np.abs(found).max(), f"{n} values: onnxc and ONNX Runtime agree", np.abs(ours - found).max())


def check_reasons(folder):
    """What the walk does not understand keeps channels, and is named."""
    net = planted.Net()
    x = net.add("Relu", [net.conv("x", "c0", None, None, 32, 3)], "r0")
    x = net.add("LRN", [x], "l", size=3)
    x = net.conv(x, "c1", None, None, 32, 32)
    net.add("Relu", [net.conv(x, "c2", None, None, 4, 32)], "y")
    path, out = folder / "lrn.onnx", folder / "lrn_c.onnx"
    onnx.save(model(net, [3, 8, 8]), path)
    np.save(folder / "x.npy", RANDOM.standard_normal((64, 3, 8, 8)).astype(np.float32))
    compress(path, out, "--calibration", folder / "x.npy", "--parameters=70", "--no-low-rank", "--report", folder / "r.json")
    layers = json.loads((folder / "r.json").read_text())["layers"]
    expect("LRN 'n2' needs them all" in (layers[0]["kept"] or ""), "the node that needs all channels is named", layers)
    expect(layers[0]["weights"] == "32x3x3x3" and layers[1]["weights"] != "32x32x3x3", "its channels stay, others go", layers)
    expect("is an output of the model" in layers[2]["kept"], "outputs stay", layers)


def check_refusals(folder):
    path, out, good = folder / "r.onnx", folder / "r_c.onnx", folder / "good.npy"
    net = mlp()
    onnx.save(model(net, [16]), path)
    x = RANDOM.standard_normal((40, 16)).astype(np.float32)
    np.save(good, x)
    refused(path, out, "--calibration is missing", status=2)
    refused(path, folder / "none" / "r.onnx", "the folder", "--calibration", good, status=3)
    refused(path, out, "no such file or folder", "--calibration", folder / "nothing", status=3)
    bad = folder / "bad.npy"
    for array, what in ((x.astype(np.float64), "astype(np.float32)"), (x[:, :2], "the input is f32[n, 16]"), (x[:0], "no samples"), (np.where(x > 1, np.nan, x).astype(np.float32), "it holds NaN")):
        np.save(bad, array)
        refused(path, out, what, "--calibration", bad)
    (folder / "few.txt").write_text("1\n2\n")
    refused(path, out, "2 labels for 40 examples", "--calibration", good, "--keep-accuracy=1", "--labels", folder / "few.txt")
    refused(path, out, "need each other", "--calibration", good, "--keep-accuracy=1", status=2)
    refused(path, out, "not both", "--calibration", good, "--keep-accuracy=1", "--labels", folder / "few.txt", "--keep-cosine=0.9", status=2)
    refused(path, out, "leave nothing to do", "--calibration", good, "--no-channels", "--no-low-rank", status=2)
    refused(path, out, "is the least that can be reached; give a larger --parameters", "--calibration", good, "--parameters=0.1", status=4)
    np.save(bad, x[:5])
    refused(path, out, "100 % is the least that can be reached; give a larger --parameters; 48 channels stay since too few samples show what Gemm 'n2' reads", "--calibration", bad, status=4)  # five samples say nothing of 16 columns
    relu = folder / "relu.onnx"
    small = planted.Net()
    small.add("Relu", ["x"], "y")
    onnx.save(model(small, [16]), relu)
    refused(relu, out, "no layer can be compressed; it has no Conv, Gemm or MatMul with constant weights", "--calibration", good)
    refused(good, out, "not an ONNX model", "--calibration", good)
    quantised = folder / "q.onnx"
    subprocess.run([ONNXC, "quantize", path, "-o", quantised, "--calibration", good], check=True, capture_output=True)
    refused(quantised, out, "is quantised already", "--calibration", good)


def check_damage(folder):
    """A model with a few wrong bytes ends in an error or becomes a model, and nothing else."""
    net, sizes, shape, _ = planted.residual()
    whole, ends = model(net.finish(), shape).SerializeToString(), set()
    np.save(folder / "x.npy", RANDOM.standard_normal((20, *shape)).astype(np.float32))
    for k in range(30 if ALL else 6):
        damaged = bytearray(whole)
        for at in RANDOM.integers(0, len(whole), 2):
            damaged[at] = RANDOM.choice([0, 1, 255, damaged[at] ^ 1 << RANDOM.integers(8)])
        (folder / "damaged.onnx").write_bytes(damaged)
        done = subprocess.run([ONNXC, "compress", folder / "damaged.onnx", "-o", folder / "o.onnx", "--calibration", folder / "x.npy", "--parameters=80", "-O", "0"], capture_output=True, text=True, errors="replace")
        expect(done.returncode in (0, 1, 3, 4), f"damage {k}", f"exit status {done.returncode}: {done.stderr[-500:]}")
        ends.add(done.returncode)
    expect(ends >= {0, 1}, "some damage is found, some is none", ends)


def print_sizes(name, report, before, after, what):
    print(f"{name}: {100 * (1 - report['parameters'] / report['parameters_before']):.1f} % of the parameters gone, {report['bytes_before']} bytes become {report['bytes']}, "
          f"{report['microseconds_before']:.3g} us become {report['microseconds']:.3g}, {what} {before:.2f} % becomes {after:.2f} %", flush=True)


def check_trained(folder):
    """Half of the parameters of trained networks go with at most one point of accuracy on data that was not used."""
    if not ZOO.exists():
        return print("(no ../shared/zoo: no trained model)")
    test = np.load(ZOO / "lenet5_digits" / "digits_test.npz")
    images, path, out = (test["images"][:, None] / 255).astype(np.float32), ZOO / "lenet5_digits" / "model.onnx", folder / "lenet.onnx"
    np.savez_compressed(folder / "digits.npz", image=images[:200])
    compress(path, out, "--calibration", folder / "digits.npz", "--parameters=50", "--report", folder / "r.json")
    accuracy = lambda p: 100 * (runtime(p).run(None, {"image": images[200:]})[0].argmax(1) == test["labels"][200:]).mean()
    report = json.loads((folder / "r.json").read_text())
    expect(parameters(out) <= parameters(path) / 2 and accuracy(out) >= accuracy(path) - 1, "lenet5_digits keeps its accuracy", (accuracy(path), accuracy(out)))
    check_same_engines("lenet5_digits", out, {"image": images[200:]})
    print_sizes("lenet5_digits", report, accuracy(path), accuracy(out), "accuracy of 250 other images,")

    # churn_mlp comes without labels. Its inputs are independent normal numbers. An example with probability p has class 1 so often: that is how often each answer is right.
    path, out = ZOO / "churn_mlp" / "model.onnx", folder / "churn.onnx"
    np.save(folder / "features.npy", RANDOM.standard_normal((3000, 30)).astype(np.float32))
    fresh = RANDOM.standard_normal((20000, 30)).astype(np.float32)
    compress(path, out, "--calibration", folder / "features.npy", "--parameters=50", "--report", folder / "r.json")
    probability, found = (runtime(p).run(None, {"features": fresh})[0][:, 0].astype(np.float64) for p in (path, out))
    right = lambda p: 100 * np.where(p > 0.5, probability, 1 - probability).mean()
    report = json.loads((folder / "r.json").read_text())
    expect(parameters(out) <= parameters(path) / 2 and right(found) >= right(probability) - 1, "churn_mlp keeps its accuracy", (right(probability), right(found)))
    check_same_engines("churn_mlp", out, {"features": fresh[:1000]})
    print_sizes("churn_mlp", report, right(probability), right(found), "expected accuracy of 20000 other examples,")


def check_same_engines(name, path, feed):
    exact, ours = runtime(path).run(None, feed)[0], run_onnxc(path, feed)
    expect(np.abs(ours - exact).max() <= 1e-4 * np.abs(exact).max(), f"{name}: onnxc and ONNX Runtime agree on the result", np.abs(ours - exact).max())


def check_networks(folder):
    """Whole architectures with random weights: shapes shrink, and the result is a model that runs."""
    real = Path(subprocess.run(["tests/zoo/folder.sh"], capture_output=True, text=True).stdout.strip())
    for name, image in (("mobilenet_v2", 224), ("resnet18", 224), ("shufflenet_v2_x1_0", 224), ("mobilenet_v3_small_ts17", 224), ("mlperf_tiny_ic_fp32", 32), ("mlperf_tiny_vww_fp32", 96)):
        path, out = real / name / "model.onnx", folder / f"{name}.onnx"
        if not path.exists():
            print(f"(no {path})")
            continue
        given = runtime(path).get_inputs()[0]
        shape = [d if isinstance(d, int) else {0: 1}.get(k, image) for k, d in enumerate(given.shape)]
        samples = RANDOM.standard_normal((24, *shape)).astype(np.float32)
        np.savez(folder / "x.npz", **{given.name: samples})
        compress(path, out, "--calibration", folder / "x.npz", "--parameters=70", "--report", folder / "r.json")
        onnx.checker.check_model(onnx.load(out), full_check=True)
        layers = json.loads((folder / "r.json").read_text())["layers"]
        expect(parameters(out) <= 0.7 * parameters(path), f"{name} has fewer parameters", (parameters(out), parameters(path)))
        expect(any(l["weights"] != l["weights_before"] and l["rank"] is None for l in layers), f"{name}: shapes shrink", layers)
        check_same_engines(name, out, {given.name: samples[0]})


with tempfile.TemporaryDirectory() as root:
    for check in (check_planted, check_low_rank, check_goals, check_budgets, check_clusters, check_reasons, check_refusals, check_damage, check_trained):
        RANDOM.bit_generator.state = np.random.default_rng(3).bit_generator.state  # one check does not depend on what others draw
        planted.RANDOM.bit_generator.state = np.random.default_rng(11).bit_generator.state
        place = Path(root) / check.__name__
        place.mkdir()
        check(place)
    if ALL:
        check_networks(Path(root))
CHECKS.end()
