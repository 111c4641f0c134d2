"""What `onnxc reduce` makes of models under checks of several kinds: the least that a check needs, valid ONNX, the same with any number of jobs; and how it ends otherwise."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from expectations import Expectations  # noqa: E402

ONNXC = os.environ["ONNXC_EXECUTABLE"]
RANDOM = np.random.default_rng(5)
CHECKS = Expectations("reduce")
expect = CHECKS.expect


def model(text, constants=None):
    made = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21, "own" : 1]>\n{text}')
    for name, value in (constants or {}).items():
        made.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
    return made


def values(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def reduce(work, made, check, *options, status=0):
    """What `onnxc reduce` gives: the model, or nothing, and all it says."""
    path, out = work / "model.onnx", work / "small.onnx"
    out.unlink(missing_ok=True)
    onnx.save(made, path)
    done = subprocess.run([ONNXC, "reduce", str(path), "--check", check, "-o", str(out), *options], capture_output=True, text=True)
    said = done.stdout + done.stderr
    expect(done.returncode == status, f"exit status {status}", f"{done.returncode}: {said}")
    return onnx.load(out) if out.exists() else None, said


def reduced(title, work, made, check, operators, *options, elements=None, shapes=True):
    """Reduces, and compares the operators that are left, in order."""
    small, said = reduce(work, made, check, *options)
    left = [node.op_type for node in small.graph.node]
    expect(left == operators, f"{title}: nodes", f"{left}: {said}")
    try:
        onnx.checker.check_model(small, full_check=shapes)
    except Exception as error:
        expect(False, f"{title}: valid ONNX", error)
    if elements is not None:
        sizes = sum(int(np.prod(t.dims)) for t in small.graph.initializer)
        expect(sizes <= elements, f"{title}: at most {elements} elements of constants", sizes)
    return small


def network():
    """Attention amid other things, with an output that nothing else needs, a function, texts."""
    nodes = """m (float[N, 6, 8] x, float[3] unused) => (float[N, 6, 8] y, float[N, 6] z) {
      q = MatMul (x, wq)  k = MatMul (x, wk)  v = MatMul (x, wv)
      t = Mul (q, factor)  kt = Transpose <perm = [0, 2, 1]> (k)  s = MatMul (t, kt)
      p = Softmax <axis = -1> (s)  o = MatMul (p, v)  r = Add (o, x)  g = own.twice (r)  y = Relu (g)
      a = ReduceSum <keepdims = 0> (x, last)  z = Tanh (a) }
      <domain: "own", opset_import: ["" : 21]> twice (u) => (w) { w = Add (u, u) }"""
    return model(nodes, {"wq": values(8, 8), "wk": values(8, 8), "wv": values(8, 8), "factor": np.float32(0.35), "last": np.array([2])})


def fed_by_a_product(onnxc):
    """A Softmax that a MatMul feeds, in onnxc's own words of a graph."""
    return f"{onnxc} {{}} --emit graph --stop-after infer_shapes | awk '/ = MatMul\\(/ {{ p[$1] = 1 }} / = Softmax\\(/ {{ a = $0; sub(/.*Softmax\\(/, \"\", a); sub(/[,)].*/, \"\", a); for (n in p) {{ split(n, w, \":\"); if (w[1] == a) found = 1 }} }} END {{ exit !found }}'"


