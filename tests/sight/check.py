"""What shows a model from inside, tried on small models and judged against ONNX's reference.

    check.py ONNXC RUNTIME_FOLDER
"""
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from expectations import Expectations  # noqa: E402

HERE = Path(__file__).resolve().parent
ONNXC, RUNTIME = (Path(a).resolve() for a in sys.argv[1:3])
WARNINGS = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
ITERATIONS = 7
CHECKS = Expectations("a model from inside")
expect = CHECKS.expect


def call(*command, status=0, lines=None):
    """Standard output; the exit status is `status`, and a refusal says one line."""
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    expect(done.returncode == status, " ".join(map(str, command)), f"exit status {done.returncode}, not {status}: {done.stdout[-500:]}{done.stderr[-800:]}")
    if status in (2, 4):
        expect(len(done.stderr.splitlines()) == 1, "a refusal is one line", done.stderr)
        return done.stderr
    return done.stdout


def random(*shape, seed=0):
    return (np.random.default_rng(seed).standard_normal(shape) / 2).astype(np.float32)


def save(folder, nodes, inputs, outputs, weights):
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info(n, T.FLOAT, s) for n, s in inputs], [helper.make_tensor_value_info(n, T.FLOAT, s) for n, s in outputs],
                              [numpy_helper.from_array(a, n) for n, a in weights.items()])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    proto.ir_version = 10
    folder.mkdir(parents=True)
    onnx.save(proto, folder / "model.onnx")
    return proto


