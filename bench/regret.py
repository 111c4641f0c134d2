#!/usr/bin/env python3
"""How far the kernels that onnxc chooses by predicted costs are from the best that are measured: bench/regret.py MODEL... [--out FOLDER]
With --steps, how far the predictions themselves are off: bench/regret.py --steps MODEL... [--out FOLDER]
With --list REGEX, also which steps whose kernel and description match are how far off: bench/regret.py --steps --list '^map .*[ui](8|16|32)\\[' QUANTISED...

A model is an .onnx file, a folder with model.onnx, or a folder of models, of which the dense networks are taken (f32, products by constant weights alone). For each, `onnxc tune --regret`
measures the candidates of every node in the whole model. Regret is the time of the chosen ones over that of the best ones, of the nodes that have a choice; 1 is perfect. What --weights-growth
forbids is part of it: "within growth" is the same against what --tune takes. Beside it the whole run, by default over tuned.

Prints a Markdown table, and the nodes with the most regret. --out writes table.md and regret.json, with the machine, the date and the commit.

--steps takes all models of a folder, ONNX's test cases among them, profiles each, and tells which share of the steps takes between half and twice of what is predicted (the best time of a step: what
disturbs a machine only ever adds), for each kernel as well. Steps of sizes that only a run tells have no prediction, and are counted beside. Steps below --least nanoseconds are left out: a clock
tells nothing of them.

Measure on an idle machine. --fresh measures what the cache knows, too. Exit status: 0, 1 where onnxc failed on a model, 2 for no model.
"""
import argparse
import collections
import csv
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import machine

ROOT = Path(__file__).resolve().parent.parent
ONNXC = os.environ.get("ONNXC_EXECUTABLE", str(ROOT / "build" / "onnxc"))


def models_at(path, every=False):
    if not path.is_dir():
        return [path]
    if (path / "model.onnx").exists():
        return [path / "model.onnx"]
    if every:
        return sorted(path.glob("**/model.onnx"))
    import zoo

    return [model for model in zoo.models(path) if zoo.is_dense(model)]


def title(model):
    return model.parent.name if model.name == "model.onnx" else model.stem


def measure(model, options):
    """What `onnxc tune --json` says, or the error's text."""
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder) / "tune.json"
        done = subprocess.run([ONNXC, "tune", str(model), "--json", str(figures), *options], capture_output=True, text=True, errors="replace")
        return json.loads(figures.read_text()) if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


def microseconds(ns):
    return f"{ns / 1e3:,.1f}" if ns < 1e6 else f"{ns / 1e3:,.0f}"


def table(results):
    lines = ["| model | nodes | chosen us | best us | regret | within growth | worst node | whole run |", "|---|---:|---:|---:|---:|---:|---:|---:|"]
    for name, told in results.items():
        worst = max((row["chosen"]["measured_ns"] / row["best"]["measured_ns"] for row in told["rows"]), default=1)
        run = told.get("run")
        compared = f"{run['default_ns'] / run['tuned_ns']:.3f}" if run else "same"
        within = told["chosen_ns"] / max(told["tuned_ns"], 1e-9)
        lines.append(f"| {name} | {len(told['rows'])} | {microseconds(told['chosen_ns'])} | {microseconds(told['best_ns'])} | {told['regret']:.3f} | {within:.3f} | {worst:.2f} | {compared} |")
    chosen, best = (sum(told[key] for told in results.values()) for key in ("chosen_ns", "best_ns"))
    product = 1.0
    for told in results.values():
        product *= told["regret"]
    if results:
        lines.append(f"\nGeometric mean of the regrets {product ** (1 / len(results)):.3f}; of all nodes together {chosen / max(best, 1e-9):.3f}.")
    return "\n".join(lines) + "\n"


def worst_kinds(results, count):
    """Lines for the kinds of nodes that lose most time, each once."""
    kinds = {}
    for name, told in results.items():
        for row in told["rows"]:
            lost, kind = row["chosen"]["measured_ns"] - row["best"]["measured_ns"], kinds.setdefault((name, row["signature"]), {"row": row, "nodes": 0, "share": 0})
            kind["nodes"] += 1
            kind["share"] += lost / told["chosen_ns"]
    worst = sorted(kinds.items(), key=lambda item: -item[1]["share"])[:count]
    lines = ["| model | nodes | signature | chosen | best | regret | of the model |", "|---|---:|---|---|---|---:|---:|"]
    for (name, signature), kind in worst:
        row = kind["row"]
        side = lambda c: f"{c['kernel']} {microseconds(c['measured_ns'])} us (predicted {microseconds(c['predicted_ns'])})"
        if row["chosen"]["kernel"] != row["best"]["kernel"]:
            lines.append(f"| {name} | {kind['nodes']} | `{signature[:200].replace('|', '/')}` | {side(row['chosen'])} | {side(row['best'])} "
                         f"| {row['chosen']['measured_ns'] / row['best']['measured_ns']:.2f} | {kind['share']:.1%} |")
    return "\n".join(lines) + "\n"


def profiled(model, options):
    """The rows of `onnxc profile --csv`, or the error's text."""
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder) / "steps.csv"
        data = ["--data", str(model.parent)] if list(model.parent.glob("test_data_set_*")) else []
        done = subprocess.run([ONNXC, "profile", str(model), *data, "--csv", str(figures), *options], capture_output=True, text=True, errors="replace")
        return list(csv.DictReader(figures.open())) if done.returncode == 0 else (done.stderr.strip() or "failed").splitlines()[-1]


def off_by(row):
    """Measured over predicted, or None."""
    return float(row["best_ns"]) / float(row["predicted_ns"]) if row["predicted_ns"] else None


