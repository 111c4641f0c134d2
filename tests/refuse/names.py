"""Names chosen to hurt: as inputs, outputs, values, nodes, weights, dimensions and files they must compile without a warning and run right.

    names.py ONNXC RUNTIME_FOLDER
"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from onnx import TensorProto as T
from onnx import helper, numpy_helper

sys.path.append(str(Path(__file__).resolve().parents[1]))
from at_level import at_level  # noqa: E402

NAMES = [
    # Ends of comments, strings and lines.
    'a"b', "a'b", 'x"; int hacked = 1; //', "line\nbreak", "carriage\rreturn", "*/ int hacked; /*", "/* open", "// comment", "back\\slash", "ends in \\",
    "ends in \\\n", "ends in \\ ", "what??/", "??/\n#error", "%s %n {} {0}", "#define onnxc", "\n#error hacked", "tab\there", "bell\a", "\x7f", "R\"(raw)\"",
    # What the eye does not see as it is.
    "\u202egnp.exe", "a\u2066b\u2069", "zero\u200bwidth", "\ufeffbom", "line\u2028separator", "ünïcödé", "名前", "\U0001f600", "e\u0301",
    # Identifiers that are taken.
    "class", "int", "float", "new", "this", "namespace", "co_await", "and", "true", "NULL", "nullptr", "EOF", "INT64_MAX", "INFINITY", "NAN", "errno", "assert", "main",
    "unix", "linux", "std", "memcpy", "exp", "size_t", "int64_t", "__LINE__", "__attribute__", "_Bool", "_x", "__x", "x__y", "ONNXC_INLINE", "ONNXC_OK",
    # The runtime's and the unit's own.
    "onnxc", "Status", "Inputs", "Outputs", "Dims", "Dims2", "dims", "run", "steps", "arena", "arena_bytes", "arena_alignment", "in", "out", "weights", "threads", "share",
    "shares", "status", "symbols", "call", "executor", "Plan", "plan", "p", "b0", "b1", "E0", "E1", "e0", "w0", "w1", "w_0", "lanes", "L", "X0", "x0", "t0", "t1", "V", "Vec", "fn", "detail",
    "scalar", "Shape", "Tensor", "Epilogue", "Keep", "bytes", "extents", "k", "model", "onnxc_model", "units_run", "static_input_0_shape", "Threads", "index", "data", "size",
    "weights_in_use", "huge_weights", "weights_end", "heap", "memory", "counters", "share_counters", "read_step", "profile_clock", "profiled_steps", "next_0", "plan_0",
    # Alike once they are identifiers; numbers; nothing.
    "a.b", "a_b", "a/b", "a-b", "a b", "a_b_2", "A_B", "1", "1.5", "-1", "_", ".", " ", "::", "a::b", "long" * 17_500,
]
DIM_NAMES = NAMES


def save(folder, nodes, inputs, outputs, weights, feeds, expected):
    """A model, and a data set beside it."""
    graph = helper.make_graph(nodes, "graph \"*/\n??/", inputs, outputs, weights, doc_string="*/ \\\n")
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name='"*/\n', doc_string="\\\n")
    model.ir_version = 10
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for kind, infos, arrays in (("input", inputs, feeds), ("output", outputs, expected)):
        for k, (info, array) in enumerate(zip(infos, arrays)):
            (data / f"{kind}_{k}.pb").write_bytes(numpy_helper.from_array(array, info.name).SerializeToString())


def f32(name, shape):
    return helper.make_tensor_value_info(name, T.FLOAT, shape)


def make_static(folder):
    """Every name as an input; as an output; as a node, its value and its weights."""
    x = np.arange(6, dtype=np.float32).reshape(2, 3) / 7
    nodes, inputs, outputs, weights, feeds, expected = [], [], [], [], [], []
    total = None
    for k, name in enumerate(NAMES):
        inputs.append(f32("in:" + name if k % 2 else name, [2, 3]))
        feeds.append(x + np.float32(k / 1024))
        step = f"sum {k}"
        nodes.append(helper.make_node("Add", [total or inputs[0].name, inputs[-1].name], [step], name=name))
        total = step
    value = feeds[0] + sum(feeds)
    matrix = np.roll(np.eye(3, dtype=np.float32), 1, axis=1)
    last = total
    for k, name in enumerate(NAMES):
        # A product of its own, so that the value and the weights are there in the emitted code.
        weights.append(numpy_helper.from_array(matrix * (1 if k % 2 else -1) * np.float32(1 + k % 2 / 64 - (k + 1) % 2 / 64), "w:" + name))
        value = value @ numpy_helper.to_array(weights[-1]).astype(np.float64)
        result = "v:" + name
        nodes.append(helper.make_node("MatMul", [last, weights[-1].name], [result], name=name))
        last = result
    for k, name in enumerate(NAMES):
        output = ":" + name if k % 2 else name + ":"
        outputs.append(f32(output, [2, 3]))
        nodes.append(helper.make_node("Clip" if k % 3 else "Sin", [last], [output], name=name))
        expected.append((value if k % 3 else np.sin(value)).astype(np.float32))
    save(folder, nodes, inputs, outputs, weights, feeds, expected)


def make_dynamic(folder):
    """Every name as a dimension."""
    nodes, inputs, outputs, feeds, expected = [], [], [], [], []
    for k, name in enumerate(DIM_NAMES):
        shape = (1 + k % 5, 3)
        x = np.linspace(-1, 1, shape[0] * 3, dtype=np.float32).reshape(shape)
        inputs.append(f32(f"x{k}", [name, 3]))
        outputs.append(f32(f"y{k}", [name, 4]))
        nodes += [helper.make_node("MatMul", [f"x{k}", "w"], [f"t{k}"]), helper.make_node("MatMul", [f"t{k}", "v"], [f"y{k}"])]
        feeds.append(x)
        expected.append((x @ WEIGHTS["w"] @ WEIGHTS["v"]).astype(np.float32))
    save(folder, nodes, inputs, outputs, [numpy_helper.from_array(a, n) for n, a in WEIGHTS.items()], feeds, expected)


WEIGHTS = {"w": np.arange(15, dtype=np.float32).reshape(3, 5) / 8, "v": np.arange(20, dtype=np.float32).reshape(5, 4) / 16}

# Of emitted files: their stem becomes the namespace and the prefix of C symbols.
STEMS = ["class", "exp", "expf", "log", "time", "index", "memcpy", "std", "onnxc_model", "onnxc_status", "xsimd", "main", "9", "a b", "model.v2", "übung",
         "run", "Status", "INT64_MAX", "NULL", "unix", "malloc", "#", "%s", "$HOME", "-x", "y0", "signal", "détail", "Inputs", "Shape", "base", "avx2_fma_f16c_x8"]
# Of models: they are named in comments.
MODELS = ['quote".onnx', "line\nbreak.onnx", "ends in \\", "*" + "\u2215.onnx", "\u202egnp.onnx", "??\u2215", "no_extension", ".onnx", "..onnx", "-o", "é" * 100]
# Of emitted files, where the #include of the header could not be written.
BAD_OUTPUTS = ['quote".cpp', "line\nbreak.cpp", "back\\slash.cpp"]

WARNINGS = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def main():
    onnxc, runtime = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    found = {os.path.realpath(path): name for name in ("clang++", "clang++-19", "clang++-14", "g++") if (path := shutil.which(name))}
    compilers = list(found.values())  # each once
    failed = 0

    def call(what, command, wanted=0, environment=None):
        nonlocal failed
        done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, env=environment)
        if done.returncode != wanted:
            failed += 1
            output = (done.stdout + done.stderr).decode(errors="replace")
            print(f"FAILED  {what}: exit status {done.returncode}\n{output[:3000]}")
        return done

    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        makers = {"static": make_static, "dynamic": make_dynamic}
        for name, make in makers.items():
            folder = root / name
            make(folder)
            for level, more in (("-O0", ()), ("-O3", ()), ("-O1", ("--huge-pages", "--weights=asm", "--profile"))):  # these have names of their own
                call(f"{name} {level}", [onnxc, folder / "model.onnx", level, *more, "--target", "generic", "--threads", "2", "-o", folder / f"unit{level}.cpp"])
                for compiler in compilers:
                    call(f"{name} {level} with {compiler}", [compiler, *WARNINGS, "-fsyntax-only", "-I", runtime, folder / f"unit{level}.cpp"])
            call(f"run {name}", [onnxc, "run", folder / "model.onnx", "--target", "generic"], environment=at_level("-O0"))
        folder = root / "files"
        folder.mkdir()
        good = (root / "dynamic" / "model.onnx")
        for name in MODELS:
            path = folder / "models" / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(good.read_bytes())
            out = folder / f"m{MODELS.index(name)}.cpp"
            call(f"model file {name!r}", [onnxc, "-o", out, "--target", "generic", "--", path])
        for stem in STEMS:
            call(f"output {stem!r}", [onnxc, good, "--target", "generic", f"--output={folder / (stem + '.cpp')}"])
        # All in one translation unit: nothing of one may get in the way of another.
        together = folder / "together.cc"
        together.write_text("#include <cmath>\n#include <cstdlib>\n#include <cstring>\n#include <ctime>\n#include <thread>\n#include <unistd.h>\n" +
                            "".join(f'#include "{p.name}"\n' for p in sorted(folder.glob("*.cpp"))))
        for compiler in compilers:
            call(f"file names with {compiler}", [compiler, *WARNINGS, "-fsyntax-only", "-I", runtime, together])
        for name in BAD_OUTPUTS:
            before = sorted(os.listdir(folder))
            call(f"output {name!r}", [onnxc, good, "-o", folder / name], 2)
            if sorted(os.listdir(folder)) != before:
                failed += 1
                print(f"FAILED  output {name!r}: left a file")
    print(f"names: {failed} failed, with {', '.join(compilers)}")
    sys.exit(1 if failed else 0)


main()
