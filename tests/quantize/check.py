#!/usr/bin/env python3
"""Networks are quantised in every form and run in ONNX Runtime and in onnxc; what becomes of their nodes; layers that stay in float; data that is no data; trained and large models of the zoo."""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import helper as h
from onnx import numpy_helper
from small_networks import ONNXC, RANDOM, convolutional, correlated, cosine, decibels, model, planar, products, run_onnxc, runtime, values

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from rewriting import ALL, Checks  # noqa: E402

CHECKS = Checks("quantize")
expect, quantize, refused = CHECKS.expect, CHECKS.run, CHECKS.refused
ZOO = Path(__file__).resolve().parents[3] / "shared" / "zoo"


def save(folder, name, proto):
    onnx.save(proto, folder / name)
    return folder / name


def constant(proto, name):
    return next((numpy_helper.to_array(t) for t in proto.graph.initializer if t.name == name), None)


def codes_of(proto, value):
    """Scale and zero point that quantise a value."""
    node = next((n for n in proto.graph.node if n.op_type == "QuantizeLinear" and n.input[0] == value), None)
    return None if node is None else (float(constant(proto, node.input[1])), int(constant(proto, node.input[2])))


def check_qdq(folder):
    path, out, data = save(folder, "cnn.onnx", convolutional()), folder / "cnn_q.onnx", folder / "cnn.npz"
    samples, fresh = correlated(64, 3, 16, 16), correlated(16, 3, 16, 16)
    np.savez(data, x=samples)
    done = quantize(path, out, "--calibration", data, "--report", folder / "r.json")
    proto = onnx.load(out)
    onnx.checker.check_model(proto, full_check=True)
    exact, (found,), (plain,) = runtime(path).run(None, {"x": fresh})[0], runtime(out).run(None, {"x": fresh}), runtime(out, False).run(None, {"x": fresh})
    # Codes of 8 bits for about Gaussian values have some 40 dB; a dozen roundings behind each other leave more than 25.
    expect(decibels(exact, found) > 25 and decibels(exact, plain) > 25, "a quantised network is near its model in floats", (decibels(exact, found), decibels(exact, plain)))
    # The two engines round sums that lie between two codes differently, each of which is a step of some value inside.
    step = (exact.max() - exact.min()) / 255
    ours = run_onnxc(out, {"x": fresh})
    expect(np.abs(ours - plain).max() <= step, "onnxc and ONNX Runtime agree within a step", np.abs(ours - plain).max() / step)

    ops = [n.op_type for n in proto.graph.node]
    expect("BatchNormalization" not in ops and "1 BatchNormalization folded" in done.stdout, "batch-norm is folded", done.stdout)
    expect(codes_of(proto, "a0") is None and codes_of(proto, "a1") is None and codes_of(proto, "a") is not None, "Relu comes before rounding")
    expect(codes_of(proto, "a")[1] == 0 and codes_of(proto, "e")[1] == 0, "what is never negative has the zero point 0")
    expect(codes_of(proto, "g") == codes_of(proto, "d") == codes_of(proto, "k") == codes_of(proto, "l"), "Concat and MaxPool share codes", [codes_of(proto, v) for v in "gdkl"])
    expect(codes_of(proto, "o") == codes_of(proto, "p") is not None, "Flatten shares codes")
    expect(codes_of(proto, "y") is None, "an output that nothing reads as bytes is not rounded")
    weights = {t.name: numpy_helper.to_array(t) for t in proto.graph.initializer}
    expect(all(w.dtype == np.int8 and w.min() >= -127 for k, w in weights.items() if k.endswith("_quantized") and w.ndim > 1), "weights are i8, and symmetric")
    # The bias is in steps of the sums: the scale of x times that of w, exactly as f32 multiplies.
    bias = next(n for n in proto.graph.node if n.op_type == "DequantizeLinear" and n.input[0].startswith("c3_quantized"))
    expect(weights[bias.input[0]].dtype == np.int32 and np.array_equal(weights[bias.input[1]], np.float32(codes_of(proto, "e")[0]) * weights["w3_scale"]), "a bias has the scale of its sums")
    program = subprocess.run([ONNXC, str(out), "--emit=program"], capture_output=True, text=True).stdout
    kernels = [re.match(r" +\d+  (\w+)", line) for line in program[program.find("\nsteps") :].splitlines()]
    kernels = [k[1] for k in kernels if k]
    expect(sum(k.endswith(("_quads", "_bytes")) for k in kernels) >= 6 and not any(k.startswith(("gemm_f", "conv_f")) or k == "conv" for k in kernels), "onnxc computes the layers with bytes", kernels)

    told = json.loads((folder / "r.json").read_text())
    expect(len(told["layers"]) == 6 and all(l["form"] == "8 bits" and l["decibels"] > 20 and l["own_decibels"] > 30 for l in told["layers"]), "the report has each layer", told)
    expect(all(l["layer"] in done.stdout for l in told["layers"]), "the table has each layer")
    again = folder / "again.onnx"
    quantize(path, again, "--calibration", data)
    expect(again.read_bytes() == out.read_bytes(), "the same model and data give the same bytes")
    for method in ("minmax", "percentile", "entropy"):
        quantize(path, again, "--calibration", data, "--method", method)
        got = decibels(exact, runtime(again).run(None, {"x": fresh})[0])
        expect(got > 20, f"--method {method}", got)


