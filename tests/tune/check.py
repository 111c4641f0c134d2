#!/usr/bin/env python3
"""A small network is tuned: its results against ONNX Runtime's, the cache's second use, picks edited by hand, damaged caches, and the emitted files with and without --tune."""
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

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from expectations import Expectations  # noqa: E402

ONNXC = os.environ["ONNXC_EXECUTABLE"]
GROWTH = "--weights-growth=100"  # every kernel is a finalist, whatever its weights take
RANDOM = np.random.default_rng(8)
CHECKS = Expectations("tune")
expect = CHECKS.expect


def call(*command, status=0, cache=None):
    done = subprocess.run([ONNXC, *map(str, command), *([f"--tune-cache={cache}", GROWTH] if cache else [])], capture_output=True, text=True, errors="replace")
    expect(done.returncode == status, " ".join(map(str, command)), f"exit status {done.returncode}, not {status}: {done.stdout[-300:]}{done.stderr[-700:]}")
    return done


def values(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32) / 4


def network(folder):
    """Two convolutions that are alike, one that is not, in names that want to leave their place, and a product of a dynamic number of rows."""
    node = h.make_node
    weights = {"w0": values(16, 3, 3, 3), "w1": values(16, 16, 3, 3), "w2": values(16, 16, 3, 3), "w3": values(24, 16, 3, 3), "f": values(24, 10)}
    nodes = [node("Conv", ["x", "w0"], ["a"], name="stem", pads=[1] * 4), node("Relu", ["a"], ["b"]), node("Conv", ["b", "w1"], ["c"], name="one\n\x1b[31m", pads=[1] * 4), node("Relu", ["c"], ["d"]),
             node("Conv", ["d", "w2"], ["e"], name="two", pads=[1] * 4), node("Relu", ["e"], ["g"]), node("Conv", ["g", "w3"], ["i"], name="three", pads=[1] * 4), node("Sigmoid", ["i"], ["j"]),
             node("GlobalAveragePool", ["j"], ["k"]), node("Flatten", ["k"], ["l"]), node("MatMul", ["l", "f"], ["y"], name="head")]
    info = lambda name, shape: h.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
    model = h.make_model(h.make_graph(nodes, "g", [info("x", [1, 3, 20, 20])], [info("y", [1, 10])], [numpy_helper.from_array(v, k) for k, v in weights.items()]),
                         opset_imports=[h.make_opsetid("", 17)], ir_version=8)
    feed = values(1, 3, 20, 20)
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(model, folder / "model.onnx")
    (data / "input_0.pb").write_bytes(numpy_helper.from_array(feed).SerializeToString())
    (data / "output_0.pb").write_bytes(numpy_helper.from_array(ort.InferenceSession(model.SerializeToString()).run(None, {"x": feed})[0]).SerializeToString())
    return folder / "model.onnx"


def emitted(model, folder, *options, cache=None):
    folder.mkdir(parents=True, exist_ok=True)
    call(model, "-o", folder / "unit.cpp", *options, cache=cache)
    return (folder / "unit.cpp").read_text() + (folder / "unit.h").read_text()


def choices(model, *options, cache=None):
    """Of each value the candidate that computes it, by its label, as `onnxc report` tells."""
    with tempfile.TemporaryDirectory() as folder:
        call("report", model, "--json", Path(folder) / "r.json", *options, cache=cache)
        told = json.loads((Path(folder) / "r.json").read_text())["choices"]
    winners = {choice["value"]: choice["candidates"][choice["winner"]] for choice in told}
    return {value: ", ".join(filter(None, (winner["kernel"], winner["note"]))) for value, winner in winners.items()}


