#!/usr/bin/env python3
"""Compares onnxc on classical models with ONNX Runtime and, where the model comes from them, with LightGBM, XGBoost, lleaves and tl2cgen: one thread, batches of several sizes.

  bench/classical_models.py models                                models that are trained here
  bench/classical_peers.py models/*/ --zoo ZOO --out results      with those of a zoo; table.md and results.json
  bench/classical_peers.py models/lightgbm_500 --rows 1,64
  bench/classical_peers.py models/*/ --zoo ZOO --section docs/measurements/2026-11-classical.md      writes the table into its section "Classical models"
  bench/compare.py before/results.json results/results.json

A model is an .onnx file or a folder with model.onnx; rows come from the data set beside it. Engines run in one process and take turns in blocks of at least 20 ms. Every call has other
rows than the one before, as many batches as 10,000 rows give: on a row that comes again, branches are predicted. docs/benchmarks.md explains each column.

Exit status: 0, or 1 where onnxc failed on a model, 2 for wrong usage, 3 where a file is not there, 77 where ONNX Runtime is not installed (tools/setup.sh --bench-deps).
"""
import argparse
import json
import sys
import time
from pathlib import Path

import environment

OF_ZOO = ("lightgbm_clf", "xgboost_reg", "random_forest_clf", "gradient_boosting_reg", "svm_rbf", "logistic_pipeline", "random_forest_strings", "tfidf_text")
HEADING = "## Classical models"
INTRODUCTION = ("Forests, support vectors, neighbours and pipelines, on one thread, medians in microseconds a call. Every call has other rows than the one before. [Benchmarks](../benchmarks.md#"
                "classical-models-benchclassical_peerspy) explains the columns; `bench/classical_peers.py --section` writes this section.")


def fail(message, status=2):
    print(f"classical_peers: {message}", file=sys.stderr)
    sys.exit(status)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", type=Path)
    parser.add_argument("--zoo", metavar="DIR", type=Path, help=f"also these of a folder: {', '.join(OF_ZOO)}")
    parser.add_argument("--rows", default="1,16,1000,10000", metavar="LIST", help="sizes of batches (default: 1,16,1000,10000)")
    parser.add_argument("--seconds", type=float, default=1, metavar="S", help="of measuring for each engine and size (default: 1)")
    parser.add_argument("--peers", default="ort,lightgbm,xgboost,lleaves,tl2cgen", metavar="LIST", help="which engines beside onnxc; what is not installed is left out (default: all)")
    parser.add_argument("--option", action="append", default=[], metavar="ARG", help="an option for onnxc; may be repeated")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write table.md and results.json there")
    parser.add_argument("--section", type=Path, metavar="FILE", help=f"write the table into the section '{HEADING[3:]}' of this page")
    options = parser.parse_args()
    options.peers = [name for name in options.peers.split(",") if name]
    try:
        options.rows = [int(size) for size in options.rows.split(",")]
    except ValueError:
        fail("--rows takes numbers")
    if not options.models and not options.zoo:
        fail("which models? (--help tells)")
    if min(options.rows) < 1 or max(options.rows) > 10_000 or options.seconds <= 0:
        fail("--rows are 1 to 10000, --seconds are positive")
    return options


def find_models(options):
    paths = [path / "model.onnx" if path.is_dir() else path for path in options.models]
    paths += [options.zoo / name / "model.onnx" for name in OF_ZOO] if options.zoo else []
    for path in paths:
        if not path.is_file():
            fail(f"{path}: no such file", 3)
    return paths


