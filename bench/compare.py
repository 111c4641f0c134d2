#!/usr/bin/env python3
"""What changed between two runs of bench/peers.py, by the ratio of onnxc to the faster peer.

    bench/compare.py BEFORE.json AFTER.json [--least 0.03]

Times of different runs do not compare, ratios do. A change is shown by medians and by bests; where they disagree, the machine was busy. `*` marks
changes of both beyond --least. Exit status: 0, or 1 where a marked model became slower, 2 where the files cannot be read or have no model in common.
"""
import argparse
import json
import math
import statistics
import sys
from pathlib import Path


def refuse(message):
    print(f"compare: {message}", file=sys.stderr)
    sys.exit(2)


def ratios(run):
    """{(model, threads): {"median": ratio, "best": ratio}}"""
    found = {}
    for result in run["results"]:
        engines = result["engines"]
        peers = [figures for name, figures in engines.items() if name != "onnxc"]
        if peers and "onnxc" in engines:
            found[result["model"], result["threads"]] = {
                figure: min(p[figure] for p in peers) / engines["onnxc"][figure] for figure in ("median", "best")
            }
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--least", type=float, default=0.03, metavar="SHARE", help="the least change that counts (default: 0.03)")
    options = parser.parse_args()
    try:
        runs = [json.loads(path.read_text()) for path in (options.before, options.after)]
        before, after = map(ratios, runs)
    except (OSError, ValueError, KeyError, TypeError) as error:
        refuse(f"not results of bench/peers.py: {error}")
    common = [key for key in after if key in before]
    if not common:
        refuse("the two runs have no model in common")

    for what, run in zip(("before", "after"), runs):
        stolen = run.get("disturbance", {}).get("stolen")
        disturbed = "" if stolen is None else f"  {stolen:.0%} stolen"
        print(f"{what:6}  {run['machine']['commit']}  {run['machine']['processor']}  {run['machine']['date']}{disturbed}")
    print("\n| model | threads | before | after | change | of bests | |\n|---|---:|---:|---:|---:|---:|---|")
    slower = 0
    changes = {key: {figure: after[key][figure] / before[key][figure] for figure in ("median", "best")} for key in common}
    for key in sorted(common, key=lambda key: changes[key]["median"]):
        median, best = changes[key]["median"], changes[key]["best"]
        marked = min(median, best) > 1 + options.least or max(median, best) < 1 - options.least
        slower += marked and median < 1
        name, threads = key
        old, new = before[key]["median"], after[key]["median"]
        print(f"| {name} | {threads} | {old:.2f} | {new:.2f} | {median - 1:+.1%} | {best - 1:+.1%} | {'*' if marked else ''} |")
    mean = math.exp(statistics.fmean(math.log(change["median"]) for change in changes.values()))
    print(f"\n{len(common)} model{'s' if len(common) > 1 else ''}: {mean - 1:+.1%} in the geometric mean, {slower} slower")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