def check_data_forms(folder):
    """The same samples in every form give the same bytes."""
    path, out = save(folder, "forms.onnx", convolutional()), folder / "forms_q.onnx"
    x = correlated(6, 3, 16, 16)
    np.savez(folder / "plain.npz", x=x)
    quantize(path, out, "--calibration", folder / "plain.npz")
    expected = out.read_bytes()
    np.savez_compressed(folder / "packed.npz", x=x)
    np.save(folder / "array.npy", x)
    np.save(folder / "columns.npy", np.asfortranarray(x))
    np.save(folder / "big.npy", x.astype(">f4"))
    np.savez(folder / "own_axis.npz", x=x[:, None], labels=np.zeros(6))
    for k in range(6):
        (folder / "sets" / f"test_data_set_{k}").mkdir(parents=True)
        (folder / "tensors").mkdir(exist_ok=True)
        for file in (folder / "sets" / f"test_data_set_{k}" / "input_0.pb", folder / "tensors" / f"{k}.pb"):
            file.write_bytes(numpy_helper.from_array(x[k : k + 1]).SerializeToString())
    for form in ("packed.npz", "array.npy", "columns.npy", "big.npy", "own_axis.npz", "sets", "tensors"):
        quantize(path, out, "--calibration", folder / form)
        expect(out.read_bytes() == expected, f"samples as {form}")


def check_other_forms(folder):
    for name, proto, shape in (("conv", convolutional(opset=21), (3, 16, 16)), ("product", products(), (7, 32)), ("planar", planar(), (1, 28, 28))):
        path, out, data = save(folder, f"{name}.onnx", proto), folder / f"{name}_q.onnx", folder / f"{name}.npy"
        np.save(data, correlated(48, *shape))
        fresh = correlated(8, *shape)
        exact = runtime(path).run(None, {"x": fresh})[0]
        for form, least in (("dynamic", 25), ("weights8", 30), ("weights4", 12), ("qdq", 25)):
            quantize(path, out, "--format", form, "--calibration", data)
            onnx.checker.check_model(onnx.load(out), full_check=True)
            found = runtime(out).run(None, {"x": fresh})[0]
            expect(decibels(exact, found) > least, f"{form} of {name}", decibels(exact, found))
            # By default products with packed weights round activations to 16 bits: docs/numerics.md.
            ours, plain = run_onnxc(out, {"x": fresh}, "--math=strict"), runtime(out, False).run(None, {"x": fresh})[0]
            expect(decibels(plain, ours) > (30 if form in ("qdq", "dynamic") else 100), f"onnxc and ONNX Runtime agree on {form} of {name}", decibels(plain, ours))
            if form != "qdq":
                quantize(path, out, "--format", form)
                expect(decibels(exact, runtime(out).run(None, {"x": fresh})[0]) > least - 3, f"{form} of {name} without calibration")