def rows_of(path, count=10_000):
    """{input: array of `count` rows}. Where the data set has fewer, columns of its rows are drawn anew, and sentences from their words."""
    import numpy as np

    from model_data import read_inputs

    feeds, random = read_inputs(path), np.random.default_rng(1)
    if feeds is None:
        raise ValueError("no test_data_set_0 beside the model")

    def more(array):
        if len(array) >= count:
            return array[:count]
        if array.dtype == object and any(" " in text for text in array.flat):
            texts = [text.split() for text in array.flat]
            words = [word for text in texts for word in text]
            drawn = [" ".join(random.choice(words, len(texts[k]))) for k in random.integers(0, len(texts), count)]
            return np.array(drawn, object).reshape(count, *array.shape[1:])
        flat = array.reshape(len(array), -1)
        drawn = [column[random.integers(0, len(column), count)] for column in flat.T]
        return np.stack(drawn, 1).reshape(count, *array.shape[1:])

    return {name: more(array) for name, array in feeds.items()}


def difference(ours, theirs, batches):
    """"equal" where all bits of a few batches are, else the largest relative L2 difference and how many labels are others."""
    import numpy as np

    from comparison import difference as relative

    largest, others, labels, equal = 0.0, 0, 0, True
    for k in range(min(4, batches.count)):
        for a, e in zip(ours.outputs(k), theirs.outputs(k)):
            if e.dtype.kind == "f":
                equal &= a.shape == e.shape and a.tobytes() == e.tobytes()
                largest = max(largest, relative([a], [e]))
            else:
                others, labels = others + int(np.sum(a != e)), labels + e.size
    return "equal" if equal and not others else f"{largest:.0e}" + (f", {others} of {labels} labels" if others else "")


def agrees(scores, expected):
    """Whether a peer's scores are those of ONNX Runtime: all of them, or those of the second class."""
    import numpy as np

    wanted = [e for e in expected if e.dtype.kind == "f"]
    wanted = wanted[0] if scores.size == wanted[0].size else wanted[0][:, -1]
    return scores.size == wanted.size and np.allclose(scores.ravel(), wanted.ravel(), rtol=1e-3, atol=1e-4)


def compare(path, rows, size, options, notes):
    """What report.py and compare.py take for the result of a model, with the rows of a batch."""
    import forest_engines
    from comparison import one_line
    from measuring import measure

    batches = forest_engines.Batches(rows, size)
    name = path.parent.name if path.name == "model.onnx" else path.stem
    engines = {}
    makers = {"onnxc": lambda: forest_engines.Onnxc(path, batches, options.option)}
    makers |= {peer: lambda peer=peer: forest_engines.PEERS[peer](path, batches) for peer in options.peers}
    for key, make in makers.items():
        try:
            engine = make()
            engine.calls(1)
            engines[key] = engine
        except forest_engines.Absent:
            pass
        except Exception as error:
            notes[name, forest_engines.TITLES[key]] = one_line(error)
    result = {"model": f"{name}, {size}", "name": name, "rows": size, "threads": 1, "trees": forest_engines.trees(path), "leaves": forest_engines.leaves(path), "engines": {}}
    if engines:
        result["engines"] = measure(list(engines.values()), options.seconds)
    for key, engine in engines.items():
        if isinstance(engine, forest_engines.Native) and "ort" in engines and not agrees(engine.first(), engines["ort"].outputs(0)):
            notes[name, forest_engines.TITLES[key]] = "gives other scores than ONNX Runtime"
    if {"onnxc", "ort"} <= engines.keys():
        result["difference"] = difference(engines["onnxc"], engines["ort"], batches)
    return result


def table(run):
    from forest_engines import TITLES
    from report import factor, plain, text
    from report import table as markdown

    peers = [name for name in run["machine"]["peers"] if any(name in r["engines"] for r in run["results"])]
    lines = []
    for r in run["results"]:
        median = {name: 1e6 * figures["median"] for name, figures in r["engines"].items()}
        first = r["rows"] == run["rows"][0]
        lines.append([r["name"] if first else "", *((str(r[what]) if r[what] else "-") if first else "" for what in ("trees", "leaves")), str(r["rows"]),
                      *(plain(median.get(name), 4) for name in ("onnxc", *peers)), text(factor(r, peers=["ort"]), "{:.2f}"), text(factor(r, "best", ["ort"]), "{:.2f}"),
                      *([text(factor(r), "{:.2f}")] if len(peers) > 1 else []), r.get("difference", "-")])
    head = ["model", "trees", "leaves", "rows", *(f"{TITLES[name]} us" for name in ("onnxc", *peers)), "ratio to ONNX Runtime", "of bests",
            *(["to the fastest"] if len(peers) > 1 else []), "differs"]
    return markdown(head, lines)


