"""Custom operators as users meet them: built by the command line and by the Python package, their results compared with numpy's; and what is refused.

The functions are in operators.hpp.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper, numpy_helper

import onnxc

ONNXC = os.environ["ONNXC_EXECUTABLE"]
HERE = Path(__file__).resolve().parent
failures = 0


def check(name, right, found=""):
    global failures
    if not right:
        failures += 1
        print(f"FAILED  {name}  {found}")


def value(name, type=T.FLOAT, shape=(2, 3)):
    return helper.make_tensor_value_info(name, type, shape)


def model(nodes, inputs, outputs, weights=(), domains=("my.domain",), functions=()):
    opsets = [helper.make_opsetid("", 21)] + [helper.make_opsetid(d, 1) for d in domains]
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(weights))
    return helper.make_model(graph, opset_imports=opsets, ir_version=10, functions=list(functions))


def node(op, inputs, outputs, domain="my.domain", **attributes):
    return helper.make_node(op, inputs, outputs, domain=domain, name="n", **attributes)


def run(proto, specs, feeds, **options):
    return onnxc.InferenceSession(proto, custom_ops=specs, include_dirs=[HERE], **options).run(None, feeds)


def same(name, got, expected):
    right = len(got) == len(expected) and all(g.dtype == e.dtype and g.shape == e.shape and np.allclose(g, e, 1e-6, 1e-6) for g, e in zip(got, expected))
    check(name, right, f"{got} is not {expected}")


x = np.arange(6, dtype=np.float32).reshape(2, 3) - 2


def test_results():
    twice = {"my.domain.Twice": "operators.hpp:my::twice"}
    one = model([node("Twice", ["x"], ["y"])], [value("x")], [value("y")])
    same("a template", run(one, twice, {"x": x}), [2 * x])
    same("without optimisation", run(one, twice, {"x": x}, options=["-O0"]), [2 * x])
    whole = model([node("Twice", ["x"], ["y"])], [value("x", T.INT16)], [value("y", T.INT16)])
    same("the same for integers", run(whole, twice, {"x": x.astype(np.int16)}), [(2 * x).astype(np.int16)])
    same("in no namespace", run(one, {"my.domain.Twice": '"operators.hpp":::at_top'}, {"x": x}), [2 * x])

    # Between operators that fuse, in a dynamic shape, of a constant; twice the same.
    nodes = [helper.make_node("Relu", ["x"], ["r"]), node("Twice", ["r"], ["t"]), node("Twice", ["c"], ["d"]), node("Twice", ["r"], ["again"]),
             helper.make_node("Add", ["t", "d"], ["s"]), helper.make_node("Sum", ["s", "again"], ["y"])]
    weights = [numpy_helper.from_array(np.float32([1, 2, 3]), "c")]
    among = model(nodes, [value("x", shape=("n", 3))], [value("y", shape=("n", 3))], weights)
    same("among other operators", run(among, twice, {"x": x}), [4 * np.maximum(x, 0) + np.float32([2, 4, 6])])

    # In the branch of an If.
    branch = lambda op: helper.make_graph([op], "b", [], [value("b")])
    nodes = [helper.make_node("If", ["c"], ["y"], then_branch=branch(node("Twice", ["x"], ["b"])), else_branch=branch(helper.make_node("Neg", ["x"], ["b"])))]
    chosen = model(nodes, [value("x"), value("c", T.BOOL, ())], [value("y")])
    same("in a branch", run(chosen, twice, {"x": x, "c": np.array(True)}), [2 * x])

    # Instead of an operator that ONNX has, and of a function of the model.
    neg = model([helper.make_node("Neg", ["x"], ["y"])], [value("x")], [value("y")])
    same("instead of ONNX's", run(neg, {"Neg": "operators.hpp:my::twice"}, {"x": x}), [2 * x])
    same("instead of ONNX's, by its domain", run(neg, {"ai.onnx.Neg": "operators.hpp:my::twice"}, {"x": x}), [2 * x])
    body = helper.make_function("my.domain", "Twice", ["a"], ["b"], [helper.make_node("Neg", ["a"], ["b"])], [helper.make_opsetid("", 21)])
    same("instead of a function", run(model([node("Twice", ["x"], ["y"])], [value("x")], [value("y")], functions=[body]), twice, {"x": x}), [2 * x])


def test_arguments():
    spec = {"my.domain.Affine": "operators.hpp:my::affine, y1 = double[], inputs = 3, outputs = 2"}
    bias = np.float32([10, 20, 30])
    both = model([node("Affine", ["x", "", "b"], ["y", "sum"], scale=0.5, step=7, mode="abc", words=["u", "v"], offsets=[0.25, 0.5], shifts=[1, -3])],
                 [value("x"), value("b", shape=(3,))], [value("y"), value("sum", T.DOUBLE, ())])
    y = 0.5 * x + bias + np.float32(7 + 3 + 2 + 0.75 - 2)
    same("attributes of all kinds, an input left out in the middle", run(both, spec, {"x": x, "b": bias}), [y, np.float64(y.sum())])
    little = model([node("Affine", ["x"], ["y"])], [value("x")], [value("y")])
    same("no attribute, neither the last inputs nor the last output", run(little, spec, {"x": x}), [x + 100])
    only = model([node("Affine", ["x", "x"], ["", "sum"], scale=2.0, step=0)], [value("x")], [value("sum", T.DOUBLE, ())])
    outer = {"my.domain.Affine": "operators.hpp:my::affine, y1 = double[], inputs = 3"}
    check("an output that is left out has no memory", "::my::affine" in emitted(only, outer) and "onnxc::Absent{}" in emitted(only, outer))

    text, words = 'quo"te\\ ??/ \u00e9\0\n */', ["", "a\0b"]
    size = len(text.encode()) + 3 + 3
    strange = model([node("Bytes", [], ["y"], text=text, words=words, least=-(2**63), infinite=float("inf"))],
                    [], [value("y", T.INT32, (size,))])
    strange.graph.node[0].attribute.append(helper.make_attribute("empty", [], attr_type=onnx.AttributeProto.INTS))
    got = run(strange, {"my.domain.Bytes": f"operators.hpp:my::bytes, y0 = int32[{size}]"}, {})
    same("bytes of strings, extreme numbers, an empty list", got, [np.array(list(text.encode()) + list(b"a\0b") + [1, 1, 1], np.int32)])


def test_shapes():
    def extents(rule, rank, shape, declared=None, second=np.int64([4, 5])):
        proto = model([node("Extents", ["x", "s"], ["e", "z"])], [value("x", shape=declared or shape), value("s", T.INT64, second.shape)], [value("e", T.INT64, None), value("z", shape=None)])
        feeds = {"x": np.zeros(shape, np.float32), "s": second}
        e, z = run(proto, {"my.domain.Extents": f"operators.hpp:my::extents, y0=int64[{rank}], y1 = {rule}"}, feeds)
        check(f"{rule} of {shape}: the function sees the shape of its output", list(e) == list(z.shape), f"{e} and {z.shape}")
        return list(z.shape)

    for rule, shape, expected in [
        ("x0", (2, 3), [2, 3]), ("x0[x0.1, x0.0]", (2, 3), [3, 2]), ("float[7]", (2, 3), [7]), ("f32[2 * x0.0 + 1, x0.-1]", (2, 3), [5, 3]),
        ("x0[x0.:-1, 9]", (2, 3, 4), [2, 3, 9]), ("x0[x0.1:, x0.count]", (2, 3), [3, 6]), ("x0[x0.:, 1]", (2, 3), [2, 3, 1]), ("float[floordiv(x0.1, 2), max(x0.0, 4)]", (2, 5), [2, 4]),
        ("float[x1[0], x1[1] - 1]", (2, 3), [4, 4]), ("float[mod(x0.1, x0.0) + ceildiv(x0.1, x0.0), (x0.0 + 1) * 2]", (2, 3), [3, 6]), ("x0[x1.0]", (2, 3), [2]),
    ]:
        check(f"{rule} of {shape}", extents(rule, len(expected), shape) == expected, extents(rule, len(expected), shape))
        if "x1" not in rule and "mod" not in rule:
            check(f"{rule} of dynamic {shape}", extents(rule, len(expected), shape, [f"d{k}" for k in range(len(shape))]) == expected)
    check("an extent that may fall below 0 is 0 then", extents("float[x0.0 - 5]", 1, (2, 3), ["n", 3]) == [0])


def emitted(proto, specs, *options):
    """The C++, or what was said on standard error."""
    with tempfile.TemporaryDirectory() as work:
        onnx.save(proto, f"{work}/model.onnx")
        flags = [f for name, spec in specs.items() for f in ("--custom-op", f"{name}={spec}")]
        done = subprocess.run([ONNXC, f"{work}/model.onnx", "-o", f"{work}/unit.cpp", *flags, *options], capture_output=True, text=True)
        if done.returncode != 0:
            check("nothing is left of a failure", sorted(p.name for p in Path(work).iterdir()) == ["model.onnx"])
            return f"{done.returncode}: {done.stderr}"
        return Path(f"{work}/unit.cpp").read_text()


def refused(name, proto, specs, code, *says):
    said = emitted(proto, specs)
    check(name, said.startswith(f"{code}: onnxc: error[") and said.count("\n") == 1 and all(s in said for s in says), said[:500])


def test_refusals():
    one = model([node("Twice", ["x"], ["y"])], [value("x")], [value("y")])
    refused("without the option", one, {}, 1, "this operator is not supported", "--custom-op my.domain.Twice=HEADER:FUNCTION")
    good = "operators.hpp:my::twice"
    for spec in [
        "", "operators.hpp", "operators.hpp:", ":f", "operators.hpp:my::", "operators.hpp:my:twice", "operators.hpp:twice()", "operators.hpp:f;int x", "operators.hpp:f<int>", "operators.hpp:operator+",
        'a"b.hpp:f', "a\\b.hpp:f", "a\nb.hpp:f", "a//b.hpp:f", "a>b.hpp:f", "<a.hpp:f", "'a':f", "a.hpp\r:f", "caf\u00e9.hpp:f", "a.hpp:f\u00e9", "a.hpp:1f", "a.hpp:f,", f"{good}, y0", f"{good}, y0 = ", f"{good}, y = x0",
        f"{good}, y0 = x", f"{good}, y0 = x0[", f"{good}, y0 = x0]", f"{good}, y0 = number[3]", f"{good}, y0 = float", f"{good}, y0 = float[n]", f"{good}, y0 = float[x0]", f"{good}, y0 = float[1 +]",
        f"{good}, y0 = float[x0.0.0]", f"{good}, y0 = x0, y0 = x0", f"{good}, y0 = x999", f"{good}, y0 = float[99999999999999999999]", f"{good}, inputs = 1000000000000", f"{good}, inputs = -1", f"{good}, link = -o",
        f"{good}, link = a b", f"{good}, link = $(x)", f"{good}, other = 1", f"{good}, y0 = float[{'(' * 1000}1]",
    ]:
        said = emitted(one, {"my.domain.Twice": spec})
        check(f"the bad text {spec[:60]!r}", said.startswith("2: onnxc: error[E0411]: --custom-op '") and "docs/custom-operators.md" in said and said.count("\n") == 1, said[:300])
    for name in ["", "my domain.Twice", "my.domain.", "onnxc.Map", "a\nb"]:
        said = emitted(one, {name: good})
        check(f"the bad name {name!r}", said.startswith("2: onnxc: error[E0411]: --custom-op '"), said[:300])
    refused("a rule that reads what is not there", one, {"my.domain.Twice": f"{good}, y0 = x1"}, 1, "input 1, which this node leaves out")
    refused("an axis that is not there", one, {"my.domain.Twice": f"{good}, y0 = float[x0.2]"}, 1, "x0.2; the input has rank 2")
    refused("an extent below 0", one, {"my.domain.Twice": f"{good}, y0 = float[x0.0 - 3]"}, 1, "shape [-1]")
    refused("no rule and no input", model([node("Twice", [], ["y"])], [], [value("y")]), {"my.domain.Twice": good}, 1, "output 0 is like input 0", "y0 = float[...]")
    tensor = model([node("Twice", ["x"], ["y"], table=numpy_helper.from_array(x))], [value("x")], [value("y")])
    refused("a tensor as an attribute", tensor, {"my.domain.Twice": good}, 1, "attribute 'table'", "pass a tensor as an input")
    check("--standalone", emitted(one, {"my.domain.Twice": good}, "--standalone").startswith("2: onnxc: error[E0503]: --standalone cannot paste in"))
    # The attribute by which the compiler knows its own nodes is not for models.
    smuggled = model([helper.make_node("Twice", ["x"], ["y"], domain="custom:my", **{"onnxc:custom": "my.Twice=/etc/passwd:f"})], [value("x")], [value("y")], domains=("custom:my",))
    refused("a model with the compiler's own domain", smuggled, {}, 1, "domain 'custom:my' is the compiler's own")


def test_building():
    one = model([node("Twice", ["x"], ["y"])], [value("x")], [value("y")])
    spec = {"my.domain.Twice": "changing.hpp:f"}
    text = "#include <onnxc/custom.hpp>\n#include \"factor.h\"\ninline onnxc::Status f(onnxc::Tensor<const float> x, onnxc::Tensor<float> y, const onnxc::Attributes&) {\n  for (int i = 0; i < x.count(); ++i) y.data[i] = FACTOR * x.data[i];\n  return {};\n}\n"
    with tempfile.TemporaryDirectory(prefix="with a blank ") as folder:
        Path(folder, "changing.hpp").write_text(text)
        for factor in (3, 5, 3):  # kept libraries follow what the header includes
            Path(folder, "factor.h").write_text(f"#define FACTOR {factor}\n")
            session = onnxc.InferenceSession(one, custom_ops=spec, include_dirs=[folder])
            same(f"a header that changed, {factor}", session.run(None, {"x": x}), [factor * x])
            path = Path(folder, "model.onnx")
            onnx.save(one, path)
            same(f"a header that changed, model in a file, {factor}", onnxc.InferenceSession(str(path), custom_ops=spec, include_dirs=[folder]).run(None, {"x": x}), [factor * x])
            absolute = {"my.domain.Twice": f"{folder}/changing.hpp:f"}
            same(f"a header by its whole path, {factor}", onnxc.InferenceSession(one, custom_ops=absolute).run(None, {"x": x}), [factor * x])
        Path(folder, "changing.hpp").write_text("#error no\n")
        for header in ("changing.hpp", "missing.hpp"):
            command = [ONNXC, "run", str(path), "-I", folder, "--custom-op", f"my.domain.Twice={header}:f"]
            done = subprocess.run(command, capture_output=True, text=True)
            check(f"{header} does not compile", done.returncode == 2 and header in done.stderr and "does not build with the custom operators" in done.stderr and done.stderr.count("\n") == 1, done.stderr)
    with tempfile.TemporaryDirectory() as work:
        onnx.save(one, f"{work}/model.onnx")
        done = subprocess.run([ONNXC, "run", f"{work}/model.onnx", "--custom-op", "my.domain.Twice=operators.hpp:my::twice"], cwd=HERE, capture_output=True, text=True)
        check("a header in the working directory", done.returncode == 0, done.stderr)
        done = subprocess.run([ONNXC, "--custom-op", "my.domain.Twice=operators.hpp:my::twice", f"{work}/model.onnx", "--emit=shared", "-o", f"{work}/m.so", "-I", HERE, "--depfile", f"{work}/m.d"], capture_output=True, text=True)
        check("the option before the model; the header among the dependencies", done.returncode == 0 and "operators.hpp" in Path(f"{work}/m.d").read_text(), done.stderr)
    linked = {"my.domain.Twice": "operators.hpp:my::twice, link = no_such_library, link = m"}
    try:
        run(one, linked, {"x": x})
        check("a library that is not there", False)
    except onnxc.CompileError as error:
        check("a library that is not there", error.exit_code == 2 and "no_such_library" in str(error), str(error))
    check("what it links with", "\n// Links with: -lno_such_library -lm\n" in emitted(one, linked))
    try:
        run(one, {"my.domain.Twice": "operators.hpp:my::refuse"}, {"x": x})
        check("the function's status is the run's", False)
    except onnxc.RunError as error:
        check("the function's status is the run's", error.status == 9)


for test in (test_results, test_arguments, test_shapes, test_refusals, test_building):
    test()
print("custom operators: all right" if failures == 0 else f"custom operators: {failures} failed")
sys.exit(failures != 0)
