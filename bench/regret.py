#!/usr/bin/env python3
"""How far the kernels that onnxc chooses by predicted costs are from the best that are measured: bench/regret.py MODEL... [--out FOLDER]

A model is an .onnx file, a folder with model.onnx, or a folder of models, of which the dense networks are taken (f32, products by constant weights alone). For each, `onnxc tune --regret`
measures the candidates of every node in the whole model. Regret is the time of the chosen ones over that of the best ones, of the nodes that have a choice; 1 is perfect. What --weights-growth
forbids is part of it: "within growth" is the same against what --tune takes. Beside it the whole run, by default over tuned.

Prints a Markdown table, and the nodes with the most regret. --out writes table.md and regret.json, with the machine, the date and the commit.

Measure on an idle machine. --fresh measures what the cache knows, too. Exit status: 0, 1 where onnxc failed on a model, 2 for no model.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import machine

ROOT = Path(__file__).resolve().parent.parent
ONNXC = os.environ.get("ONNXC_EXECUTABLE", str(ROOT / "build" / "onnxc"))


def models_at(path):
    if not path.is_dir():
        return [path]
    if (path / "model.onnx").exists():
        return [path / "model.onnx"]
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL", type=Path)
    parser.add_argument("--out", type=Path, help="folder for table.md and regret.json")
    parser.add_argument("--worst", type=int, default=12, help="so many kinds of nodes with the most regret (default 12)")
    parser.add_argument("--fresh", action="store_true", help="measure what is known, too")
    parser.add_argument("--seconds", type=float, default=2, help="for each build of a model (default 2)")
    parser.add_argument("--option", action="append", default=[], metavar="OPTION", help="for onnxc tune: --option=--threads=2; may be repeated")
    given = parser.parse_args()
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
    about = machine.describe(ONNXC, {})
    text = f"{table(results)}\n{worst_kinds(results, given.worst)}\n{about['processor']}, {about['cores']} cores, {about['compiler']}, {about['date']}, {about['commit']}.\n"
    print(text, end="")
    if given.out:
        given.out.mkdir(parents=True, exist_ok=True)
        (given.out / "table.md").write_text(text)
        (given.out / "regret.json").write_text(json.dumps({"machine": about, "models": results}, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