def give_data(folder, proto, feeds):
    data = folder / "test_data_set_0"
    data.mkdir()
    for kind, values in (("input", feeds.values()), ("output", ReferenceEvaluator(proto).run(None, feeds))):
        for k, array in enumerate(values):
            (data / f"{kind}_{k}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())


def branches(folder):
    """Two branches that meet, with names that want to leave their place; large enough for threads to share."""
    weights = {"w0": random(16, 3, 3, 3), "w1": random(16, 16, 3, 3, seed=1) / 4, "w2": random(16, 16, 1, 1, seed=2) / 4, "f": random(16, 5, seed=3)}
    node = helper.make_node
    nodes = [node("Conv", ["x", "w0"], ["stem"], name="stem", pads=[1, 1, 1, 1]), node("Relu", ["stem"], ["a/../<b>\"&"], name="act"),
             node("Conv", ["a/../<b>\"&", "w1"], ["left"], name="left_conv", pads=[1, 1, 1, 1]), node("Relu", ["left"], ["left_relu"], name="left_relu"),
             node("Conv", ["a/../<b>\"&", "w2"], ["right"], name="right_conv"), node("Sigmoid", ["right"], ["right_sigmoid"], name="right_act"),
             node("Add", ["left_relu", "right_sigmoid"], ["sum"], name="join"), node("GlobalAveragePool", ["sum"], ["pooled"]), node("Flatten", ["pooled"], ["flat"]),
             node("MatMul", ["flat", "f"], ["y"], name="head")]
    proto = save(folder, nodes, [("x", [1, 3, 32, 32])], [("y", [1, 5])], weights)
    give_data(folder, proto, {"x": random(1, 3, 32, 32, seed=9)})
    return proto


def dynamic(folder):
    proto = save(folder, [helper.make_node("MatMul", ["x", "w"], ["p"], name="product"), helper.make_node("Softmax", ["p"], ["y"], name="soft")], [("x", ["batch", 64])], [("y", ["batch", 32])],
                 {"w": random(64, 32)})
    give_data(folder, proto, {"x": random(6, 64)})


def loop(folder):
    node, info = helper.make_node, helper.make_tensor_value_info
    body = helper.make_graph([node("Mul", ["v", "half"], ["scaled"], name="scale"), node("Softmax", ["scaled"], ["next"], name="soft"), node("Identity", ["on"], ["still_on"])], "body",
                             [info("i", T.INT64, []), info("on", T.BOOL, []), info("v", T.FLOAT, [8])], [info("still_on", T.BOOL, []), info("next", T.FLOAT, [8])],
                             [numpy_helper.from_array(np.array(0.5, np.float32), "half")])
    nodes = [node("Relu", ["x"], ["start"], name="before"), node("Loop", ["count", "yes", "start"], ["last"], name="loop", body=body), node("Softmax", ["last"], ["y"], name="after")]
    save(folder, nodes, [("x", [8])], [("y", [8])], {"count": np.array(ITERATIONS, np.int64), "yes": np.array(True)})


def intermediates(proto, feeds):
    """Every value that a node computes, by ONNX's reference."""
    names = [o for n in proto.graph.node for o in n.output]
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    del copy.graph.output[:]
    copy.graph.output.extend(helper.make_tensor_value_info(n, T.FLOAT, None) for n in names)
    return dict(zip(names, ReferenceEvaluator(copy).run(None, feeds)))


def check_units(root, models):
    """--profile leaves no trace when off; units with it compile without a warning and count right, under sanitizers and with a clock of their own."""
    for name, folder in models.items():
        for options in ([], ["--standalone"], ["--threads", "2"], *([["--specialize", "batch=1,4"]] if name == "dynamic" else [])):
            work = root / "units" / name / "_".join(options).strip("-")
            work.mkdir(parents=True)
            call(ONNXC, folder / "model.onnx", "-o", work / "plain.cpp", *options)
            text = (work / "plain.cpp").read_text() + (work / "plain.h").read_text()
            expect("profile" not in text and "timed(" not in text, f"{name} {options}: nothing of --profile when it is off")
            call(ONNXC, folder / "model.onnx", "-o", work / "unit.cpp", "--profile", *options)
            for compiler, level in (("g++", "-O1"), ("clang++-14", "-O0")):  # Clang warns of the same at any level
                if subprocess.run(["which", compiler], capture_output=True).returncode == 0:
                    call(compiler, *WARNINGS, level, "-march=native", "-I", RUNTIME, "-c", work / "unit.cpp", "-o", work / "unit.o")
                    needs = subprocess.run(["nm", "-u", work / "unit.o"], capture_output=True, text=True).stdout
                    expect("gxx_personality" not in needs and "__atomic" not in needs, f"{name} {options}: no library of C++", needs)
    folder = root / "units" / "loop"
    for options in ([], ["--standalone"]):
        work = folder / "_".join(options).strip("-")
        call("g++", *WARNINGS, "-O1", "-g", "-march=native", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-I", RUNTIME, "-I", work, "-DUNIT_FILE=unit.cpp", f"-DITERATIONS={ITERATIONS}",
             HERE / "clocked.cpp", "-o", work / "clocked")
        call(work / "clocked")


def check_trace(path, description_steps, threads):
    trace = json.loads(path.read_text())
    events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    expect(events, "a trace has events")
    lanes = {}
    for event in events:
        expect(event["name"] and event["ts"] >= 0 and event["dur"] >= 0 and event["pid"] == 1, "an event is complete", event)
        arguments = event["args"]
        expect(arguments["kernel"] == event["cat"] and description_steps[arguments["step"]]["kernel"] == event["cat"], "an event names its step's kernel", event)
        expect(all(key in arguments for key in ("reads", "writes", "macs", "bytes", "nodes")), "an event says what the step does", event)
        lanes.setdefault(event["tid"], []).append((event["ts"], event["ts"] + event["dur"]))
    for lane, spans in lanes.items():
        spans.sort()
        expect(all(a[1] <= b[0] + 1e-6 for a, b in zip(spans, spans[1:])), f"no overlap in lane {lane}", spans)
    named = {e["tid"] for e in trace["traceEvents"] if e["ph"] == "M" and e["name"] == "thread_name" and e["args"]["name"]}
    expect(set(lanes) <= named, "lanes have names", named)
    expect(len(lanes) == threads, f"{threads} lanes", sorted(lanes))
    expect(max(end for spans in lanes.values() for _, end in spans) <= trace["otherData"]["run_us"] + 1, "all lies within the run")


def check_profile(root, models):
    for name, folder, threads in (("branches", models["branches"], 1), ("branches", models["branches"], 2), ("dynamic", models["dynamic"], 1), ("loop", models["loop"], 1)):
        work = root / f"profile_{name}_{threads}"
        work.mkdir()
        options = ["--threads", threads]
        table = call(ONNXC, "profile", folder / "model.onnx", "--seconds", 0.1, "--json", work / "p.json", "--trace", work / "t.json", "--csv", work / "p.csv", *options)
        expect("\033" not in table, "no colours where nobody sees them")
        figures = json.loads((work / "p.json").read_text())
        steps = {layer["step"]: layer for layer in json.loads(call(ONNXC, "info", folder / "model.onnx", "--json", *options))["layers"]}
        expect({"model", "target", "threads", "calls", "tick_ns", "peak_gmacs", "steps"} <= set(figures) and figures["threads"] == threads, "the figures are there", figures.keys())
        expect(figures["calls"] > 0 and figures["tick_ns"] > 0 and figures["peak_gmacs"] > 0, "the figures are numbers above 0", figures)
        expect({s["number"] for s in figures["steps"]} <= set(steps), "step numbers are those of the description")
        for step in figures["steps"]:
            expect(0 < step["best_ns"] <= step["mean_ns"] * 1.001 and step["calls"] % figures["calls"] == 0, "a step is measured", step)
        if name == "loop":
            expect(any(s["calls"] == ITERATIONS * figures["calls"] for s in figures["steps"]), "steps of a loop count as often as they run", figures["steps"])
        rows = list(csv.DictReader((work / "p.csv").open(newline="")))
        expect(len(rows) == len(figures["steps"]) and abs(sum(float(r["share"]) for r in rows) - 1) < 1e-6, "the shares are of the whole", rows)
        expect([float(r["run_ns"]) for r in rows] == sorted((float(r["run_ns"]) for r in rows), reverse=True), "the slowest comes first")
        if name == "dynamic":
            expect(any(r["macs"] and float(r["macs"]) == 6 * 64 * 32 for r in rows), "work is that of the sizes that ran", rows)
        check_trace(work / "t.json", steps, threads)
    table = call(ONNXC, "profile", models["branches"] / "model.onnx", "--seconds", 0.05, "--top", 1)
    expect("more steps" in table and len(table.splitlines()) == 5, "--top", table)
    call(ONNXC, "profile", models["branches"] / "no.onnx", status=3)


def check_variants(root, folder):
    """--specialize: the sizes of the data choose the program, whose steps alone are counted and described."""
    model, sizes = folder / "model.onnx", "batch=1,8"
    for batch, variant in ((8, {"batch": 8}), (1, {"batch": 1}), (3, {})):
        work = root / f"variant_{batch}"
        data = work / "test_data_set_0"
        data.mkdir(parents=True)
        (data / "input_0.pb").write_bytes(numpy_helper.from_array(random(batch, 64)).SerializeToString())
        table = call(ONNXC, "profile", model, "--specialize", sizes, "--data", work, "--seconds", 0.05, "--json", work / "p.json", "--trace", work / "t.json", "--csv", work / "p.csv")
        expect(("of the variant batch=8" if batch == 8 else "of the variant batch=1" if batch == 1 else "general program, as no variant is for batch=3") in table, f"batch {batch}: what ran is said", table)
        dim = [f"--dim=batch={batch}"] if variant else []
        alone = {layer["step"]: layer["kernel"] for layer in json.loads(call(ONNXC, "info", model, "--json", *dim))["layers"]}
        figures, trace = json.loads((work / "p.json").read_text()), json.loads((work / "t.json").read_text())
        expect(figures["variant"] == variant, f"batch {batch}: the figures name the variant", figures["variant"])
        expect({s["number"]: s["kernel"] for s in figures["steps"]} == alone, f"batch {batch}: the steps are those of the program alone", (figures["steps"], alone))
        expect(all(s["calls"] == figures["calls"] for s in figures["steps"]), f"batch {batch}: each ran in each run", figures)
        rows = list(csv.DictReader((work / "p.csv").open(newline="")))
        expect(all(r["variant"] == (f"batch={batch}" if variant else "") for r in rows) and sum(float(r["macs"]) for r in rows) == batch * 64 * 32, f"batch {batch}: the lines", rows)
        events = [e["args"] for e in trace["traceEvents"] if e["ph"] == "X"]
        expect({e["step"]: e["kernel"] for e in events} == alone and trace["otherData"]["variant"] == (f"batch={batch}" if variant else ""), f"batch {batch}: the trace", trace)
        call(ONNXC, "report", model, "--specialize", sizes, "--profile", work / "p.json", "--json", work / "r.json")
        report = json.loads((work / "r.json").read_text())
        expect({s["number"]: s["label"] for s in report["steps"]} == alone and report["options"]["dims"] == {name: str(size) for name, size in variant.items()}, f"batch {batch}: the report shows what was measured")
        refusal = call(ONNXC, "report", model, "--dim", "batch=4", "--profile", work / "p.json", "--json", work / "r.json", status=2)
        expect("profile" in refusal, f"batch {batch}: times of another program are refused", refusal)


def check_info(folder):
    info = json.loads(call(ONNXC, "info", folder / "model.onnx", "--json"))
    arena = info["arena"]
    expect(0 < arena["lower_bound"] <= arena["bytes"] <= arena["unshared_bytes"] and arena["proved"] == (arena["bytes"] == arena["lower_bound"]), "the arena", arena)
    expect(info["packed_weight_bytes"] >= 4 * (16 * 3 * 9 + 16 * 16 * 9 + 16 * 16 + 80), "packed weights", info["packed_weight_bytes"])
    macs = 16 * 27 * 1024 + 16 * 16 * 9 * 1024 + 16 * 16 * 1024 + 80
    expect(int(info["macs"]) == macs == sum(layer["macs"] for layer in info["layers"]), "multiply-adds", info["macs"])
    stated = [d.dim_value for d in onnx.load(folder / "model.onnx").graph.output[0].type.tensor_type.shape.dim]
    expect(info["outputs"][0]["type"] == f"f32{stated}", "the output has its extents", info["outputs"])
    rows = list(csv.DictReader(call(ONNXC, "info", folder / "model.onnx", "--csv").splitlines()))
    expect([int(r["step"]) for r in rows] == [layer["step"] for layer in info["layers"]] and sum(int(r["macs"]) for r in rows) == macs, "a line for each step", rows)
    expect(any("left_conv" in r["nodes"] for r in rows), "lines name nodes", rows)
    text = call(ONNXC, "info", folder / "model.onnx")
    expect("arena" in text and "left_conv" in text, "the text has both", text)


def check_likely_arena(folder):
    likely = json.loads(call(ONNXC, "info", folder / "model.onnx", "--json"))["arena"]["likely"]
    expect(set(likely["dims"].values()) == {64} and 0 < likely["lower_bound"] <= likely["bytes"], "a symbolic arena at likely sizes", likely)
    expect("64" in call(ONNXC, "info", folder / "model.onnx"), "the text has it")


def check_gpu(folder):
    """A unit for a GPU: devices of steps, copies between, both arenas."""
    info = json.loads(call(ONNXC, "info", folder / "model.onnx", "--target=cuda-sm80", "--json"))
    steps = [layer for layer in info["layers"] if layer["kernel"] not in ("to_host", "to_device")]
    expect(all(layer["device"] == "gpu" for layer in steps) and info["transfers"] == {"to_host": 0, "to_host_bytes": 0, "to_gpu": 0, "to_gpu_bytes": 0}, "all of it runs on the GPU", info["layers"])
    expect(info["device_arena"]["bytes"] > 0 and info["arena"]["bytes"] == 0, "the arena is there, too", (info["arena"], info["device_arena"]))
    text = call(ONNXC, "info", folder / "model.onnx", "--target=cuda-sm80")
    expect(f"the GPU {len(steps)}, the host 0" in text and "GPU arena" in text and "host arena" in text, "the text has them", text)
    text = call(ONNXC, "explain", folder / "model.onnx", "left_conv", "--target=cuda-sm80")
    expect("device    the GPU" in text and "GPU's arena at" in text, "explain tells the device", text)
    with tempfile.TemporaryDirectory() as work:
        call(ONNXC, "profile", folder / "model.onnx", "--target=cuda-sm80", "--on=emulator", "--seconds", 0.05, "--json", Path(work) / "p.json", "--trace", Path(work) / "t.json")
        measured = json.loads((Path(work) / "p.json").read_text())["steps"]
        expect([s["number"] for s in measured] == [layer["step"] for layer in info["layers"]] and all(s["calls"] > 0 and s["best_ns"] > 0 for s in measured), "each step on the GPU is measured", measured)
        begins = [event["ts"] for event in json.loads((Path(work) / "t.json").read_text())["traceEvents"] if event.get("ph") == "X"]
        expect(begins == sorted(begins) and len(begins) == len(measured), "steps on the GPU follow each other", begins)
    for option, said in (("--threads=2", "run on one thread"), ("--huge-pages", "units for processors")):
        refusal = call(ONNXC, folder / "model.onnx", "-o", "/dev/null", "--target=cuda-sm80", option, status=2)
        expect(said in refusal, f"{option} is refused", refusal)
    expect("none; say --target" in call(ONNXC, "run", folder / "model.onnx", "--on=gpu", status=2), "--on wants a target")
    expect("device" not in call(ONNXC, "explain", folder / "model.onnx", "left_conv"), "and no device where there is one alone")


def check_code_budget(root, folder):
    for number, (form, file) in enumerate((("cpp", "model.cpp"), ("object", "model.o"), ("shared", "model.so"))):
        out = root / f"code{number}"
        out.mkdir()
        said = call(ONNXC, folder / "model.onnx", "--emit", form, "-o", out / file, "--max-code", 100, status=4)
        expect(list(out.iterdir()) == [], "what exceeds --max-code is not written", said)
        expect("the code would take" in said and "step " in said, "and its steps are named", said)
        call(ONNXC, folder / "model.onnx", "--emit", form, "-o", out / file, "--max-code", "10M")
        expect((out / file).exists(), "what does not is")


def check_explain(folder):
    model = folder / "model.onnx"
    by_name, by_output = call(ONNXC, "explain", model, "left_relu"), call(ONNXC, "explain", model, "left")
    expect("does      Conv 'left_conv' -> left" in by_name and "does      Relu 'left_relu' -> left_relu" in by_name, "what was fused shares a step", by_name)
    step = by_output.splitlines()[1]
    expect(step.startswith("step ") and step in by_name, "a name and the name of an output lead to one step", by_output)
    number = step.split()[1].rstrip(":")
    expect(step in call(ONNXC, "explain", model, number), "so does its number")
    expect("kernel" in by_output and any(why in by_output for why in ("the cheapest of", "the only kernel", "--weights-growth allows more")), "why this kernel", by_output)
    expect("arena at" in by_output and "live from step" in by_output, "where results lie", by_output)
    whole = call(ONNXC, "explain", model)
    expect(all(f"'{n}'" in whole for n in ("stem", "act", "left_conv", "left_relu", "right_conv", "right_act", "join", "head")), "each node has a step", whole)
    refusal = call(ONNXC, "explain", model, "left_cony", status=2)
    expect("'left_conv'" in refusal, "the closest names", refusal)
    call(ONNXC, "explain", model, "999", status=2)
    expect("<--" in call(ONNXC, model, "--explain", "--emit", "header"), "--explain still prints candidates")


def check_taps(root, models, proto):
    folder = models["branches"]
    feeds = {"x": random(1, 3, 32, 32, seed=9)}
    wanted = intermediates(proto, feeds)
    out = root / "taps" / "out"
    hostile = "a/../<b>\"&"
    call(ONNXC, "run", folder / "model.onnx", "--tap", "left", "--tap", hostile, "--tap", "flat", "--tap", "y", "--output", out)
    files = {p.name for p in out.iterdir()}
    expect(files == {"output_0.pb", "left.pb", "a_..__b___.pb", "flat.pb"}, "the files", files)
    for path in out.iterdir():
        tensor = onnx.load_tensor(path)
        expect(np.allclose(numpy_helper.to_array(tensor), wanted[tensor.name], rtol=1e-4, atol=1e-5), f"{tensor.name} is right")
    refusal = call(ONNXC, "run", folder / "model.onnx", "--tap", "lef", status=2)
    expect("'left'" in refusal, "the closest names", refusal)
    refusal = call(ONNXC, "run", models["loop"] / "model.onnx", "--tap", "scaled", status=2)
    expect("'loop'" in refusal, "a value inside of a loop", refusal)


def check_bisect(root, folder, proto):
    own = call(ONNXC, "bisect", folder / "model.onnx")
    expect("-O0" in own and "all are within" in own, "the reference is named, and all is right", own)
    exact = call(ONNXC, "bisect", folder / "model.onnx", "--rtol", 0, "--atol", 0, status=1)  # rounding differs from the first convolution on
    expect("Conv 'stem'" in exact and "step      1: " in exact and "NOT within 0 + 0 |expected|" in exact, "the node inside of a fused step", exact)
    wanted = intermediates(proto, {"x": random(1, 3, 32, 32, seed=9)})
    for wrong in ((), ("right",), ("left_relu", "sum"), ("right_sigmoid", "left_relu"), ("y",)):
        data = root / "bisect" / ("_".join(wrong) or "right_all") / "set"
        data.mkdir(parents=True)
        for path in (folder / "test_data_set_0").glob("input_*.pb"):
            (data / path.name).write_bytes(path.read_bytes())
        for k, (name, array) in enumerate(wanted.items()):
            array = np.array(array)
            if name in wrong:
                array.flat[0] += 0.5
            (data / f"value{k}.pb").write_bytes(numpy_helper.from_array(array, name).SerializeToString())
        said = call(ONNXC, "bisect", folder / "model.onnx", "--data", data, status=1 if wrong else 0)
        order = [o for n in proto.graph.node for o in n.output]
        if not wrong:
            expect(f"{len(order)} values compared; all are within" in said, "values of another program", said)
            continue
        first = min(wrong, key=order.index)
        node = next(n for n in proto.graph.node if first in n.output)
        expect(f"the first to depart, in the order of the nodes: '{first}'" in said and f"node      {node.op_type} '{node.name}'" in said and "\n  step      " in said, f"{wrong}: found", said)
        expect(f"{len(wrong)} depart" in said, f"{wrong}: counted", said)


def quantised(folder):
    """Convolutions between QuantizeLinear and DequantizeLinear, whose weights have a scale for each channel."""
    draw, nodes, constants, x = np.random.default_rng(5), [], {"scale": np.float32(0.02), "zero": np.uint8(128)}, "x"
    for i in range(3):
        constants |= {f"w{i}": draw.integers(-127, 128, (16, 16, 3, 3)).astype(np.int8), f"s{i}": np.full(16, 0.003, np.float32), f"z{i}": np.zeros(16, np.int8)}
        nodes += [helper.make_node("DequantizeLinear", [f"w{i}", f"s{i}", f"z{i}"], [f"wd{i}"], f"weights{i}", axis=0), helper.make_node("Conv", [x, f"wd{i}"], [f"c{i}"], f"conv{i}", pads=[1] * 4),
                  helper.make_node("QuantizeLinear", [f"c{i}", "scale", "zero"], [f"q{i}"], f"quantise{i}"), helper.make_node("DequantizeLinear", [f"q{i}", "scale", "zero"], [f"d{i}"], f"dequantise{i}")]
        x = f"d{i}"
    save(folder, nodes, [("x", (1, 16, 20, 20))], [(x, None)], constants)


def check_origins(folder):
    """A step stands for the nodes that it does: not for constants, nor for what other steps do."""
    rows = list(csv.DictReader(call(ONNXC, "info", folder / "model.onnx", "--csv").splitlines()))
    expect(rows and not any("weights" in row["nodes"] for row in rows), "nodes of constants belong to no step", [row["nodes"] for row in rows])
    for row in rows:
        # The last DequantizeLinear of a layer belongs to the next one, which reads bytes.
        numbers = {name[-1] for name in row["nodes"].split("; ") if name.startswith(("conv", "quantise"))}
        expect(len(numbers) == 1, "a step does nodes of one layer", row["nodes"])
    expect("computed while compiling" in call(ONNXC, "explain", folder / "model.onnx", "weights0"), "what became of a constant's node is said")


def check_floats(folder):
    """A Softmax between quantised values: explain, info and its JSON say that it is in floats, and why; nothing is said of the convolution."""
    nodes = [helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["q"], "quantise"), helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["d"], "dequantise"),
             helper.make_node("DequantizeLinear", ["w", "scale"], ["wd"], "weights"), helper.make_node("Conv", ["d", "wd"], ["c"], "conv"), helper.make_node("Softmax", ["c"], ["s"], "soft", axis=1),
             helper.make_node("QuantizeLinear", ["s", "scale", "zero"], ["qs"], "quantise_again"), helper.make_node("DequantizeLinear", ["qs", "scale", "zero"], ["y"], "dequantise_again")]
    save(folder, nodes, [("x", (1, 8, 4, 4))], [("y", None)], {"w": np.ones((8, 8, 1, 1), np.int8), "scale": np.float32(0.02), "zero": np.uint8(128)})
    model, why = folder / "model.onnx", "Softmax has no form on bytes"
    expect(f"Softmax 'soft' -> s: in floats, as {why}; step" in call(ONNXC, "explain", model, "soft"), "explain says why a node is in floats")
    expect("in floats" not in call(ONNXC, "explain", model, "conv"), "and nothing of others")
    whole = call(ONNXC, "explain", model)
    expect(f"  floats    Softmax 'soft' -> s: {why}\n" in whole and f"although the network is quantised\n  Softmax 'soft': {why}\n" in whole, "with its step, and together at the end", whole)
    expect(f"in floats   Softmax 'soft': {why}\n" in call(ONNXC, "info", model), "info counts it")
    told = json.loads(call(ONNXC, "info", model, "--json"))["floats"]
    expect(told == [{"op": "Softmax", "reason": why, "nodes": [{"name": "soft", "output": "s"}]}], "so does its JSON", told)