def check_rounding(folder):
    """Rounding by moments beats rounding to the nearest on inputs that are correlated, and equalised layers do with one scale."""
    w = values(64, 48)
    path, out = save(folder, "gptq.onnx", model([h.make_node("MatMul", ["x", "w"], ["y"])], {"w": w}, [("x", ["n", 64])], [("y", ["n", 48])])), folder / "gptq_q.onnx"
    mix = np.random.default_rng(1).standard_normal((64, 64)) * (0.8 ** np.arange(64))
    x, fresh = [(np.random.default_rng(s).standard_normal((512, 64)) @ mix.T).astype(np.float32) for s in (2, 3)]
    np.save(folder / "gptq.npy", x)
    found = {}
    for options in ((), ("--calibration", folder / "gptq.npy")):
        quantize(path, out, "--format=weights4", *options)
        found[len(options)] = decibels(fresh @ w, runtime(out).run(None, {"x": fresh})[0])
    expect(found[2] > found[0] + 3, "moments of the inputs halve the noise of weights of 4 bits", found)

    sizes = (10.0 ** np.linspace(-2, 2, 16)).astype(np.float32)
    weights = {"a": (values(16, 8) * sizes[:, None]).astype(np.float32), "b": (values(16, 16) / sizes).astype(np.float32)}
    nodes = [h.make_node("Gemm", ["x", "a"], ["p"], transB=1), h.make_node("Relu", ["p"], ["q"]), h.make_node("Gemm", ["q", "b"], ["y"], transB=1)]
    path = save(folder, "uneven.onnx", model(nodes, weights, [("x", ["n", 8])], [("y", ["n", 16])]))
    x = correlated(256, 8)
    np.save(folder / "uneven.npy", x)
    done = quantize(path, out, "--per-tensor", "--calibration", folder / "uneven.npy")
    got = decibels(runtime(path).run(None, {"x": x})[0], runtime(out).run(None, {"x": x})[0])
    # Channels differ by a factor of 10000: with one scale and no equalisation most are rounded to 0.
    expect("1 pairs of layers equalised" in done.stdout and got > 25, "layers are equalised for one scale", (got, done.stdout))


def check_kept(folder):
    """Layers that cannot be quantised stay in float, and are named."""
    n, inf = h.make_node, np.float32(np.inf)
    weights = {"w0": values(4, 4, 1, 1), "none": np.zeros((4, 4, 1, 1), np.float32), "nan": values(4, 4, 1, 1), "low": np.full(4, -100, np.float32), "w3": values(4, 4, 1, 1), "w4": values(4, 4, 1, 1)}
    weights["nan"][1, 2] = inf
    nodes = [n("Conv", ["x", "w0"], ["a"], name="good"), n("Conv", ["a", "none"], ["b"], name="empty"), n("Conv", ["a", "nan"], ["c"], name="infinite"),
             n("Conv", ["a", "w3", "low"], ["d0"], name="dead"), n("Relu", ["d0"], ["d"]), n("Conv", ["d", "w4"], ["e"], name="starved")]
    path, out = save(folder, "kept.onnx", model(nodes, weights, [("x", [1, 4, 5, 5])], [(v, [1, 4, 5, 5]) for v in "abce"])), folder / "kept_q.onnx"
    x = correlated(8, 4, 5, 5)
    np.save(folder / "kept.npy", x)
    done = quantize(path, out, "--calibration", folder / "kept.npy", "--report", folder / "kept.json")
    kept = {l["layer"]: l["kept_in_float"] for l in json.loads((folder / "kept.json").read_text())["layers"]}
    for name, why in (("good", None), ("empty", "all its weights are 0"), ("infinite", "NaN or infinity"), ("starved", "always 0")):
        found = kept[f"Conv '{name}'"]
        expect(found is None if why is None else found is not None and why in found, f"{name} stays in float", kept)
    expect("all its weights are 0" in done.stdout, "the table says why")
    expect(np.array_equal(runtime(path).run(["b", "e"], {"x": x[:1]})[1], runtime(out).run(["b", "e"], {"x": x[:1]})[1]), "what stays in float is as it was")