def main():
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        check = fed_by_a_product(ONNXC)
        alone = reduced("a Softmax fed by a MatMul", work, network(), check, ["MatMul", "Softmax"], elements=0)
        expect(not alone.functions and not alone.graph.value_info and not alone.producer_name, "a Softmax fed by a MatMul: no functions, no words")
        both = reduced("the same, two at a time", work, network(), check, ["MatMul", "Softmax"], "--jobs", "2", elements=0)
        expect(both.SerializeToString() == alone.SerializeToString(), "the same result with two jobs")

        # A refusal: its message says what is of interest, and extents of that are kept.
        wrong = model("""m (float[2, 3, 4] x) => (float[a, b, c] y) {
          a0 = Relu (x)  b0 = Add (a0, a0)  c0 = MatMul (b0, w)  d0 = Tanh (c0)  y = Neg (d0) }""", {"w": values(5, 7)})
        refused = reduced("a product that does not fit", work, wrong, f"! {ONNXC} {{}} -o /dev/null 2> said.txt; grep -q 'MatMul' said.txt; found=$?; rm -f said.txt; exit $found".replace("said.txt", str(work / "said.txt")),
                          ["MatMul"], shapes=False)
        expect(len(refused.graph.node) == 1, "a product that does not fit: one node")

        # Branches, loops, and what stands in them.
        branch = model("""m (float[4] x, bool c, int64 n) => (float[4] y) {
          r = If (c) <then_branch = t () => (float[4] a0) { a1 = Exp (x)  a0 = Sin (a1) }, else_branch = e () => (float[4] b0) { b0 = Neg (x) }>
          y = Loop (n, , r) <body = b (int64 i, bool go, float[4] s) => (bool more, float[4] u) { more = Identity (go)  v = Abs (s)  u = Cos (v) }> }""")
        reduced("a Sin in a branch", work, branch, "grep -q Sin {}", ["Sin"])
        reduced("a Cos in a loop", work, branch, "grep -q Cos {}", ["Cos"])
        kept = reduced("a Cos that stays in a loop", work, branch, "grep -q Loop {} && grep -q Cos {}", ["Loop"])
        expect([n.op_type for n in kept.graph.node[0].attribute[0].g.node if n.op_type in ("Abs", "Cos")] == ["Cos"], "a Cos that stays in a loop: nothing beside it")

        # Nodes that no output needs are kept where they matter.
        dead = model("m (float[4] x) => (float[4] y) { y = Relu (x)  d = Exp (x)  e = Neg (d) }")
        reduced("a dead node", work, dead, "grep -q Exp {}", ["Relu", "Exp"])

        # Without {} the path comes at the end.
        reduced("the path at the end", work, dead, "grep -q Relu", ["Relu"])

        # What ends otherwise.
        for command, what in (("false", "exit status 1"), ("kill -9 $$", "SIGKILL"), ("echo all is well; exit 3 #", "it says: all is well")):
            small, said = reduce(work, dead, command, status=2)
            expect(small is None and "does not hold of the model itself" in said and what in said and said.count("\n") == 1, f"a check that never holds: {what}", said)
        _, said = reduce(work, dead, "sleep 9; true", "--check-seconds", "0.2", status=2)
        expect("does not end within 0.2 s" in said, "a check without end", said)
        (work / "none").write_text("no model")
        done = subprocess.run([ONNXC, "reduce", str(work / "none"), "--check", "true", "-o", str(work / "small.onnx")], capture_output=True, text=True)
        expect(done.returncode == 1 and done.stderr.count("\n") == 1, "what is no model", done.stderr)
        done = subprocess.run([ONNXC, "reduce", str(work / "model.onnx"), "--check", "true", "-o", str(work / "no folder" / "small.onnx")], capture_output=True, text=True)
        expect(done.returncode == 3, "no folder for the output", done.stderr)

        # Time that is over, and a signal: the best so far is there.
        onnx.save(network(), work / "model.onnx")
        small, said = reduce(work, network(), "sleep 0.2; grep -q Softmax {}", "--seconds", "1")
        expect(small is not None and "out of time" in said, "a limit of time", said)
        out = work / "small.onnx"
        out.unlink()
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # shells have what runs in the background ignore it
        running = subprocess.Popen([ONNXC, "reduce", str(work / "model.onnx"), "--check", "sleep 0.1; grep -q Softmax {}", "-o", str(out)], stdout=subprocess.PIPE, text=True)
        end = time.time() + 10
        while time.time() < end and not (out.exists() and len(onnx.load(out).graph.node) < 13):
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        said, _ = running.communicate(timeout=10)
        small = onnx.load(out)
        expect(running.returncode == 0 and "stopped" in said and any(n.op_type == "Softmax" for n in small.graph.node), "SIGINT", said)
    CHECKS.end()


main()