def check_devices(folder):
    """Of a unit for a GPU, explain, info, its JSON, report and --explain say which node stays on the host, and why."""
    save(folder, [helper.make_node("Relu", ["x"], ["a"], "first"), helper.make_node("Compress", ["a", "k"], ["n"], "pick")], [("x", (4,))], [("n", None)], {"k": np.array([True, False, True, True])})
    model, why, target = folder / "model.onnx", "the host must know the extents of its result", ("--target", "cuda-sm80+x86-64-v3", "--devices", "gpu,cpu")
    expect(f"Compress 'pick' -> n: on the host, as {why}; step" in call(ONNXC, "explain", model, "pick", *target), "explain says why a node is on the host")
    expect("  device    the GPU\n" in call(ONNXC, "explain", model, "first", *target), "and that another is on the GPU")
    whole = call(ONNXC, "explain", model, *target)
    expect(f"  device    the host: {why}\n" in whole and f"although the unit is for a GPU\n  Compress 'pick': {why}\n" in whole, "with its step, and together at the end", whole)
    expect("device" not in call(ONNXC, "explain", model), "nothing is said of devices where there is one")
    expect(f"on the host  Compress 'pick': {why}\n" in call(ONNXC, "info", model, *target), "info tells it")
    told = json.loads(call(ONNXC, "info", model, "--json", *target))["on_host"]
    expect(told == [{"op": "Compress", "reason": why, "nodes": [{"name": "pick", "output": "n"}]}], "so does its JSON", told)
    call(ONNXC, "report", model, *target, "--json", folder / "report.json")
    steps = json.loads((folder / "report.json").read_text())["steps"]
    devices = {step["label"]: step.get("device") for step in steps}
    expect(devices.get("gpu_map") == "gpu" and devices.get("scalar_compress") == "host", "report tells the device of each step", devices)
    printed = call(ONNXC, model, "-o", folder / "model.cu", *target, "--explain")
    expect(f"    on the host: {why}\n" in printed and "    on the GPU\n" in printed, "--explain prints it", printed)
    printed = call(ONNXC, model, "-o", folder / "model.cu", *target[:2], "--explain")
    expect(re.search(r"us\* +[\d.]+ us +onnxc.Map 'first'", printed) and "as chosen (*)" in printed, "--devices=auto leaves a node beside its reader, and --explain tells both costs", printed)


