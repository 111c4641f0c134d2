#!/usr/bin/env python3
"""Fits the costs of kernels to measurements and prints rows for targets/kernels/*.inc.

    ninja -C build kernel_bench
    build/kernel_bench --benchmark_filter='^(gemm|conv|winograd)' --benchmark_repetitions=9 --benchmark_out=kernels.json
    bench/fit_costs.py kernels.json [--row gemm ...]

The model is that of targets/target.h (Kernel::cost), a roofline whose sides overlap in part, with a price for the call:

    ns = per_call + max(per_mac * macs, per_byte * bytes) + 0.4 * min(per_mac * macs, per_byte * bytes)

macs and bytes are what the operators state when they choose a kernel, and what the benchmarks state of each shape. The time of a shape is its best
repetition: what disturbs a machine only ever adds. Errors are relative, so that small shapes count as much as large ones. Which shapes are bound by
bytes is not known beforehand: sorted by bytes for each multiply-add, those are the last few, so each split is tried, with the smallest squares that
need no negative coefficient. A row needs at least as many shapes as it has coefficients; less than that is said and left alone. With more, each shape is also
predicted by a fit of the others: where these errors are much larger, the coefficients say more of the shapes than of the kernel.

Nothing is written: look at the errors first, and fit on an idle machine.
"""
import argparse
import datetime
import itertools
import json
import re
import sys
from pathlib import Path

import machine

try:
    import numpy as np
except ImportError:
    sys.exit("fit_costs: needs numpy; tools/setup.sh --bench-deps makes a Python that has it")

ROOT = Path(__file__).resolve().parents[1]
ROW = re.compile(r'ONNXC_KERNEL\((?P<what>\.name = "(?P<name>[^"]+)".*?)(?P<costs>(?:, \.per_\w+ = [^,]+)*), \.provenance = "[^"]*"\)')
LESSER_SHARE = float(re.search(r"kLesserShare = ([\d.]+)", (ROOT / "targets/target.h").read_text())[1])  # of Kernel::cost
NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def read_samples(path):
    """{row: {shape: (ns, macs, bytes)}} of the best repetitions, and google-benchmark's context."""
    report = json.loads(path.read_text())
    samples = {}
    for run in report["benchmarks"]:
        if run.get("run_type") == "aggregate" or "error_occurred" in run or run.get("iterations") == 0:  # none: it was skipped
            continue
        row, shape = run["name"].split("/")[:2]
        ns = run["cpu_time"] * NANOSECONDS[run["time_unit"]]
        best = samples.setdefault(row, {})
        if shape not in best or ns < best[shape][0]:
            best[shape] = (ns, run["macs"], run["bytes"])
    return samples, report["context"]


def smallest_squares(columns, target):
    """The coefficients >= 0 that fit best: of all choices of columns the one whose solution is not negative and has the least error."""
    best, least = np.zeros(columns.shape[1]), np.inf
    for size in range(1, columns.shape[1] + 1):
        for chosen in map(list, itertools.combinations(range(columns.shape[1]), size)):
            solution = np.linalg.lstsq(columns[:, chosen], target, rcond=None)[0]
            error = np.sum((columns[:, chosen] @ solution - target) ** 2)
            if np.all(solution >= 0) and error < least:
                least, best = error, np.zeros(columns.shape[1])
                best[chosen] = solution
    return best


def predict(costs, macs, size):
    """As Kernel::cost in targets/target.h."""
    arithmetic, stream = costs[1] * macs, costs[2] * size
    return costs[0] + np.maximum(arithmetic, stream) + LESSER_SHARE * np.minimum(arithmetic, stream)


def fit(samples):
    """((per_call, per_mac, per_byte), relative error of each sample) for rows of (ns, macs, bytes)."""
    order = sorted(range(len(samples)), key=lambda i: samples[i][2] / max(samples[i][1], 1e-9))
    ns, macs, size = (np.array(column) for column in zip(*[samples[i] for i in order]))
    best, least = None, np.inf
    for split in range(len(ns) + 1):  # from `split` on, bytes bind
        by_macs = np.arange(len(ns)) < split
        columns = np.stack([np.ones_like(ns), macs * np.where(by_macs, 1, LESSER_SHARE), size * np.where(by_macs, LESSER_SHARE, 1)], axis=1) / ns[:, None]
        costs = smallest_squares(columns, np.ones_like(ns))
        error = np.sum((predict(costs, macs, size) / ns - 1) ** 2)
        if error < least:
            best, least = costs, error
    errors = np.empty(len(ns))
    errors[order] = predict(best, macs, size) / ns - 1
    return best, errors


def errors_left_out(samples):
    """The relative error of each sample, predicted by a fit of all others."""
    errors = []
    for i, (ns, macs, size) in enumerate(samples):
        costs, _ = fit(samples[:i] + samples[i + 1:])
        errors.append(predict(costs, macs, size) / ns - 1)
    return np.array(errors)


def catalogue():
    """{name: (file, match)} of all rows."""
    return {m["name"]: (file, m) for file in sorted((ROOT / "targets/kernels").glob("*.inc")) for m in ROW.finditer(file.read_text())}


def significant(value):
    """Three digits, as the tables have them."""
    return f"{float(f'{value:.3g}'):.6f}".rstrip("0").rstrip(".") if value < 1e6 else f"{value:.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path, help="JSON of build/kernel_bench --benchmark_out")
    parser.add_argument("--row", action="append", help="only this row; may be repeated")
    parser.add_argument("--machine", help="name of the machine in the provenance (default: /proc/cpuinfo's)")
    options = parser.parse_args()
    try:
        samples, context = read_samples(options.report)
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"fit_costs: {options.report} is not a report of kernel_bench: {error}")
    date = datetime.datetime.fromisoformat(context["date"])
    provenance = f"{options.machine or machine.processor()}, {date:%Y-%m-%d}, {machine.commit()}"
    rows = catalogue()
    if "fma_peak_gmacs" in context:  # not of GPUs
        peak = float(context["fma_peak_gmacs"])
        print(f"// Peak {peak:.1f} GMAC/s: {1 / peak:.4f} ns a multiply-add at best.")
    for row, shapes in samples.items():
        if row not in rows or (options.row and row not in options.row):
            continue
        values = list(shapes.values())
        unknowns = 1 + any(macs > 0 for _, macs, _ in values) + any(size > 0 for _, _, size in values)
        if len(values) < unknowns:
            print(f"// {row}: {len(values)} shapes for {unknowns} coefficients, not fitted")
            continue
        costs, errors = fit(values)
        file, match = rows[row]
        for shape, error in zip(shapes, errors):
            print(f"//   {row}/{shape}: {shapes[shape][0] / 1e3:.3g} us, predicted {error:+.0%}")
        if len(values) > unknowns:
            print(f"//   {row}: mean error {np.mean(np.abs(errors)):.0%}, of shapes that are left out of the fit {np.mean(np.abs(errors_left_out(values))):.0%}")
        fields = "".join(f", .per_{name} = {significant(cost)}" for name, cost in zip(("call", "mac", "byte"), costs) if significant(cost) != "0")
        print(f'ONNXC_KERNEL({match["what"]}{fields}, .provenance = "{provenance}")  // was{match["costs"].replace(", ", " ")}; {file.name}')


if __name__ == "__main__":
    main()