def check_tune(model, root):
    cache, figures = root / "caches" / "tune.json", root / "figures.json"
    plain = emitted(model, root / "plain")
    expect("--tune" not in plain, "the default says nothing of --tune")
    cold = call(model, "-o", root / "cold.cpp", "--tune=cached", cache=cache)
    expect(not cold.stderr and not cache.exists(), "--tune=cached measures nothing and writes no cache", cold.stderr)
    first = call("tune", model, "--seconds=0.1", "--regret", "--json", figures, cache=cache)
    expect("build 1 of" in first.stderr and "\x1b[31m" not in first.stdout + first.stderr, "tuning says what it does, and shows names as one line", first.stderr)
    told = json.loads(figures.read_text())
    kept = json.loads(cache.read_text())
    (setting,) = kept["settings"].values()
    expect(told["measured"] == told["kinds"] == len(setting["nodes"]) >= 3, "every kind is measured and kept", told)
    rows = {row["value"]: row for row in told["rows"]}
    expect(len(rows) >= 4 and len({row["signature"] for row in rows.values()}) < len(rows), "two nodes that are alike are one kind", list(rows))
    expect(told["regret"] >= 1 and all(row["best"]["measured_ns"] <= row["chosen"]["measured_ns"] for row in rows.values()), "regret is 1 or more", told["regret"])
    expect(all(row["pick"] in (c["kernel"] for c in row["candidates"]) for row in rows.values()), "picks are candidates")
    expect(all(node["pick"] in node["ns"] for node in setting["nodes"].values()), "picks were measured")

    second = call("tune", model, "--json", figures, cache=cache)
    expect(not second.stderr and json.loads(figures.read_text())["measured"] == 0 and json.loads(cache.read_text()) == kept, "the second time nothing is measured", second.stderr)
    compiled = call(model, "-o", root / "again.cpp", "--tune", cache=cache)
    expect(not compiled.stderr, "--tune measures nothing that is known", compiled.stderr)
    expect(emitted(model, root / "a", "--tune", cache=cache) == emitted(model, root / "b", "--tune=cached", cache=cache), "the same cache gives the same bytes")
    expect(emitted(model, root / "plain") == plain, "without --tune nothing changes")
    call("run", model, "--tune", cache=cache)
    expect(choices(model, "--tune=cached", "--threads=2", cache=cache) == choices(model, "--threads=2", GROWTH), "threads are a setting of their own")
    fresh = call("tune", model, "--seconds=0.05", "--fresh", "--json", figures, cache=cache)
    expect("build 1 of" in fresh.stderr and json.loads(figures.read_text())["measured"] == told["kinds"], "--fresh measures anew")
    return setting, cache


def check_edits(model, root, cache, setting):
    """Each finalist in turn for all nodes: the emitted file calls it, explain says why, and the outputs stay right."""
    kept = json.loads(cache.read_text())
    (key,) = [name for name in kept["settings"] if ", 1 thread," in name]
    by_default = choices(model, GROWTH)
    edited = root / "edited.json"
    for comparison in kept["settings"][key]["comparisons"].values():
        comparison.update(default_ns=1, tuned_ns=2)
    edited.write_text(json.dumps(kept))
    expect(choices(model, "--tune=cached", cache=edited) == by_default, "picks that are slower together than the default's are not taken")
    kept["settings"][key]["comparisons"] = {}
    kernels = {label for node in setting["nodes"].values() for label in node["ns"]}
    expect(len(kernels) > 2, "there are kernels to choose from", kernels)
    for kernel in sorted(kernels):
        for node in kept["settings"][key]["nodes"].values():
            node["pick"] = kernel if kernel in node["ns"] else node["pick"]
        edited.write_text(json.dumps(kept))
        picked = choices(model, "--tune=cached", cache=edited)
        able = [value for value, winner in picked.items() if winner == kernel]
        expect(able, f"{kernel} is taken", picked)
        text = emitted(model, root / "edited", "--tune", cache=edited)
        function = re.sub(r"(_\d)+$", "", kernel.split(",")[0])
        expect("--tune" in text and f"onnxc::{function}<" in text, f"the emitted file calls {kernel}")
        call("run", model, "--tune", cache=edited)
        why = call("explain", model, able[0], "--tune=cached", cache=edited).stdout
        expect("as --tune has it" in why and "predicted" in why, "explain tells that times were measured", why)
    for node in kept["settings"][key]["nodes"].values():
        node["pick"] = "no such kernel"
        node["ns"] = {}
    edited.write_text(json.dumps(kept))
    expect(choices(model, "--tune=cached", cache=edited) == by_default, "a pick of no candidate changes nothing")


def check_refusals(model, root):
    bad = root / "bad.json"
    for text in ("", "{", "[]", '{"weights": 1}', '{"format": "onnxc tune 0", "settings": {}}', '{"format": "onnxc tune 1", "settings": {"m": {"nodes": {"s": {}}, "comparisons": {}}}}'):
        bad.write_text(text)
        for command in ((model, "-o", root / "never.cpp", "--tune"), (model, "-o", root / "never.cpp", "--tune=cached"), ("tune", model)):
            done = call(*command, status=3, cache=bad)
            expect(len(done.stderr.splitlines()) == 1 and "remove it" in done.stderr and bad.read_text() == text, "a damaged cache is named and left alone", done.stderr)
    expect(not (root / "never.cpp").exists(), "nothing is written then")
    other = "aarch64" if os.uname().machine == "x86_64" else "x86-64-v3"
    done = call(model, "-o", root / "never.cpp", "--tune", f"--target={other}", status=2, cache=root / "none.json")
    expect("this machine" in done.stderr and len(done.stderr.splitlines()) == 1, "no tuning for another machine", done.stderr)
    call(model, "-o", root / "never.cpp", "--tune=perhaps", status=2)
    call("tune", root / "none.onnx", status=3, cache=root / "none.json")


def main():
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        model = network(root / "network")
        setting, cache = check_tune(model, root)
        check_edits(model, root, cache, setting)
        check_refusals(model, root)
    CHECKS.end()


if __name__ == "__main__":
    main()
