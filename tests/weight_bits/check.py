#!/usr/bin/env python3
"""Weights that are rounded when a model is compiled: results and codes against numpy and ONNX Runtime, what stays in floats and why, what is told, and what is refused."""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper as h
from onnx import numpy_helper
from rounding import Rewriting

sys.path.append(str(Path(__file__).resolve().parents[1]))
from expectations import Expectations  # noqa: E402
from rewriting import ALL  # noqa: E402
from units import Unit, judged_in_groups  # noqa: E402

CHECKS = Expectations("weights of few bits")
expect = CHECKS.expect
ONNXC, ZOO = os.environ["ONNXC_EXECUTABLE"], Path(os.environ["ONNXC_CACHE"]) / "zoo"
RANDOM = np.random.default_rng(7)
# Rounding is an error of some 1 % of a weight in 8 bits and 7 % in 4. It is random, and sums of products average it.
LEAST_COSINE = {8: 0.9998, 4: 0.95}


def values(*shape):
    return (RANDOM.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)


def small_network(vocabulary=90, width=72, inner=150, odd=63):
    """Rows of tables through products of all forms. Of k, blocks of 32 leave 8, 22 and 31; the head's weights are those of the table."""
    n = h.make_node
    weights = {"table": values(vocabulary, width), "odd table": values(vocabulary, odd), "up": values(width, inner), "down": values(width, inner), "down bias": values(width),
               "square": values(odd, width), "few": values(width, 8), "shared": values(width, width)}
    nodes = [n("Gather", ["table", "words"], ["a"]), n("Gather", ["odd table", "words"], ["odd"]), n("MatMul", ["odd", "square"], ["b"]), n("Add", ["a", "b"], ["c"]),
             n("MatMul", ["c", "up"], ["d0"]), n("Relu", ["d0"], ["d"]), n("Reshape", ["d", "rows of inner"], ["e"]),
             n("Gemm", ["e", "down", "down bias"], ["f"], transB=1), n("MatMul", ["f", "few"], ["few results"]),
             n("MatMul", ["f", "shared"], ["g"]), n("ReduceMean", ["f"], ["mean"], axes=[0], keepdims=0), n("MatMul", ["shared", "mean"], ["left"]), n("Add", ["g", "left"], ["i"]),
             n("Transpose", ["table"], ["head"], perm=[1, 0]), n("MatMul", ["i", "head"], ["logits"])]
    constants = [numpy_helper.from_array(v, k) for k, v in weights.items()]
    constants.append(numpy_helper.from_array(np.array([-1, inner]), "rows of inner"))
    outputs = [h.make_tensor_value_info("logits", onnx.TensorProto.FLOAT, None), h.make_tensor_value_info("few results", onnx.TensorProto.FLOAT, None)]
    graph = h.make_graph(nodes, "g", [h.make_tensor_value_info("words", onnx.TensorProto.INT64, ["batch", "words"])], outputs, constants)
    return h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8)


# Nodes of small_network that stay, by their outputs: a table whose rows are no whole bytes of codes of 4 bits, few weights, weights that are a left operand as well.
KEPT = {8: {"few results", "g"}, 4: {"odd", "few results", "g"}}


class Case:
    def __init__(self, title, model, feeds, kept=()):
        self.title, self.model, self.feeds, self.kept = title, model, feeds, kept

    def units(self):
        return [Unit(self.model, (f"--weight-bits={self.bits}", f"--block={self.block}", f"--math={math}")) for math in ("strict", "default")]

    def with_form(self, bits, block):
        case = Case(f"{self.title}, {bits} bits in blocks of {block}", self.model, self.feeds)
        case.bits, case.block = bits, block
        case.rewriting = Rewriting(self.model, bits, block)
        if self.kept:
            floats = {n.output[0]: n for n in self.model.graph.node}
            for i, node in enumerate(case.rewriting.model.graph.node):
                if node.output[0] in self.kept[bits]:
                    case.rewriting.model.graph.node[i].CopyFrom(floats[node.output[0]])
        return case


def runtime(model):
    options = ort.SessionOptions()
    options.log_severity_level = 3
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def distance(found, wanted):
    return float(np.linalg.norm(found.astype(np.float64) - wanted) / np.linalg.norm(wanted.astype(np.float64)))


def cosine(a, b):
    a, b = a.reshape(-1).astype(np.float64), b.reshape(-1).astype(np.float64)
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def judge(case, *sessions):
    """The least cosine with the results in floats, over all inputs."""
    exact, rounded, least = runtime(case.model), runtime(case.rewriting.model), 1.0
    for session, math in zip(sessions, ("strict", "default"), strict=True):
        if isinstance(session, Exception):
            expect(False, f"{case.title}, {math}", session)
            continue
        for feed in case.feeds:
            floats, wanted, found = (s.run(None, feed) for s in (exact, rounded, session))
            for k, (f, w, g) in enumerate(zip(floats, wanted, found, strict=True)):
                # Sums in f32 in another order, through a dozen layers; by default activations are rounded to 16 bits besides.
                limit = 2e-5 if math == "strict" else 1e-3
                expect(distance(g, w) < limit, f"{case.title}, {math}, output {k}: what ONNX Runtime computes", distance(g, w))
                least = min(least, cosine(f, g))
    expect(least > LEAST_COSINE[case.bits], f"{case.title}: near the model in floats", least)
    return least


def onnxc(*arguments, status=0):
    done = subprocess.run([ONNXC, *map(str, arguments)], capture_output=True, text=True)
    expect(done.returncode == status, f"exit status {status}: {arguments}", f"{done.returncode}: {done.stderr[-500:]}")
    return done


