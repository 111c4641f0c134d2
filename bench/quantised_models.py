#!/usr/bin/env python3
"""Compares onnxc with ONNX Runtime and OpenVINO on quantised networks: those of a zoo, and float networks of it after ONNX Runtime's own quantiser.

  bench/quantised_models.py ZOO                                  all of them, on one thread
  bench/quantised_models.py ZOO --only 'resnet18|gemv'           those whose name contains this; --list prints the names
  bench/quantised_models.py ZOO --threads 1,2 --out results      also on two threads; table.md and results.json
  bench/quantised_models.py ZOO --threads 1,2 --section docs/measurements/2026-11-quantised.md      writes the table into its section "Quantised networks"
  bench/compare.py before/results.json results/results.json

ZOO has a folder with model.onnx and test_data_set_0 for each network. Engines run in one process and take turns in blocks of at least 20 ms. Results are compared with ONNX Runtime's
without optimisations. What the quantiser makes is kept in --models and not made again. docs/benchmarks.md explains each column.

Exit status: 0, or 1 where onnxc failed on a model or gave another result than it may, 2 for wrong usage, 3 where a file is not there, 77 where the peers are not installed
(tools/setup.sh --bench-deps).
"""
import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import environment

OF_ZOO = ("resnet18_qdq_int8", "resnet18_qoperator_int8", "mobilenet_v2_qdq_int8", "mlperf_tiny_ic_int8", "mlperf_tiny_kws_int8", "mlperf_tiny_vww_int8", "mlperf_tiny_ad_int8", "emx_micro_kws_qdq",
          "lenet5_digits_qdq", "bert_mini_dynamic_int8", "mlp_matmul4bits", "fp16_resnet18", "bf16_mlp")
HEADING = "## Quantised networks"
INTRODUCTION = ("Medians in microseconds a call. The first ones were quantised by their makers; the name of the others says what ONNX Runtime's quantiser was told, and their weights are those of the zoo's float "
                "networks. [Benchmarks](../benchmarks.md#quantised-networks-benchquantised_modelspy) explains the names and the columns; `bench/quantised_models.py --section` writes this section.")
HERE = Path(__file__).resolve().parent


def fail(message, status=2):
    print(f"quantised_models: {message}", file=sys.stderr)
    sys.exit(status)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("zoo", nargs="?", metavar="ZOO", type=Path)
    parser.add_argument("--only", metavar="REGEX", default="", help="networks whose name contains this")
    parser.add_argument("--list", action="store_true", help="print the names and end")
    parser.add_argument("--models", type=Path, metavar="DIR", help="where made networks are kept (default: $ONNXC_CACHE/quantised-FORM, a folder for each form of the program that makes them)")
    parser.add_argument("--threads", default="1", metavar="LIST", help="of each engine: 1, 2 or 1,2 (default: 1)")
    parser.add_argument("--seconds", type=float, default=1, metavar="S", help="of measuring for each engine, network and number of threads (default: 1)")
    parser.add_argument("--peers", default="ort,ov", metavar="LIST", help="which of ort, ov (default: both)")
    parser.add_argument("--option", action="append", default=[], metavar="ARG", help="an option for onnxc; may be repeated")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write table.md and results.json there, after each network")
    parser.add_argument("--section", type=Path, metavar="FILE", help=f"write the table into the section '{HEADING[3:]}' of this page")
    options = parser.parse_args()
    try:
        options.threads = [int(count) for count in options.threads.split(",")]
        options.only = re.compile(options.only)
    except ValueError:
        fail("--threads takes numbers")
    except re.error as error:
        fail(f"--only: {error}")
    options.peers = [name for name in options.peers.split(",") if name]
    if unknown := set(options.peers) - {"ort", "ov"}:
        fail(f"--peers knows ort and ov, not {', '.join(sorted(unknown))}")
    if not options.zoo and not options.list:
        fail("which zoo? (--help tells)")
    if min(options.threads) < 1 or options.seconds <= 0:
        fail("--threads and --seconds are positive")
    # What comparison.compare takes beside these.
    options.native_loop, options.scaling, options.full = True, False, False
    return options