def check_take_back(folder):
    """One layer has an input whose range is made by a single channel of no importance: it is this one that goes back to float."""
    n = h.make_node
    huge = np.ones(32, np.float32)
    huge[0] = 4000
    weights = {"w0": values(16, 32), "huge": huge, "w1": (values(32, 32) / huge[:, None]).astype(np.float32), "w2": values(32, 6)}
    nodes = [n("Gemm", ["x", "w0"], ["a0"], name="first"), n("Mul", ["a0", "huge"], ["a"]), n("Gemm", ["a", "w1"], ["b"], name="spoilt"), n("Relu", ["b"], ["c"]),
             n("Gemm", ["c", "w2"], ["y"], name="last")]
    proto = model(nodes, weights, [("x", ["n", 16])], [("y", ["n", 6])])
    path, out = save(folder, "spoilt.onnx", proto), folder / "spoilt_q.onnx"
    x = RANDOM.standard_normal((200, 16)).astype(np.float32)
    exact = runtime(path).run(None, {"x": x})[0]
    np.savez(folder / "spoilt.npz", x=x)
    np.save(folder / "labels.npy", exact.argmax(1))
    (folder / "labels.txt").write_text("".join(f"{k}\n" for k in exact.argmax(1)))
    quantize(path, out, "--calibration", folder / "spoilt.npz", "--method=minmax")
    lost = 100 * (runtime(out).run(None, {"x": x})[0].argmax(1) != exact.argmax(1)).mean()
    expect(lost > 5, "the network is such that quantising all of it costs accuracy", lost)
    for labels in ("labels.npy", "labels.txt"):
        done = quantize(path, out, "--calibration", folder / "spoilt.npz", "--method=minmax", "--keep-accuracy=3", "--labels", folder / labels, "--report", folder / "t.json")
        lost = 100 * (runtime(out).run(None, {"x": x})[0].argmax(1) != exact.argmax(1)).mean()
        kept = [l["layer"] for l in json.loads((folder / "t.json").read_text())["layers"] if l["kept_in_float"]]
        expect(lost <= 3 and kept == ["Gemm 'spoilt'"], "--keep-accuracy takes back the layer that spoils it, and no other", (lost, kept, done.stderr))
    quantize(path, out, "--calibration", folder / "spoilt.npz", "--method=minmax", "--keep-cosine=0.99")
    found = runtime(out).run(None, {"x": x})[0]
    expect(min(cosine(a, b) for a, b in zip(exact[:64], found[:64])) > 0.989, "--keep-cosine keeps each of the first 64 samples")


def check_refusals(folder):
    path, out, good = save(folder, "r.onnx", convolutional()), folder / "r_q.onnx", folder / "good.npy"
    x = correlated(4, 3, 16, 16)
    np.save(good, x)
    refused(path, out, "--calibration is missing", status=2)
    refused(path, folder / "none" / "r.onnx", "the folder", "--calibration", good, status=3)
    refused(path, out, "no such file or folder", "--calibration", folder / "nothing", status=3)
    (folder / "empty").mkdir()
    refused(path, out, "holds no samples; put test_data_set_0/input_0.pb", "--calibration", folder / "empty")
    bad = folder / "bad.npz"
    for array, what in ((x.astype(np.float64), "astype(np.float32)"), (x[:, :2], "the input is f32[n, 3, 16, 16]"), (x[0, 0], "its first axis, or one more in front, is for the samples"), (x[:0], "no samples"),
                        (np.where(x > 1, np.nan, x).astype(np.float32), "it holds NaN"), (np.where(x > 1, np.inf, x).astype(np.float32), "an infinity"), (np.array([None]), "Python objects"),
                        (np.array(["a"]), "element type '<U1'"), (np.zeros(2, [("a", "f4")]), "records")):
        np.savez(bad, x=array)
        refused(path, out, what, "--calibration", bad)
    np.savez(bad, image=x)
    refused(path, out, "no array for input 'x'; arrays are called like the model's inputs", "--calibration", bad)
    for content, what in ((b"", "neither an .npy array nor an .npz archive"), (b"hello", "neither an .npy"), (bad.read_bytes()[:-30], "no zip archive"), (good.read_bytes()[:100], "damaged .npy")):
        (folder / "file.npz").write_bytes(content)
        refused(path, out, what, "--calibration", folder / "file.npz")
    for labels, what, status in (("nothing.txt", "cannot be read", 3), ("few.txt", "2 labels for 4 examples", 1), ("words.txt", "no integer", 1)):
        if status == 1:
            (folder / labels).write_text("1\n2\n" if labels == "few.txt" else "cat\n")
        refused(path, out, what, "--calibration", good, "--keep-accuracy=1", "--labels", folder / labels, status=status)
    refused(path, out, "need each other", "--calibration", good, "--keep-accuracy=1", status=2)
    done = folder / "done.onnx"
    quantize(path, done, "--calibration", good)
    refused(done, out, "is quantised already", "--calibration", good)
    quantize(path, done, "--format=dynamic")
    refused(done, out, "is quantised already", "--calibration", good)
    relu = save(folder, "relu.onnx", model([h.make_node("Relu", ["x"], ["y"])], {}, [("x", [1, 4])], [("y", [1, 4])]))
    refused(relu, out, "no layer can be quantised", "--format=weights8")
    refused(good, out, "not an ONNX model", "--format=weights8")
    old = save(folder, "old.onnx", model([h.make_node("Gemm", ["x", "w"], ["y"])], {"w": values(4, 4)}, [("x", [2, 4])], [("y", [2, 4])], opset=11))
    quantize(old, out, "--format=weights8")  # an early opset is raised
    expect(onnx.load(out).opset_import[0].version >= 13, "the opset has what the form needs")