def near(ratios):
    return sum(0.5 <= r <= 2 for r in ratios) / max(len(ratios), 1)


def steps_table(rows):
    """Of steps with a prediction: how many there are, how many are within twice, and the same for each kernel, with the ratio's quartiles."""
    ratios = [off_by(row) for row in rows]
    known = [r for r in ratios if r is not None]
    time = sum(float(row["run_ns"]) for row in rows)
    near_time = sum(float(row["run_ns"]) for row, r in zip(rows, ratios, strict=True) if r is not None and 0.5 <= r <= 2)
    lines = [f"{len(known)} steps with a prediction, {near(known):.1%} between half and twice of it, with {near_time / max(time, 1e-9):.1%} of the time; {len(rows) - len(known)} without one.", "",
             "| kernel | steps | within twice | measured over predicted: quartiles | |", "|---|---:|---:|---:|---:|"]
    kernels = collections.defaultdict(list)
    for row, r in zip(rows, ratios, strict=True):
        if r is not None:
            kernels[row["kernel"]].append(r)
    for kernel, list_ in sorted(kernels.items(), key=lambda item: -sum(not 0.5 <= r <= 2 for r in item[1])):
        quartiles = statistics.quantiles(list_, n=4, method="inclusive") if len(list_) > 1 else list_ * 3
        lines.append(f"| {kernel} | {len(list_)} | {near(list_):.0%} | {' '.join(f'{q:.2f}' for q in quartiles)} | {min(list_):.2f} to {max(list_):.2f} |")
    return "\n".join(lines) + "\n"


def listed(rows, pattern, within):
    """The steps whose kernel and description match, with predicted and measured times, each kind of a model once, the longest first."""
    kinds = {}
    for row in rows:
        text = row["kernel"] + " " + re.sub("'[^']*' ?", "", row["what"])
        if row["predicted_ns"] and re.search(pattern, text):
            kinds.setdefault((row["model"], text), []).append(row)
    lines, near_steps = ["| model | steps | predicted us | measured us | ratio | what |", "|---|---:|---:|---:|---:|---|"], 0
    for (model, text), steps in sorted(kinds.items(), key=lambda item: -float(item[1][0]["best_ns"])):
        predicted, best = (statistics.median(float(row[key]) for row in steps) for key in ("predicted_ns", "best_ns"))
        near_steps += max(predicted / best, best / predicted) <= within
        lines.append(f"| {model} | {len(steps)} | {microseconds(predicted)} | {microseconds(best)} | {predicted / best:.2f} | `{text[:120]}` |")
    return "\n".join(lines) + f"\n\n{near_steps} of {len(kinds)} kinds of steps within a factor of {within}.\n"


def measure_steps(given):
    rows, failed = [], 0
    for model in [m for path in given.models for m in models_at(path, every=True)][:: given.every]:
        told = profiled(model, [f"--seconds={given.seconds}", *given.option])
        if isinstance(told, str):
            failed += 1
            print(f"{title(model)}: {told}", file=sys.stderr)
            continue
        rows += [{**row, "model": title(model)} for row in told if float(row["best_ns"]) >= given.least]
        print(f"{title(model)}: {len(told)} steps", file=sys.stderr, flush=True)
    return rows, failed


def tell(text, folder, page, figures, what, measured):
    """Prints the text with the machine below it, and writes it and what was measured to the folder, if any."""
    about = machine.describe(ONNXC, {})
    text = f"{text}\n{about['processor']}, {about['cores']} cores, {about['compiler']}, {about['date']}, {about['commit']}.\n"
    print(text, end="")
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / page).write_text(text)
        (folder / figures).write_text(json.dumps({"machine": about, what: measured}, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL", type=Path)
    parser.add_argument("--out", type=Path, help="folder for table.md and regret.json")
    parser.add_argument("--worst", type=int, default=12, help="so many kinds of nodes with the most regret (default 12)")
    parser.add_argument("--fresh", action="store_true", help="measure what is known, too")
    parser.add_argument("--seconds", type=float, default=2, help="for each build of a model (default 2)")
    parser.add_argument("--option", action="append", default=[], metavar="OPTION", help="for onnxc tune: --option=--threads=2; may be repeated")
    parser.add_argument("--steps", action="store_true", help="how far predictions are off, of all steps")
    parser.add_argument("--least", type=float, default=100, metavar="NS", help="with --steps: of steps that take so long (default 100)")
    parser.add_argument("--list", metavar="REGEX", help="with --steps: list the steps whose kernel and description match")
    parser.add_argument("--within", type=float, default=1.3, metavar="FACTOR", help="with --list: count those whose prediction is so near (default 1.3)")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="with --steps: each N-th model alone")
    given = parser.parse_args()
    if given.steps:
        rows, failed = measure_steps(given)
        listing = f"\n{listed(rows, given.list, given.within)}" if given.list else ""
        tell(steps_table(rows) + listing, given.out, "steps.md", "steps.json", "steps", rows)
        return 1 if failed else 0 if rows else 2
    results, failed = {}, 0
    for model in [m for path in given.models for m in models_at(path)]:
        told = measure(model, [f"--seconds={given.seconds}", *(["--fresh"] if given.fresh else []), *given.option])
        if isinstance(told, str):
            failed += 1
            print(f"{title(model)}: {told}", file=sys.stderr)
        elif told["rows"]:
            results[title(model)] = told
            print(f"{title(model)}: regret {told['regret']:.3f}", file=sys.stderr, flush=True)
    if not results and not failed:
        print("regret: no model with a choice of kernels", file=sys.stderr)
        return 2
    tell(f"{table(results)}\n{worst_kinds(results, given.worst)}", given.out, "table.md", "regret.json", "models", results)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