def check_codes(case, folder):
    """Byte for byte, of each weight; short constants are written as lists."""
    path = folder / "codes.onnx"
    onnx.save(case.model, path)
    text = onnxc(path, "--weight-bits", case.bits, "--block", case.block, "--stop-after=quantise_weights").stdout
    ours = {bytes.fromhex(found) for found in re.findall(r"const [^\n]*: u8\[[^\n]*\] = \{([0-9a-f ]+)\}", text)}
    ours |= {bytes(map(int, found.split(","))) for found in re.findall(r"const [^\n]*: u8\[[^\n]*\] = \[([0-9, ]+)\]", text)}
    return sum(codes not in ours for codes in case.rewriting.codes), len(case.rewriting.codes)


def check_told(folder):
    path, out = folder / "small.onnx", folder / "small.cpp"
    onnx.save(small_network(), path)
    weights = 90 * 72 + 90 * 63 + 72 * 150 * 2 + 63 * 72
    explained = onnxc(path, "--weight-bits=8", "--explain", "-o", out).stdout
    told = re.search(r"([\d,]+) weights are codes of 8 bits in blocks of 32: ([\d,]+) bytes, ([\d,]+) as floats", out.read_text()[:2000])
    expect(told is not None and told[1].replace(",", "") == str(weights) and told[3].replace(",", "") == str(4 * weights), "the unit says what was saved", told and told[0])
    expect(told is not None and told[0] in explained and told[0] in onnxc("explain", path, "--weight-bits=8").stdout, "and so does --explain")
    expect("--weight-bits 8 --block 32" in out.read_text()[:2000], "the unit says how it was made")
    text = onnxc("explain", path, "--weight-bits=4").stdout
    for why in ("the rows of its table are no whole bytes of codes", "its 576 weights are few: from 4096 on they become codes", "something else reads its weights as floats"):
        expect(why in text, f"why weights stay: {why}", text[-1500:])
    onnxc("verify", path, "--weight-bits=4", "--each-pass")


def check_tied(folder, vocabulary=512, width=128):
    """A table whose rows a Gather takes, and whose transpose is a product's weights, is stored once."""
    n, info, path = h.make_node, h.make_tensor_value_info, folder / "tied.onnx"
    nodes = [n("Gather", ["table", "words"], ["rows"]), n("Transpose", ["table"], ["head"], perm=[1, 0]), n("MatMul", ["x", "head"], ["y"])]
    inputs = [info("words", onnx.TensorProto.INT64, ["count"]), info("x", onnx.TensorProto.FLOAT, ["count", width])]
    outputs = [info(name, onnx.TensorProto.FLOAT, None) for name in ("rows", "y")]
    table = [numpy_helper.from_array(values(vocabulary, width), "table")]
    onnx.save(h.make_model(h.make_graph(nodes, "tied", inputs, outputs, table), opset_imports=[h.make_opsetid("", 17)], ir_version=8), path)
    for bits in 4, 8:
        stored = json.loads(onnxc("info", path, "--json", f"--weight-bits={bits}").stdout)["packed_weight_bytes"]
        codes = vocabulary * width * bits // 8
        factors = vocabulary * width // 32 * 5  # a scale of four bytes and at most a byte of a zero point for each block
        expect(codes < stored <= codes + factors, f"a table of {bits} bits with two readers is stored once", (stored, codes, factors))


def check_refused(folder):
    path = folder / "small.onnx"
    for what, *options in (("--block requires --weight-bits", "--block=32"), ("--weight-bits: 5 not in", "--weight-bits=5"), ("--block: 24 not in", "--weight-bits=4", "--block=24"),
                           ("--block: 512 not in", "--weight-bits=4", "--block=512"), ("--block: 8 not in", "--weight-bits=4", "--block=8")):
        done = onnxc(path, *options, "-o", folder / "refused.cpp", status=2)
        expect(what in done.stderr, f"refused: {what}", done.stderr)


def zoo_case(name):
    folder = ZOO / name
    model = onnx.load(folder / "model.onnx")
    initial = {t.name for t in model.graph.initializer}
    names = [i.name for i in model.graph.input if i.name not in initial]
    feeds = [{n: numpy_helper.to_array(onnx.load_tensor(data / f"input_{i}.pb")) for i, n in enumerate(names)} for data in sorted(folder.glob("test_data_set_*"))]
    return Case(f"zoo's {name}", model, feeds)


def main():
    words = [{"words": RANDOM.integers(0, 90, shape)} for shape in ((1, 1), (2, 5), (3, 40))] + [{"words": np.array([[-1, -90, 89]])}]
    cases = [Case("small network", small_network(), words, KEPT).with_form(bits, block) for bits in (8, 4) for block in (16, 32, 128)]
    for name, usual in ("bert_mini", (8, 4)), ("llama_mini_kv", (4,)), ("gpt2_mini_kv", (8,)):
        if (ZOO / name / "model.onnx").exists():
            cases += [zoo_case(name).with_form(bits, 32) for bits in ((8, 4) if ALL else usual)]
    for case, least in zip(cases, judged_in_groups(cases, Case.units, judge, of=12), strict=True):
        print(f"{case.title}: cosine {least:.6f}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            if case.title.startswith("zoo"):
                wrong, count = check_codes(case, Path(folder))
                expect(wrong == 0 and count > 10, f"{case.title}: codes as numpy has them", f"{wrong} of {count} weights differ")
        check_told(Path(folder))
        check_tied(Path(folder))
        check_refused(Path(folder))
    CHECKS.end()


if __name__ == "__main__":
    main()
