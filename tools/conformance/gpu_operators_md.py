"""Writes docs/gpu-operators.md from a report of the conformance runner for a GPU's target.

    build/conformance node --target cuda-sm80+x86-64-v3 --compile-only --report build/gpu-conformance.json
    python3 tools/conformance/gpu_operators_md.py build/gpu-conformance.json > docs/gpu-operators.md

Ends with an error where fewer than 85 % of the cases have every step on the GPU, or a case does not compile.
"""

import json
import pathlib
import re
import sys
from collections import defaultdict

LEAST = 0.85
HANDED_OVER = "it gives the caller a value in memory of the host"  # which follows from the other reasons of a case
PAGE = """# Operators on a GPU

Made by `tests/gpu/conformance.sh --update`; do not edit. It tells what units for a GPU (`--target=cuda-sm80`) compute there, by the cases of ONNX's node
suite: **{on} of {all} cases, {percent:.1f} %, have every step on the GPU.** In the others some steps run on the host, between copies, with the same results.
`onnxc explain` and `--explain` tell it of any model, step by step.

## What stays on the host

Of operators whose cases are not all on the GPU: the cases of the operator alone, how many of them are on the GPU, and why the others are not. Many of these
cases have sizes among their inputs, so that nothing bounds the results; where sizes are constants of the model or extents of its inputs, the same operators are
on the GPU.

| operator | cases | on the GPU | the host computes it where |
|---|---:|---:|---|
{rows}

## What is on the GPU

All cases of these operators alone: {whole}.
"""


def kind_of(reason):
    """A reason without the names of values, which differ from case to case."""
    value = re.match(r"'.*' is (string|seq|optional|map)\b", reason)
    return {"string": "values are strings", "seq": "values are sequences", "optional": "values are optional", "map": "values are maps"}[value[1]] if value else reason


def plain(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    cases = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))["cases"]
    failed = [f"{case['name']}: {case['result']}: {case['reason']}" for case in cases if case["result"] != "passed"]
    if failed:
        sys.exit("\n".join(failed))
    alone, on_gpu, reasons = defaultdict(int), defaultdict(int), defaultdict(lambda: defaultdict(int))
    for case in cases:
        if len(case["operators"]) != 1:
            continue
        operator = case["operators"][0]
        alone[operator] += 1
        on_gpu[operator] += not case.get("host_reasons")
        kinds = {kind_of(reason) for reason in case.get("host_reasons", [])}
        for reason in kinds - {HANDED_OVER} or kinds:
            reasons[operator][reason] += 1
    rows = []
    for operator in sorted(alone):
        if on_gpu[operator] < alone[operator]:
            why = "; ".join(plain(reason) for reason in sorted(reasons[operator], key=lambda r: (-reasons[operator][r], r)))
            rows.append(f"| {operator} | {alone[operator]} | {on_gpu[operator]} | {why} |")
    on = sum(not case.get("host_reasons") for case in cases)
    whole = ", ".join(operator for operator in sorted(alone) if on_gpu[operator] == alone[operator])
    print(PAGE.format(on=on, all=len(cases), percent=100 * on / len(cases), rows="\n".join(rows), whole=whole), end="")
    if on < LEAST * len(cases):
        sys.exit(f"only {on} of {len(cases)} cases have every step on the GPU")


if __name__ == "__main__":
    main()