def folder_of_made(options):
    """Of this form of the program that makes them."""
    if options.models:
        return options.models
    cache = Path(os.environ.get("ONNXC_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "onnxc")
    return cache / f"quantised-{hashlib.sha256((HERE / 'quantisers.py').read_bytes()).hexdigest()[:12]}"


def model_of(name, zoo, made):
    """The path of a model, which is made if need be. Throws what the quantiser's process said last."""
    if name in OF_ZOO:
        return zoo / name / "model.onnx"
    path = made / name / "model.onnx"
    if not path.is_file():
        done = subprocess.run([sys.executable, "-B", str(HERE / "quantisers.py"), str(zoo), str(made), name], capture_output=True, text=True, errors="replace")
        if done.returncode:
            raise RuntimeError((done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1])
    return path


def steps_of_outputs(path):
    """For each output the step that its values are multiples of, where one scale was last: 1 of an integer, None where there is no such step."""
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(path).graph
    maker = {name: node for node in graph.node for name in node.output}
    constants = {t.name: t for t in graph.initializer}
    found = []
    for output in graph.output:
        node = maker.get(output.name)
        while node is not None and node.op_type in ("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Identity"):
            node = maker.get(node.input[0])
        scale = numpy_helper.to_array(constants[node.input[1]]) if node is not None and node.op_type == "DequantizeLinear" and node.input[1] in constants else None
        integer = onnx.helper.tensor_dtype_to_np_dtype(output.type.tensor_type.elem_type).kind in "iu"
        found.append(1.0 if integer else float(scale.item()) if scale is not None and scale.size == 1 else None)
    return found


def steps_apart(actual, expected, steps):
    """How many of the quantised outputs differ, of how many, and by how many steps at most; None where no output is quantised."""
    import numpy as np

    apart = [np.rint(abs(a.astype(np.float64) - e.astype(np.float64)) / step) for a, e, step in zip(actual, expected, steps) if step and a.shape == e.shape]
    return [int(sum((a > 0).sum() for a in apart)), sum(a.size for a in apart), int(max(a.max(initial=0) for a in apart))] if apart else None


def looker(path):
    """What comparison.compare shall say of the results: {"differs": {engine: relative L2}, "known_to", "steps"}."""
    from comparison import difference
    from model_data import read_outputs

    expected, case = read_outputs(path), path.parent / "case.json"
    known_to = json.loads(case.read_text()).get("tol_rel_l2") if case.is_file() else None

    def look(engines):
        if expected is None:
            return {}
        outputs = {name: engine.outputs() for name, engine in engines.items()}
        said = {"differs": {name: difference(values, expected) for name, values in outputs.items()}, "known_to": known_to}
        return said | ({"steps": steps_apart(outputs["onnxc"], expected, steps_of_outputs(path))} if "onnxc" in outputs else {})

    return look


def is_right(result):
    """Not more of a difference than the result is known to; where nothing is known, nothing is wrong."""
    ours, known_to = result.get("differs", {}).get("onnxc"), result.get("known_to")
    return ours is None or known_to is None or ours <= known_to


def table(run):
    from engines import TITLES
    from report import factor, plain, text
    from report import table as markdown

    peers, several = list(run["machine"]["peers"]), len(run["threads"]) > 1
    lines = []
    for r in run["results"]:
        median = {name: 1e6 * figures["median"] for name, figures in r["engines"].items()}
        differs, steps = r.get("differs", {}), r.get("steps")
        growth = r["weights_bytes"] / r["model_weights_bytes"] if r.get("model_weights_bytes") and "weights_bytes" in r else None
        lines.append([r["model"] if r["threads"] == run["threads"][0] else "", *([str(r["threads"])] if several else []), *(plain(median.get(name), 4) for name in ("onnxc", *peers)),
                      text(factor(r), "{:.2f}"), text(factor(r, "best"), "{:.2f}"), text(growth, "{:.2f}"), text(r.get("of_reading"), "{:.0%}"),
                      text(differs.get("onnxc"), "{:.0e}"), text(differs.get("ort"), "{:.0e}"), text(r.get("known_to"), "{:.0e}"),
                      f"{steps[0]} of {steps[1]}, {steps[2]}" if steps else "-"])
    head = ["model", *(["threads"] if several else []), *(f"{TITLES[name]} us" for name in ("onnxc", *peers)), "ratio", "of bests", "weights x", "of reading", "differs", "ONNX Runtime differs",
            "known to", "steps"]
    return markdown(head, lines)


def markdown(run):
    from report import provenance, summary

    wrong = [f"{r['model']} on {r['threads']} ({r['differs']['onnxc']:.1e} of {r['known_to']:.1e})" for r in run["results"] if not is_right(r)]
    lines = table(run) + [""]
    for threads in run["threads"]:
        told = summary([r for r in run["results"] if r["threads"] == threads])
        lines.append(f"On {threads} thread{'s' if threads > 1 else ''}: {told}" if len(run["threads"]) > 1 else told)
    lines += ["", f"Results that differ by more than they are known to: {', '.join(wrong) or 'none'}.", "", provenance({**run, "threads": max(run["threads"])})]
    notes = [f"- {r['model']}, {what}: {note}" for r in run["results"] for what, note in r["notes"].items()]
    return "\n".join(lines + ([""] + list(dict.fromkeys(notes)) if notes else [])) + "\n"


def compare(name, path, threads, options, onnxc):
    import comparison
    import native

    options = argparse.Namespace(**{**vars(options), "threads": threads})
    result = comparison.compare(path, options, onnxc, looker(path))
    result["model"] = name
    if name.startswith("gemv") and "onnxc" in result["engines"]:
        size = result["weights_bytes"]
        result["of_reading"] = size / result["engines"]["onnxc"]["median"] / native.reading(threads, size)
    return result


def write(run, options):
    options.out.mkdir(parents=True, exist_ok=True)
    for name, text in ("table.md", markdown(run)), ("results.json", json.dumps(run, indent=1) + "\n"):
        fresh = options.out / f".{name}"
        fresh.write_text(text)
        fresh.replace(options.out / name)


def main():
    options = parse()
    try:
        environment.enter(("numpy", "onnx", "onnxruntime", "openvino"))
    except environment.Missing as error:
        fail(error, 77)
    import engines
    import machine
    import native
    import quantisers
    from measuring import Disturbance
    from onnxc import build
    from report import factor, plain, write_section

    names = [name for name in (*OF_ZOO, *quantisers.NAMES) if options.only.search(name)]
    if options.list:
        print("\n".join(names))
        return 0
    needed = {name if name in OF_ZOO else name.split(".")[0] for name in names} - {"gemv4096"}
    if missing := sorted(name for name in needed if not (options.zoo / name / "model.onnx").is_file()):
        fail(f"{options.zoo}/{missing[0]}/model.onnx: no such file", 3)
    if not names:
        fail("no network's name contains that; --list prints them")
    try:
        onnxc = build.find_executable()
    except FileNotFoundError as error:
        fail(error, 3)
    disturbance, made = Disturbance(), folder_of_made(options)
    run = {"machine": machine.describe(onnxc, engines.peer_versions(options.peers)), "threads": options.threads, "seconds": options.seconds, "options": options.option,
           "peak_macs": native.fma_peak(max(options.threads)), "results": []}
    for number, name in enumerate(names, 1):
        start = time.monotonic()
        try:
            path = model_of(name, options.zoo, made)
        except RuntimeError as error:
            fail(f"{name}: ONNX Runtime's quantiser: {error}", 3)
        for threads in options.threads:
            result = compare(name, path, threads, options, onnxc)
            run["results"].append(result)
            ratio = factor(result)
            said = [f"{engine} {plain(1e6 * f['median'], 4)} us" for engine, f in result["engines"].items()] + ([f"ratio {ratio:.2f}"] if ratio else [])
            said += [f"differs {result['differs']['onnxc']:.0e} of {result['known_to']:.0e}{'' if is_right(result) else ', TOO MUCH'}"] if result.get("known_to") and "onnxc" in result["differs"] else []
            said += [f"{what}: {note}" for what, note in result["notes"].items()]
            print(f"[{number}/{len(names)}] {name}, {threads}: {', '.join(said)} ({time.monotonic() - start:.0f} s)", file=sys.stderr, flush=True)
        run["disturbance"] = disturbance.shares()
        if options.out:
            write(run, options)
    print(markdown(run), end="")
    if options.section:
        write_section(options.section, HEADING, f"{INTRODUCTION}\n\n{markdown(run)}")
    return 0 if all("onnxc" in result["engines"] and is_right(result) for result in run["results"]) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        fail("interrupted", 130)
