#!/usr/bin/env python3
"""Units with dimensions, called with all combinations of 12 extents from INT64_MIN over 0, 1, 2, 7 to INT64_MAX, built with AddressSanitizer and
UndefinedBehaviorSanitizer: see harness.cpp. Where sizes are small the answer must be right; what is too large ends in a status.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper

HERE = pathlib.Path(__file__).resolve().parent
RUNTIME = HERE.parents[1] / "runtime_stub"
TYPES = {T.FLOAT: ("float", 32), T.INT64: ("std::int64_t", 64), T.UINT8: ("std::uint8_t", 8), T.UINT4: ("std::uint8_t", 4), T.DOUBLE: ("double", 64)}
CASES = []


def case(name, nodes, inputs, outputs, symbols, expected, weights=(), options=(), opset=21, heap=False):
    """inputs, outputs: (name, type, extents), extents by the symbols' names or as C++; expected: C++ that sets `want` of element i of output `y`, by dims d[0]..., or
    nothing where an answer is only looked at by the sanitizers."""
    CASES.append((name, nodes, inputs, outputs, symbols, expected, weights, options, opset, heap))


case("rows", [h.make_node("ReduceSum", ["x", "axes"], ["s"]), h.make_node("Relu", ["x"], ["r"]), h.make_node("Add", ["r", "s"], ["y"])],
     [("x", T.FLOAT, ["a", "b"])], [("y", T.FLOAT, ["a", "b"])], ["a", "b"],
     "float s = 0; for (std::int64_t k = 0; k < d[1]; ++k) s += x[i / d[1] * d[1] + k]; want = (x[i] > 0 ? x[i] : 0) + s;", [numpy_helper.from_array(np.array([1]), "axes")])
case("outer", [h.make_node("Add", ["p", "q"], ["y"])], [("p", T.FLOAT, ["a", 1]), ("q", T.FLOAT, [1, "b"])], [("y", T.FLOAT, ["a", "b"])], ["a", "b"], "want = p[i / d[1]] + q[i % d[1]];")
case("scores", [h.make_node("Transpose", ["x"], ["t"], perm=[0, 2, 1]), h.make_node("MatMul", ["x", "t"], ["m"]), h.make_node("Softmax", ["m"], ["w"]), h.make_node("MatMul", ["w", "x"], ["y"])],
     [("x", T.FLOAT, ["a", "b", "c"])], [("y", T.FLOAT, ["a", "b", "c"])], ["a", "b", "c"], "")
case("joined", [h.make_node("Concat", ["p", "q"], ["j"], axis=1), h.make_node("Pad", ["j", "pads"], ["padded"]), h.make_node("Tanh", ["padded"], ["y"])],
     [("p", T.DOUBLE, ["c", "a", 4]), ("q", T.DOUBLE, ["c", "b", 4])], [("y", T.DOUBLE, ["c", "a+b+3", 4])], ["c", "a", "b"], "",
     [numpy_helper.from_array(np.array([0, 1, 0, 0, 2, 0]), "pads")])
case("packed", [h.make_node("Cast", ["x"], ["y"], to=T.FLOAT)], [("x", T.UINT4, ["a", "b"])], [("y", T.FLOAT, ["a", "b"])], ["a", "b"], "want = static_cast<float>((x[i / 2] >> (i % 2 * 4)) & 15);")
case("pooled", [h.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]), h.make_node("Relu", ["c"], ["r"]), h.make_node("MaxPool", ["r"], ["y"], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)],
     [("x", T.FLOAT, ["a", 3, "b", "c"])], [("y", T.FLOAT, ["a", 8, "b/2 + b%2", "c/2 + c%2"])], ["a", "b", "c"], "", [numpy_helper.from_array(np.ones((8, 3, 3, 3), np.float32), "w")])
case("found", [h.make_node("NonZero", ["x"], ["y"])], [("x", T.FLOAT, ["a", "b"])], [("y", T.INT64, [2, "a*b"])], ["a", "b"], "")
case("of_two", [h.make_node("Add", ["p", "q"], ["y"])], [("p", T.FLOAT, ["a", "b"]), ("q", T.FLOAT, ["c", "b"])], [("y", T.FLOAT, ["a == 1 ? c : a", "b"])], ["a", "b", "c"], "")
case("rows_on_threads", [h.make_node("Exp", ["x"], ["e"]), h.make_node("ReduceMax", ["e", "axes"], ["s"]), h.make_node("Div", ["e", "s"], ["y"])],
     [("x", T.FLOAT, ["a", "b"])], [("y", T.FLOAT, ["a", "b"])], ["a", "b"], "", [numpy_helper.from_array(np.array([1]), "axes")], ["--threads", "4"])


def extents(shape, symbols):
    text = ", ".join(str(e) for e in shape)
    return f"{{{text}}}"


def save(folder, nodes, inputs, outputs, weights, opset):
    def info(name, type, shape):
        return h.make_tensor_value_info(name, type, [e if isinstance(e, int) or e.isalpha() else None for e in shape])

    graph = h.make_graph(nodes, "g", [info(*i) for i in inputs], [info(*o) for o in outputs], list(weights))
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", opset)], ir_version=10), str(folder / "model.onnx"))


def write_case(folder, inputs, outputs, symbols, expected, heap):
    (folder / "case.h").write_text(f'#include "unit.h"\nconstexpr std::size_t kDims = {len(symbols)};\n#define MODEL unit_model\n')
    text = "int run_case(const std::vector<std::int64_t>& d) {\n"
    # Shapes by wrapping arithmetic: they may be anything.
    text += "".join(f"  const auto {s} = static_cast<Wide>(d[{k}]);\n" for k, s in enumerate(symbols))
    text += "".join(f"  static_cast<void>({s});\n" for s in symbols)
    for name, type, shape in [*inputs, *outputs]:
        element, bits = TYPES[type]
        text += f"  const Room room_{name} = room_of({{{', '.join(f'cut({e})' for e in shape)}}}, {bits});\n  const Array<{element}> array_{name}(room_{name});\n"
    for k, (name, type, _) in enumerate(inputs):
        element = TYPES[type][0]
        text += f"  const auto {name} = array_{name}.span();\n  for (std::size_t i = 0; i < {name}.size(); ++i) {name}[i] = static_cast<{element}>((i * 7 + {k}) % 5) - static_cast<{element}>({0 if 'uint' in element else 2});\n"
    text += "  for (int round = 0; round < 2; ++round) {\n"
    text += f"    const unit::Dims dims{{{', '.join(f'd[{k}]' for k in range(len(symbols)))}}};\n    const std::size_t wanted = unit::arena_bytes(dims);\n"
    text += "    const std::size_t bytes = wanted > (std::size_t{1} << 24) ? 0 : wanted;\n    std::byte* const arena = static_cast<std::byte*>(std::aligned_alloc(64, (bytes + 127) / 64 * 64));\n"
    given = ", ".join(f"array_{n}.span()" for n, _, _ in inputs)
    wanted = ", ".join(f"array_{n}.span()" for n, _, _ in outputs)
    more = ", {nullptr, allocate, release}" if heap else ""
    text += f"    const onnxc::Status status = unit::run(dims, {{{given}}}, {{{wanted}}}, {{arena, bytes}}{more});\n    std::free(arena);\n    if (status) return status.code;\n  }}\n"
    whole = " && ".join(f"room_{n}.whole" for n, _, _ in [*inputs, *outputs])
    text += f'  if (!({whole})) fail(d, "an answer for tensors that are not there");\n'
    if expected:
        text += f"  const auto y = array_y.span();\n  for (std::int64_t i = 0; i < static_cast<std::int64_t>(y.size()); ++i) {{\n    float want = 0;\n    {expected}\n    if (!(std::abs(y[i] - want) <= 1e-5f)) {{\n      fail(d, \"a wrong answer\");\n      break;\n    }}\n  }}\n"
    text += "  return 0;\n}\n"
    head = "using Wide = __int128;\n[[maybe_unused]] std::int64_t cut(Wide x) { return x > INT64_MAX ? INT64_MAX : x < INT64_MIN ? INT64_MIN : static_cast<std::int64_t>(x); }\n\n"
    (folder / "run.h").write_text(head + text)


def check(name, nodes, inputs, outputs, symbols, expected, weights, options, opset, heap, root):
    folder = root / name
    folder.mkdir()
    save(folder, nodes, inputs, outputs, weights, opset)
    write_case(folder, inputs, outputs, symbols, expected, heap)
    done = subprocess.run([os.environ["ONNXC_EXECUTABLE"], folder / "model.onnx", "-o", folder / "unit.cpp", *options], capture_output=True, text=True)
    if done.returncode:
        return f"onnxc: {done.stderr}"
    command = ["g++", "-std=c++20", "-O1", "-g0", "-march=native", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-I", RUNTIME, "-I", folder, '-DCASE="case.h"', '-DCASE_RUN="run.h"',
               HERE / "harness.cpp", folder / "unit.cpp", "-o", folder / "program"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        return f"g++: {done.stderr[:3000]}"
    done = subprocess.run([folder / "program"], capture_output=True, text=True, errors="replace", env=os.environ | {"ASAN_OPTIONS": "allocator_may_return_null=1"}, timeout=600)
    print(f"{name}: {done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ''}", flush=True)
    return None if done.returncode == 0 else f"exit status {done.returncode}\n{done.stdout[:2000]}\n{done.stderr[:4000]}"


def main():
    pattern = os.environ.get("ONLY", "")
    failed = 0
    with tempfile.TemporaryDirectory() as root:
        for one in CASES:
            if pattern not in one[0]:
                continue
            fault = check(*one, pathlib.Path(root))
            if fault:
                failed += 1
                print(f"FAILED  {one[0]}: {fault}", flush=True)
    print(f"sizes: {len(CASES)} units, {failed} failed")
    sys.exit(1 if failed else 0)


main()
