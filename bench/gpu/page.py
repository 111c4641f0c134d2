#!/usr/bin/env python3
"""Writes docs/performance-gpu.md, from what device.sh found.

    page.py [RESULTS.json...] >docs/performance-gpu.md      docs/measurements/gpu/*.json, where none is given
"""
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEAD = """# Performance on GPUs

Made by `bench/gpu/page.py`; do not edit. How fast [units for a GPU](cuda.md) are, and whether a GPU computes what the emulator does.
"""
NOTHING = """
**Nothing has been measured on a GPU yet.** Kernels and units were tested in the emulator of GPUs, which tells nothing of time, and nvcc compiles
them. What only a GPU can show is open: whether the instructions of PTX do what their emulation does, whether warps that truly run at once
show a race that shuffled orders do not, how graphs behave in the driver, and every figure of time. Costs in `targets/` are of data sheets.
"""
HOW = """
## How to measure

    bench/gpu/prepare.sh /tmp/folder              # where nvcc is; no GPU is needed
    bench/gpu/device.sh /tmp/folder /tmp/out      # where the GPU is; nothing else is needed
    cp /tmp/out/results.json docs/measurements/gpu/<card>-<date>.json
    bench/gpu/page.py >docs/performance-gpu.md
    bench/fit_costs.py /tmp/out/gpu_costs.json --machine <card>      # rows for targets/kernels/gpu.inc

`bench/gpu/rehearse.sh` does the same in the emulator, on small models.

What is not measured so: cases of ONNX's node tests on a GPU, races by `compute-sanitizer`, and peers (PyTorch under a CUDA graph and
`torch.compile`, cuBLAS, cuDNN).
"""


def figure(unit, name):
    value = unit.get(name)
    return "" if value is None else f"{value / 1000:.2f} ms" if value >= 1000 else f"{value:.1f} us"


def section(results):
    machine = results["machine"] or {"gpu": "a GPU that gave no answer"}
    lines = [f"\n## {machine['gpu']}, {results['date']}\n"]
    facts = [f"commit {results['commit']}"]
    if results["driver"]:
        facts.append(f"driver and clock {results['driver']}")
    if "capability" in machine:
        facts.append(f"compute capability {machine['capability']}, {machine['multiprocessors']} multiprocessors")
        facts.append(f"a launch takes {machine['launch_us']} us")
        facts.append(f"copies: {machine['to_device_gb_s']} GB/s to the device, {machine['to_host_gb_s']} to the host, {machine['on_device_gb_s']} there")
    lines.append("; ".join(facts) + ".\n")
    if machine.get("emulated"):
        lines.append("**These are times of the emulator on a processor, and tell nothing of a GPU.**\n")
    wrong = [t for t in results["kernels"] if not t["right"]]
    lines.append(f"Of {len(results['kernels'])} tests of kernels {len(wrong)} failed{':' if wrong else '.'}\n")
    lines += [f"- {t['file']}: {t['test']}" for t in wrong] + ([""] if wrong else [])
    lines += ["| model | result | error | data on the host | on the device | there, by a graph |", "|---|---|---:|---:|---:|---:|"]
    for unit in results["units"]:
        cells = [unit["model"], "right" if unit["right"] else "**wrong**", str(unit.get("error", "")),
                 *(figure(unit, name) for name in ("host_us", "device_us", "graph_us"))]
        lines.append("| " + " | ".join(cells) + " |")
    lines.append("\nTimes are medians of a run. The error is that of ONNX Runtime's outputs, relative to these, in the Euclidean norm.\n")
    return "\n".join(lines)


def main(files):
    files = [Path(f) for f in files] or sorted((ROOT / "docs/measurements/gpu").glob("*.json"))
    print(HEAD + ("".join(section(json.loads(f.read_text())) for f in files) or NOTHING) + HOW, end="")


if __name__ == "__main__":
    main(sys.argv[1:])