def check_damage(folder):
    """A model with a few wrong bytes ends in an error or becomes a model, and nothing else."""
    whole, ends = convolutional().SerializeToString(), set()
    for k in range(60):
        damaged = bytearray(whole)
        for at in RANDOM.integers(0, 1500, 2):
            damaged[at] = RANDOM.choice([0, 1, 255, damaged[at] ^ 1 << RANDOM.integers(8)])
        (folder / "damaged.onnx").write_bytes(damaged)
        done = subprocess.run([ONNXC, "quantize", folder / "damaged.onnx", "-o", folder / "o.onnx", f"--format={('weights8', 'weights4', 'dynamic')[k % 3]}"], capture_output=True, text=True, errors="replace")
        expect(done.returncode in (0, 1, 3, 4), f"damage {k}", f"exit status {done.returncode}: {done.stderr[-500:]}")
        ends.add(done.returncode)
    expect(ends >= {0, 1}, "some damage is found, some is none", ends)


def accuracy(path, images, labels):
    return 100 * (runtime(path).run(None, {"image": images})[0].argmax(1) == labels).mean()


def check_zoo(folder, all_models):
    if not ZOO.exists():
        return print("(no ../shared/zoo: no trained model)")
    test = np.load(ZOO / "lenet5_digits" / "digits_test.npz")
    images, path, out = (test["images"][:, None] / 255).astype(np.float32), ZOO / "lenet5_digits" / "model.onnx", folder / "lenet.onnx"
    np.savez_compressed(folder / "digits.npz", image=images[:200])
    np.save(folder / "digits.npy", test["labels"][:200])
    quantize(path, out, "--calibration", folder / "digits.npz", "--keep-accuracy=0.5", "--labels", folder / "digits.npy")
    before, after = accuracy(path, images, test["labels"]), accuracy(out, images, test["labels"])
    expect(after >= before - 0.5, "lenet5_digits keeps its accuracy", (before, after))
    # Weights take a quarter. So small a model also notices scales, zero points and names.
    expect(out.stat().st_size < 0.3 * path.stat().st_size, "lenet5_digits is smaller by more than 70 %", out.stat().st_size)
    found, ours = runtime(out).run(None, {"image": images[200:]})[0], run_onnxc(out, {"image": images[200:]})
    expect(np.abs(found - ours).max() <= (found.max() - found.min()) / 255, "lenet5_digits: ONNX Runtime and onnxc agree within a step", np.abs(found - ours).max())

    real = Path(subprocess.run(["tests/zoo/folder.sh"], capture_output=True, text=True).stdout.strip())
    cases = [("minilm_l6_arch", ()), ("mobilenet_v2", ("--keep-cosine=0.99",))] if all_models else [("bert_mini", ())]
    for name, options in cases:
        path, out = real / name / "model.onnx", folder / f"{name}.onnx"
        if not path.exists():
            print(f"(no {path})")
            continue
        quantize(path, out, "--calibration", real / name, *options)
        names = [i.name for i in runtime(path).get_inputs()]
        for data in sorted((real / name).glob("test_data_set_*")):
            feed = {n: numpy_helper.to_array(onnx.load_tensor(data / f"input_{k}.pb")) for k, n in enumerate(names)}
            exact = runtime(path).run(None, feed)[0]
            for engine, found in (("ONNX Runtime", runtime(out).run(None, feed)[0]), ("onnxc", run_onnxc(out, feed))):
                expect(cosine(exact, found) >= 0.99, f"{name}, {data.name}, {engine}", cosine(exact, found))
        # Of 4-byte numbers nearly all become bytes.
        expect(out.stat().st_size < 0.28 * path.stat().st_size or options, f"{name} is smaller", out.stat().st_size / path.stat().st_size)


with tempfile.TemporaryDirectory() as root:
    for check in (check_qdq, check_data_forms, check_other_forms, check_rounding, check_kept, check_take_back, check_refusals, check_damage):
        RANDOM.bit_generator.state = np.random.default_rng(5).bit_generator.state  # one check does not depend on what others draw
        place = Path(root) / check.__name__
        place.mkdir()
        check(place)
    check_zoo(Path(root), ALL)
CHECKS.end()
