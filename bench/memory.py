#!/usr/bin/env python3
"""What compiled models take of memory: bench/memory.py MODEL... [--dim NAME=SIZE]...

A model is an .onnx file, or a folder with model.onnx. For each of --memory=speed, balanced and min: the arena, and whether it is proved that no plan of
that program takes less; beside them what all intermediates take that are not inputs or outputs. Models whose sizes are not all known have a table of their
own, at sizes that are likely; --dim fixes dimensions.

--peers adds to the first table what ONNX Runtime takes, in a process that loads the model and runs it once on the same input: its resident set at the peak
without what the import takes, and how much of that came with the run (its arena and what it holds beside it; the rest are weights and the session).
The resident set of our whole programs against it, which costs a compilation a model: bench/peers.py --full.

Exit status: 0, 1 where onnxc failed on a model, 77 where the peers are asked for and not installed (tools/setup.sh --bench-deps).
"""
import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import environment

GOALS = ("speed", "balanced", "min")
COLUMNS = ["all intermediates KiB", "speed KiB", "balanced KiB", "min KiB", "above the bound"]
PEERS = ["ONNX Runtime KiB", "by its run KiB"]
ROOT = Path(__file__).resolve().parent.parent


def arena(onnxc, model, goal, dims):
    """What `onnxc info` says of the arena, or the error's text."""
    done = subprocess.run([onnxc, "info", str(model), "--json", "--memory", goal, *(f"--dim={d}" for d in dims)], capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr.strip()
    told = json.loads(done.stdout)
    return told.get("arena", told.get("not_compiled"))


def peer_columns(model):
    """The columns of --peers for a model."""
    import engines
    import first_result
    import model_data

    try:
        feeds = model_data.read_inputs(model)
        if feeds is None:
            feeds = model_data.make_inputs(engines.OnnxRuntime.load(model, {}, 1))
        told = first_result.of_peer("ort", model, feeds, 1)
    except Exception as error:  # a peer may refuse a model in many ways
        return [f"({str(error).splitlines()[0][:60]})", ""]
    return [kib(told["peak_without_import_bytes"]), kib(told["first_run_bytes"])]


class Table:
    """Lines of models, and how good their plans are."""

    def __init__(self, columns):
        self.lines = [f"| {' | '.join(columns)} |", "|---|" + "---:|" * (len(columns) - 1)]
        self.plans = self.proved = 0
        self.worst = 0.0

    def add(self, names, told, more=()):
        """told: what `info` says for each goal."""
        gaps = [t["bytes"] / t["lower_bound"] - 1 if t["lower_bound"] else 0.0 for t in told]
        self.plans, self.proved, self.worst = self.plans + len(gaps), self.proved + sum(t["proved"] for t in told), max(self.worst, *gaps)
        gap = "proved" if all(t["proved"] for t in told) else f"{100 * max(gaps):.2f} %"
        self.lines.append(f"| {' | '.join([*names, kib(told[0]['unshared_bytes']), *(kib(t['bytes']) for t in told), gap, *more])} |")

    def print(self):
        if self.plans:
            print("\n".join(self.lines), f"\n\n{self.proved} of {self.plans} plans proved minimal, the worst {100 * self.worst:.2f} % above its bound.\n", sep="")


def kib(size):
    return f"{size / 1024:,.1f}" if size < 1 << 20 else f"{size / 1024:,.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL", type=Path)
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=SIZE", help="a named dimension, as for onnxc")
    parser.add_argument("--peers", action="store_true", help="also ONNX Runtime's memory")
    given = parser.parse_args()
    if given.peers:
        try:
            environment.enter()
        except environment.Missing as error:
            print(f"memory: {error}", file=sys.stderr)
            return 77
    onnxc = os.environ.get("ONNXC_EXECUTABLE", str(ROOT / "build" / "onnxc"))
    failed, fixed, open_sizes = 0, Table(["model", *COLUMNS, *PEERS * given.peers]), Table(["model", "at", *COLUMNS])
    for path in given.models:
        model = path / "model.onnx" if path.is_dir() else path
        told = [arena(onnxc, model, goal, given.dim) for goal in GOALS]
        if any(not isinstance(t, dict) for t in told):
            failed += 1
            print(f"{path.name}: {next(t for t in told if not isinstance(t, dict))}", file=sys.stderr)
        elif "bytes" in told[0]:
            fixed.add([path.name], told, peer_columns(model) if given.peers else [])
        else:
            dims = told[0]["likely"]["dims"]
            at = f"all {next(iter(dims.values()))}" if len(set(dims.values())) == 1 < len(dims) else ", ".join(f"{name} = {size}" for name, size in dims.items())
            open_sizes.add([path.name, at], [t["likely"] for t in told])
    for table in fixed, open_sizes:
        table.print()
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
