"""Compares the engines on one model: everything a report tells of it, as plain data.

    {"model": name, "file": path, "threads": n, "macs": n or None,
     "engines": {name: {"median", "best", "p90", "blocks", "calls_a_block"}},          seconds a call
     "handover": [before, after] all that, of several threads on several processors,  seconds for a cache line from one to another
     "one_thread": the figures of onnxc on one thread, where it took its turns beside the others,
     "weights_bytes", "model_weights_bytes", "arena_bytes",                            of onnxc
     "onnxc_to_ort_rel_l2": the largest relative L2 difference of an output,
     "first_result": {name: {...}},                                                    see first_result.py
     "notes": {name: why it is missing}}
"""
import json
import math
import subprocess

import numpy as np

import first_result
import native
from engines import PEERS, Onnxc, OnnxRuntime
from measuring import measure
from model_data import make_inputs, read_inputs


def one_line(error):
    return " ".join(str(error).split())[:300]


def difference(actual, expected):
    """The largest relative L2 difference over outputs."""
    largest = 0.0
    for a, e in zip(actual, expected):
        if e.dtype.kind not in "fiub" and e.dtype.name != "bfloat16":
            continue
        if a.shape != e.shape:
            return math.inf
        norm = float(np.linalg.norm(e.astype(np.float64))) or 1.0
        largest = max(largest, float(np.linalg.norm(a.astype(np.float64) - e.astype(np.float64))) / norm)
    return largest


def look_inside(model_path, symbols, onnxc):
    """(multiply-adds, bytes of weights) of the model with these extents, counted as direct products; None where they are not known."""
    command = [onnxc, "info", "--json", model_path]
    for name, extent in symbols.items():
        command += ["--dim", f"{name}={extent}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return None, None
    info = json.loads(done.stdout)
    macs = info.get("macs", "")
    return int(macs) if macs.isdigit() else None, info["weight_bytes"]


def compare(model_path, options, onnxc, look=lambda engines: {}):
    """The figures of one model; `onnxc` is the executable. An engine that cannot run the model is a note. `look`: what else the result has of {name: engine}."""
    name = model_path.parent.name if model_path.name == "model.onnx" else model_path.stem
    result = {"model": name, "file": str(model_path), "threads": options.threads, "macs": None, "engines": {}, "first_result": {}, "notes": {}}
    try:
        feeds = read_inputs(model_path)
        if feeds is None:
            feeds = make_inputs(OnnxRuntime.load(model_path, None, 1))
    except Exception as error:
        result["notes"]["inputs"] = one_line(error)
        return result

    engines = {}
    makers = {"onnxc": lambda: Onnxc(model_path, feeds, options.threads, options.option, options.native_loop)}
    makers |= {peer: lambda peer=peer: PEERS[peer](model_path, feeds, options.threads) for peer in options.peers}
    if options.scaling:
        makers["one_thread"] = lambda: Onnxc(model_path, feeds, 1, options.option, options.native_loop, name="one_thread")
    for key, make in makers.items():
        try:
            engines[key] = make()
        except Exception as error:
            result["notes"][key] = one_line(error)
    if engines:
        before = native.handover(options.threads)
        result["engines"] = measure(list(engines.values()), options.seconds, options.threads)
        result["handover"] = [seconds for seconds in (before, native.handover(options.threads)) if seconds]
    if engines.pop("one_thread", None):
        result["one_thread"] = result["engines"].pop("one_thread")

    if "onnxc" in engines:
        ours = engines["onnxc"]
        result["macs"], result["model_weights_bytes"] = look_inside(model_path, ours.symbols, onnxc)
        result["weights_bytes"], result["arena_bytes"] = ours.weights_bytes, ours.arena_bytes
        if "ort" in engines:
            result["onnxc_to_ort_rel_l2"] = difference(ours.outputs(), engines["ort"].outputs())
    result |= look(engines)
    if options.full:
        result["model_file_bytes"] = model_path.stat().st_size
        for key in engines:
            try:
                if key == "onnxc":
                    figures = first_result.of_onnxc(model_path, engines[key], feeds, options.threads, options.option, onnxc)
                else:
                    figures = first_result.of_peer(key, model_path, feeds, options.threads)
                result["first_result"][key] = figures
            except (RuntimeError, subprocess.CalledProcessError) as error:
                result["notes"][f"first result of {key}"] = one_line(error)
    return result
