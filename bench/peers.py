#!/usr/bin/env python3
"""Compares onnxc with ONNX Runtime and OpenVINO on any model: time, share of the machine's peak, memory, size, time to the first result.

A model is an .onnx file or a folder with model.onnx; the data set beside it (test_data_set_0) feeds it, else made-up values do.
Engines run in one process on the same inputs and take turns in blocks of at least 20 ms; ratios inside one run count, not times of different runs.
docs/benchmarks.md explains each column.

  bench/peers.py model.onnx                           one model, on one thread
  bench/peers.py resnet18/ mobilenet.onnx --threads 2
  bench/peers.py --zoo models --out results --full    all dense networks of a folder; table.md, results.json, ratios.svg
  bench/compare.py before/results.json results/results.json

Exit status: 0, or 1 where onnxc failed on a model, 2 for wrong usage, 3 where a file is not there, 77 where the peers are not installed
(tools/setup.sh --bench-deps).
"""
import argparse
import re
import sys
import time
from pathlib import Path

import environment


def say(message, colour=""):
    """Progress goes to standard error, in colour on a terminal."""
    print(f"\033[{colour}m{message}\033[0m" if colour and sys.stderr.isatty() else message, file=sys.stderr, flush=True)


def fail(message, status=2):
    say(f"peers: {message}", "31")
    sys.exit(status)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", type=Path)
    parser.add_argument("--zoo", metavar="DIR", type=Path, help="the dense networks in a folder: convolutional ones and perceptrons, in f32")
    parser.add_argument("--all", action="store_true", help="with --zoo: all its models")
    parser.add_argument("--filter", metavar="REGEX", default="", help="with --zoo: models whose name contains this")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="of each engine (default: 1)")
    parser.add_argument("--scaling", action="store_true", help="with --threads: onnxc on one thread takes its turns, too; how many times slower is a column")
    parser.add_argument("--seconds", type=float, default=3, metavar="S", help="of measuring for each engine and model (default: 3)")
    parser.add_argument("--peers", default="ort,ov", metavar="LIST", help="which of ort, ov (default: both)")
    parser.add_argument("--full", action="store_true", help="also first result, memory and size, in processes of their own: costs a compilation a model")
    parser.add_argument("--native-loop", action="store_true", help="call onnxc's units from native code: takes some 0.5 us of Python off each call")
    parser.add_argument("--option", action="append", default=[], metavar="ARG", help="an option for onnxc, such as --option=-O2; may be repeated")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write table.md, results.json and ratios.svg there")
    options = parser.parse_args()
    options.peers = [name for name in options.peers.split(",") if name]
    if unknown := set(options.peers) - {"ort", "ov"}:
        fail(f"--peers knows ort and ov, not {', '.join(sorted(unknown))}")
    if not options.models and not options.zoo:
        fail("which models? (--help tells)")
    if options.threads < 1 or options.seconds <= 0:
        fail("--threads and --seconds are positive")
    if options.scaling and options.threads == 1:
        fail("--scaling compares several --threads with one")
    return options


def find_models(options):
    """The model files that the options name."""
    import zoo

    found = []
    for path in options.models:
        path = path / "model.onnx" if path.is_dir() else path
        if not path.is_file():
            fail(f"{path}: no such file", 3)
        found.append(path)
    if options.zoo:
        if not options.zoo.is_dir():
            fail(f"{options.zoo}: no such folder", 3)
        found += [path for path in zoo.models(options.zoo) if re.search(options.filter, str(path)) and (options.all or zoo.is_dense(path))]
    return found or fail(f"{options.zoo}: no dense network there (--all takes every model)", 3)


def main():
    options = parse()
    try:
        environment.enter()
    except environment.Missing as error:
        fail(error, 77)
    models = find_models(options)
    import comparison
    import engines
    import machine
    import native
    import report
    from measuring import Disturbance
    from onnxc import build

    missing = [name for name in options.peers if name not in engines.available_peers(options.peers)]
    if missing:
        fail(f"not installed: {', '.join(engines.TITLES[name] for name in missing)} (tools/setup.sh --bench-deps, or --peers)", 77)
    try:
        onnxc = build.find_executable()
    except FileNotFoundError as error:
        fail(error, 3)

    disturbance = Disturbance()
    run = {
        "machine": machine.describe(onnxc, engines.peer_versions(options.peers)),
        "threads": options.threads,
        "seconds": options.seconds,
        "native_loop": options.native_loop,
        "options": options.option,
        "peak_macs": native.fma_peak(options.threads),
        "results": [],
    }
    say(f"{run['machine']['processor']}: {run['peak_macs'] / 1e9:.0f} GMAC/s on {report.count_of(options.threads, 'thread')}")
    for number, model in enumerate(models, 1):
        start = time.monotonic()
        result = comparison.compare(model, options, onnxc)
        run["results"].append(result)
        ratio = report.factor(result)
        said = [f"{name} {report.plain(1e6 * f['median'], 4)} us" for name, f in result["engines"].items()]
        said += [f"ratio {ratio:.2f}"] if ratio else []
        said += [f"{report.scaling(result):.2f} times one thread"] if report.scaling(result) else []
        said += [f"{what}: {note}" for what, note in result["notes"].items()]
        colour = "31" if "onnxc" not in result["engines"] else "" if ratio is None else "32" if ratio >= 1 else "33"
        say(f"[{number}/{len(models)}] {result['model']}: {', '.join(said)} ({time.monotonic() - start:.0f} s)", colour)
    run["disturbance"] = disturbance.shares()

    print(report.markdown(run), end="")
    if options.out:
        report.write(run, options.out)
        say(f"written: {options.out}/table.md, results.json, ratios.svg")
    return 0 if all("onnxc" in result["engines"] for result in run["results"]) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        fail("interrupted", 130)