def check_ended_run(folder):
    """A run that a status ends: what the status says, the step, and its node, behind what was said before."""
    save(folder, [helper.make_node("Relu", ["x"], ["a"], "first"), helper.make_node("Cast", ["a"], ["i"], "index", to=T.INT64), helper.make_node("Gather", ["table", "i"], ["b"], "pick"), helper.make_node("Exp", ["b"], ["y"], "last")],
         [("x", (4,))], [("y", None)], {"table": random(3, 5)})
    data = folder / "test_data_set_0"
    data.mkdir()
    (data / "input_0.pb").write_bytes(numpy_helper.from_array(np.array([0, 1, 2, 9], np.float32), "x").SerializeToString())
    for target in "native", "cuda-sm80":  # a GPU does not tell which step it was
        done = subprocess.run([ONNXC, "run", folder / "model.onnx", "--target", target, "-O1"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        last = done.stdout.splitlines()[-1]
        expect(done.returncode == 1 and "error[E0706]: " in last and "Gather 'pick': run: an index is out of range; the run ended in step " in last, "the status, the step and the node", done.stdout)


def main():
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        models = {name: root / name for name in ("branches", "dynamic", "loop")}
        proto = branches(models["branches"])
        dynamic(models["dynamic"])
        loop(models["loop"])
        check_units(root, models)
        check_profile(root, models)
        check_variants(root, models["dynamic"])
        check_info(models["branches"])
        check_likely_arena(models["dynamic"])
        check_gpu(models["branches"])
        check_code_budget(root, models["branches"])
        check_explain(models["branches"])
        check_floats(root / "floats")
        check_devices(root / "devices")
        check_taps(root, models, proto)
        check_bisect(root, models["branches"], proto)
        quantised(root / "quantised")
        check_origins(root / "quantised")
        check_ended_run(root / "ended")
    CHECKS.end()


main()