def means(run):
    """The geometric mean of the ratios for each size."""
    import math
    import statistics

    from report import factor

    lines = []
    for size in run["rows"]:
        results = [r for r in run["results"] if r["rows"] == size]
        told = []
        for what, peers in ("to ONNX Runtime", ["ort"]), ("to the fastest", None):
            factors = [f for r in results if (f := factor(r, peers=peers))]
            if factors:
                told.append(f"{math.exp(statistics.fmean(map(math.log, factors))):.2f} {what} (least {min(factors):.2f})")
        if told:
            lines.append(f"- {size} row{'s' if size > 1 else ''}: {', '.join(told)}")
    return lines


def markdown(run):
    from forest_engines import TITLES

    machine = run["machine"]
    peers = ", ".join(f"{TITLES[name]} {version}" for name, version in machine["peers"].items())
    words = {"stolen": "stolen by other machines on the host", "others": "taken by other programs"}
    disturbance = ", ".join(f"{share:.0%} {words[what]}" for what, share in run["disturbance"].items())
    lines = [*table(run), "", "Geometric means of the ratios:", "", *means(run), "",
             f"{machine['processor']}, one thread. {machine['onnxc']} at {machine['commit']}, {machine['compiler']}; {peers}. {machine['date']}. "
             f"Of the processors' time in the run: {disturbance or 'unknown'}."]
    notes = [f"- {model}, {engine}: {note}" for model, engine, note in run["notes"]]
    return "\n".join(lines + ([""] + notes if notes else [])) + "\n"


def main():
    options = parse()
    try:
        environment.enter(("numpy", "onnx", "onnxruntime", "sklearn"))
    except environment.Missing as error:
        fail(error, 77)
    models = find_models(options)
    import importlib.metadata

    import forest_engines
    import machine
    from measuring import Disturbance
    from onnxc import build
    from report import factor, plain, write_section

    if unknown := set(options.peers) - forest_engines.PEERS.keys():
        fail(f"--peers knows {', '.join(forest_engines.PEERS)}, not {', '.join(sorted(unknown))}")
    options.peers = forest_engines.available(options.peers)
    packages = {"xgboost": "xgboost-cpu"}
    versions = {name: importlib.metadata.version(packages.get(name, forest_engines.PEERS[name].module)) for name in options.peers}
    disturbance, notes = Disturbance(), {}
    run = {"machine": machine.describe(build.find_executable(), versions), "threads": 1, "seconds": options.seconds, "rows": options.rows, "options": options.option, "results": []}
    for number, path in enumerate(models, 1):
        start = time.monotonic()
        try:
            rows = rows_of(path)
        except Exception as error:
            fail(f"{path}: {error}", 3)
        for size in options.rows:
            result = compare(path, rows, size, options, notes)
            run["results"].append(result)
            said = [f"{name} {plain(1e6 * f['median'], 4)} us" for name, f in result["engines"].items()]
            ratio = factor(result)
            said += [f"ratio to the fastest {ratio:.2f}"] if ratio else []
            print(f"[{number}/{len(models)}] {result['model']} rows: {', '.join(said)}, differs: {result.get('difference', '-')} ({time.monotonic() - start:.0f} s)", file=sys.stderr, flush=True)
    run["disturbance"] = disturbance.shares()
    run["notes"] = [[*key, note] for key, note in notes.items()]
    print(markdown(run), end="")
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "table.md").write_text(markdown(run))
        (options.out / "results.json").write_text(json.dumps(run, indent=1) + "\n")
    if options.section:
        write_section(options.section, HEADING, f"{INTRODUCTION}\n\n{markdown(run)}")
    return 0 if all("onnxc" in result["engines"] for result in run["results"]) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        fail("interrupted", 130)
